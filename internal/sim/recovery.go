package sim

import (
	"fmt"
	"slices"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/proto"
)

// What a run of an algorithm that recovers from split brains has beyond others: hosts that
// reconcile, and the times for which two led.

// reconcile plays a host that reconciles for a process. The host takes a while and may fail. It
// gives no answer if the process has ended by then.
func (c *cluster) reconcile(n *node, asked *algorithms.Split) {
	l := n.life
	if asked == nil || l.reconciles == asked.Number {
		return
	}
	l.reconciles = asked.Number
	span, outcome := c.hook()
	if c.healed {
		span = min(span, 2*c.delta)
	}
	c.queue.plan(c.now+span, func() {
		c.attend(n, l, func() {
			c.step(n, algorithms.Reconciled{Number: asked.Number, Outcome: outcome}, c.root)
		})
	})
}

// hook is the command that a host runs to reconcile. It returns how long the command takes, and how
// it ends.
type hook func() (time.Duration, algorithms.Outcome)

// takes returns a hook that succeeds after span.
func takes(span time.Duration) hook {
	return func() (time.Duration, algorithms.Outcome) {
		return span, algorithms.Outcome{Done: true, Tries: 1}
	}
}

var failed = algorithms.Outcome{Done: true, Tries: 3, Exit: 1, Problem: "exit status 1"}

// unreliable plays a hook that may take long, and may fail.
func (c *cluster) unreliable() (time.Duration, algorithms.Outcome) {
	span, outcome := takes(c.dice.between(0, one(c.dice, time.Duration(0), 1, 20)*c.delta))()
	if c.dice.chance(100) {
		outcome = failed
	}
	return span, outcome
}

// recoveryCheckers returns the checkers for the recovery from split brains.
func recoveryCheckers(c *cluster) []checker {
	return []checker{
		{
			Invariant{"stopped-first", "what two leaders did is reconciled only when neither leads any more " +
				"and the work of both has stopped, unless it was not in reach"},
			(&stoppedFirst{lives: map[proto.Incarnation]*life{}}).check,
		},
		{Invariant{"true-overlap", "a split is told of leaderships that were, and for as long as they " +
			"overlapped, but for the drift of clocks and the way of messages"}, c.leaderships.check},
		{Invariant{"stop-kept", "who hears of a stop from the one that it follows follows nobody until " +
			"that is over, or another is nominated"}, (&stopKept{}).check},
		{Invariant{"stop-said", "who recovers from a split leads nothing meanwhile, and tells the others " +
			"again and again"}, recoveries{}.check},
		{
			Invariant{"reconciled-first", "a split is done with only when its own reconciling has ended, and " +
				"no leadership of who recovered from it goes on after that"},
			(&reconciledFirst{map[proto.Leadership]bool{}}).check,
		},
		{Invariant{"handed-over", "a leadership that was handed over, and the one that it was handed over " +
			"to, are no split of two"}, handOvers{}.check},
	}
}

// handOvers maps each leadership that was handed over to the one that followed it.
type handOvers map[proto.Leadership]proto.Leadership

func (k handOvers) check(s *step) string {
	if ev, ok := s.ev.(algorithms.Receive); ok && s.claims() && s.prev().ID != s.node.id {
		if b, ok := ev.Body.(proto.TakeOver); ok {
			k[proto.Leadership{Term: ev.Term, Leader: ev.From, Incarnation: b.Incarnation}] = s.out.Leader.Leadership()
		}
	}
	for _, split := range s.out.Splits {
		r := split.Leaderships
		if len(r) == 2 && (k[r[0].Leadership] == r[1].Leadership || k[r[1].Leadership] == r[0].Leadership) {
			return fmt.Sprintf("tells of a split between %v and %v", r[0].Leadership, r[1].Leadership)
		}
	}
	return ""
}

type stoppedFirst struct{ lives map[proto.Incarnation]*life }

func (k *stoppedFirst) check(s *step) string {
	if _, ok := s.ev.(algorithms.Start); ok {
		k.lives[s.node.life.incarnation] = s.node.life
	}
	for _, r := range reconciled(s.out) {
		l, n := k.lives[r.Leadership.Incarnation], s.cluster.node(r.Leadership.Leader)
		inReach := slices.ContainsFunc(s.node.life.view, func(p proto.Peer) bool {
			return p.ID == n.id && p.Incarnation == r.Leadership.Incarnation
		})
		if n.life != l || !inReach {
			continue
		}
		if l.belief.Leadership() == r.Leadership || slices.Contains(l.working, r.Leadership.Term) {
			return fmt.Sprintf("reconciles while %d goes on in term %d", n.id, r.Leadership.Term)
		}
	}
	return ""
}

// reconciled returns the leaderships that the host is told to reconcile in this Step.
func reconciled(out algorithms.Output) []algorithms.Leadership {
	for _, s := range out.Splits {
		if s.Stage == algorithms.Reconciling {
			return s.Leaderships
		}
	}
	return nil
}

// span is a leadership in true time. The field till has the value never while the leadership lasts.
type span struct {
	life       *life
	from, till time.Duration
	recovered  bool
}

// trueOverlap records the leaderships in true time.
type trueOverlap struct {
	cluster     *cluster
	leaderships map[proto.Leadership]*span
}

func (k *trueOverlap) check(s *step) string {
	was, is := s.prev(), s.out.Leader
	if was.Leadership() != is.Leadership() {
		if r := k.leaderships[was.Leadership()]; r != nil && was.ID == s.node.id {
			r.till = s.at
		}
		if is.ID == s.node.id {
			k.leaderships[is.Leadership()] = &span{life: s.node.life, from: s.at, till: never}
		}
	}
	for _, split := range s.out.Splits {
		if off := k.compare(s, split); off != "" && split.Number > 0 {
			return off
		}
	}
	return ""
}

// compare returns what is wrong with the report of a split; "" if nothing is.
func (k *trueOverlap) compare(s *step, split algorithms.Split) string {
	longest, reach := time.Duration(0), time.Duration(0)
	for i, a := range split.Leaderships {
		x := k.leaderships[a.Leadership]
		if x == nil {
			return fmt.Sprintf("node %d never led term %d", a.Leadership.Leader, a.Leadership.Term)
		}
		done := split.Stage == algorithms.Electing || split.Stage == algorithms.Recovered
		x.recovered = x.recovered || done
		reach = max(reach, a.Led+a.Ago)
		for _, b := range split.Leaderships[:i] {
			if y := k.leaderships[b.Leadership]; x.life != y.life {
				longest = max(longest, min(x.till, y.till, s.at)-max(x.from, y.from))
			}
		}
	}
	slack := k.slack(reach)
	if off := split.Overlap - longest; off > slack || off < -slack {
		return fmt.Sprintf("tells of %v, it was %v, within %v", split.Overlap, longest, slack)
	}
	return ""
}

// slack returns how wrong a reported overlap may be: clocks drift, and a report may be under way up
// to three times, passed on by others, or wait at a paused process.
func (k *trueOverlap) slack(reach time.Duration) time.Duration {
	return 3*(60*k.cluster.delta+k.cluster.longestPause) + scale(reach, 3*maxDriftPPM, million)
}

var recoveredInTheEnd = Invariant{"recovered-in-the-end", "two nodes that led at once for long were part " +
	"of a split that was recovered from, if both processes lived on"}

// forgotten returns pairs of leaderships that overlapped for long, and of which neither was part of
// a split that was recovered from. The processes of both still run.
func (k *trueOverlap) forgotten() (pairs [][2]*span) {
	long := 10*k.cluster.delta + k.cluster.longestPause
	var alive []*span
	for _, r := range k.leaderships {
		if r.life.isOf(k.cluster) {
			alive = append(alive, r)
		}
	}
	for i, a := range alive {
		for _, b := range alive[:i] {
			both := min(a.till, b.till, k.cluster.now) - max(a.from, b.from)
			if a.life != b.life && both > long && !a.recovered && !b.recovered {
				pairs = append(pairs, [2]*span{a, b})
			}
		}
	}
	return pairs
}

// isOf reports whether the process runs.
func (l *life) isOf(c *cluster) bool {
	return slices.ContainsFunc(c.nodes, func(n *node) bool { return n.life == l })
}

// demandRecovery checks that every split whose leaders lived on was recovered from.
func (c *cluster) demandRecovery() {
	if c.leaderships == nil {
		return
	}
	for _, p := range c.leaderships.forgotten() {
		c.violated(recoveredInTheEnd, 0, fmt.Sprintf("one led from %v to %v, one from %v to %v",
			p[0].from, p[0].till, p[1].from, p[1].till))
	}
}
