package proto

// The messages of the invitation algorithm.

// AreYouCoordinator asks its receiver whose group it is in.
type AreYouCoordinator struct {
	Self Peer
}

// Group answers AreYouCoordinator with the coordinator of the sender's group: the
// sender itself, until it accepts an invitation. One that does not stand says so.
type Group struct {
	Coordinator Peer
}

// Invitation invites its receiver into the group of the coordinator, which sends it,
// or has a member of its own pass it on.
type Invitation struct {
	Coordinator Peer
}

// AcceptInvitation answers an Invitation: its sender is a member of the coordinator's group.
type AcceptInvitation struct{}

// Ready announces the coordinator that leads this term to a member of its group. A
// process that relays it names the leader, not itself.
type Ready struct {
	Leader Peer
}

func (AreYouCoordinator) Kind() Kind { return KindAreYouCoordinator }
func (Group) Kind() Kind             { return KindGroup }
func (Invitation) Kind() Kind        { return KindInvitation }
func (AcceptInvitation) Kind() Kind  { return KindAcceptInvitation }
func (Ready) Kind() Kind             { return KindReady }

func (b AreYouCoordinator) Caller() NodeID { return b.Self.ID }
func (b Invitation) Caller() NodeID        { return b.Coordinator.ID }

func (b Ready) Announced() (leader Peer, ok bool) { return b.Leader, true }

func (b AreYouCoordinator) String() string { return describe(b, "self", b.Self) }
func (b Group) String() string             { return describe(b, "coordinator", b.Coordinator) }
func (b Invitation) String() string        { return describe(b, "coordinator", b.Coordinator) }
func (b AcceptInvitation) String() string  { return b.Kind().String() }
func (b Ready) String() string             { return describe(b, "leader", b.Leader) }

func (b AreYouCoordinator) validate() error { return b.Self.ID.Validate() }
func (b Group) validate() error             { return b.Coordinator.ID.Validate() }
func (b Invitation) validate() error        { return b.Coordinator.ID.Validate() }
func (b AcceptInvitation) validate() error  { return nil }
func (b Ready) validate() error             { return b.Leader.ID.Validate() }

// The wire structs: all but one are a process.
type (
	wireAcceptInvitation  struct{ envelope }
	wireAreYouCoordinator struct {
		envelope
		process
	}
	wireGroup struct {
		envelope
		process
	}
	wireInvitation struct {
		envelope
		process
	}
	wireReady struct {
		envelope
		process
	}
)

func (w *wireAreYouCoordinator) message() Message { return w.with(AreYouCoordinator{w.peer()}) }
func (w *wireGroup) message() Message             { return w.with(Group{w.peer()}) }
func (w *wireInvitation) message() Message        { return w.with(Invitation{w.peer()}) }
func (w *wireAcceptInvitation) message() Message  { return w.with(AcceptInvitation{}) }
func (w *wireReady) message() Message             { return w.with(Ready{w.peer()}) }

// newInvitationWire returns an empty wire struct for kind k, nil for one that is none
// of these.
func newInvitationWire(k Kind) wire {
	switch k {
	case KindAreYouCoordinator:
		return new(wireAreYouCoordinator)
	case KindGroup:
		return new(wireGroup)
	case KindInvitation:
		return new(wireInvitation)
	case KindAcceptInvitation:
		return new(wireAcceptInvitation)
	case KindReady:
		return new(wireReady)
	}
	return nil
}

// invitationWireOf returns the body in its envelope as it travels, nil for one that is
// none of these.
func invitationWireOf(e envelope, body Body) wire {
	switch b := body.(type) {
	case AreYouCoordinator:
		return &wireAreYouCoordinator{e, process(b.Self)}
	case Group:
		return &wireGroup{e, process(b.Coordinator)}
	case Invitation:
		return &wireInvitation{e, process(b.Coordinator)}
	case AcceptInvitation:
		return &wireAcceptInvitation{e}
	case Ready:
		return &wireReady{e, process(b.Leader)}
	}
	return nil
}
