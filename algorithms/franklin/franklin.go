package franklin

import (
	"math/bits"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/nomination"
	"github.com/ringleader-dev/ringleader/algorithms/topology"
	"github.com/ringleader-dev/ringleader/proto"
)

// Rounds returns the number of the last round that n candidates can need. The first round has the number
// 0. The result is log2 n, rounded down, since at least half of the candidates give up in each round.
func Rounds(n int) int { return bits.Len(uint(max(n, 1))) - 1 }

// Times returns an upper bound of the transmission times of an election of n nodes. It adds half a trip
// round the ring until all nodes are awake, since the first messages go both ways; a trip for each
// round, since no neighbour is further away; and a trip for ELECTED.
func Times(n int) int { return n/2 + (Rounds(n)+1)*n + n }

// Patience bounds a whole round without failures.
func Patience(delta time.Duration, n int) time.Duration {
	return time.Duration(Times(n)) * delta
}

// ElectedTimeout returns how long a participant waits for ELECTED after the last message of the election
// that it saw. All rounds but the last may happen on the other side of the ring, so the wait is as long
// as an election takes.
func ElectedTimeout(delta time.Duration, n int) time.Duration { return Patience(delta, n) }

// round is one node's part in the election. It is the nomination.Round of core.
type round struct {
	core nomination.Core
	topology.Ring

	// The round of the current term.
	state  state
	number uint64     // for a candidate: its round; for a relay: the round after the one that it lost
	heard  [2]uint64  // for each direction: the number of rounds in which no higher candidate came that way
	best   proto.Peer // the highest-ranked candidate seen, this node included if it is one
}

// state says how far this node has come in the round of the current term.
type state int

const (
	idle      state = iota // no part yet, or the round is over
	candidate              // this node has met no higher node so far
	relay                  // this node has met a higher node, or is no candidate
)

// New returns the Machine of the node that cfg describes.
func New(cfg algorithms.Config) algorithms.Machine {
	r := &round{}
	r.core.Init(cfg, r)
	r.Ring.Init(&r.core, cfg.Place, r.Question)
	return &r.core
}

func (r *round) Patience() time.Duration { return Patience(r.core.Delta(), r.core.Size()) }

// Question returns the message that a candidate sends: it also asks who leads.
func (r *round) Question() proto.Body { return r.message(topology.Clockwise) }

func (r *round) Reset() {
	r.state, r.number, r.heard, r.best = idle, 0, [2]uint64{}, proto.Peer{}
	r.Ring.Reset()
}

// Begin makes this node a candidate. If it may not win in this term, its messages only wake the
// others: a higher-ranked node takes over, or this node calls an election of the next term.
func (r *round) Begin() {
	r.state, r.best = candidate, r.core.Self()
	r.send()
}

// send sends this node's CANDIDATE of the present round in both directions.
func (r *round) send() {
	r.wait()
	r.Ring.SendBoth(r.message)
}

func (r *round) message(w topology.Way) proto.Body {
	return Candidate{
		Candidate: r.core.Self(), Round: min(r.number, topology.MaxPhase), Hops: 1,
		Clockwise: w == topology.Clockwise,
	}
}

// wait restarts the wait for ELECTED, because the round goes on.
func (r *round) wait() { r.core.SetTimer(ElectedTimeout(r.core.Delta(), r.core.Size())) }

// Timeout handles the end of a wait: the leader waited for its ELECTED to come home, or a participant
// waited for ELECTED.
func (r *round) Timeout() { r.Ring.Timeout(topology.KindElected, "a round's time") }

// PeersChanged repairs the ring. If the best of the round is gone, or is no longer eligible, it calls an
// election of the next term.
func (r *round) PeersChanged(gone []proto.Peer) {
	if !r.Ring.Lost(gone, r.best) && r.core.Taking() && r.state == relay && r.core.Out(r.best) {
		r.core.CallWithout(r.best)
	}
}
