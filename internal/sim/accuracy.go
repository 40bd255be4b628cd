package sim

import (
	"fmt"
	"math"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/internal/scenario"
	"github.com/ringleader-dev/ringleader/proto"
)

// LookEvery returns the time between two looks of a node at the leader, where the accuracy of the detectors is
// dialled.
func LookEvery(delta time.Duration) time.Duration { return 10 * delta }

// Wasted is what a cluster does in which nobody fails, and detectors err. "Inaccuracy in FD => N80 mistakenly
// detected as failed => new election runs initiated forever => Violation of Liveness" (lecture notes).
type Wasted struct {
	Accuracy float64 `json:"accuracy"` // in percent of the looks
	Looks    int     `json:"looks"`
	Errors   int     `json:"errors"` // looks that took the living leader for dead
	// Rounds are the terms of which an election was called. Nobody needed any. Failed of them have no leader.
	Rounds int `json:"rounds"`
	Failed int `json:"failed"`
	// Same is how often the leader of before began to lead again, and Other how often another node did.
	Same  int `json:"same"`
	Other int `json:"other"`
	// LeaderlessSeconds is how long nobody led, DisagreedSeconds how long not all followed one leader, and
	// ContestedSeconds how long more than one led.
	LeaderlessSeconds float64 `json:"leaderless_seconds"`
	DisagreedSeconds  float64 `json:"disagreed_seconds"`
	ContestedSeconds  float64 `json:"contested_seconds"`
	Messages          int     `json:"messages"`
	Seconds           float64 `json:"seconds"`
}

// Waste runs o.Nodes nodes, of which none fails, for so long. Each looks at the leader now and then, and takes
// it for dead, until the next look, except in this share of the looks. Where there are voters, all vote.
func Waste(o Options, accuracy float64, span time.Duration) (Wasted, error) {
	if err := o.validate(); err != nil {
		return Wasted{}, err
	}
	if accuracy < 0 || accuracy > 100 || o.Nodes < 2 {
		return Wasted{}, fmt.Errorf("%w: an accuracy of %v %% of %d nodes: want 0 to 100, of 2 nodes or more",
			ErrOptions, accuracy, o.Nodes)
	}
	c := newCluster(o, scenario.Numbered(o.Nodes), o.Preempt != nil && *o.Preempt, weather{
		MinDelay: o.delta() / 2, MaxDelay: o.delta() / 2,
	})
	c.detector.off, c.limit = true, 1<<30
	if c.algo.Leased {
		c.Promise = c.algo.Promise(c.delta)
	}
	for _, n := range c.nodes {
		c.Voters = append(c.Voters, n.id)
	}
	w := &waster{
		c: c, errs: permille(math.Round(1000 - 10*accuracy)), rounds: map[proto.Term]bool{}, led: map[proto.Term]bool{},
	}
	c.assemble()
	c.runTo(time.Hour, func() bool { return c.census.agreed != never && c.flying == 0 })
	e, _ := c.census.leadership()
	w.leader, w.at = e.Leader, c.now
	c.checkers = []checker{{check: w.see}}
	c.tally = tally{}
	c.census.restart(c.now)
	began := c.now
	for _, n := range c.nodes {
		c.later(c.dice.between(0, LookEvery(c.delta)), func() { w.look(n, nil) })
	}
	c.runUntil(began + span)
	c.census.advance(c.now)
	w.pass()
	w.Accuracy, w.Rounds, w.Messages, w.Seconds = accuracy, len(w.rounds), c.tally.total, span.Seconds()
	for term := range w.rounds {
		if !w.led[term] {
			w.Failed++
		}
	}
	w.LeaderlessSeconds, w.ContestedSeconds = c.census.leaderless.Seconds(), c.census.contested.Seconds()
	w.DisagreedSeconds = w.disagreed.Seconds()
	return w.Wasted, nil
}

// waster counts.
type waster struct {
	Wasted
	c         *cluster
	errs      permille
	rounds    map[proto.Term]bool // those that were called
	led       map[proto.Term]bool // those that have a leader
	leader    proto.NodeID        // the last one
	at        time.Duration       // of the last Step
	disagreed time.Duration
}

// look lets a node look at the leader that it follows or, if it knows none, at the best other node. It is right
// again about the one at which it looked before.
func (w *waster) look(n, before *node) {
	c := w.c
	if before != nil {
		delete(c.detector.lies, link{n.id, before.id})
		c.look(n, before.id)
	}
	target := c.nodes[len(c.nodes)-1]
	if id := n.life.belief.ID; id != 0 {
		target = c.node(id)
	}
	if target != n {
		w.Looks++
		if c.dice.chance(w.errs) {
			w.Errors++
			c.detector.lies[link{n.id, target.id}] = suspects
			c.look(n, target.id)
		}
	}
	c.later(LookEvery(c.delta), func() { w.look(n, target) })
}

// pass adds the time since the last Step.
func (w *waster) pass() {
	if w.c.census.agreed == never {
		w.disagreed += w.c.now - w.at
	}
	w.at = w.c.now
}

// see is a checker that finds nothing: it counts.
func (w *waster) see(s *step) string {
	w.pass()
	for _, why := range s.out.Why {
		for _, d := range why.Kind.Decides {
			if opens, ok := d.(algorithms.Opens); ok {
				w.rounds[why.Args[opens.Term].(proto.Term)] = true
			}
		}
	}
	if s.claims() && s.prev().Leadership() != s.out.Leader.Leadership() {
		if s.node.id == w.leader {
			w.Same++
		} else {
			w.Other++
		}
		w.leader, w.led[s.out.Leader.Term] = s.node.id, true
	}
	return ""
}
