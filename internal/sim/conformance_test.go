package sim

import (
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/internal/long"
	"github.com/ringleader-dev/ringleader/internal/scenario"
	"github.com/ringleader-dev/ringleader/proto"
)

// The conformance suite: "one promise, tested the same way for all". It runs
// over every entry of the catalogue, alone and with voters, so an algorithm
// that is added is tested without a word here.
//
// Where TestFaultSchedules draws faults, this suite goes through them one by one:
// at every message of an election, for every pair of nodes, for every way to cut
// a small cluster in two. Each trial starts from agreement, has a cause and a
// fault, and heals. No checker may object, those of the lease included, and all
// must agree within the algorithm's stated bound, and then be quiet.
func TestConformance(t *testing.T) {
	for _, e := range catalog.All() {
		t.Run(e.Name, func(t *testing.T) {
			t.Parallel()
			conform(t, entered(e), sizesOf(t)...)
		})
		if e.OwnLease {
			continue // it has leases of its own
		}
		if e.Guarantee == algorithms.BestEffort {
			t.Run(e.Name+" on a store", func(t *testing.T) {
				t.Parallel()
				conform(t, entered(e.WithStore(algorithms.Lease)), sizesOnStore(t, e.Name)...)
			})
		}
		if sizes := sizesUnderLease(t, e.Name); len(sizes) > 0 {
			t.Run(e.Name+" with voters", func(t *testing.T) {
				t.Parallel()
				conform(t, entered(e.WithLease()), sizes...)
			})
		}
	}
}

func TestLongConformance(t *testing.T) { TestConformance(t) }

// entered is a catalogue's entry as the simulator takes it.
func entered(e catalog.Entry) Algorithm {
	return Algorithm{
		Name: e.Name, Guarantee: e.Guarantee, Preempt: e.Preempt, New: e.New,
		Agreement: e.Agreement, Leased: e.Leased, OwnLease: e.OwnLease, Promise: e.Promise, Store: e.Stored,
	}
}

// The numbers of nodes that the suite tries in make test, and beyond that in make
// test-long. Of many, a sample of the trials must do.
var (
	few  = []int{1, 2, 3, 5}
	more = []int{7, many}
)

const many = 50

func sizesOf(t *testing.T) []int {
	if long.Test(t) {
		return more
	}
	return few
}

// sizesUnderLease are those of an algorithm under a lease. Most of what is tried is the lease
// machine, the same around all of them: in make test the nominators stand for the others,
// which make test-long tries with few nodes too.
func sizesUnderLease(t *testing.T, name string) []int {
	switch {
	case slices.Contains(nominators, name):
		return sizesOf(t)
	case long.Test(t):
		return slices.Concat(few, more)
	default:
		return nil
	}
}

// sizesOnStore are those of an algorithm on a store, of which the same is true.
func sizesOnStore(t *testing.T, name string) []int {
	if sizes := sizesUnderLease(t, name); len(sizes) > 0 {
		return sizes
	}
	return []int{3}
}

// The suite objects to what breaks the promise: each flaw of the toy that faults
// bring to light.
func TestConformanceObjects(t *testing.T) {
	for _, f := range []flaw{forgetful, gullible, reborn, deafened, sleepy, stormy} {
		var o objections
		done := make(chan bool)
		go func() {
			defer close(done)
			conform(&o, toyAlgorithm(f), few...)
		}()
		if <-done; o.first == "" {
			t.Errorf("a toy that %s passed", f)
		}
	}
}

// objections is a tester that keeps the first objection.
type objections struct{ first string }

func (o *objections) Helper()      {}
func (o *objections) Failed() bool { return o.first != "" }
func (o *objections) Fatalf(format string, args ...any) {
	o.first = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

// tester is what the suite needs of a testing.T.
type tester interface {
	Helper()
	Failed() bool
	Fatalf(format string, args ...any)
}

// conform runs the whole suite on one algorithm, with each number of nodes.
func conform(t tester, a Algorithm, sizes ...int) {
	for _, n := range sizes {
		if a.Leased && n == 7 {
			continue // nothing is new with seven, and its attacks draw that many
		}
		s := suite{t: t, algo: a, nodes: n}
		s.electsTheBest()
		s.everyMessage()
		s.disagreeingViews()
		s.partitions()
		s.restarts()
		s.joiners()
		s.badWeather()
		if t.Failed() {
			return // what is wrong with three nodes is wrong with fifty
		}
	}
}

// suite is the trials of one algorithm on one number of nodes.
type suite struct {
	t     tester
	algo  Algorithm
	nodes int
	made  int // trials so far
}

// trial is one run of the suite.
type trial struct {
	name  string
	attrs func(id int) int64    // nil: all the same
	cold  bool                  // nobody is up, and nothing agreed, when do begins
	sight sight                 // of cuts in the network; seesLinks if empty
	tap   func(*cluster) onSend // watches the messages of the trial; nil for none
	do    func(*cluster)        // the cause, and the faults
	dead  bool                  // the dead stay dead, where there are no voters to be lost
	quiet bool                  // wait for quiet; of other trials, only every fifth does
}

// onSend is told of each message that is about to leave its node, effect being
// its place among the effects of its Step.
type onSend func(n *node, m proto.Message, effect int)

// long is how long, in Deltas, faults last that outlive a round.
func (s *suite) long() time.Duration {
	long := 60 * DefaultDelta
	if s.algo.Leased {
		long += 2 * s.algo.Promise(DefaultDelta)
	}
	return long
}

// try makes one trial, and if it fails shows how that came.
func (s *suite) try(tr trial) {
	s.t.Helper()
	s.made++
	if violations, _ := s.perform(tr, nil); len(violations) > 0 {
		var trace strings.Builder
		_, _ = s.perform(tr, &trace)
		s.t.Fatalf("%d nodes, preempt %v, %s: %v\n%s",
			s.nodes, s.preempt(), tr.name, violations, tail(trace.String()))
	}
}

// preempt is on in every other trial.
func (s *suite) preempt() bool { return s.made%2 == 0 }

// tail is the end of a trace that is too long to read.
func tail(s string) string {
	const most = 12_000
	if len(s) > most {
		return "…" + s[len(s)-most:]
	}
	return s
}

// perform runs the trial and returns what was violated, and the leader.
func (s *suite) perform(tr trial, trace io.Writer) ([]Violation, proto.NodeID) {
	var tap func(proto.Message, int)
	c := s.stage(tr, trace, &tap)
	if !tr.cold {
		s.settle(c)
	}
	if tr.tap != nil {
		watch := tr.tap(c)
		tap = func(m proto.Message, effect int) { watch(c.node(m.From), m, effect) }
	}
	tr.do(c)
	tap = nil
	c.heal(plan{StayDead: s.lost(c, tr)})
	c.demandAgreement()
	e, _ := c.census.leadership()
	return c.violations, e.Leader
}

// stage makes a cluster that is down. What its nodes send, tap sees.
func (s *suite) stage(tr trial, trace io.Writer, tap *func(proto.Message, int)) *cluster {
	o := Options{Algorithm: s.algo, Seed: uint64(s.nodes), Trace: trace}
	o.Algorithm.New = func(cfg algorithms.Config) algorithms.Machine {
		return tapped{Machine: s.algo.New(cfg), tap: tap}
	}
	c := newCluster(o, scenario.Numbered(s.nodes), s.preempt(), calm(o.delta()))
	c.Brief = !tr.quiet && s.made%5 != 0
	c.healAt = never / 2
	c.detector.sight, c.detector.maxDelay = seesLinks, c.delta
	if tr.sight != "" {
		c.detector.sight = tr.sight
	}
	if s.algo.Leased {
		c.Promise = s.algo.Promise(c.delta)
	}
	if s.algo.Leased && !s.algo.Store {
		for id := range min(s.nodes, mostVoters) {
			c.Voters = append(c.Voters, proto.NodeID(id+1))
		}
	}
	for i, n := range c.nodes {
		if tr.attrs != nil {
			n.attr = tr.attrs(i + 1)
		}
	}
	return c
}

// mostVoters of a crowd decide for all.
const mostVoters = 7

// settle brings the cluster to its first agreement, unseen.
func (s *suite) settle(c *cluster) {
	c.trace.mute = true
	c.assemble()
	calmed := func() bool { return c.census.agreed != never && c.now >= c.lastMail }
	if !c.runTo(c.algo.Agreement(c.delta, s.nodes), calmed) {
		c.violated(agreement, 0, c.beliefs())
	}
	c.trace.mute = false
}

// lost are the nodes that do not come back when all heals: one at least does.
func (s *suite) lost(c *cluster, tr trial) (ids []proto.NodeID) {
	if !tr.dead || s.algo.Leased {
		return nil
	}
	most := s.nodes - 1
	if s.algo.Guarantee == algorithms.Quorum {
		most = minority(s.nodes)
	}
	for _, n := range c.nodes {
		if n.life == nil && len(ids) < most {
			ids = append(ids, n.id)
		}
	}
	return ids
}

// tapped is a Machine whose messages are watched as they leave.
type tapped struct {
	algorithms.Machine
	tap *func(m proto.Message, effect int)
}

func (m tapped) Step(now time.Time, ev algorithms.Event) algorithms.Output {
	out := m.Machine.Step(now, ev)
	if *m.tap == nil {
		return out
	}
	effect := 0
	if out.Save != nil {
		effect++
	}
	for _, msg := range out.Send {
		effect++
		(*m.tap)(msg, effect)
	}
	return out
}

// What calls an election.
var causes = []struct {
	name string
	do   func(*cluster)
}{
	{"the leader dies", func(c *cluster) { c.kill(c.leader()) }},
	{"the lowest calls", func(c *cluster) {
		c.operate(c.node(1), algorithms.Campaign{Reason: "the operator asked"})
	}},
	{"the leader resigns", func(c *cluster) { c.operate(c.leader(), algorithms.Resign{}) }},
	{"all call", func(c *cluster) {
		for _, n := range c.nodes {
			c.operate(n, algorithms.Campaign{Reason: "the operator asked"})
		}
	}},
}

// electsTheBest: "For all non-faulty processes p: p's elected = q, a particular
// non-faulty process with the best attribute value", whoever calls the election,
// and with equal attributes and ties.
func (s *suite) electsTheBest() {
	for name, attrs := range map[string]func(id int) int64{
		"equal attributes":      func(int) int64 { return 7 },
		"ties":                  func(id int) int64 { return int64(id % 2) },
		"the lowest id is best": func(id int) int64 { return -int64(id) },
	} {
		for _, cause := range causes {
			if cause.name == "the leader resigns" {
				continue // it stands aside
			}
			best := s.best(attrs, 0)
			next := best
			if cause.name == "the leader dies" {
				next = s.best(attrs, best)
				if s.algo.Guarantee == algorithms.Quorum && minority(s.nodes) == 0 {
					next = 0 // who is left is no majority
				}
			}
			elected := next
			s.made++
			violations, leader := s.perform(trial{attrs: attrs, quiet: true, do: func(c *cluster) {
				cause.do(c)
				calm := func() bool { return c.census.agreed != never && c.now >= c.lastMail }
				c.runTo(c.now+c.algo.Agreement(c.delta, s.nodes), calm)
				e, _ := c.census.leadership()
				elected = e.Leader
			}}, nil)
			switch {
			case len(violations) > 0,
				elected != next && !s.algo.Leased, // there, a holder that is well stays
				s.preempt() && leader != best:
				s.t.Fatalf("%d nodes, %s, %s: %v, elected %d, want %d; in the end %d, want %d",
					s.nodes, name, cause.name, violations, elected, next, leader, best)
			}
		}
	}
}

// best is the highest-ranked voter or node, leaving one out.
func (s *suite) best(attrs func(id int) int64, but proto.NodeID) proto.NodeID {
	var best proto.Rank
	for id := 1; id <= s.nodes; id++ {
		rank := proto.Rank{Attr: attrs(id), ID: proto.NodeID(id)}
		if s.algo.Leased && !s.algo.Store && id > mostVoters || rank.ID == but {
			continue
		}
		if best.ID == 0 || rank.Compare(best) > 0 {
			best = rank
		}
	}
	return best.ID
}

// What happens at one message of an election. n is its sender; the message is
// about to leave.
var tampers = []struct {
	name string
	do   func(c *cluster, n *node, m proto.Message, effect int)
}{
	{"its sender dies after it", func(_ *cluster, n *node, _ proto.Message, effect int) {
		n.life.doom = &doom{after: effect}
	}},
	{"its sender dies before it and comes back", func(c *cluster, n *node, _ proto.Message, effect int) {
		n.life.doom = &doom{after: effect - 1}
		c.later(5*c.delta, func() { c.restart(n) })
	}},
	{"its receiver dies", func(c *cluster, _ *node, m proto.Message, _ int) {
		c.kill(c.node(m.To))
	}},
	{"its receiver dies and comes back at once", func(c *cluster, _ *node, m proto.Message, _ int) {
		c.kill(c.node(m.To))
		c.later(c.delta/2, func() { c.restart(c.node(m.To)) })
	}},
	{"it is lost", func(c *cluster, _ *node, m proto.Message, _ int) {
		c.lose(this(m))
	}},
	{"it comes late", func(c *cluster, _ *node, m proto.Message, _ int) {
		c.holdBack(held{doomed: this(m), by: 3 * c.delta})
	}},
	{"it comes once more, much later", func(c *cluster, _ *node, m proto.Message, _ int) {
		c.holdBack(held{doomed: this(m), by: 25 * c.delta, again: true})
	}},
	{"its sender hangs after it", func(c *cluster, n *node, m proto.Message, _ int) {
		n.life.stun = &stun{word: m.Body.Kind().String(), span: 20 * c.delta}
	}},
}

// this matches the message that is about to leave.
func this(m proto.Message) doomed {
	return doomed{word: m.Body.Kind().String(), from: m.From, to: m.To, left: 1}
}

// everyMessage: "you need to handle crashes at any point during this process",
// and what else can happen to a message, or because of it.
func (s *suite) everyMessage() {
	for _, cause := range causes {
		if (s.nodes == many || s.algo.Leased) && cause.name != "the leader dies" {
			continue
		}
		total := s.rehearse(cause.do)
		for _, tamper := range tampers {
			for _, at := range s.points(total) {
				s.try(trial{
					name: fmt.Sprintf("%s, and at message %d %s", cause.name, at, tamper.name),
					tap:  when(at, tamper.do),
					do: func(c *cluster) {
						cause.do(c)
						c.runUntil(c.now + s.long())
					},
					dead: true,
				})
			}
		}
	}
}

// rehearse counts the messages of the election that the cause calls.
func (s *suite) rehearse(cause func(*cluster)) int {
	total := 0
	s.perform(trial{
		tap: func(*cluster) onSend {
			return func(*node, proto.Message, int) { total++ }
		},
		do: func(c *cluster) {
			cause(c)
			// Until all agree, or for a few trips round.
			c.runTo(c.now+s.long(), func() bool { return c.census.agreed != never && c.flying == 0 })
		},
	}, nil)
	return total
}

// when calls do at one message.
func when(
	at int, do func(c *cluster, n *node, m proto.Message, effect int),
) func(*cluster) onSend {
	return func(c *cluster) onSend {
		seen := 0
		return func(n *node, m proto.Message, effect int) {
			if seen++; seen == at {
				do(c, n, m, effect)
			}
		}
	}
}

// points are the messages of an election to try, from 1 on: all of them, or some
// that are spread evenly where there are more than most. Those with voters are tried by
// its own attacks too.
func (s *suite) points(total int) []int {
	most := 64
	switch {
	case s.nodes == many:
		most = 4
	case s.algo.Leased:
		most = 16
	}
	var at []int
	for i := range min(total, most) {
		at = append(at, 1+i*total/min(total, most))
	}
	return at
}

// disagreeingViews: "failure detectors may not be both complete and accurate".
func (s *suite) disagreeingViews() {
	if s.nodes == 1 {
		return
	}
	wrong := func(name string, lies func(c *cluster)) {
		for _, cause := range causes[:2] {
			s.try(trial{
				name: fmt.Sprintf("%s, and %s", name, cause.name),
				do: func(c *cluster) {
					lies(c)
					cause.do(c)
					c.runUntil(c.now + s.long())
				},
			})
		}
	}
	for _, l := range []lie{suspects, misses} {
		for _, pair := range s.pairs() {
			wrong(fmt.Sprintf("%d %v %d", pair.from, l, pair.to), func(c *cluster) {
				c.lieTo(c.node(pair.from), c.node(pair.to), l)
			})
		}
		wrong(fmt.Sprintf("each half %v the other", l), func(c *cluster) {
			for _, a := range c.nodes {
				for _, b := range c.nodes {
					if a.id%2 != b.id%2 {
						c.lieTo(a, b, l)
					}
				}
			}
		})
		wrong(fmt.Sprintf("everybody %v its next", l), func(c *cluster) {
			for i, a := range c.nodes {
				c.lieTo(a, c.nodes[(i+1)%len(c.nodes)], l)
			}
		})
	}
}

// pairs are all ordered pairs of nodes, or some of a crowd's.
func (s *suite) pairs() (pairs []link) {
	ids := []int{1, 2, s.nodes / 2, s.nodes - 1, s.nodes}
	if s.nodes < many {
		ids = ids[:0]
		for id := range s.nodes {
			ids = append(ids, id+1)
		}
	}
	for _, a := range ids {
		for _, b := range ids {
			if a != b {
				pairs = append(pairs, link{proto.NodeID(a), proto.NodeID(b)})
			}
		}
	}
	if s.nodes == many {
		return pairs[:6]
	}
	return pairs
}

// partitions: "in a partition each side has a leader"; when it heals, they
// become one again. With voters, one side at most has one.
func (s *suite) partitions() {
	for _, side := range s.sides() {
		for _, sees := range []sight{seesCrashes, seesPaths, seesLinks} {
			s.try(trial{
				name:  fmt.Sprintf("cut off %v, detectors see %s", side, sees),
				sight: sees,
				do: func(c *cluster) {
					c.cut(c.split(func(id proto.NodeID) int {
						return boolToInt(slices.Contains(side, id))
					}), "in two")
					c.operate(c.node(side[0]), algorithms.Campaign{Reason: "the operator asked"})
					c.runUntil(c.now + s.long())
				},
			})
		}
	}
	for _, pair := range s.pairs() {
		s.try(trial{
			name:  fmt.Sprintf("cut from %d to %d, seen by nobody", pair.from, pair.to),
			sight: seesCrashes,
			do: func(c *cluster) {
				c.cut([]link{pair}, "one way")
				causes[1].do(c)
				c.runUntil(c.now + s.long())
			},
		})
	}
}

func boolToInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// sides are the ways to cut the nodes in two: all of a small cluster, without
// naming one twice, and some of a larger one.
func (s *suite) sides() [][]proto.NodeID {
	var all [][]proto.NodeID
	if s.nodes > 5 {
		for _, most := range []int{1, s.nodes / 2, s.nodes - 1} {
			var low, odd []proto.NodeID
			for id := 1; id <= most; id++ {
				low = append(low, proto.NodeID(id))
				odd = append(odd, proto.NodeID((2*id-1)%s.nodes+1))
			}
			all = append(all, low, odd)
		}
		return all
	}
	for mask := 1; mask < 1<<(s.nodes-1); mask++ {
		var side []proto.NodeID
		for id := range s.nodes {
			if mask>>id&1 == 1 {
				side = append(side, proto.NodeID(id+1))
			}
		}
		all = append(all, side)
	}
	return all
}

// restarts: what a node said in a former life binds it, and nobody else.
func (s *suite) restarts() {
	s.try(trial{name: "all lose power at once", do: func(c *cluster) {
		for _, n := range c.nodes {
			c.kill(n)
		}
		c.runUntil(c.now + c.delta)
		for _, n := range c.nodes {
			c.restart(n)
		}
		c.runUntil(c.now + s.long())
	}})
	s.try(trial{name: "all restart, one after the other", do: func(c *cluster) {
		for _, n := range c.nodes {
			c.kill(n)
			c.runUntil(c.now + 2*c.delta)
			c.restart(n)
			c.runUntil(c.now + 20*c.delta)
		}
	}})
	s.try(trial{name: "the leader restarts before anybody notices", do: func(c *cluster) {
		leader := c.leader()
		c.kill(leader)
		c.restart(leader)
		c.runUntil(c.now + s.long())
	}})
	s.try(trial{name: "the leader restarts again and again", do: func(c *cluster) {
		for range 5 {
			if leader := c.leader(); leader != nil {
				c.kill(leader)
				c.runUntil(c.now + c.delta/2)
				c.restart(leader)
			}
			c.runUntil(c.now + 3*c.delta)
		}
	}})
}

// joiners: a node that comes late finds the leader, or becomes it.
func (s *suite) joiners() {
	for _, late := range s.someNodes() {
		s.try(trial{name: fmt.Sprintf("%d joins late", late), cold: true, do: func(c *cluster) {
			for _, n := range c.nodes {
				if n.id != late {
					c.restart(n)
				}
			}
			c.runUntil(c.now + s.long())
			c.restart(c.node(late))
			c.runUntil(c.now + s.long())
		}})
	}
	for name, next := range map[string]func(i int) int{
		"lowest first":  func(i int) int { return i },
		"highest first": func(i int) int { return s.nodes - 1 - i },
	} {
		s.try(trial{name: "all join one by one, " + name, cold: true, do: func(c *cluster) {
			for i := range c.nodes {
				c.restart(c.nodes[next(i)])
				c.runUntil(c.now + 7*c.delta)
			}
		}})
	}
}

// someNodes are all nodes, or the ends of a crowd.
func (s *suite) someNodes() (ids []proto.NodeID) {
	for id := range proto.NodeID(s.nodes) {
		if s.nodes < many || id < 1 || id > many-3 {
			ids = append(ids, id+1)
		}
	}
	return ids
}

// badWeather: messages are lost, come twice and overtake each other.
func (s *suite) badWeather() {
	for name, w := range map[string]weather{
		"three in ten are lost": {MaxDelay: DefaultDelta, Loss: 300},
		"all come twice":        {MaxDelay: DefaultDelta, Duplicate: 1000},
		"they overtake each other": {
			MinDelay: DefaultDelta / 100, MaxDelay: 2 * DefaultDelta, Straggle: 100, Straggler: 30 * DefaultDelta,
		},
	} {
		for _, cause := range causes {
			s.try(trial{name: fmt.Sprintf("%s, %s", name, cause.name), do: func(c *cluster) {
				c.network.weather = w
				cause.do(c)
				c.runUntil(c.now + s.long())
			}})
		}
	}
}
