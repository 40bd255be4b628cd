package play

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ringleader-dev/ringleader/internal/scenario"
	"github.com/ringleader-dev/ringleader/internal/sim"
	"github.com/ringleader-dev/ringleader/internal/testcluster"
	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/node/httpapi"
	"github.com/ringleader-dev/ringleader/proto"
)

// reality plays commands with real processes. Only one goroutine may use it.
type reality struct {
	cfg     Config
	all     []scenario.Command
	at      int // the number of the present command
	virtual dream

	cluster *testcluster.Cluster
	network *testcluster.Network // nil if nothing is cut
	args    map[proto.NodeID][]string
	index   map[proto.NodeID]proto.NodeID // the number of each node in the network
	cuts    map[string][]testcluster.Link
	begun   time.Time
	now     time.Time // where the scenario stands: what came later may be awaited
	from    start     // where the virtual side began
	story   story
	last    []message  // of the last part
	dreamt  []message  // of the last part of the virtual side
	asked   []*request // those of which nothing is known yet
	planned []*plan
	timers  []*time.Timer
	differs bool
}

// plan is a crash that waits for a message.
type plan struct {
	cmd    scenario.Command
	cancel context.CancelFunc
	done   chan error
}

// request is what an operator asks of a node.
type request struct {
	id    proto.NodeID
	event string // the event of the record that tells it
	anew  func() bool
	done  chan struct{} // closed when the node has answered
	err   error
}

var realVerbs = map[string]func(*reality, context.Context, scenario.Command) error{
	"new":       (*reality).create,
	"campaign":  asks(httpapi.Elect, "campaign"),
	"resign":    asks(httpapi.Resign, "resign"),
	"leave":     asks(httpapi.Resign, "resign"),
	"transfer":  asks(httpapi.Transfer, "transfer"),
	"bar":       asks(httpapi.Pause, "eligible"),
	"unbar":     asks(httpapi.Resume, "eligible"),
	"crash":     (*reality).crash,
	"start":     (*reality).start,
	"wipe":      (*reality).wipe,
	"pause":     (*reality).pause,
	"partition": (*reality).partition,
	"cut":       (*reality).cut,
	"mend":      (*reality).mend,
	"heal":      (*reality).heal,
	"run": func(_ *reality, ctx context.Context, cmd scenario.Command) error {
		return sleep(ctx, cmd.Span(0))
	},
	"at": func(r *reality, ctx context.Context, cmd scenario.Command) error {
		return sleep(ctx, time.Until(r.begun.Add(cmd.Span(0))))
	},
	"until":  (*reality).until,
	"agree":  (*reality).agree,
	"expect": (*reality).expect,
}

// play carries out the present command and, at the end of a part, writes the comparison.
func (r *reality) play(ctx context.Context, cmd scenario.Command) error {
	ctx, cancel := context.WithTimeoutCause(ctx, patience+waits(cmd),
		fmt.Errorf("it did not happen within %v", patience))
	defer cancel()
	if cmd.Verb != "campaign" { // several are called at one instant
		if err := r.heard(ctx); err != nil {
			return err
		}
	}
	err := realVerbs[cmd.Verb](r, ctx, cmd)
	if slices.Contains([]string{"new", "run", "at", "agree"}, cmd.Verb) {
		r.now = time.Now()
	}
	if r.cluster != nil && ends(r.all, r.at) {
		r.tell(cmd.Verb == "agree")
	}
	if err == nil && r.at+1 == len(r.all) {
		err = r.end()
	}
	return err
}

// tell ends a part: it writes the comparison and, if the nodes were to agree, on whom they do.
func (r *reality) tell(agree bool) {
	records := r.cluster.Records()
	r.last = r.story.part(records)
	base := int64(r.story.base) //nolint:gosec // no cluster comes so far
	r.story.next(records)
	virtual := r.virtual.parts[r.at]
	r.dreamt = virtual.sent
	if len(virtual.sent)+len(r.last) > 0 {
		same := write(r.cfg.Out, compare(virtual.sent, r.last))
		r.differs = r.differs || !same
	}
	leader, ok := r.agreed()
	if !agree || !ok {
		return
	}
	fmt.Fprintf(r.cfg.Out, "in reality all follow %d, term %+d, after %s\n",
		leader.Leader, int64(leader.Term)-base, summary(r.last)) //nolint:gosec // the same
	if virtual.leader != uint64(leader.Leader) {
		fmt.Fprintf(r.cfg.Out, "in virtual time all follow %d, after %s\n", virtual.leader, summary(virtual.sent))
	}
}

// waits returns how long a command takes by itself.
func waits(cmd scenario.Command) time.Duration {
	if cmd.Verb == "run" || cmd.Verb == "at" {
		return cmd.Span(0)
	}
	return 0
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// create starts a cluster and waits until it stands where the virtual one begins.
func (r *reality) create(ctx context.Context, cmd scenario.Command) error {
	if err := errors.Join(r.end(), r.close()); err != nil {
		return err // of the cluster before
	}
	members := slices.SortedFunc(slices.Values(cmd.Members()), func(a, b scenario.Member) int {
		return cmp.Compare(a.ID, b.ID)
	})
	*r = reality{
		cfg: r.cfg, all: r.all, at: r.at, virtual: r.virtual, differs: r.differs, from: r.virtual.begins[r.at],
		args: map[proto.NodeID][]string{}, index: map[proto.NodeID]proto.NodeID{},
		cuts: map[string][]testcluster.Link{},
	}
	name, _ := cmd.Option("algorithm")
	config := testcluster.Config{
		Binary: r.cfg.Binary, Nodes: len(members), Algorithm: name,
		Args: []string{"--log-level", "debug", fmt.Sprintf("--preempt=%v", cmd.Is("preempt"))},
	}
	ranked := slices.ContainsFunc(members, func(m scenario.Member) bool { return m.Attr != 0 })
	for i, m := range members {
		config.IDs = append(config.IDs, m.ID)
		r.index[m.ID] = proto.NodeID(i + 1) //nolint:gosec // it is small
		if ranked {
			r.args[m.ID] = []string{"--rank-by", fmt.Sprintf("number:%d", m.Attr)}
		}
	}
	config.Args = slices.Concat(config.Args, protection(cmd, name, config.IDs), r.cfg.Args)
	var err error
	if slices.ContainsFunc(r.all, func(c scenario.Command) bool { return c.Verb == "cut" || c.Verb == "partition" }) {
		if r.network, err = testcluster.NewNetwork(len(members)); err != nil {
			return err
		}
		config.Hosts = r.network.Hosts()
	}
	if r.cluster, err = testcluster.New(config); err != nil {
		return err
	}
	for _, id := range config.IDs {
		if err := r.cluster.Start(id, r.args[id]...); err != nil {
			return err
		}
	}
	r.begun = time.Now()
	if cmd.Has("cold") {
		return nil
	}
	return r.settle(ctx)
}

// protection returns the arguments that say who votes, or how to reconcile.
func protection(cmd scenario.Command, algorithm string, all []proto.NodeID) (args []string) {
	voters := cmd.Nodes("voters")
	if voters == nil && real(sim.Shape{Algorithm: algorithm}).Leased {
		voters = all
	}
	if voters != nil {
		words := make([]string, len(voters))
		for i, id := range voters {
			words[i] = id.String()
		}
		args = []string{"--voters", strings.Join(words, ","), fmt.Sprintf("--await-leases=%v", cmd.Is("keep"))}
		if lease, given := cmd.Option("lease"); given {
			args = append(args, "--lease", lease)
		}
		return args
	}
	if _, hooked := cmd.Option("recovers"); hooked {
		hook := fmt.Sprintf("sleep %.3f", cmd.SpanOption("recovers").Seconds())
		if cmd.Has("fails") {
			hook += "; false"
		}
		args = []string{"--reconcile-cmd", hook}
	}
	return args
}

// living returns the nodes whose process has not ended.
func (r *reality) living() []proto.NodeID {
	return slices.DeleteFunc(r.cluster.IDs(), func(id proto.NodeID) bool {
		_, _, ended := r.cluster.Ended(id)
		return ended
	})
}

// agreed returns the leader that all living nodes follow; ok is false if there is none.
func (r *reality) agreed() (b testcluster.Belief, ok bool) {
	living := r.living()
	beliefs := r.cluster.Beliefs(living...)
	for _, id := range living {
		if b.Leader != 0 && beliefs[id] != b {
			return b, false
		}
		b = beliefs[id]
	}
	return b, slices.Contains(living, b.Leader)
}

// beliefs says whom each living node follows.
func (r *reality) beliefs() string {
	beliefs := r.cluster.Beliefs(r.living()...)
	var words []string
	for _, id := range r.living() {
		if b := beliefs[id]; b.Leader != 0 {
			words = append(words, fmt.Sprintf("%d follows %d in term %d", id, b.Leader, b.Term))
		} else {
			words = append(words, fmt.Sprintf("%d follows nobody", id))
		}
	}
	return strings.Join(words, ", ")
}

// asks returns a command that asks something of the node that the first word names.
func asks(verb httpapi.Verb, event string) func(*reality, context.Context, scenario.Command) error {
	return func(r *reality, ctx context.Context, cmd scenario.Command) error {
		since := time.Now()
		q := &request{id: cmd.Node(0), event: event, done: make(chan struct{})}
		c := r.cluster
		q.anew = func() bool {
			return slices.ContainsFunc(c.Records(), func(rec trace.Record) bool {
				return rec.Event == event && rec.Time.After(since) &&
					(rec.Node == uint64(q.id) || verb == httpapi.Transfer) // it goes to the leader
			})
		}
		r.asked = append(r.asked, q)
		var to proto.NodeID
		if text, given := cmd.Option("to"); given {
			to, _ = proto.ParseNodeID(text) // it was checked
		}
		// The node answers when a leader is elected, perhaps after more commands.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
		ask := r.ask(q.id, verb, to)
		go func() {
			defer cancel()
			q.err = ask(ctx)
			close(q.done)
		}()
		return nil
	}
}

// heard waits until the nodes have taken up, or refused, what was asked of them.
func (r *reality) heard(ctx context.Context) error {
	for _, q := range r.asked {
		wait, stop := context.WithCancel(ctx)
		go func() {
			select {
			case <-q.done:
				stop()
			case <-wait.Done():
			}
		}()
		err := r.cluster.Wait(wait, q.anew)
		stop()
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err == nil:
			continue
		}
		select {
		case <-q.done:
			if q.err != nil {
				fmt.Fprintf(r.cfg.Out, "* %v\n", q.err)
			}
		default:
			return err // a node ended by itself
		}
	}
	r.asked = nil
	return nil
}

// ask returns a function that asks something of a node, as an operator on the node's machine does. Any goroutine
// may call it.
func (r *reality) ask(id proto.NodeID, verb httpapi.Verb, to proto.NodeID) func(context.Context) error {
	addr := r.cluster.Node(id).HTTP
	if r.network == nil {
		return func(ctx context.Context) error {
			_, err := httpapi.Client{Addr: addr}.Do(ctx, verb, httpapi.Order{To: to})
			return err
		}
	}
	line := append(r.cluster.Enter(id), r.cfg.Binary, string(verb), "--addr", addr)
	if to != 0 {
		line = append(line, "--to", to.String())
	}
	return func(ctx context.Context) error {
		var said bytes.Buffer
		p, err := testcluster.StartHelper(line, &said, func([]byte) {})
		if err != nil {
			return err
		}
		late := context.AfterFunc(ctx, func() { _ = p.Kill() })
		defer late()
		if p.Finish() != nil {
			return errors.New(cmp.Or(strings.TrimSpace(said.String()), "no answer in time"))
		}
		return nil
	}
}

func (r *reality) crash(ctx context.Context, cmd scenario.Command) error {
	id, c := cmd.Node(0), r.cluster
	kind, waits := cmd.Option("on")
	if !waits {
		return kill(c, id)
	}
	// In virtual time a request is carried out at once, before this command.
	sent := r.sends(kind, id, 0, "campaign", "resign", "transfer", "eligible")
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	p := &plan{cmd: cmd, cancel: cancel, done: make(chan error, 1)}
	r.planned = append(r.planned, p)
	go func() {
		err := c.Wait(ctx, func() bool {
			_, ok := sent()
			return ok
		})
		if err == nil {
			err = kill(c, id)
		}
		p.done <- err
	}()
	return nil
}

// kill kills a node, if it lives.
func kill(c *testcluster.Cluster, id proto.NodeID) error {
	_, err := c.Kill(id)
	if errors.Is(err, testcluster.ErrNotRunning) {
		return nil
	}
	return err
}

// sends returns a function that reports whether a node has sent such a message since the moment at which the
// scenario stands, and when. Node 0 is any. What is sent in a step of these events does not count.
func (r *reality) sends(kind string, from, to proto.NodeID, except ...string) func() (time.Time, bool) {
	since, c := r.now, r.cluster
	return func() (time.Time, bool) {
		for _, rec := range c.Records() {
			if from != 0 && rec.Node != uint64(from) || !rec.Time.After(since) || slices.Contains(except, rec.Event) {
				continue
			}
			for _, text := range rec.Sent {
				k, receiver, _, err := trace.SentID(text)
				if err == nil && k == kind && (to == 0 || to == receiver) {
					return rec.Time, true
				}
			}
		}
		return time.Time{}, false
	}
}

func (r *reality) until(ctx context.Context, cmd scenario.Command) error {
	sent := r.sends(cmd.Word(0), cmd.NodeOption("from"), cmd.NodeOption("to"))
	var at time.Time
	err := r.cluster.Wait(ctx, func() (ok bool) {
		at, ok = sent()
		return ok
	})
	if err != nil {
		return fmt.Errorf("no such message was sent: %s: %w", r.beliefs(), err)
	}
	r.now = at
	return nil
}

func (r *reality) start(_ context.Context, cmd scenario.Command) error {
	id := cmd.Node(0)
	if err := r.cluster.Start(id, r.args[id]...); !errors.Is(err, testcluster.ErrRunning) {
		return err
	}
	return nil
}

func (r *reality) wipe(_ context.Context, cmd scenario.Command) error {
	if err := kill(r.cluster, cmd.Node(0)); err != nil {
		return err
	}
	return os.RemoveAll(r.cluster.Node(cmd.Node(0)).DataDir)
}

func (r *reality) pause(_ context.Context, cmd scenario.Command) error {
	id, c := cmd.Node(0), r.cluster
	err := c.Pause(id)
	if err == nil {
		wake := func() { _ = c.Resume(id) } // it may be dead
		r.timers = append(r.timers, time.AfterFunc(cmd.SpanOption("for"), wake))
	}
	return err
}

func (r *reality) partition(_ context.Context, cmd scenario.Command) error {
	group := cmd.Groups()
	var links []testcluster.Link
	for a, i := range r.index {
		for b, j := range r.index {
			if group[a] != group[b] {
				links = append(links, testcluster.Link{From: i, To: j})
			}
		}
	}
	return r.block(cmd.Word(0), links)
}

func (r *reality) cut(_ context.Context, cmd scenario.Command) error {
	a, b, both := cmd.Link()
	links := []testcluster.Link{{From: r.index[a], To: r.index[b]}}
	if both {
		links = append(links, testcluster.Link{From: r.index[b], To: r.index[a]})
	}
	return r.block(cmd.Word(0), links)
}

func (r *reality) mend(_ context.Context, cmd scenario.Command) error {
	return r.block(cmd.Word(0), nil)
}

func (r *reality) heal(context.Context, scenario.Command) error {
	clear(r.cuts)
	return r.block("", nil)
}

// block replaces what the cut of this name blocks.
func (r *reality) block(name string, links []testcluster.Link) error {
	if r.network == nil {
		return nil // it heals what was never cut
	}
	r.cuts[name] = links
	seen := map[testcluster.Link]bool{}
	var all []testcluster.Link
	for _, links := range r.cuts {
		for _, l := range links {
			if !seen[l] {
				seen[l] = true
				all = append(all, l)
			}
		}
	}
	return r.network.Drop(all...)
}

func (r *reality) agree(ctx context.Context, _ scenario.Command) error {
	_, err := r.calm(ctx)
	return err
}

// expect compares what came out with what the script expects, as far as records tell it.
func (r *reality) expect(_ context.Context, cmd scenario.Command) error {
	b, agreed := r.agreed()
	term := uint64(b.Term) - r.story.zero + r.from.term
	is := map[string]string{
		"leader": b.Leader.String(), "term": strconv.FormatUint(term, 10), "agreed": strconv.FormatBool(agreed),
		"bit": strconv.FormatUint(uint64(b.Leader)&1, 10), "leads": r.leads(),
	}
	if !agreed {
		is["leader"] = "nobody"
	}
	var errs []error
	for key, want := range cmd.Options() {
		if key == "times" || key == "finding" {
			fmt.Fprintf(r.cfg.Out, "* %s is not looked at in reality\n", key)
			continue
		}
		got, ok := is[key]
		if !ok { // it came out in virtual time, where what is left out here was counted
			want, got = strconv.Itoa(counts(r.dreamt)[key]), strconv.Itoa(counts(r.last)[key])
		}
		if got != want {
			errs = append(errs, fmt.Errorf("%s is %s, not %s", key, got, want))
		}
	}
	return errors.Join(errs...)
}

// leads returns the nodes that say that they lead.
func (r *reality) leads() string {
	var lead []string
	living := r.living()
	beliefs := r.cluster.Beliefs(living...)
	for _, id := range living {
		if beliefs[id].Leader == id {
			lead = append(lead, id.String())
		}
	}
	return cmp.Or(strings.Join(lead, ","), "nobody")
}

// end returns an error if a crash still waits for its message.
func (r *reality) end() error {
	var errs []error
	for _, p := range r.planned {
		select {
		case err := <-p.done:
			errs = append(errs, err)
		default:
			if _, _, dead := r.cluster.Ended(p.cmd.Node(0)); !dead {
				errs = append(errs, fmt.Errorf("line %d: %s: %d never sent that; %s",
					p.cmd.Line, p.cmd, p.cmd.Node(0), r.beliefs()))
			}
		}
	}
	r.planned = nil
	return errors.Join(errs...)
}

// close ends all processes and removes their network.
func (r *reality) close() error {
	for _, p := range r.planned {
		p.cancel()
	}
	for _, t := range r.timers {
		t.Stop()
	}
	var err error
	if r.cluster != nil {
		err = r.cluster.Close()
	}
	err = errors.Join(err, r.network.Close())
	r.cluster, r.network, r.planned = nil, nil, nil
	return err
}
