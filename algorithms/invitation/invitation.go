package invitation

import (
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/nomination"
	"github.com/ringleader-dev/ringleader/proto"
)

// GroupTimeout returns how long a process waits for the answers to ARE_YOU_COORDINATOR: the way there
// and back.
func GroupTimeout(delta time.Duration) time.Duration { return 2 * delta }

// AcceptTimeout returns how long a coordinator waits for the processes that it invited: the way there
// and back.
func AcceptTimeout(delta time.Duration) time.Duration { return 2 * delta }

// ReadyTimeout returns how long a member waits for READY: the way of its ACCEPT, the time that the
// others have to accept, and the way of READY.
func ReadyTimeout(delta time.Duration) time.Duration { return delta + AcceptTimeout(delta) + delta }

// Turn returns how long a coordinator leaves the merging to the nodes that rank above it. For each of
// these nodes, up to four, it adds the time in which that node would have invited the coordinator.
func Turn(delta time.Duration, above int) time.Duration {
	const most = 4
	return time.Duration(min(above, most)) * 3 * delta
}

// Patience bounds a whole round without failures: ARE_YOU_COORDINATOR and the wait for
// its answers, the wait for ACCEPT, READY.
func Patience(delta time.Duration, _ int) time.Duration {
	return GroupTimeout(delta) + AcceptTimeout(delta) + delta
}

// phase says how far this node has come in the round of the current term.
type phase int

const (
	idle     phase = iota // no part yet, or the round is over
	checking              // coordinator of a group of its own, ARE_YOU_COORDINATOR sent
	yielding              // coordinator of a group of its own, leaves merging to higher nodes
	merging               // coordinator, INVITATION sent
	accepted              // member of another's group, no READY so far
)

// round is one node's part in the invitation algorithm. It is the nomination.Round of core.
type round struct {
	core    nomination.Core
	phase   phase
	asked   bool                  // accepted: this node has asked its coordinator
	above   int                   // checking: coordinators that answered and rank above
	heard   map[proto.NodeID]bool // checking: who answered
	members map[proto.NodeID]bool // merging: who accepted
	group   proto.Peer            // accepted: the coordinator of its group
	sentOn  map[proto.NodeID]bool // accepted: nodes whose late ACCEPT was answered with an invitation
}

// New returns the Machine of the node that cfg describes.
func New(cfg algorithms.Config) algorithms.Machine {
	r := &round{heard: map[proto.NodeID]bool{}, members: map[proto.NodeID]bool{}, sentOn: map[proto.NodeID]bool{}}
	r.core.Init(cfg, r)
	return &r.core
}

func (r *round) Heard(proto.Message)     { r.Reset() }
func (r *round) Patience() time.Duration { return Patience(r.core.Delta(), r.core.Size()) }
func (r *round) Question() proto.Body    { return AreYouCoordinator{Self: r.core.Self()} }
func (r *round) Announcement(leader proto.Peer) proto.Body {
	return Ready{Leader: leader}
}

func (r *round) Reset() { r.enter(idle) }

func (r *round) enter(p phase) {
	r.phase, r.asked, r.above, r.group = p, false, 0, proto.Peer{}
	clear(r.heard)
	clear(r.members)
}

var (
	whyHighest = reasons.Kind("highest", "no higher node is alive").
			Follows(merges)
	whyOwnGroup = reasons.Kind("own-group", "in a group of its own -> ask the others for theirs").
			Follows("(after Garcia-Molina) a node that lost its coordinator forms a group of itself, and " +
			"asks all others whether they are coordinators")
)

// Begin makes this node the coordinator of a group of its own, and looks for others to
// merge with.
//
// After Garcia-Molina: a node that lost its coordinator forms a group of itself, without
// asking anybody. A coordinator asks all others whether they are coordinators too.
func (r *round) Begin() {
	if r.higher() == 0 {
		r.merge(whyHighest.Of())
		return
	}
	r.enter(checking)
	r.core.Why(whyOwnGroup)
	r.core.SendAll(r.Question())
	r.core.SetTimer(GroupTimeout(r.core.Delta()))
}

// higher returns the number of nodes in the view that rank above this node and are eligible.
func (r *round) higher() (above int) {
	self := r.core.Self()
	r.core.Peers(func(p proto.Peer) {
		if !p.Ineligible && p.Above(self) {
			above++
		}
	})
	return above
}

// yield leaves the merging of the groups to the nodes that rank above this node.
//
// After Garcia-Molina: a coordinator that found others waits before it merges, the less the higher
// it ranks, so that not all do at once.
func (r *round) yield(above int) {
	r.enter(yielding)
	r.core.SetTimer(Turn(r.core.Delta(), above))
}

var whyInvite = reasons.Kind("invite", "%s -> invite all others")

// merge invites all others into this node's group.
//
// After Garcia-Molina: to merge, a coordinator forms a new group, and invites the other
// coordinators and its own members.
func (r *round) merge(reason algorithms.Reason) {
	if r.core.Spent(reason) {
		return
	}
	r.enter(merging)
	if r.core.Size() > 1 {
		r.core.Why(whyInvite, reason)
	}
	r.core.SendAll(Invitation{Coordinator: r.core.Self()})
	r.core.SetTimer(AcceptTimeout(r.core.Delta()))
	r.leadIfAll(reason)
}

// leadIfAll makes this node lead at once if all others have accepted.
func (r *round) leadIfAll(reason algorithms.Reason) {
	all := len(r.members) >= r.core.Size()-1
	if !all {
		return
	}
	r.core.Peers(func(p proto.Peer) { all = all && r.members[p.ID] })
	if all {
		r.core.Win(reason)
	}
}

// Won tells the members of the group. The other nodes hear of the leader by its next announcement; by
// then they may have a coordinator that ranks above this node.
//
// After Garcia-Molina: READY goes to those that accepted, and to nobody else.
func (r *round) Won() {
	leader := r.core.Leader()
	if r.phase != merging { // asked to lead: there was no invitation
		r.core.TellAll()
		return
	}
	r.core.SendWhere(r.Announcement(leader), func(p *proto.Peer) bool { return r.members[p.ID] })
	r.Reset()
}

var (
	whyNoMore = reasons.Kind("no-more", "no more groups answered in time")
	whyTurn   = reasons.Kind("turn", "nobody above merged the groups in time").
			Follows(waits)
	whyAccepted = reasons.Kind("accepted", "who accepts has accepted").
			Follows(leads)
	whyAsk     = reasons.Kind("ask", "no READY came in time -> ask %d")
	whyNoReady = reasons.Kind("no-ready", "no READY came in time", algorithms.Caused(algorithms.RoundFailed))
)

// Timeout handles the end of a wait. The phase says what this node waited for.
func (r *round) Timeout() {
	switch {
	case r.phase == checking:
		r.found(whyNoMore.Of())
	case r.phase == yielding:
		r.merge(whyTurn.Of())
	case r.phase == merging:
		r.core.Win(whyAccepted.Of())
	case r.phase == accepted && !r.asked:
		r.core.Why(whyAsk, r.group.ID)
		r.asked = true
		r.core.Send(r.group.ID, r.Question())
		r.core.SetTimer(GroupTimeout(r.core.Delta()))
	case r.phase == accepted:
		// After Garcia-Molina: a member whose coordinator does not answer forms a group
		// of itself.
		r.core.Call(whyNoReady.Of())
	}
}

var (
	whyNobodyAbove = reasons.Kind("nobody-above", "%s, nobody above").
			Follows(merges)
	whyYield = reasons.Kind("yield", "%s, %d of them above -> leave it to those to merge").
			Follows(waits)
)

// found continues after the answers have come: it merges the groups, or leaves the merging to the higher
// nodes that answered.
func (r *round) found(cause algorithms.Reason) {
	if r.above == 0 {
		r.merge(whyNobodyAbove.Of(cause))
		return
	}
	r.core.Why(whyYield, cause, r.above)
	r.yield(r.above)
}

var (
	whyHigherGone     = reasons.Kind("higher-gone", "no higher node is alive any more", algorithms.Skips{})
	whyAcceptedOrDead = reasons.Kind("accepted-or-dead", "all others have accepted or are dead", algorithms.Skips{})
)

// PeersChanged stops waiting for nodes that are dead.
func (r *round) PeersChanged([]proto.Peer) {
	switch r.phase {
	case idle:
	case checking, yielding:
		if r.higher() == 0 {
			r.merge(whyHigherGone.Of())
		}
	case merging:
		r.leadIfAll(whyAcceptedOrDead.Of())
	case accepted:
		if r.core.Out(r.group) {
			r.core.CallWithout(r.group)
		}
	}
}
