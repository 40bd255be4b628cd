package proto

import (
	"fmt"
	"math"
)

// wire is a message in the form in which it is encoded: a map of short keys, for the envelope and
// the body. A key is never reused with another meaning. A node skips keys that it does not know, so
// fields can be added.
type wire interface {
	// validate returns an error for a message that no correct node sends.
	validate() error
	// message returns the message. The envelope must be valid.
	message() Message
}

// envelope has the fields that every message carries.
type envelope struct {
	From    NodeID `msgpack:"f"`
	To      NodeID `msgpack:"t"`
	Term    Term   `msgpack:"n"`
	Seq     uint64 `msgpack:"q"`
	Micros  int64  `msgpack:"u"`
	Logical uint64 `msgpack:"l"` // wider than valid values, so that larger ones do not wrap
}

// process is a Peer in the form in which it is encoded.
type process struct {
	ID          NodeID      `msgpack:"i"`
	Incarnation Incarnation `msgpack:"s"`
	Attr        int64       `msgpack:"a"`
	// Ineligible is absent when false, since it was added later.
	Ineligible bool `msgpack:"x,omitempty"`
}

// framed is a message whose body is encoded by its own msgpack tags.
type framed[B Payload] struct {
	envelope
	Body B `msgpack:"b"`
}

func (w *framed[B]) validate() error {
	if err := w.envelope.validate(); err != nil {
		return err
	}
	return w.Body.Validate()
}

func (w *framed[B]) message() Message { return w.with(w.Body) }

// newWire returns an empty wire struct for a message of kind k.
func newWire(k Kind) wire {
	if k.blank != nil {
		return k.blank()
	}
	return newLeaseWire(k)
}

// wireOf returns the wire struct of m. It returns nil if m has no body or a body of an unknown type.
func wireOf(m Message) wire {
	if m.Body == nil {
		return nil
	}
	if k := m.Body.Kind(); k.row != nil && k.wrap != nil {
		return k.wrap(m)
	}
	return leaseWireOf(envelopeOf(m), m.Body)
}

func envelopeOf(m Message) envelope {
	return envelope{
		From: m.From, To: m.To, Term: m.Term, Seq: m.Seq,
		Micros: m.HLC.Micros, Logical: uint64(m.HLC.Logical),
	}
}

// validate also refuses a number that was negative on the wire: the decoder reads it as a huge one.
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

// with returns the message with this envelope and this body.
func (e *envelope) with(body Body) Message {
	return Message{
		From: e.From, To: e.To, Term: e.Term, Seq: e.Seq,
		HLC:  HLC{Micros: e.Micros, Logical: uint32(e.Logical)},
		Body: body,
	}
}

func (p *process) peer() Peer { return Peer(*p) }
