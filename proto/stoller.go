package proto

// The messages of Stoller's bully.

// Halt stops its receiver's own part in the election of this term, and its leading if
// it leads: the candidate, which sends it, is the best as far as it knows.
type Halt struct {
	Candidate Peer
}

// Halted answers a Halt: its sender waits for what becomes of the candidate. The
// paper's word for it is ACK.
type Halted struct{}

// Reject answers a Halt: its sender waits for another one, which ranks above, or
// ranks above the candidate itself.
type Reject struct {
	Above Peer
}

// Leads announces the leader of its term. A process that relays it names the leader,
// not itself.
type Leads struct {
	Leader Peer
}

// NotNorm says that the sender knows no leader of this term, and asks whoever ranks
// above to stand.
type NotNorm struct {
	Self Peer
}

func (Halt) Kind() Kind    { return KindHalt }
func (Halted) Kind() Kind  { return KindHalted }
func (Reject) Kind() Kind  { return KindReject }
func (Leads) Kind() Kind   { return KindLeads }
func (NotNorm) Kind() Kind { return KindNotNorm }

func (b Halt) Caller() NodeID    { return b.Candidate.ID }
func (b NotNorm) Caller() NodeID { return b.Self.ID }

func (b Leads) Announced() (leader Peer, ok bool) { return b.Leader, true }

func (b Halt) String() string    { return describe(b, "candidate", b.Candidate) }
func (b Halted) String() string  { return b.Kind().String() }
func (b Reject) String() string  { return describe(b, "above", b.Above) }
func (b Leads) String() string   { return describe(b, "leader", b.Leader) }
func (b NotNorm) String() string { return describe(b, "self", b.Self) }

func (b Halt) validate() error    { return b.Candidate.ID.Validate() }
func (b Halted) validate() error  { return nil }
func (b Reject) validate() error  { return b.Above.ID.Validate() }
func (b Leads) validate() error   { return b.Leader.ID.Validate() }
func (b NotNorm) validate() error { return b.Self.ID.Validate() }

// The wire structs: all but one are a process.
type (
	wireHalted struct{ envelope }
	wireHalt   struct {
		envelope
		process
	}
	wireReject struct {
		envelope
		process
	}
	wireLeads struct {
		envelope
		process
	}
	wireNotNorm struct {
		envelope
		process
	}
)

func (w *wireHalt) message() Message    { return w.with(Halt{w.peer()}) }
func (w *wireHalted) message() Message  { return w.with(Halted{}) }
func (w *wireReject) message() Message  { return w.with(Reject{w.peer()}) }
func (w *wireLeads) message() Message   { return w.with(Leads{w.peer()}) }
func (w *wireNotNorm) message() Message { return w.with(NotNorm{w.peer()}) }

// newStollerWire returns an empty wire struct for kind k, nil for one that is none of
// these.
func newStollerWire(k Kind) wire {
	switch k {
	case KindHalt:
		return new(wireHalt)
	case KindHalted:
		return new(wireHalted)
	case KindReject:
		return new(wireReject)
	case KindLeads:
		return new(wireLeads)
	case KindNotNorm:
		return new(wireNotNorm)
	}
	return nil
}

// stollerWireOf returns the body in its envelope as it travels, nil for one that is
// none of these.
func stollerWireOf(e envelope, body Body) wire {
	switch b := body.(type) {
	case Halt:
		return &wireHalt{e, process(b.Candidate)}
	case Halted:
		return &wireHalted{e}
	case Reject:
		return &wireReject{e, process(b.Above)}
	case Leads:
		return &wireLeads{e, process(b.Leader)}
	case NotNorm:
		return &wireNotNorm{e, process(b.Self)}
	}
	return nil
}
