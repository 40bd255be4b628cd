package sim

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/proto"
)

// Golden scenarios: each file of testdata is a list of commands and the trace
// that they give. `go test ./internal/sim -run Scenarios -rewrite` writes the
// traces anew; they are to be read then.
//
//	new algorithm=A nodes=N [delta=D] [preempt=true] [attrs=1,2,…] [sight=S] [cold]
//	    [voters=1,2,… [keep=true] [fence=true]] [recovers=D [fails]]  a cluster that has
//	                      agreed; cold: one that is starting; voters: one with a
//	                      lease, whether they keep promises to the dead, and have
//	                      fence agents; recovers: one that recovers from split brains, with a
//	                      hook that takes so long, and fails
//	campaign N            an operator calls an election at N
//	resign N [to=M]       an operator makes N step down
//	leave N [to=M]        the same, as a host does it: N asks first who could lead
//	transfer N [to=M]     an operator asks N for another leader
//	bar N [keep=true]     N is not eligible; keep: it leads on if it leads
//	unbar N               N is eligible again
//	crash N [on=KIND] [after=K]  now, or in a Step that sends KIND, after K effects
//	start N               a node that is down comes back
//	pause N for=D         N's process is stopped for a while
//	suspect N M, miss N M, trust N M   N's detector about M: wrong, wrong, right
//	partition 1,2|3       cuts groups off from each other
//	cut N>M, cut N-M, mend N>M, mend N-M   one direction, both
//	heal                  recovers from all cuts
//	lose KIND [from=N] [to=M]  the next such message
//	hold KIND [from=N] [to=M] for=D  the next such message comes so much later
//	again KIND from=N to=M     the last such message arrives once more
//	attr N V              N's attribute becomes V
//	run D                 for so long
//	agree                 until all agree and nothing is under way, then sums up
func TestScenarios(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		s := scenario{t: t}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			s.out.Reset()
			lines := []string{strings.TrimSpace(d.Cmd + " " + arguments(d.CmdArgs))}
			if d.Input != "" {
				lines = append(lines, strings.Split(d.Input, "\n")...)
			}
			for _, line := range lines {
				if err := s.do(line); err != nil {
					d.Fatalf(t, "%s: %v", line, err)
				}
			}
			return s.out.String()
		})
		if s.c != nil && len(s.c.violations) > 0 {
			t.Errorf("%v", s.c.violations)
		}
	})
}

func arguments(args []datadriven.CmdArg) string {
	words := make([]string, len(args))
	for i, a := range args {
		words[i] = a.Key
		if len(a.Vals) > 0 {
			words[i] += "=" + a.Vals[0]
		}
	}
	return strings.Join(words, " ")
}

// scenario is a cluster under command.
type scenario struct {
	t    *testing.T
	c    *cluster
	out  strings.Builder
	sent []proto.Message
	cuts map[string][]link
	json bool
}

// command is one line, taken apart.
type command struct {
	verb    string
	words   []string
	options map[string]string
}

func parse(line string) command {
	fields := strings.Fields(line)
	cmd := command{verb: fields[0], options: map[string]string{}}
	for _, f := range fields[1:] {
		if key, value, ok := strings.Cut(f, "="); ok {
			cmd.options[key] = value
		} else {
			cmd.words = append(cmd.words, f)
		}
	}
	return cmd
}

var errUsage = errors.New("unknown command, or a node, number or time is missing")

func (s *scenario) do(line string) (err error) {
	cmd := parse(line)
	defer func() {
		if recover() != nil {
			err = errUsage
		}
	}()
	verbs := map[string]func(command) error{
		"new": s.create, "campaign": s.campaign, "resign": s.resign, "leave": s.leave, "crash": s.crash,
		"start": s.start, "wipe": s.wipe, "pause": s.pause, "suspect": s.suspect, "miss": s.miss, "trust": s.trust,
		"partition": s.partition, "cut": s.cut, "mend": s.mend, "heal": s.heal, "lose": s.lose,
		"hold":  s.hold,
		"again": s.again, "bar": s.bar, "transfer": s.transfer, "unbar": s.unbar, "attr": s.attr,
		"run": s.run, "agree": s.agree,
	}
	verb, ok := verbs[cmd.verb]
	if !ok {
		return errUsage
	}
	return verb(cmd)
}

// create makes a cluster of nodes that know each other.
func (s *scenario) create(cmd command) error {
	n, err := strconv.Atoi(cmd.options["nodes"])
	if err != nil {
		return err
	}
	o := Options{
		Algorithm: algorithmOf(s.t, cmd.options["algorithm"]), Seed: 1,
		Trace: &s.out, TraceJSON: s.json, TraceCodes: true,
	}
	if _, ok := cmd.options["voters"]; ok {
		o.Algorithm = leased(s.t, cmd.options["algorithm"])
		o.Fence = cmd.options["fence"] == "true"
	}
	span, recovers := cmd.options["recovers"]
	if recovers {
		o.Algorithm = recovery(s.t, cmd.options["algorithm"])
	}
	if text, ok := cmd.options["delta"]; ok {
		if o.Delta, err = time.ParseDuration(text); err != nil {
			return err
		}
	}
	delay := o.delta() / 2
	s.cuts, s.sent = map[string][]link{}, nil
	s.c = newCluster(o, n, cmd.options["preempt"] == "true", weather{MinDelay: delay, MaxDelay: delay})
	s.c.checkers = append(s.c.checkers, checker{check: knower{s}.check})
	s.c.detector.minDelay, s.c.detector.maxDelay = o.delta(), o.delta()
	if text, ok := cmd.options["sight"]; ok {
		s.c.detector.sight = sight(text)
	}
	for i, text := range strings.Split(cmd.options["attrs"], ",") {
		if text != "" {
			s.c.nodes[i].attr, err = strconv.ParseInt(text, 10, 64)
		}
	}
	if err != nil {
		return err
	}
	s.vote(cmd)
	if recovers {
		d, err := time.ParseDuration(span)
		if err != nil {
			return err
		}
		s.c.hook = takes(d)
		if slices.Contains(cmd.words, "fails") {
			s.c.hook = func() (time.Duration, algorithms.Outcome) { return d, failed }
		}
	}
	s.assemble(slices.Contains(cmd.words, "cold"))
	return nil
}

// vote sets the voters up, if there are any.
func (s *scenario) vote(cmd command) {
	if !s.c.algo.Leased {
		return
	}
	for _, text := range strings.Split(cmd.options["voters"], ",") {
		s.c.Voters = append(s.c.Voters, nodeID(text))
	}
	s.c.Promise = s.c.algo.Promise(s.c.delta)
	s.c.Keep = cmd.options["keep"] == "true"
}

func (s *scenario) assemble(cold bool) {
	s.c.trace.mute = !cold
	s.c.assemble()
	if cold {
		return
	}
	s.settle(time.Hour)
	s.c.trace.mute = false
	s.c.trace.zero = s.c.now
	s.c.tally = tally{}
}

// settle runs until all agree and nothing is under way.
func (s *scenario) settle(limit time.Duration) bool {
	calm := func() bool { return s.c.census.agreed != never && s.c.flying == 0 }
	return calm() || s.c.runTo(s.c.now+limit, calm)
}

// knower keeps what is sent, for "again".
type knower struct{ *scenario }

func (w knower) check(s *step) string {
	w.sent = append(w.sent, s.out.Send...)
	return ""
}

// node is the node that the command's i-th word names.
func (s *scenario) node(cmd command, i int) *node { return s.c.node(nodeID(cmd.words[i])) }

func nodeID(text string) proto.NodeID {
	id, err := proto.ParseNodeID(text)
	if err != nil {
		panic(err)
	}
	return id
}

func optionalID(text string) proto.NodeID {
	if text == "" {
		return 0
	}
	return nodeID(text)
}

func (s *scenario) campaign(cmd command) error {
	s.c.operate(s.node(cmd, 0), algorithms.Campaign{Reason: "the operator asked"})
	return nil
}

func (s *scenario) resign(cmd command) error {
	s.c.operate(s.node(cmd, 0), algorithms.Resign{To: optionalID(cmd.options["to"])})
	return nil
}

func (s *scenario) leave(cmd command) error {
	to := optionalID(cmd.options["to"])
	s.c.giveWay(s.node(cmd, 0), to, algorithms.Resign{To: to})
	return nil
}

func (s *scenario) transfer(cmd command) error {
	s.c.transfer(s.node(cmd, 0), optionalID(cmd.options["to"]))
	return nil
}

func (s *scenario) bar(cmd command) error {
	keep := cmd.options["keep"] == "true"
	s.c.operate(s.node(cmd, 0), algorithms.Eligible{Keep: keep, Why: "the operator paused it"})
	return nil
}

func (s *scenario) unbar(cmd command) error {
	s.c.operate(s.node(cmd, 0), algorithms.Eligible{OK: true})
	return nil
}

func (s *scenario) crash(cmd command) error {
	word, within := cmd.options["on"]
	if !within {
		s.c.kill(s.node(cmd, 0))
		return nil
	}
	after, err := strconv.Atoi(cmd.options["after"])
	s.c.killWithin(s.node(cmd, 0), doom{word: word, after: after})
	return err
}

// wipe crashes a node and loses its disk.
func (s *scenario) wipe(cmd command) error {
	s.c.loseDisk(s.node(cmd, 0))
	return nil
}

func (s *scenario) start(cmd command) error {
	s.c.restart(s.node(cmd, 0))
	return nil
}

func (s *scenario) pause(cmd command) error {
	span, err := time.ParseDuration(cmd.options["for"])
	s.c.pause(s.node(cmd, 0), span)
	return err
}

func (s *scenario) suspect(cmd command) error {
	s.c.lieTo(s.node(cmd, 0), s.node(cmd, 1), suspects)
	return nil
}

func (s *scenario) miss(cmd command) error {
	s.c.lieTo(s.node(cmd, 0), s.node(cmd, 1), misses)
	return nil
}

func (s *scenario) trust(cmd command) error {
	s.c.truth(s.node(cmd, 0), s.node(cmd, 1))
	return nil
}

func (s *scenario) partition(cmd command) error {
	group := map[proto.NodeID]int{}
	for i, ids := range strings.Split(cmd.words[0], "|") {
		for _, text := range strings.Split(ids, ",") {
			group[nodeID(text)] = i
		}
	}
	s.block(cmd.words[0], s.c.split(func(id proto.NodeID) int { return group[id] }))
	return nil
}

func (s *scenario) cut(cmd command) error {
	what := cmd.words[0]
	if from, to, ok := strings.Cut(what, ">"); ok {
		s.block(what, oneWay(nodeID(from), nodeID(to)))
		return nil
	}
	a, b, _ := strings.Cut(what, "-")
	s.block(what, bothWays(nodeID(a), nodeID(b)))
	return nil
}

func (s *scenario) block(what string, links []link) {
	s.cuts[what] = links
	s.c.cut(links, what)
}

func (s *scenario) mend(cmd command) error {
	s.c.uncut(s.cuts[cmd.words[0]], cmd.words[0])
	delete(s.cuts, cmd.words[0])
	return nil
}

func (s *scenario) heal(command) error {
	s.c.network.clear()
	s.c.uncut(nil, "all")
	return nil
}

// next describes the next message of a kind, between nodes if they are named.
func next(cmd command) doomed {
	return doomed{
		word: cmd.words[0], left: 1,
		from: optionalID(cmd.options["from"]), to: optionalID(cmd.options["to"]),
	}
}

func (s *scenario) lose(cmd command) error {
	s.c.lose(next(cmd))
	return nil
}

func (s *scenario) hold(cmd command) error {
	span, err := time.ParseDuration(cmd.options["for"])
	s.c.holdBack(held{doomed: next(cmd), by: span})
	return err
}

// again lets the last message of the description arrive once more.
func (s *scenario) again(cmd command) error {
	d := next(cmd)
	for _, m := range slices.Backward(s.sent) {
		if d.matches(m) {
			s.c.trace.note(s.c.now, "%s of term %d arrives again at %d", m.Body, m.Term, m.To)
			s.c.flying++
			s.c.arrive(m, s.c.Promise, 0)
			return nil
		}
	}
	return errors.New("no such message was sent")
}

func (s *scenario) attr(cmd command) error {
	v, err := strconv.ParseInt(cmd.words[1], 10, 64)
	s.c.rerank(s.node(cmd, 0), v)
	return err
}

func (s *scenario) run(cmd command) error {
	span, err := time.ParseDuration(cmd.words[0])
	s.c.runUntil(s.c.now + span)
	return err
}

func (s *scenario) agree(command) error {
	if !s.settle(time.Minute) {
		fmt.Fprintf(&s.out, "no agreement in a minute: %s\n", s.c.beliefs())
		return nil
	}
	e, _ := s.c.census.leadership()
	fmt.Fprintf(&s.out, "[%7.3f] all follow %d in term %d after %s\n",
		(s.c.now - s.c.trace.zero).Seconds(), e.Leader, e.Term, s.c.tally.counts())
	s.c.tally = tally{}
	return nil
}
