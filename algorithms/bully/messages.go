package bully

import "github.com/ringleader-dev/ringleader/proto"

// The kinds of bully's own messages; it shares COORDINATOR with other algorithms.
var (
	KindElection = proto.NewKind[Election](
		17, "ELECTION", "I call an election: does anybody above me live?", proto.Nominates)
	KindOK = proto.NewKind[OK](18, "OK", "I rank above you and live: wait", proto.Nominates)
)

// Election asks a higher-ranked process to take over. Candidate is the sender, with its
// attribute frozen for the term.
type Election struct {
	Candidate proto.Peer `msgpack:"p"`
}

func (Election) Kind() proto.Kind       { return KindElection }
func (b Election) String() string       { return proto.Describe(b, "candidate", b.Candidate) }
func (b Election) Validate() error      { return b.Candidate.ID.Validate() }
func (b Election) Caller() proto.NodeID { return b.Candidate.ID }

// OK answers an Election: a higher-ranked process is alive and goes on.
type OK struct{}

func (OK) Kind() proto.Kind { return KindOK }
func (b OK) String() string { return proto.Describe(b) }
func (OK) Validate() error  { return nil }
