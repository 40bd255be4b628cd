package franklin

import (
	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/topology"
	"github.com/ringleader-dev/ringleader/proto"
)

var (
	whyForeign    = reasons.Kind("foreign", "%s is no message of Franklin's election -> drop it")
	whyFormerLife = reasons.Kind("former-life", "CANDIDATE names a former life of this node -> drop it")
	whyBefore     = reasons.Kind("before", "%d was here in round %d, or a later one -> drop CANDIDATE")
)

// Receive handles CANDIDATE.
func (r *round) Receive(msg proto.Message) {
	b, ok := msg.Body.(Candidate)
	self, way := r.core.Self(), topology.WayOf(b.Clockwise)
	switch {
	case !ok:
		r.core.Refuse(whyForeign, msg.Body.Kind())
	case r.Ring.Stops(b.Kind(), b.Candidate.ID, b.Hops):
	case b.Candidate.Is(self):
		r.comeHome(b)
	case b.Candidate.ID == self.ID:
		r.core.Why(whyFormerLife)
	case r.Ring.Repeated(b.Kind(), b.Candidate.ID, way, b.Round):
		r.core.Why(whyBefore, b.Candidate.ID, b.Round)
	case b.Candidate.Above(self):
		r.higher(way, b)
	default:
		r.lower(way, b)
	}
}

var (
	whyHomeLate = reasons.Kind("home-late", "its own id of round %d is back, and out of date -> drop CANDIDATE")
	whyHome     = reasons.Kind("home", "its own id is back").
			Follows("(after Franklin) a candidate that meets only itself is the last one, and the highest")
)

// comeHome handles this node's own message when it comes back. The message has met no other candidate,
// so this node is the last one.
func (r *round) comeHome(b Candidate) {
	if r.state != candidate || b.Round != r.number {
		r.core.Why(whyHomeLate, b.Round)
		return
	}
	r.core.Take(whyHome.Of())
}

var (
	whyOffRing = reasons.Kind("off-ring", "%d ranks above this node but is not on its ring -> stand")
	whyAbove   = reasons.Kind("above", "%d ranks above this node -> stand no more",
		algorithms.Outranks(algorithms.Self, 0)).
		Follows(falls)
)

// higher handles the message of a candidate that ranks above this node. If this node is a candidate, it
// ends its candidacy, and passes the message on only if the message is of a later round than its own.
func (r *round) higher(way topology.Way, b Candidate) {
	id := b.Candidate.ID
	switch {
	case r.core.Dead(b.Candidate):
		// "Or if it gets an (Elected:80) message, but knows 80 has failed".
		r.core.CallWithout(b.Candidate)
	case r.Ring.Skips(way, id) && r.core.MayStand() && r.state != relay:
		// Nor will its message come past this node from the other side.
		r.core.Why(whyOffRing, id)
		r.count(way, b.Round)
	default:
		r.meet(b.Candidate)
		if r.state == candidate {
			r.core.Why(whyAbove, id)
			r.state, r.number = relay, r.number+1
		}
		r.pass(way, b)
	}
}

// meet remembers the candidate p if it is the highest-ranked one so far, and restarts the wait for
// ELECTED.
func (r *round) meet(p proto.Peer) {
	r.wait()
	if r.best.ID == 0 || p.Above(r.best) {
		r.best = p
	}
}

var (
	whyStood = reasons.Kind("stood", "this node stood in round %d -> pass %d on no further")
	whyPass  = reasons.Kind("pass", "this node does not stand in round %d -> pass %d on").
			Follows("(after Franklin) whoever has fallen only passes messages on, so that the " +
			"candidates that are left become neighbours")
)

// pass passes a message on, unless this node was a candidate in the message's round: then the
// message was meant for this node.
func (r *round) pass(way topology.Way, b Candidate) {
	r.state = relay
	if b.Round < r.number {
		r.core.Why(whyStood, b.Round, b.Candidate.ID)
		return
	}
	r.core.Why(whyPass, b.Round, b.Candidate.ID)
	b.Hops++
	r.Ring.Send(way, b)
}

var whyBelow = reasons.Kind("below", "%d ranks below this node -> it falls", algorithms.Outranks(0, algorithms.Self)).
	Follows(falls)

// lower handles the message of a candidate that ranks below this node. If this node has no part in
// the round yet, it becomes a candidate, since it ranks higher.
func (r *round) lower(way topology.Way, b Candidate) {
	if r.state == relay || r.state == idle && !r.core.MayStand() {
		r.meet(b.Candidate)
		r.pass(way, b)
		return
	}
	r.core.Why(whyBelow, b.Candidate.ID)
	r.count(way, b.Round)
}

var whyNextRound = reasons.Kind("next-round", "nobody above on either side -> stand in round %d").
	Follows("(after Franklin) a candidate that ranks above both its neighbours stands in the " + "next round too")

// count notes that no higher candidate came from this direction up to the round number. When both
// directions have been counted for this node's round, this node goes on to the next round. A candidate
// of a later round was in this round, too.
func (r *round) count(way topology.Way, number uint64) {
	if r.state == idle {
		r.Begin()
	}
	r.heard[way] = max(r.heard[way], number+1)
	next := min(r.heard[topology.Clockwise], r.heard[topology.Counterclockwise])
	if next > r.number {
		r.number = next
		r.core.Why(whyNextRound, next)
		r.send()
	}
}
