package ring

import (
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/nomination"
	"github.com/ringleader-dev/ringleader/algorithms/topology"
	"github.com/ringleader-dev/ringleader/proto"
)

// ElectedTimeout is how long a participant waits for ELECTED, from the last
// ELECTION it passed on: two trips round.
func ElectedTimeout(delta time.Duration, n int) time.Duration {
	return 2 * topology.Trip(delta, n)
}

// Patience bounds a whole round without failures: "Completion time: (3N-1)
// message transmission times".
func Patience(delta time.Duration, n int) time.Duration {
	return time.Duration(3*n-1) * delta
}

// Machine is one node's part in the ring. It is an algorithms.Machine.
type Machine struct {
	core nomination.Core
	ring topology.Ring

	// The round of the current term.
	initiator proto.NodeID // the highest whose ELECTION was seen; 0 for none
	best      proto.Peer   // of the last ELECTION passed on
}

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

// Question asks as an initiator does.
func (r round) Question() proto.Body {
	self := r.core.Self()
	return Election{Initiator: self.ID, Best: self, Hops: 1}
}

// Announcement tells one node directly: with no hops it is not passed on.
func (r round) Announcement(leader proto.Peer) proto.Body { return topology.Elected{Leader: leader} }

func (r round) Reset() {
	r.initiator, r.best = 0, proto.Peer{}
	r.ring.Reset()
}

// Begin starts an election.
//
// Lecture notes: "Any process pi that discovers the old coordinator has failed
// initiates an Election message that contains pi's own id:attr. This is the
// initiator of the election."
func (r round) Begin() {
	self := r.core.Self()
	r.initiator = self.ID
	r.pass(Election{Initiator: self.ID, Best: self, Hops: 1})
}

// pass sends ELECTION to the successor and waits for ELECTED.
func (r round) pass(b Election) {
	r.best = b.Best
	r.core.SetTimer(ElectedTimeout(r.core.Delta(), r.core.Size()))
	r.ring.Send(topology.Clockwise, b)
}

// Won sends ELECTED round the ring.
func (r round) Won() { r.ring.Announce(topology.Elected{Leader: r.core.Leader(), Hops: 1}) }

// Heard passes ELECTED on.
func (r round) Heard(msg proto.Message) {
	if b, ok := msg.Body.(topology.Elected); ok {
		r.ring.Heard(b.Hops, topology.Elected{Leader: b.Leader, Hops: b.Hops + 1})
	}
}

// Timeout ends a wait: a leader's for its ELECTED to come home, a
// participant's for ELECTED.
func (r round) Timeout() { r.ring.Timeout(topology.KindElected, "two trips round") }

// PeersChanged repairs the ring.
func (r round) PeersChanged(gone []proto.Peer) {
	if !r.best.Is(r.core.Self()) && r.core.Taking() && !r.core.Dead(r.best) && r.core.Out(r.best) {
		r.core.CallWithout(r.best)
		return
	}
	r.ring.Lost(gone, r.best)
}
