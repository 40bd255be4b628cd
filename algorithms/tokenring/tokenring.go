package tokenring

import (
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/nomination"
	"github.com/ringleader-dev/ringleader/algorithms/topology"
	"github.com/ringleader-dev/ringleader/proto"
)

// CoordinatorTimeout returns how long a participant waits for COORDINATOR after the last message that it
// passed on: two trips round the ring.
func CoordinatorTimeout(delta time.Duration, n int) time.Duration {
	return 2 * topology.Trip(delta, n)
}

// Patience bounds a whole round without failures: ELECTION goes once round the ring, COORDINATOR goes to
// the chosen node, and from there once round the ring.
func Patience(delta time.Duration, n int) time.Duration {
	return time.Duration(3*n-1) * delta
}

// round is one node's part in the token ring. It is the nomination.Round of core.
type round struct {
	core nomination.Core
	ring topology.Ring

	// The round of the current term.
	initiator proto.NodeID // the highest initiator whose ELECTION this node has seen; 0 for none
	chosen    proto.Peer   // the leader in the last COORDINATOR sent or passed on
	roll      proto.Roll   // the list from which this node chooses; empty if it does not choose
	refused   proto.Roll   // the nodes that this node chose, but that did not become the leader
}

// New returns the Machine of the node that cfg describes.
func New(cfg algorithms.Config) algorithms.Machine {
	r := &round{}
	r.core.Init(cfg, r)
	r.ring.Init(&r.core, cfg.Place, r.Question)
	return &r.core
}

func (r *round) Patience() time.Duration { return Patience(r.core.Delta(), r.core.Size()) }

// Announcement returns the COORDINATOR that tells one node directly who leads: a COORDINATOR without
// hops is not passed on.
func (r *round) Announcement(leader proto.Peer) proto.Body {
	return Coordinator{Leader: leader, Taken: true}
}

// Question returns the ELECTION that an initiator sends.
func (r *round) Question() proto.Body {
	return r.collect(Election{Initiator: r.core.Self().ID})
}

func (r *round) Reset() {
	r.initiator, r.chosen, r.roll, r.refused = 0, proto.Peer{}, "", ""
	r.ring.Reset()
}

// Begin starts an election.
//
// Lecture notes: "B detects leader failed: B sends ELECTION(B) to C".
func (r *round) Begin() {
	self := r.core.Self().ID
	r.initiator = self
	r.clockwise(r.collect(Election{Initiator: self}))
}

// collect prepares ELECTION for the next hop: it adds this node to the list, if this node may be a
// candidate.
//
// Lecture notes: "C adds self, sends ELECTION(B,C) to D".
func (r *round) collect(b Election) Election {
	if r.core.MayStand() && b.Roll.Len() < proto.MaxRoll {
		b.Roll = b.Roll.Add(r.core.Self())
	}
	b.Hops++
	return b
}

// clockwise sends body to the successor and waits for COORDINATOR.
func (r *round) clockwise(body proto.Body) {
	r.core.SetTimer(CoordinatorTimeout(r.core.Delta(), r.core.Size()))
	r.ring.Send(topology.Clockwise, body)
}

var whyForeign = reasons.Kind("foreign", "%s is no message of the token ring -> drop it")

// Receive handles ELECTION, and a COORDINATOR that has not reached the chosen node yet.
func (r *round) Receive(msg proto.Message) {
	switch b := msg.Body.(type) {
	case Election:
		r.election(b)
	case Coordinator:
		r.coordinator(b)
	default:
		r.core.Refuse(whyForeign, b.Kind())
	}
}

var (
	whySuppress = reasons.Kind("suppress", "initiator %d is below %d -> suppress its ELECTION",
		algorithms.Suppresses(0, 1)).
		Follows("Each process suppresses Election/Elected messages of any lower-id initiators")
	whyChosenAlready = reasons.Kind("chosen-already", "this node has chosen already -> drop ELECTION")
	whyBack          = reasons.Kind("back", "ELECTION is back").
				Follows("B sees complete ring, picks highest, broadcasts COORDINATOR")
	whyAllRound       = reasons.Kind("all-round", "ELECTION has been all round and nobody stopped it")
	whyElectionBefore = reasons.Kind("election-before", "this node passed it on before -> drop ELECTION")
	whyAdd            = reasons.Kind("add", "ELECTION of initiator %d -> add itself and pass it on").
				Follows("C adds self, sends ELECTION(B,C) to D")
)

// election passes ELECTION on. When ELECTION has been all round the ring, this node chooses the leader.
func (r *round) election(b Election) {
	self := r.core.Self().ID
	switch {
	case r.ring.Stops(b.Kind(), b.Initiator, b.Hops):
	case b.Initiator < r.initiator:
		r.core.Why(whySuppress, b.Initiator, r.initiator)
	case r.roll != "":
		r.core.Why(whyChosenAlready)
	case b.Initiator == self:
		r.choose(whyBack.Of(), b.Roll)
	case b.Roll.Has(self):
		// The trap of suppressing: the highest initiator may be dead. Whoever its
		// ELECTION comes to a second time acts for it.
		r.choose(whyAllRound.Of(), b.Roll)
	case b.Initiator == r.initiator && !r.ring.Asked():
		r.core.Why(whyElectionBefore)
	default:
		r.initiator = b.Initiator
		r.core.Why(whyAdd, b.Initiator)
		r.clockwise(r.collect(b))
	}
}

var (
	whyNobodyStands = reasons.Kind("nobody-stands", "%s with nobody who stands",
		algorithms.Caused(algorithms.RoundFailed))
	whyHighest = reasons.Kind("highest", "%s, this node is the highest on it")
	whyChoose  = reasons.Kind("choose", "%s -> choose %d, the highest on it", algorithms.Outranks(algorithms.Self, 1))
)

// choose picks the highest node on the list that may lead, and sends COORDINATOR to that node.
//
// Lecture notes: "B sees complete ring, picks highest, broadcasts COORDINATOR".
func (r *round) choose(cause algorithms.Reason, roll proto.Roll) {
	var highest proto.Peer
	for p := range roll.All() {
		above := highest.ID == 0 || p.Above(highest)
		if above && !r.core.Out(p) && !r.refused.Has(p.ID) {
			highest = p
		}
	}
	r.roll, r.chosen = roll, highest
	switch {
	case highest.ID == 0:
		r.core.Call(whyNobodyStands.Of(cause))
	case highest.Is(r.core.Self()):
		r.core.Take(whyHighest.Of(cause))
	default:
		r.core.Why(whyChoose, cause, highest.ID)
		r.clockwise(Coordinator{Leader: highest, Hops: 1})
	}
}

var (
	whyLed               = reasons.Kind("led", "%d leads term %d already -> drop COORDINATOR")
	whyChosen            = reasons.Kind("chosen", "chosen as the highest on the ring")
	whyNotTaken          = reasons.Kind("not-taken", "COORDINATOR is back, and %d did not take it")
	whyCoordinatorBefore = reasons.Kind("coordinator-before", "this node passed it on before -> drop COORDINATOR")
	whyFar               = reasons.Kind("far", "COORDINATOR made %d hops -> drop it")
	whyPass              = reasons.Kind("pass", "%d is chosen -> pass COORDINATOR on to it")
)

// coordinator passes COORDINATOR on towards the chosen node, or leads if this node was chosen.
func (r *round) coordinator(b Coordinator) {
	mine := b.Leader.Is(r.core.Self())
	switch {
	case !r.core.Looking():
		r.core.Why(whyLed, r.core.Leader().ID, r.core.Term())
	case mine && !r.core.Aside():
		r.core.Take(whyChosen.Of())
	case b.Leader.Is(r.chosen) && r.roll != "":
		r.refused = r.refused.Add(b.Leader)
		r.choose(whyNotTaken.Of(b.Leader.ID), r.roll)
	case b.Leader.Is(r.chosen):
		r.core.Why(whyCoordinatorBefore)
	case r.ring.TooFar(b.Hops):
		r.core.Why(whyFar, b.Hops)
	case r.core.Dead(b.Leader):
		// "Or if it gets an (Elected:80) message, but knows 80 has failed".
		r.core.CallWithout(b.Leader)
	default:
		r.chosen = b.Leader
		r.core.Why(whyPass, b.Leader.ID)
		b.Hops++
		r.clockwise(b)
	}
}

// Won sends COORDINATOR round the ring.
func (r *round) Won() {
	r.ring.Announce(Coordinator{Leader: r.core.Leader(), Taken: true, Hops: 1})
}

// Heard passes COORDINATOR on.
func (r *round) Heard(msg proto.Message) {
	if b, ok := msg.Body.(Coordinator); ok {
		r.ring.PassOn(b.Hops, Coordinator{Leader: b.Leader, Taken: true, Hops: b.Hops + 1})
	}
}

// Timeout handles the end of a wait: the leader waited for its COORDINATOR to come home, or a
// participant waited for COORDINATOR.
func (r *round) Timeout() { r.ring.Timeout(KindCoordinator, "two trips round") }

// PeersChanged repairs the ring.
func (r *round) PeersChanged(gone []proto.Peer) { r.ring.Lost(gone, r.chosen) }
