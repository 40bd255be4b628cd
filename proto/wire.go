package proto

import (
	"fmt"
	"math"
)

// A wire struct is a message as it travels: one flat map of short keys, the
// envelope and the body side by side. Keys are never reused for another
// meaning; a node skips those it does not know, so fields can be added.
type wire interface {
	// validate refuses an envelope that no correct node sends.
	validate() error
	// message is the message, its envelope being valid.
	message() Message
}

// envelope is what every message carries.
type envelope struct {
	From    NodeID `msgpack:"f"`
	To      NodeID `msgpack:"t"`
	Term    Term   `msgpack:"n"`
	Seq     uint64 `msgpack:"q"`
	Micros  int64  `msgpack:"u"`
	Logical uint64 `msgpack:"l"` // wider than its value, so that nothing wraps
}

// process is a Peer.
type process struct {
	ID      NodeID  `msgpack:"i"`
	Session Session `msgpack:"s"`
	Attr    int64   `msgpack:"a"`
	// Since it was added later, it is absent when false.
	Ineligible bool `msgpack:"x,omitempty"`
}

// One wire struct a kind.
type (
	wireTimeoutNow struct{ envelope }
	wireOK         struct{ envelope }
	wireElection   struct {
		envelope
		process
	}
	wireCoordinator struct {
		envelope
		process
	}
	wireIdentity struct {
		envelope
		process
	}
	wireElected struct {
		envelope
		process
		Hops uint64 `msgpack:"h"`
	}
	wireRingElection struct {
		envelope
		process
		Initiator NodeID `msgpack:"o"`
		Hops      uint64 `msgpack:"h"`
	}
)

func (w *wireTimeoutNow) message() Message  { return w.with(TimeoutNow{}) }
func (w *wireOK) message() Message          { return w.with(OK{}) }
func (w *wireElection) message() Message    { return w.with(Election{Candidate: w.peer()}) }
func (w *wireCoordinator) message() Message { return w.with(Coordinator{Leader: w.peer()}) }
func (w *wireIdentity) message() Message    { return w.with(Identity{Self: w.peer()}) }

func (w *wireElected) message() Message {
	return w.with(Elected{Leader: w.peer(), Hops: w.Hops})
}

func (w *wireRingElection) message() Message {
	return w.with(RingElection{Initiator: w.Initiator, Best: w.peer(), Hops: w.Hops})
}

// newWire returns an empty wire struct for kind k, nil for one that is no
// message.
func newWire(k Kind) wire {
	switch k {
	case KindTimeoutNow:
		return new(wireTimeoutNow)
	case KindElection:
		return new(wireElection)
	case KindOK:
		return new(wireOK)
	case KindCoordinator:
		return new(wireCoordinator)
	case KindRingElection:
		return new(wireRingElection)
	case KindElected:
		return new(wireElected)
	case KindIdentity:
		return new(wireIdentity)
	}
	if w := newRingWire(k); w != nil {
		return w
	}
	if w := newQuorumWire(k); w != nil {
		return w
	}
	if w := newStollerWire(k); w != nil {
		return w
	}
	if w := newInvitationWire(k); w != nil {
		return w
	}
	return newOfficeWire(k)
}

// wireOf returns m as it travels, nil for a body that no kind has.
func wireOf(m Message) wire {
	e := envelopeOf(m)
	switch b := m.Body.(type) {
	case TimeoutNow:
		return &wireTimeoutNow{e}
	case Election:
		return &wireElection{e, process(b.Candidate)}
	case OK:
		return &wireOK{e}
	case Coordinator:
		return &wireCoordinator{e, process(b.Leader)}
	case RingElection:
		return &wireRingElection{e, process(b.Best), b.Initiator, b.Hops}
	case Elected:
		return &wireElected{e, process(b.Leader), b.Hops}
	case Identity:
		return &wireIdentity{e, process(b.Self)}
	}
	if w := ringWireOf(e, m.Body); w != nil {
		return w
	}
	if w := quorumWireOf(e, m.Body); w != nil {
		return w
	}
	if w := stollerWireOf(e, m.Body); w != nil {
		return w
	}
	if w := invitationWireOf(e, m.Body); w != nil {
		return w
	}
	return officeWireOf(e, m.Body)
}

func envelopeOf(m Message) envelope {
	return envelope{
		From: m.From, To: m.To, Term: m.Term, Seq: m.Seq,
		Micros: m.HLC.Micros, Logical: uint64(m.HLC.Logical),
	}
}

// validate also catches the negative number that the decoder read as a huge
// one.
func (e *envelope) validate() error {
	if err := e.From.Validate(); err != nil {
		return fmt.Errorf("from: %w", err)
	}
	if err := e.To.Validate(); err != nil {
		return fmt.Errorf("to: %w", err)
	}
	if e.Term > MaxTerm {
		return fmt.Errorf("term %d: at most %d", e.Term, MaxTerm)
	}
	if e.Seq > math.MaxInt64 {
		return fmt.Errorf("message number %d: at most %d", e.Seq, int64(math.MaxInt64))
	}
	if e.Micros < 0 || e.Logical > math.MaxUint32 {
		return fmt.Errorf("hybrid clock %d.%d: out of range", e.Micros, e.Logical)
	}
	return nil
}

// with is the envelope around body.
func (e *envelope) with(body Body) Message {
	return Message{
		From: e.From, To: e.To, Term: e.Term, Seq: e.Seq,
		HLC:  HLC{Micros: e.Micros, Logical: uint32(e.Logical)},
		Body: body,
	}
}

func (p *process) peer() Peer { return Peer(*p) }
