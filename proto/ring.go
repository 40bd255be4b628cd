package proto

import "fmt"

// The messages of the algorithms on a ring, but for the first.

// TokenElection goes clockwise and collects whoever stands.
type TokenElection struct {
	Initiator NodeID
	Roll      Roll
	Hops      uint64 // links travelled so far, this one included
}

// TokenCoordinator goes clockwise and announces the highest that TokenElection
// collected.
type TokenCoordinator struct {
	Leader Peer
	// Taken says that it has passed the leader, which leads since. Until then it
	// says only who was chosen.
	Taken bool
	Hops  uint64 // links travelled since it was sent or taken, this one included
}

// Probe goes one way round and asks whether anybody ranks above the candidate
// (Hirschberg and Sinclair).
type Probe struct {
	Candidate Peer
	Phase     uint64 // it goes over up to 2^Phase links
	Clockwise bool   // the way it goes
	Hops      uint64 // links travelled so far, this one included
}

// ProbeReply goes back the way that a probe came: nobody that it passed ranks above the
// candidate.
type ProbeReply struct {
	Candidate NodeID
	Phase     uint64
	Clockwise bool   // the way it goes
	Hops      uint64 // links travelled so far, this one included
}

// Candidate goes one way round to the next candidate of its round (Franklin).
type Candidate struct {
	Candidate Peer
	Round     uint64
	Clockwise bool   // the way it goes
	Hops      uint64 // links travelled so far, this one included
}

// MaxPhase bounds a phase, or round, taken from the wire: 2^64 nodes are more than there are.
const MaxPhase = 64

func (TokenElection) Kind() Kind    { return KindTokenElection }
func (TokenCoordinator) Kind() Kind { return KindTokenCoordinator }
func (Probe) Kind() Kind            { return KindProbe }
func (ProbeReply) Kind() Kind       { return KindProbeReply }
func (Candidate) Kind() Kind        { return KindCandidate }

func (b TokenElection) Caller() NodeID { return b.Initiator }
func (b Probe) Caller() NodeID         { return b.Candidate.ID }
func (b Candidate) Caller() NodeID     { return b.Candidate.ID }

func (b TokenCoordinator) Announced() (leader Peer, ok bool) { return b.Leader, b.Taken }

func (b TokenElection) String() string {
	return describe(b, "collected", b.Roll, "initiator", b.Initiator)
}

func (b TokenCoordinator) String() string {
	if b.Taken {
		return describe(b, "round, leader", b.Leader)
	}
	return describe(b, "round, chosen", b.Leader)
}

func (b Probe) String() string { return describe(b, "phase", b.Phase, "candidate", b.Candidate) }

func (b ProbeReply) String() string { return describe(b, "phase", b.Phase, "candidate", b.Candidate) }

func (b Candidate) String() string { return describe(b, "round", b.Round, "candidate", b.Candidate) }

func (b TokenElection) validate() error {
	if err := b.Initiator.Validate(); err != nil {
		return err
	}
	if err := b.Roll.validate(); err != nil {
		return err
	}
	return validateHops(b.Hops)
}

func (b TokenCoordinator) validate() error {
	if err := b.Leader.ID.Validate(); err != nil {
		return err
	}
	return validateHops(b.Hops)
}

func (b Probe) validate() error      { return validateProbe(b.Candidate.ID, b.Phase, b.Hops) }
func (b ProbeReply) validate() error { return validateProbe(b.Candidate, b.Phase, b.Hops) }
func (b Candidate) validate() error  { return validateProbe(b.Candidate.ID, b.Round, b.Hops) }

func validateProbe(candidate NodeID, phase, hops uint64) error {
	if phase > MaxPhase {
		return fmt.Errorf("phase %d: at most %d", phase, MaxPhase)
	}
	if err := candidate.Validate(); err != nil {
		return err
	}
	return validateHops(hops)
}
