package zookeeper

import "github.com/ringleader-dev/ringleader/proto"

// The kinds of ZooKeeper's messages.
var (
	KindWatch = proto.NewKind[Watch](
		96, "WATCH", "are you there? you are the next above me", proto.Nominates)
	KindExists = proto.NewKind[Exists](
		97, "EXISTS", "I am here, and see to the election", proto.Nominates)
	KindNewLeader = proto.NewKind[NewLeader](98, "NEW_LEADER", "I stand", proto.Nominates)
	KindAck       = proto.NewKind[Ack](
		99, "ACK", "you have my ACK, nobody else gets it in this term", proto.Nominates)
	KindCommit = proto.NewKind[Commit](100, "COMMIT", "a quorum sent me ACK: I lead", proto.Nominates)
)

// Watch asks its receiver, the next process above the sender, whether the receiver is alive and who
// leads. It calls the election, or passes such a call on.
type Watch struct {
	Self proto.Peer `msgpack:"p"`
}

func (Watch) Kind() proto.Kind       { return KindWatch }
func (b Watch) String() string       { return proto.Describe(b, "self", b.Self) }
func (b Watch) Validate() error      { return b.Self.ID.Validate() }
func (b Watch) Caller() proto.NodeID { return b.Self.ID }

// Exists answers Watch: its sender is alive, and continues the election.
type Exists struct{}

func (Exists) Kind() proto.Kind { return KindExists }
func (b Exists) String() string { return proto.Describe(b) }
func (Exists) Validate() error  { return nil }

// NewLeader asks all to follow the candidate, its sender.
type NewLeader struct {
	Candidate proto.Peer `msgpack:"p"`
}

func (NewLeader) Kind() proto.Kind       { return KindNewLeader }
func (b NewLeader) String() string       { return proto.Describe(b, "candidate", b.Candidate) }
func (b NewLeader) Validate() error      { return b.Candidate.ID.Validate() }
func (b NewLeader) Caller() proto.NodeID { return b.Candidate.ID }

// Endorses returns the process that the sender follows in the term: the sender itself.
func (b NewLeader) Endorses() proto.Incarnation { return b.Candidate.Incarnation }

// Ack answers NewLeader. Candidate is the incarnation of the candidate. A node sends Ack for only
// one process in a term.
type Ack struct {
	Candidate proto.Incarnation `msgpack:"s"`
}

func (Ack) Kind() proto.Kind { return KindAck }
func (b Ack) String() string { return proto.Describe(b, "for", b.Candidate.Short()) }
func (Ack) Validate() error  { return nil }

// Endorses returns the process that the sender follows in the term.
func (b Ack) Endorses() proto.Incarnation { return b.Candidate }

// Commit announces the leader of its term, to which a quorum sent ACK.
type Commit struct {
	Leader proto.Peer `msgpack:"p"`
}

func (Commit) Kind() proto.Kind                          { return KindCommit }
func (b Commit) String() string                          { return proto.Describe(b, "leader", b.Leader) }
func (b Commit) Validate() error                         { return b.Leader.ID.Validate() }
func (b Commit) Announced() (leader proto.Peer, ok bool) { return b.Leader, true }
