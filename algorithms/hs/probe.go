package hs

import (
	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/topology"
	"github.com/ringleader-dev/ringleader/proto"
)

var whyForeign = reasons.Kind("foreign", "%s is no message of Hirschberg and Sinclair -> drop it")

// Receive handles PROBE and REPLY.
func (r *round) Receive(msg proto.Message) {
	switch b := msg.Body.(type) {
	case Probe:
		r.onProbe(b)
	case Reply:
		r.onReply(b)
	default:
		r.core.Refuse(whyForeign, b.Kind())
	}
}

var (
	whyFormerLife   = reasons.Kind("former-life", "PROBE names a former life of this node -> drop it")
	whyProbeBefore  = reasons.Kind("probe-before", "its probe of phase %d, or a later one, was here before -> drop it")
	whyOffRingDrop  = reasons.Kind("off-ring-drop", "%d ranks above this node but is not on its ring -> drop its probe")
	whyOffRingStand = reasons.Kind("off-ring-stand",
		"%d ranks above this node but is not on its ring -> drop its probe and stand")
	whyAbovePass = reasons.Kind("above-pass", "%d ranks above this node -> pass its probe on",
		algorithms.Outranks(algorithms.Self, 0))
	whyAboveReply = reasons.Kind("above-reply",
		"%d ranks above this node, its probe goes no further than link %d -> send a reply back",
		algorithms.Outranks(algorithms.Self, 0))
	whyAsidePass  = reasons.Kind("aside-pass", "%d ranks below this node, which does not stand -> pass its probe on")
	whyAsideReply = reasons.Kind("aside-reply",
		"%d ranks below this node, which does not stand, its probe goes no further than link %d -> send a reply back")
	whyBelowDrop = reasons.Kind("below-drop", "%d ranks below this node -> drop its probe",
		algorithms.Outranks(0, algorithms.Self)).
		Follows("(after Hirschberg and Sinclair) whoever ranks above a candidate lets its probe " + "pass no further")
	whyBelowStand = reasons.Kind("below-stand", "%d ranks below this node -> drop its probe and stand",
		algorithms.Outranks(0, algorithms.Self)).
		Follows("(after Hirschberg and Sinclair) whoever ranks above a candidate lets its probe " + "pass no further")
)

// onProbe passes on the probe of a higher-ranked candidate, and drops the probe of a lower-ranked
// candidate.
func (r *round) onProbe(b Probe) {
	self, way := r.core.Self(), topology.WayOf(b.Clockwise)
	order := b.Candidate.Rank().Compare(self.Rank())
	switch {
	case r.Ring.Stops(b.Kind(), b.Candidate.ID, b.Hops):
	case b.Candidate.Is(self):
		r.comeHome(b)
	case b.Candidate.ID == self.ID:
		r.core.Why(whyFormerLife)
	case r.Ring.Repeated(b.Kind(), b.Candidate.ID, way, b.Phase):
		r.core.Why(whyProbeBefore, b.Phase)
	case r.core.Dead(b.Candidate):
		// "Or if it gets an (Elected:80) message, but knows 80 has failed".
		r.core.CallWithout(b.Candidate)
	case order > 0 && r.Ring.Skips(way, b.Candidate.ID) && r.core.MayStand():
		r.swallow(b, whyOffRingDrop, whyOffRingStand)
	case order > 0:
		r.beaten(b.Candidate)
		r.pass(way, b, whyAbovePass, whyAboveReply)
	case !r.core.MayStand():
		r.pass(way, b, whyAsidePass, whyAsideReply)
	default:
		r.swallow(b, whyBelowDrop, whyBelowStand)
	}
}

var (
	whyHomeLate = reasons.Kind("home-late", "its own probe of phase %d is back, and out of date -> drop it")
	whyHome     = reasons.Kind("home", "its own probe is back").
			Follows("(after Hirschberg and Sinclair) a probe that comes home has been compared with everybody")
)

// comeHome handles this node's own probe when it comes back. The probe has passed every node, and no
// node ranks above this node.
func (r *round) comeHome(b Probe) {
	if r.state != candidate || b.Phase != r.phase {
		r.core.Why(whyHomeLate, b.Phase)
		return
	}
	r.core.Take(whyHome.Of())
}

// beaten ends this node's candidacy, if it has one, and remembers the best candidate that it has met.
func (r *round) beaten(by proto.Peer) {
	r.state = beaten
	if by.Above(r.best) || r.best.ID == 0 {
		r.best = by
	}
}

// pass passes a probe on, or sends a reply back when the probe has come far enough.
func (r *round) pass(way topology.Way, b Probe, onward, back *algorithms.ReasonKind) {
	r.wait()
	if b.Hops < 1<<min(b.Phase, 62) {
		r.core.Why(onward, b.Candidate.ID)
		b.Hops++
		r.Ring.Send(way, b)
		return
	}
	r.core.Why(back, b.Candidate.ID, b.Hops)
	r.Ring.Send(way.Back(), Reply{
		Candidate: b.Candidate.ID, Phase: b.Phase, Hops: 1, Clockwise: !b.Clockwise,
	})
}

// swallow drops a probe. If this node has no part in the round yet, it becomes a candidate, since it may
// lead in place of the probe's candidate.
func (r *round) swallow(b Probe, drop, stand *algorithms.ReasonKind) {
	if r.state != idle {
		r.core.Why(drop, b.Candidate.ID)
		return
	}
	r.core.Why(stand, b.Candidate.ID)
	r.Begin()
}

var (
	whyLed         = reasons.Kind("led", "%d leads term %d already -> drop REPLY")
	whyFar         = reasons.Kind("far", "REPLY made %d hops -> drop it")
	whyReplyBefore = reasons.Kind("reply-before", "a reply of phase %d, or a later one, was here before -> drop it")
	whyReplyPass   = reasons.Kind("reply-pass", "a reply for %d -> pass it on")
	whyReplyLate   = reasons.Kind("reply-late", "a reply of phase %d is out of date -> drop it")
	whyOneSide     = reasons.Kind("one-side", "nobody above on one side -> wait for the other")
	whyBothSides   = reasons.Kind("both-sides", "nobody above on either side -> probe twice as far, phase %d").
			Follows("(after Hirschberg and Sinclair) a candidate that is above all within its reach " +
			"goes twice as far")
)

// onReply passes a reply on towards its candidate. If this node is that candidate, it probes twice as
// far once it has a reply from both directions.
func (r *round) onReply(b Reply) {
	way := topology.WayOf(b.Clockwise)
	switch {
	case !r.core.Looking():
		r.core.Why(whyLed, r.core.Leader().ID, r.core.Term())
	case r.Ring.TooFar(b.Hops):
		r.core.Why(whyFar, b.Hops)
	case b.Candidate != r.core.Self().ID && r.Ring.Repeated(b.Kind(), b.Candidate, way, b.Phase):
		r.core.Why(whyReplyBefore, b.Phase)
	case b.Candidate != r.core.Self().ID:
		r.core.Why(whyReplyPass, b.Candidate)
		r.wait()
		b.Hops++
		r.Ring.Send(way, b)
	case r.state != candidate || b.Phase != r.phase:
		r.core.Why(whyReplyLate, b.Phase)
	default:
		r.replied[way.Back()] = true
		if r.replied != [2]bool{true, true} {
			r.core.Why(whyOneSide)
			return
		}
		r.phase++
		r.core.Why(whyBothSides, r.phase)
		r.send()
	}
}
