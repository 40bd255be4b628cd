package franklin

import (
	"math/bits"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/nomination"
	"github.com/ringleader-dev/ringleader/algorithms/topology"
	"github.com/ringleader-dev/ringleader/proto"
)

// Rounds is the number of the last round that n candidates can need, the first being
// 0: log2 n, rounded down, since at least every other one falls in each.
func Rounds(n int) int { return bits.Len(uint(max(n, 1))) - 1 }

// Times bounds the transmission times of an election of n nodes: until all are awake,
// half the ring, since that goes both ways; each round, a trip, since no neighbour is
// further; and ELECTED, a trip.
func Times(n int) int { return n/2 + (Rounds(n)+1)*n + n }

// Patience bounds a whole round without failures.
func Patience(delta time.Duration, n int) time.Duration {
	return time.Duration(Times(n)) * delta
}

// ElectedTimeout is how long a participant waits for ELECTED, from the last message
// that it saw of the round. All rounds but the last may go by on the other side of the
// ring meanwhile, so that is as long as an election takes.
func ElectedTimeout(delta time.Duration, n int) time.Duration { return Patience(delta, n) }

// Machine is one node's part in the election. It is an algorithms.Machine.
type Machine struct {
	core nomination.Core
	ring topology.Ring

	// The round of the current term.
	state  state
	number uint64     // candidate: of its round; relay: of the one after that it fell in
	heard  [2]uint64  // the way that it goes: up to which round a CANDIDATE came
	best   proto.Peer // the highest that was seen, this node included once it stands
}

// state is where this node stands in the round of the current term.
type state int

const (
	idle      state = iota // no part yet, or the round is over
	candidate              // nobody above it was met so far
	relay                  // a higher node was met, or this node does not stand
)

// New returns a Machine for the node that cfg describes.
func New(cfg algorithms.Config) *Machine {
	m := &Machine{}
	m.core.Init(cfg, round{m})
	m.ring.Init(&m.core, cfg.Place, round{m}.Question)
	return m
}

// Step implements algorithms.Machine.
func (m *Machine) Step(now time.Time, ev algorithms.Event) algorithms.Output {
	return m.core.Step(now, ev)
}

// round keeps the Round's methods off the Machine.
type round struct{ *Machine }

func (r round) Patience() time.Duration { return Patience(r.core.Delta(), r.core.Size()) }

// Announcement tells one node directly: with no hops it is not passed on.
func (r round) Announcement(leader proto.Peer) proto.Body { return topology.Elected{Leader: leader} }

// Question asks as a candidate does.
func (r round) Question() proto.Body { return r.message(topology.Clockwise) }

func (r round) Reset() {
	r.state, r.number, r.heard, r.best = idle, 0, [2]uint64{}, proto.Peer{}
	r.ring.Reset()
}

// Begin makes this node a candidate. One that may not win in this term only wakes the
// others: whoever ranks above takes over, and if nobody does it calls the next term.
func (r round) Begin() {
	r.state, r.best = candidate, r.core.Self()
	r.send()
}

// send sends this node's CANDIDATE of the present round both ways.
func (r round) send() {
	r.wait()
	r.ring.SendBoth(r.message)
}

func (r round) message(w topology.Way) proto.Body {
	return Candidate{
		Candidate: r.core.Self(), Round: min(r.number, topology.MaxPhase), Hops: 1,
		Clockwise: w == topology.Clockwise,
	}
}

// wait starts the wait for ELECTED anew: the round goes on.
func (r round) wait() { r.core.SetTimer(ElectedTimeout(r.core.Delta(), r.core.Size())) }

// Won sends ELECTED round the ring.
func (r round) Won() { r.ring.Announce(topology.Elected{Leader: r.core.Leader(), Hops: 1}) }

// Heard passes ELECTED on.
func (r round) Heard(msg proto.Message) {
	if b, ok := msg.Body.(topology.Elected); ok {
		r.ring.Heard(b.Hops, topology.Elected{Leader: b.Leader, Hops: b.Hops + 1})
	}
}

// Timeout ends a wait: a leader's for its ELECTED to come home, a participant's for
// ELECTED.
func (r round) Timeout() { r.ring.Timeout(topology.KindElected, "a round's time") }

// PeersChanged repairs the ring, unless the best of the round is gone, or does not
// stand any more.
func (r round) PeersChanged(gone []proto.Peer) {
	if !r.ring.Lost(gone, r.best) && r.core.Taking() && r.state == relay && r.core.Out(r.best) {
		r.core.CallWithout(r.best)
	}
}
