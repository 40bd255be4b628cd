package sim

import (
	"fmt"
	"slices"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/proto"
)

// What a run of an algorithm that mends split brains has beyond others: hosts that
// reconcile, and the times for which two led.

// reconcile lets the host do what the process asks for: it takes a while, may
// fail, and ends without an answer when the process asks no more.
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

// hook is what a host runs to reconcile: how long it takes, and how it ends.
type hook func() (time.Duration, algorithms.Outcome)

// takes is one that succeeds after so long.
func takes(span time.Duration) hook {
	return func() (time.Duration, algorithms.Outcome) {
		return span, algorithms.Outcome{Done: true, Tries: 1}
	}
}

var failed = algorithms.Outcome{Done: true, Tries: 3, Exit: 1, Problem: "exit status 1"}

// unreliable is one that may take long, or fail.
func (c *cluster) unreliable() (time.Duration, algorithms.Outcome) {
	span, outcome := takes(c.dice.between(0, one(c.dice, time.Duration(0), 1, 20)*c.delta))()
	if c.dice.chance(100) {
		outcome = failed
	}
	return span, outcome
}

// mendCheckers are the invariants of the mending of split brains.
func mendCheckers(c *cluster) []checker {
	return []checker{
		&stoppedFirst{lives: map[proto.Session]*life{}},
		c.reigns,
		&truceKept{},
		mendings{},
		&reconciledFirst{map[proto.Epoch]bool{}},
		handOvers{},
	}
}

// handOvers are the reigns that were handed over, each with the one that followed.
type handOvers map[proto.Epoch]proto.Epoch

func (handOvers) invariant() Invariant {
	return Invariant{"handed-over", "a reign that was handed over, and the one that it was handed " +
		"over to, are no split of two"}
}

func (k handOvers) check(s *step) string {
	if ev, ok := s.ev.(algorithms.Receive); ok && s.claims() && s.prev().ID != s.node.id {
		if b, ok := ev.Body.(proto.TakeOver); ok {
			k[proto.Epoch{Term: ev.Term, Leader: ev.From, Session: b.Session}] = s.out.Leader.Epoch()
		}
	}
	for _, split := range s.out.Splits {
		if r := split.Reigns; len(r) == 2 && (k[r[0].Epoch] == r[1].Epoch || k[r[1].Epoch] == r[0].Epoch) {
			return fmt.Sprintf("tells of a split between %v and %v", r[0].Epoch, r[1].Epoch)
		}
	}
	return ""
}

type stoppedFirst struct{ lives map[proto.Session]*life }

func (*stoppedFirst) invariant() Invariant {
	return Invariant{"stopped-first", "what two leaders did is reconciled only when neither " +
		"leads any more and the work of both has stopped, unless it was not in reach"}
}

func (k *stoppedFirst) check(s *step) string {
	if _, ok := s.ev.(algorithms.Start); ok {
		k.lives[s.node.life.session] = s.node.life
	}
	for _, r := range reconciled(s.out) {
		l, n := k.lives[r.Epoch.Session], s.cluster.node(r.Epoch.Leader)
		inReach := slices.ContainsFunc(s.node.life.view, func(p proto.Peer) bool {
			return p.ID == n.id && p.Session == r.Epoch.Session
		})
		if n.life != l || !inReach {
			continue
		}
		if l.belief.Epoch() == r.Epoch || slices.Contains(l.working, r.Epoch.Term) {
			return fmt.Sprintf("reconciles while %d goes on in term %d", n.id, r.Epoch.Term)
		}
	}
	return ""
}

// reconciled are the reigns that the host is told to reconcile in this Step.
func reconciled(out algorithms.Output) []algorithms.Reign {
	for _, s := range out.Splits {
		if s.Stage == algorithms.Reconciling {
			return s.Reigns
		}
	}
	return nil
}

// span is a reign in true time; it goes on while its end is never.
type span struct {
	life       *life
	from, till time.Duration
	mended     bool
}

// trueOverlap keeps the reigns as they truly were.
type trueOverlap struct {
	cluster *cluster
	reigns  map[proto.Epoch]*span
}

func (*trueOverlap) invariant() Invariant {
	return Invariant{"true-overlap", "a split is told of reigns that were, and for as long as " +
		"they overlapped, but for the drift of clocks and the way of messages"}
}

func (k *trueOverlap) check(s *step) string {
	was, is := s.prev(), s.out.Leader
	if was.Epoch() != is.Epoch() {
		if r := k.reigns[was.Epoch()]; r != nil && was.ID == s.node.id {
			r.till = s.at
		}
		if is.ID == s.node.id {
			k.reigns[is.Epoch()] = &span{life: s.node.life, from: s.at, till: never}
		}
	}
	for _, split := range s.out.Splits {
		if off := k.compare(s, split); off != "" && split.Number > 0 {
			return off
		}
	}
	return ""
}

// compare returns what is wrong with a report, "" for nothing.
func (k *trueOverlap) compare(s *step, split algorithms.Split) string {
	longest, reach := time.Duration(0), time.Duration(0)
	for i, a := range split.Reigns {
		x := k.reigns[a.Epoch]
		if x == nil {
			return fmt.Sprintf("node %d never led term %d", a.Epoch.Leader, a.Epoch.Term)
		}
		done := split.Stage == algorithms.Electing || split.Stage == algorithms.Mended
		x.mended = x.mended || done
		reach = max(reach, a.Led+a.Ago)
		for _, b := range split.Reigns[:i] {
			if y := k.reigns[b.Epoch]; x.life != y.life {
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

// slack is how far a told overlap may be off: clocks drift, and an account takes its
// way up to three times, passed on, or to a process that is paused.
func (k *trueOverlap) slack(reach time.Duration) time.Duration {
	return 3*(60*k.cluster.delta+k.cluster.longestPause) + scale(reach, 3*maxDriftPPM, million)
}

var mendedInTheEnd = Invariant{"mended-in-the-end", "two nodes that led at once for long were part " +
	"of a split that was mended, if both processes lived on"}

// forgotten are the reigns, of processes that live, that overlapped for long and were
// not mended, neither with each other nor with a third.
func (k *trueOverlap) forgotten() (pairs [][2]*span) {
	long := 10*k.cluster.delta + k.cluster.longestPause
	var alive []*span
	for _, r := range k.reigns {
		if r.life.isOf(k.cluster) {
			alive = append(alive, r)
		}
	}
	for i, a := range alive {
		for _, b := range alive[:i] {
			both := min(a.till, b.till, k.cluster.now) - max(a.from, b.from)
			if a.life != b.life && both > long && !a.mended && !b.mended {
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

// demandMending demands that every split was mended whose leaders lived on.
func (c *cluster) demandMending() {
	if c.reigns == nil {
		return
	}
	for _, p := range c.reigns.forgotten() {
		c.violated(mendedInTheEnd, 0, fmt.Sprintf("one led from %v to %v, one from %v to %v",
			p[0].from, p[0].till, p[1].from, p[1].till))
	}
}
