package sim

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/fence"
	"github.com/ringleader-dev/ringleader/internal/scenario"
	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/proto"
)

// ErrPlay says that a command cannot be carried out where the run stands, or that a run did not come out
// as the script expects.
var ErrPlay = errors.New("the scenario does not come out")

// Shape is an algorithm and the protection around it that a script asks for.
type Shape struct {
	Algorithm string
	Leased    bool
	Recovers  bool
}

// Player plays scripts in virtual time. Every message takes half a Delta, and detectors notice all within
// a Delta. Only one goroutine may use it.
type Player struct {
	// Lookup returns the algorithm that a script names, with the protection that it asks for.
	Lookup func(Shape) (Algorithm, error)
	// Out receives the trace.
	Out io.Writer
	// Words writes the reasons in sentences, not in codes.
	Words bool
	// JSON writes the records as lines of JSON, as a node logs them.
	JSON bool
	// Admit is the store's comparison of fencing tokens. Nil means fence.Admit, the rule of every storage.
	Admit func(highest, t fence.Token) error
	// Sent, if it is set, is told each message that leaves a node.
	Sent func(at time.Duration, m proto.Message)
	// Record, if it is set, is told the record of each Step, those included that Out does not show.
	Record func(trace.Record)

	c       *cluster
	counted tally           // what was sent until the last agreement, since the one before
	sent    []proto.Message // all, for "again"
	fresh   int             // where those begin that were sent since the run last went on
	cuts    map[string][]link
	pending []plannedCrash
	awaited *doomed // the message that the run goes on to; nil if there is none
	seen    bool    // it was sent
	tale    Tale
	written fence.Token // with the last write that the store took
}

// plannedCrash is a crash that waits for a message.
type plannedCrash struct {
	cmd  scenario.Command
	life *life
}

// playVerbs carry out the commands.
var playVerbs = map[string]func(*Player, scenario.Command) error{
	"new": (*Player).create,
	"campaign": operates(
		func(scenario.Command) algorithms.Event { return algorithms.Campaign{Reason: "the operator asked"} },
	),
	"resign": operates(func(cmd scenario.Command) algorithms.Event {
		return algorithms.Resign{To: cmd.NodeOption("to")}
	}),
	"leave": does(func(p *Player, cmd scenario.Command) {
		to := cmd.NodeOption("to")
		p.c.giveWay(p.node(cmd, 0), to, algorithms.Resign{To: to})
	}),
	"transfer": does(func(p *Player, cmd scenario.Command) { p.c.transfer(p.node(cmd, 0), cmd.NodeOption("to")) }),
	"bar": operates(func(cmd scenario.Command) algorithms.Event {
		return algorithms.Eligible{Keep: cmd.Is("keep"), Why: "the operator paused it"}
	}),
	"unbar":   operates(func(scenario.Command) algorithms.Event { return algorithms.Eligible{OK: true} }),
	"crash":   (*Player).crash,
	"start":   does(func(p *Player, cmd scenario.Command) { p.c.restart(p.node(cmd, 0)) }),
	"wipe":    does(func(p *Player, cmd scenario.Command) { p.c.loseDisk(p.node(cmd, 0)) }),
	"pause":   does(func(p *Player, cmd scenario.Command) { p.c.pause(p.node(cmd, 0), cmd.SpanOption("for")) }),
	"suspect": does(func(p *Player, cmd scenario.Command) { p.c.lieTo(p.node(cmd, 0), p.node(cmd, 1), suspects) }),
	"miss":    does(func(p *Player, cmd scenario.Command) { p.c.lieTo(p.node(cmd, 0), p.node(cmd, 1), misses) }),
	"trust":   does(func(p *Player, cmd scenario.Command) { p.c.truth(p.node(cmd, 0), p.node(cmd, 1)) }),
	"notice": does(func(p *Player, cmd scenario.Command) {
		p.c.trace.note(p.c.now, "%d looks at %d", cmd.Node(0), cmd.Node(1))
		p.c.lookNow(p.node(cmd, 0), p.node(cmd, 1))
	}),
	"partition": does(func(p *Player, cmd scenario.Command) {
		group := cmd.Groups()
		p.block(cmd.Word(0), p.c.split(func(id proto.NodeID) int { return group[id] }))
	}),
	"cut": does(func(p *Player, cmd scenario.Command) {
		links := oneWay
		from, to, both := cmd.Link()
		if both {
			links = bothWays
		}
		p.block(cmd.Word(0), links(from, to))
	}),
	"mend": (*Player).mend,
	"heal": does(func(p *Player, _ scenario.Command) {
		p.c.network.clear()
		p.c.uncut(nil, "all")
	}),
	"lose": does(func(p *Player, cmd scenario.Command) { p.c.lose(next(cmd)) }),
	"hold": does(func(p *Player, cmd scenario.Command) {
		p.c.holdBack(held{doomed: next(cmd), by: cmd.SpanOption("for")})
	}),
	"again":  (*Player).again,
	"write":  does(func(p *Player, cmd scenario.Command) { p.write(p.node(cmd, 0)) }),
	"attr":   does(func(p *Player, cmd scenario.Command) { p.c.rerank(p.node(cmd, 0), cmd.Number(1)) }),
	"run":    does(func(p *Player, cmd scenario.Command) { p.c.runUntil(p.c.now + cmd.Span(0)) }),
	"at":     (*Player).at,
	"until":  (*Player).until,
	"agree":  does(func(p *Player, _ scenario.Command) { p.agree() }),
	"expect": (*Player).expect,
}

func does(do func(*Player, scenario.Command)) func(*Player, scenario.Command) error {
	return func(p *Player, cmd scenario.Command) error {
		do(p, cmd)
		return nil
	}
}

// operates gives the node that the first word names an operator's request.
func operates(event func(scenario.Command) algorithms.Event) func(*Player, scenario.Command) error {
	return does(func(p *Player, cmd scenario.Command) { p.c.operate(p.node(cmd, 0), event(cmd)) })
}

// Do carries out a command. Its errors wrap ErrPlay, and name the line.
func (p *Player) Do(cmd scenario.Command) error {
	err := playVerbs[cmd.Verb](p, cmd)
	if slices.Contains([]string{"new", "run", "at", "until", "agree"}, cmd.Verb) {
		p.fresh = len(p.sent)
	}
	if err != nil {
		return fmt.Errorf("line %d: %s: %w: %w", cmd.Line, cmd, ErrPlay, err)
	}
	return nil
}

// End returns what is wrong with the run as a whole: rules that it broke, and crashes that waited for a
// message which never came. Its errors wrap ErrPlay.
func (p *Player) End() error {
	if p.c == nil {
		return nil
	}
	var errs []error
	for _, v := range p.c.violations {
		errs = append(errs, fmt.Errorf("%w: %v", ErrPlay, v))
	}
	for _, w := range p.pending {
		if w.life.doom != nil && p.c.node(w.cmd.Node(0)).life == w.life {
			errs = append(errs, fmt.Errorf("line %d: %s: %w: %d never sent that; %s",
				w.cmd.Line, w.cmd, ErrPlay, w.cmd.Node(0), p.stands()))
		}
	}
	return errors.Join(errs...)
}

// stands says where the run is.
func (p *Player) stands() string {
	return fmt.Sprintf("the run stood at %v: %s", p.now(), strings.TrimSuffix(p.c.beliefs(), "; "))
}

// now is the time since all had agreed first.
func (p *Player) now() time.Duration { return p.c.now - p.c.trace.zero }

// create makes a cluster of nodes that know each other.
func (p *Player) create(cmd scenario.Command) (err error) {
	name, _ := cmd.Option("algorithm")
	_, leased := cmd.Option("voters")
	_, recovers := cmd.Option("recovers")
	o := Options{
		Seed: 1, Delta: cmd.SpanOption("delta"), Fence: leased && cmd.Is("fence"),
		Trace: p.Out, TraceJSON: p.JSON, TraceCodes: !p.Words,
	}
	if o.Algorithm, err = p.Lookup(Shape{Algorithm: name, Leased: leased, Recovers: recovers}); err != nil {
		return err
	}
	delay := o.delta() / 2
	if err := p.End(); err != nil {
		return err // of the cluster before
	}
	p.cuts, p.sent, p.pending, p.tale, p.written = map[string][]link{}, nil, nil, Tale{}, fence.Token{}
	w := weather{MinDelay: delay, MaxDelay: delay}
	if cmd.Has("twice") {
		w.Duplicate = 1000
	}
	p.c = newCluster(o, cmd.Members(), cmd.Is("preempt"), w)
	if _, ring := cmd.Option("ring"); ring {
		p.c.seat(cmd.Members())
	}
	p.c.checkers = append(p.c.checkers, checker{check: p.see})
	p.c.detector.minDelay, p.c.detector.maxDelay = o.delta(), o.delta()
	if text, ok := cmd.Option("sight"); ok {
		p.c.detector.sight = sight(text)
	}
	if p.c.algo.Leased {
		if p.c.Voters = cmd.Nodes("voters"); p.c.Voters == nil { // all vote
			for _, n := range p.c.nodes {
				p.c.Voters = append(p.c.Voters, n.id)
			}
		}
		p.c.Promise, p.c.Keep = cmp.Or(cmd.SpanOption("lease"), p.c.algo.Promise(p.c.delta)), cmd.Is("keep")
		if least := p.c.algo.Promise(p.c.delta); p.c.Promise < least {
			return fmt.Errorf("lease=%v: with a delta of %v it is at least %v", p.c.Promise, p.c.delta, least)
		}
	}
	if span := cmd.SpanOption("recovers"); recovers {
		p.c.hook = takes(span)
		if cmd.Has("fails") {
			p.c.hook = func() (time.Duration, algorithms.Outcome) { return span, failed }
		}
	}
	for i, off := range cmd.Spans("clocks") {
		p.c.node(cmd.Members()[i].ID).clock.offset = off
	}
	p.age(proto.Term(cmd.NumberOption("term")))
	p.c.trace.told = p.Record
	p.assemble(cmd.Has("cold"))
	kind, _ := cmd.Option("detector")
	p.c.detector.off = kind == string(None)
	return nil
}

func (p *Player) assemble(cold bool) {
	p.c.trace.mute = !cold
	p.c.assemble()
	if !cold {
		p.settle(time.Hour)
		p.c.trace.mute = false
		p.c.trace.zero = p.c.now
		p.c.tally = tally{}
		p.c.census.restart(p.c.now)
		p.tale = Tale{}
	}
}

// settle runs until all agree and nothing is under way.
func (p *Player) settle(limit time.Duration) bool {
	calm := func() bool { return p.c.census.agreed != never && p.c.flying == 0 }
	return calm() || p.c.runTo(p.c.now+limit, calm)
}

// see is a checker that finds nothing: it notes what is sent.
func (p *Player) see(s *step) string {
	p.sent = append(p.sent, s.out.Send...)
	p.tale.see(s)
	for _, m := range s.out.Send {
		p.seen = p.seen || p.awaited != nil && p.awaited.matches(m)
		if p.Sent != nil && !p.c.trace.mute {
			p.Sent(s.at-p.c.trace.zero, m)
		}
	}
	return ""
}

// node is the node that the command's i-th word names.
func (p *Player) node(cmd scenario.Command, i int) *node { return p.c.node(cmd.Node(i)) }

func (p *Player) crash(cmd scenario.Command) error {
	n := p.node(cmd, 0)
	word, within := cmd.Option("on")
	_, counted := cmd.Option("after")
	switch {
	case !within && counted:
		return errors.New("after=K needs on=KIND: the effects of which step?")
	case !within:
		p.c.kill(n)
	case n.life == nil:
		return fmt.Errorf("%d is dead already", n.id)
	default:
		d := doom{word: word, after: math.MaxInt}
		if counted {
			d.after = int(cmd.NumberOption("after"))
		}
		p.c.killWithin(n, d)
		p.pending = append(p.pending, plannedCrash{cmd, n.life})
	}
	return nil
}

func (p *Player) block(what string, links []link) {
	p.cuts[what] = links
	p.c.cut(links, what)
}

func (p *Player) mend(cmd scenario.Command) error {
	links, ok := p.cuts[cmd.Word(0)]
	if !ok {
		return errors.New("nothing of that name is cut")
	}
	p.c.uncut(links, cmd.Word(0))
	delete(p.cuts, cmd.Word(0))
	return nil
}

// next describes the next message of a kind, between nodes if they are named.
func next(cmd scenario.Command) doomed {
	return doomed{word: cmd.Word(0), left: 1, from: cmd.NodeOption("from"), to: cmd.NodeOption("to")}
}

// again lets the last message of the description arrive once more.
func (p *Player) again(cmd scenario.Command) error {
	d := next(cmd)
	for _, m := range slices.Backward(p.sent) {
		if d.matches(m) {
			p.c.trace.note(p.c.now, "%s of term %d arrives again at %d", m.Body, m.Term, m.To)
			p.c.flying++
			p.c.arrive(m, origin{promise: p.c.Promise}, 0)
			return nil
		}
	}
	return errors.New("no such message was sent")
}

func (p *Player) at(cmd scenario.Command) error {
	if cmd.Span(0) < p.now() {
		return fmt.Errorf("the time goes back: the run stands at %v already", p.now())
	}
	p.c.runUntil(p.c.trace.zero + cmd.Span(0))
	return nil
}

// patience is how long a scenario waits for what it says will come.
const patience = time.Minute

func (p *Player) until(cmd scenario.Command) error {
	awaited := next(cmd)
	if slices.ContainsFunc(p.sent[p.fresh:], awaited.matches) {
		return nil // by what the commands before did
	}
	p.awaited, p.seen = &awaited, false
	defer func() { p.awaited = nil }()
	if p.c.runTo(p.c.now+patience, func() bool { return p.seen }) {
		return nil
	}
	return fmt.Errorf("no such message was sent in %v; %s", patience, p.stands())
}

func (p *Player) agree() {
	agreed := p.settle(patience)
	p.counted = p.c.tally
	if !agreed {
		fmt.Fprintf(p.Out, "no agreement in a minute: %s\n", p.c.beliefs())
		return
	}
	e, _ := p.c.census.leadership()
	fmt.Fprintf(p.Out, "[%7.3f] all follow %d in term %d after %s\n",
		p.now().Seconds(), e.Leader, e.Term, p.counted.counts())
	p.c.tally = tally{}
}

// State returns the nodes that believe that they lead, and those that are down.
func (p *Player) State() (lead, down []proto.NodeID) {
	for _, n := range p.c.nodes {
		switch {
		case n.life == nil:
			down = append(down, n.id)
		case n.leads():
			lead = append(lead, n.id)
		}
	}
	return lead, down
}

func (p *Player) leads() string {
	lead, _ := p.State()
	if lead == nil {
		return "nobody"
	}
	return commas(lead)
}

// expect compares what came out with what the script expects.
func (p *Player) expect(cmd scenario.Command) error {
	e, agreed := p.c.census.leadership()
	counts := p.counted.counts()
	finding := ""
	if p.c.unnoticed() {
		finding = "incompleteness"
	}
	is := map[string]string{
		"leader": orNobody(e.Leader), "term": strconv.FormatUint(uint64(e.Term), 10),
		"times": strconv.Itoa(int(p.counted.deepest)), "agreed": strconv.FormatBool(agreed), "finding": finding,
		"bit": strconv.FormatUint(uint64(e.Leader)&1, 10), "leads": p.leads(),
	}
	var errs []error
	for key, want := range cmd.Options() {
		got, ok := is[key]
		if !ok {
			got = strconv.Itoa(counts[key])
		}
		if got != want {
			errs = append(errs, fmt.Errorf("%s is %s", key, got))
		}
	}
	if len(errs) > 0 {
		return fmt.Errorf("%w; %s", errors.Join(errs...), p.stands())
	}
	return nil
}
