package ring

import (
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/nomination"
	"github.com/ringleader-dev/ringleader/algorithms/topology"
	"github.com/ringleader-dev/ringleader/proto"
)

// ElectedTimeout returns how long a participant waits for ELECTED after the last ELECTION that it passed
// on: two trips round the ring.
func ElectedTimeout(delta time.Duration, n int) time.Duration {
	return 2 * topology.Trip(delta, n)
}

// Patience bounds a whole round without failures: "Completion time: (3N-1)
// message transmission times".
func Patience(delta time.Duration, n int) time.Duration {
	return time.Duration(3*n-1) * delta
}

// round is one node's part in the ring. It is the nomination.Round of core.
type round struct {
	core nomination.Core
	topology.Ring

	// The round of the current term.
	initiator proto.NodeID // the highest initiator whose ELECTION this node has seen; 0 for none
	best      proto.Peer   // the best node of the last ELECTION that this node passed on
}

// New returns the Machine of the node that cfg describes.
func New(cfg algorithms.Config) algorithms.Machine {
	r := &round{}
	r.core.Init(cfg, r)
	r.Ring.Init(&r.core, cfg.Place, r.Question)
	return &r.core
}

func (r *round) Patience() time.Duration { return Patience(r.core.Delta(), r.core.Size()) }

// Question returns the ELECTION that an initiator sends.
func (r *round) Question() proto.Body {
	self := r.core.Self()
	return Election{Initiator: self.ID, Best: self, Hops: 1}
}

func (r *round) Reset() {
	r.initiator, r.best = 0, proto.Peer{}
	r.Ring.Reset()
}

// Begin starts an election.
//
// Lecture notes: "Any process pi that discovers the old coordinator has failed
// initiates an Election message that contains pi's own id:attr. This is the
// initiator of the election."
func (r *round) Begin() {
	self := r.core.Self()
	r.initiator = self.ID
	r.pass(Election{Initiator: self.ID, Best: self, Hops: 1})
}

// pass sends ELECTION to the successor and waits for ELECTED.
func (r *round) pass(b Election) {
	r.best = b.Best
	r.core.SetTimer(ElectedTimeout(r.core.Delta(), r.core.Size()))
	r.Ring.Send(topology.Clockwise, b)
}

// Timeout handles the end of a wait: the leader waited for its ELECTED to come home, or a participant
// waited for ELECTED.
func (r *round) Timeout() { r.Ring.Timeout(topology.KindElected, "two trips round") }

// PeersChanged repairs the ring. If the best of the round is gone, or is no longer eligible, it calls an
// election of the next term.
func (r *round) PeersChanged(gone []proto.Peer) {
	if !r.best.Is(r.core.Self()) && r.core.Taking() && !r.core.Dead(r.best) && r.core.Out(r.best) {
		r.core.CallWithout(r.best)
		return
	}
	r.Ring.Lost(gone, r.best)
}
