package hs

import (
	"github.com/ringleader-dev/ringleader/algorithms/topology"
	"github.com/ringleader-dev/ringleader/proto"
)

// Receive handles PROBE and REPLY.
func (r round) Receive(msg proto.Message) {
	switch b := msg.Body.(type) {
	case proto.Probe:
		r.onProbe(b)
	case proto.ProbeReply:
		r.onReply(b)
	default:
		r.core.Refuse("%s is no message of Hirschberg and Sinclair -> drop it", b.Kind())
	}
}

// onProbe lets a higher candidate pass, and a lower one not.
func (r round) onProbe(b proto.Probe) {
	self, way := r.core.Self(), topology.WayOf(b.Clockwise)
	order := b.Candidate.Rank().Compare(self.Rank())
	switch {
	case r.ring.Stops(b.Kind(), b.Candidate.ID, b.Hops):
	case b.Candidate.Is(self):
		r.comeHome(b)
	case b.Candidate.ID == self.ID:
		r.core.Why("PROBE names a former life of this node -> drop it")
	case r.ring.Repeated(b.Kind(), b.Candidate.ID, way, b.Phase):
		r.core.Why("its probe of phase %d, or a later one, was here before -> drop it", b.Phase)
	case r.core.Dead(b.Candidate):
		// "Or if it gets an (Elected:80) message, but knows 80 has failed".
		r.core.CallWithout(b.Candidate)
	case order > 0 && r.ring.Skips(way, b.Candidate.ID) && r.core.MayStand():
		r.swallow(b, "ranks above this node but is not on its ring")
	case order > 0:
		r.beaten(b.Candidate)
		r.pass(way, b, "ranks above this node")
	case !r.core.MayStand():
		r.pass(way, b, "ranks below this node, which does not stand")
	default:
		r.swallow(b, "ranks below this node")
	}
}

// comeHome handles this node's own probe: it passed everybody, and nobody ranks
// above this node.
func (r round) comeHome(b proto.Probe) {
	if r.state != candidate || b.Phase != r.phase {
		r.core.Why("its own probe of phase %d is back, and out of date -> drop it", b.Phase)
		return
	}
	r.core.Take("its own probe is back")
}

// beaten ends this node's own candidature, if it has one.
func (r round) beaten(by proto.Peer) {
	r.state = beaten
	if by.Above(r.best) || r.best.ID == 0 {
		r.best = by
	}
}

// pass passes a probe on, or sends a reply back when it has come far enough.
func (r round) pass(way topology.Way, b proto.Probe, why string) {
	r.wait()
	if b.Hops < 1<<min(b.Phase, 62) {
		r.core.Why("%d %s -> pass its probe on", b.Candidate.ID, why)
		b.Hops++
		r.ring.Send(way, b)
		return
	}
	r.core.Why("%d %s, its probe came %d links far -> send a reply back", b.Candidate.ID, why, b.Hops)
	r.ring.Send(way.Back(), proto.ProbeReply{
		Candidate: b.Candidate.ID, Phase: b.Phase, Hops: 1, Clockwise: !b.Clockwise,
	})
}

// swallow lets a probe end here. A node that has no part in the round yet stands: it
// ranks higher.
func (r round) swallow(b proto.Probe, why string) {
	if r.state != idle {
		r.core.Why("%d %s -> drop its probe", b.Candidate.ID, why)
		return
	}
	r.core.Why("%d %s -> drop its probe and stand", b.Candidate.ID, why)
	r.Begin()
}

// onReply passes a reply back to its candidate, which goes twice as far once it has
// one from either way.
func (r round) onReply(b proto.ProbeReply) {
	way := topology.WayOf(b.Clockwise)
	switch {
	case !r.core.Looking():
		r.core.Why("%d leads term %d already -> drop REPLY", r.core.Leader().ID, r.core.Term())
	case r.ring.TooFar(b.Hops):
		r.core.Why("REPLY made %d hops -> drop it", b.Hops)
	case b.Candidate != r.core.Self().ID && r.ring.Repeated(b.Kind(), b.Candidate, way, b.Phase):
		r.core.Why("a reply of phase %d, or a later one, was here before -> drop it", b.Phase)
	case b.Candidate != r.core.Self().ID:
		r.core.Why("a reply for %d -> pass it on", b.Candidate)
		r.wait()
		b.Hops++
		r.ring.Send(way, b)
	case r.state != candidate || b.Phase != r.phase:
		r.core.Why("a reply of phase %d is out of date -> drop it", b.Phase)
	default:
		r.replied[way.Back()] = true
		if r.replied != [2]bool{true, true} {
			r.core.Why("nobody above on one side -> wait for the other")
			return
		}
		r.phase++
		r.core.Why("nobody above on either side -> probe twice as far, phase %d", r.phase)
		r.send()
	}
}
