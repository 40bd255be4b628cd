package stoller

import "github.com/ringleader-dev/ringleader/proto"

// The kinds of the messages of Stoller's bully.
var (
	KindHalt   = proto.NewKind[Halt](68, "HALT", "stop, and wait for me", proto.Nominates)
	KindHalted = proto.NewKind[Halted](69, "ACK", "I have stopped, and wait for you", proto.Nominates)
	KindReject = proto.NewKind[Reject](
		70, "REJECT", "I do not stop for you: I wait for one above you", proto.Nominates)
	KindLeads   = proto.NewKind[Leads](71, "LEADER", "I lead", proto.Nominates, proto.TellsAll)
	KindNotNorm = proto.NewKind[NotNorm](
		72, "NOT_NORM", "no leader of mine: you are higher, see to it", proto.Nominates)
)

// Halt tells its receiver to stop its part in the election of this term, and to stop leading if it
// leads. The sender is the candidate; as far as the sender knows, it ranks highest.
type Halt struct {
	Candidate proto.Peer `msgpack:"p"`
}

func (Halt) Kind() proto.Kind       { return KindHalt }
func (b Halt) String() string       { return proto.Describe(b, "candidate", b.Candidate) }
func (b Halt) Validate() error      { return b.Candidate.ID.Validate() }
func (b Halt) Caller() proto.NodeID { return b.Candidate.ID }

// Halted answers a Halt: its sender has stopped and waits for the candidate to lead. The paper's
// word for it is ACK.
type Halted struct{}

func (Halted) Kind() proto.Kind { return KindHalted }
func (b Halted) String() string { return proto.Describe(b) }
func (Halted) Validate() error  { return nil }

// Reject answers a Halt: the sender ranks above the candidate, or waits for a process that ranks above
// it.
type Reject struct {
	Above proto.Peer `msgpack:"p"`
}

func (Reject) Kind() proto.Kind  { return KindReject }
func (b Reject) String() string  { return proto.Describe(b, "above", b.Above) }
func (b Reject) Validate() error { return b.Above.ID.Validate() }

// Leads announces the leader of its term. A process that relays it names the leader, not itself.
type Leads struct {
	Leader proto.Peer `msgpack:"p"`
}

func (Leads) Kind() proto.Kind                          { return KindLeads }
func (b Leads) String() string                          { return proto.Describe(b, "leader", b.Leader) }
func (b Leads) Validate() error                         { return b.Leader.ID.Validate() }
func (b Leads) Announced() (leader proto.Peer, ok bool) { return b.Leader, true }

// NotNorm says that the sender knows no leader of this term. It asks a process that ranks above the
// sender to become a candidate.
type NotNorm struct {
	Self proto.Peer `msgpack:"p"`
}

func (NotNorm) Kind() proto.Kind       { return KindNotNorm }
func (b NotNorm) String() string       { return proto.Describe(b, "self", b.Self) }
func (b NotNorm) Validate() error      { return b.Self.ID.Validate() }
func (b NotNorm) Caller() proto.NodeID { return b.Self.ID }
