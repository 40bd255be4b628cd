package proto

import (
	"fmt"
	"strings"
)

// Body is what a message says beyond its envelope: one small struct a kind.
type Body interface {
	// Kind is the kind that was declared for this struct.
	Kind() Kind
	// String is the body for people, the kind's name first; see Describe.
	String() string
}

// Payload is a Body of which msgpack tags say how it travels. Bodies are compared, so they
// hold no slices; see Roll. A Body that calls an election, or announces a leader, has a
// method more that says so: see package nomination.
type Payload interface {
	Body
	// Validate refuses values that no correct node sends.
	Validate() error
}

// Message is one election message. From, Term and Body are the Machine's; Seq
// and HLC are stamped by whoever runs it.
type Message struct {
	From, To NodeID
	Term     Term
	Seq      uint64 // the sender's own count of messages, from 1 at each start
	HLC      HLC    // the sender's clock when it sent
	Body     Body
}

// ID is the message's name, "sender:seq": a send and its receipt pair up by it.
func (m Message) ID() string { return fmt.Sprintf("%d:%d", m.From, m.Seq) }

// Describe writes "NAME word value, word value" for a body; a peer as the seeds' id:attr.
func Describe(b Body, pairs ...any) string {
	parts := make([]string, 0, len(pairs)/2)
	for i := 0; i+1 < len(pairs); i += 2 {
		value := pairs[i+1]
		if p, ok := value.(Peer); ok {
			value = fmt.Sprintf("%d:%d", p.ID, p.Attr)
			if p.Attr == ChosenAttr {
				value = p.ID.String() + ":chosen"
			}
		}
		parts = append(parts, fmt.Sprintf("%v %v", pairs[i], value))
	}
	if len(parts) == 0 {
		return b.Kind().String()
	}
	return b.Kind().String() + " " + strings.Join(parts, ", ")
}
