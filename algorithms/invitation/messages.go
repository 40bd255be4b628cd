package invitation

import "github.com/ringleader-dev/ringleader/proto"

// The kinds of the messages of the invitation algorithm.
var (
	KindAreYouCoordinator = proto.NewKind[AreYouCoordinator](
		76, "ARE_YOU_COORDINATOR", "do you coordinate a group?", proto.Nominates)
	KindGroup      = proto.NewKind[Group](77, "GROUP", "yes, this one", proto.Nominates)
	KindInvitation = proto.NewKind[Invitation](78, "INVITATION", "join the group of this one", proto.Nominates)
	KindAccept     = proto.NewKind[Accept](79, "ACCEPT", "I join it", proto.Nominates)
	KindReady      = proto.NewKind[Ready](
		80, "READY", "the group is complete: this one coordinates it", proto.Nominates, proto.TellsMembers)
)

// AreYouCoordinator asks its receiver whose group it is in.
type AreYouCoordinator struct {
	Self proto.Peer `msgpack:"p"`
}

func (AreYouCoordinator) Kind() proto.Kind       { return KindAreYouCoordinator }
func (b AreYouCoordinator) String() string       { return proto.Describe(b, "self", b.Self) }
func (b AreYouCoordinator) Validate() error      { return b.Self.ID.Validate() }
func (b AreYouCoordinator) Caller() proto.NodeID { return b.Self.ID }

// Group answers AreYouCoordinator with the coordinator of the sender's group. That is the sender itself,
// until it accepts an invitation. A sender that is no candidate marks itself as not eligible.
type Group struct {
	Coordinator proto.Peer `msgpack:"p"`
}

func (Group) Kind() proto.Kind  { return KindGroup }
func (b Group) String() string  { return proto.Describe(b, "coordinator", b.Coordinator) }
func (b Group) Validate() error { return b.Coordinator.ID.Validate() }

// Invitation invites its receiver into the group of the coordinator. The coordinator sends it, or
// one of its members passes it on.
type Invitation struct {
	Coordinator proto.Peer `msgpack:"p"`
}

func (Invitation) Kind() proto.Kind       { return KindInvitation }
func (b Invitation) String() string       { return proto.Describe(b, "coordinator", b.Coordinator) }
func (b Invitation) Validate() error      { return b.Coordinator.ID.Validate() }
func (b Invitation) Caller() proto.NodeID { return b.Coordinator.ID }

// Accept answers an Invitation: its sender is a member of the coordinator's group.
type Accept struct{}

func (Accept) Kind() proto.Kind { return KindAccept }
func (b Accept) String() string { return proto.Describe(b) }
func (Accept) Validate() error  { return nil }

// Ready announces the coordinator that leads this term to a member of its group. A
// process that relays it names the leader, not itself.
type Ready struct {
	Leader proto.Peer `msgpack:"p"`
}

func (Ready) Kind() proto.Kind                          { return KindReady }
func (b Ready) String() string                          { return proto.Describe(b, "leader", b.Leader) }
func (b Ready) Validate() error                         { return b.Leader.ID.Validate() }
func (b Ready) Announced() (leader proto.Peer, ok bool) { return b.Leader, true }
