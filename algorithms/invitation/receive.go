package invitation

import (
	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/proto"
)

var whyForeign = reasons.Kind("foreign", "%s is no message of the invitation algorithm -> drop it")

// Receive handles the messages of the groups, except READY.
func (r *round) Receive(msg proto.Message) {
	switch b := msg.Body.(type) {
	case AreYouCoordinator:
		r.onAreYouCoordinator(msg.From)
	case Group:
		r.onGroup(msg.From, b.Coordinator)
	case Invitation:
		r.onInvitation(b.Coordinator)
	case Accept:
		r.onAccept(msg.From)
	default:
		r.core.Refuse(whyForeign, b.Kind())
	}
}

var (
	whyAskedAside   = reasons.Kind("asked-aside", "%d asks, and this node stands aside -> say so")
	whyAskedHighest = reasons.Kind("asked-highest", "%d asks, and nobody is above").
			Follows(merges)
	whyAskedYield = reasons.Kind("asked-yield", "%d asks, and others are above -> leave it to those to merge").
			Follows(waits)
)

// onAreYouCoordinator answers whose group this node is in. An idle node lost its coordinator when the
// term began, and is alone in its group. If no node ranks above the idle node, it sends an invitation
// instead, which gives the same answer.
func (r *round) onAreYouCoordinator(from proto.NodeID) {
	switch {
	case r.core.Decided(KindAreYouCoordinator, from):
	case r.core.Aside():
		r.core.Why(whyAskedAside, from)
		r.sayGroup(from)
	case r.phase != idle:
		r.sayGroup(from)
	default:
		above := r.higher()
		if above == 0 {
			r.merge(whyAskedHighest.Of(from))
			return
		}
		r.core.Why(whyAskedYield, from)
		r.sayGroup(from)
		r.yield(above)
	}
}

// sayGroup tells the node to who is the coordinator of this node's group.
func (r *round) sayGroup(to proto.NodeID) {
	mine := r.core.Self()
	mine.Ineligible = !r.core.MayStand()
	if r.phase == accepted {
		mine = r.group
	}
	r.core.Send(to, Group{Coordinator: mine})
}

var whyAnswered = reasons.Kind("answered", "all groups have answered")

// onGroup counts an answer to ARE_YOU_COORDINATOR. All nodes that answered are alive, whatever the view
// says.
func (r *round) onGroup(from proto.NodeID, c proto.Peer) {
	if r.phase != checking || r.heard[from] {
		return
	}
	r.heard[from] = true
	if c.Above(r.core.Self()) && !c.Ineligible {
		r.above++
	}
	if len(r.heard) >= r.core.Size()-1 {
		r.found(whyAnswered.Of())
	}
}

var (
	whyAside = reasons.Kind("aside", "%d invites, and this node stands aside -> accept")
	whyStay  = reasons.Kind("stay", "%d invites, and %d ranks above it -> stay in its group",
		algorithms.Outranks(0, 1))
	whyBelow = reasons.Kind("below", "%d invites, and ranks below this node -> do not accept",
		algorithms.Outranks(0, algorithms.Self))
	whyLowerInvites = reasons.Kind("lower-invites", "a lower node invites")
)

// onInvitation accepts an invitation, unless the coordinator of this node's group ranks above the
// coordinator that invites.
//
// After Garcia-Molina: whoever is invited accepts; a coordinator passes the invitation
// on to its members first.
func (r *round) onInvitation(c proto.Peer) {
	self := r.core.Self()
	switch {
	case c.ID == self.ID || r.core.Decided(KindInvitation, c.ID):
	case r.core.Aside():
		r.core.Why(whyAside, c.ID)
		r.core.Send(c.ID, Accept{})
	case r.phase == accepted && r.group.Above(c) && !r.core.Out(r.group):
		r.core.Why(whyStay, c.ID, r.group.ID)
	case r.phase != accepted && self.Above(c) && r.core.MayStand():
		r.core.Why(whyBelow, c.ID)
		if r.phase != merging {
			r.merge(whyLowerInvites.Of())
		}
	default:
		r.accept(c)
	}
}

var (
	whyAccept = reasons.Kind("accept", "%d invites -> accept", algorithms.Outranks(algorithms.Self, 0)).
			Follows("(after Garcia-Molina) whoever is invited accepts")
	whyPassOn = reasons.Kind("pass-on", "others accepted this node -> pass the invitation on to them").
			Follows("(after Garcia-Molina) a coordinator that is invited passes the invitation on to its " + "members")
)

// accept makes this node join the group of c, and passes the invitation on to the members of this
// node's own group.
func (r *round) accept(c proto.Peer) {
	r.core.Why(whyAccept, c.ID)
	if len(r.members) > 0 {
		r.core.Why(whyPassOn)
		r.core.SendWhere(Invitation{Coordinator: c}, func(p *proto.Peer) bool {
			return r.members[p.ID] && p.ID != c.ID
		})
	}
	r.enter(accepted)
	r.group = c
	clear(r.sentOn)
	r.core.Send(c.ID, Accept{})
	r.core.SetTimer(ReadyTimeout(r.core.Delta()))
}

var (
	whyLate        = reasons.Kind("late", "%d accepts late -> tell it who leads")
	whySendOn      = reasons.Kind("send-on", "%d accepts, and this node has joined %d -> pass the invitation on")
	whyAllAccepted = reasons.Kind("all-accepted", "all others have accepted").
			Follows(leads)
)

// onAccept takes the sender of ACCEPT into the group. If this node has joined another group meanwhile,
// it invites the sender into that group, but only once: otherwise two nodes that have joined each other
// would send the sender to and fro.
func (r *round) onAccept(from proto.NodeID) {
	switch {
	case r.core.Leading():
		r.core.Why(whyLate, from)
		r.core.Tell(from)
	case r.phase == accepted && from != r.group.ID && !r.sentOn[from]:
		r.sentOn[from] = true
		r.core.Why(whySendOn, from, r.group.ID)
		r.core.Send(from, Invitation{Coordinator: r.group})
	case r.phase == merging:
		r.members[from] = true
		r.leadIfAll(whyAllAccepted.Of())
	}
}
