package proto

import (
	"fmt"
	"reflect"
	"strings"
)

// Body is the content of a message, apart from its envelope. Each kind has a small struct for it.
type Body interface {
	// Kind returns the kind that was declared for this struct.
	Kind() Kind
	// String describes the body for people, beginning with the kind's name; see Describe.
	String() string
}

// Payload is a Body that is encoded by its msgpack tags. Bodies are compared with ==, so they
// contain no slices; see Roll. A Body that calls an election or announces a leader has another
// method that tells this: see package nomination.
type Payload interface {
	Body
	// Validate refuses values that no correct node sends.
	Validate() error
}

// Message is one election message. The Machine sets From, To, Term and Body; its host sets Seq and
// HLC.
type Message struct {
	From, To NodeID
	Term     Term
	Seq      uint64 // the sender's own count of messages, from 1 at each start
	HLC      HLC    // the sender's clock when it sent
	Body     Body

	// Sender is the process of From that sent the message. It is not sent along: the receiving host knows it from
	// the connection, and sets it. It is zero if the host does not know it.
	Sender Incarnation
}

// ID returns the message's name, "sender:seq". By this name a reader of records finds the record of
// sending the message and the record of its receipt.
func (m Message) ID() string { return fmt.Sprintf("%d:%d", m.From, m.Seq) }

// Describe writes a body as "NAME word value, word value", from pairs of words and values. It
// writes a peer as "id:attr", as the lecture notes do.
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

// RanksIn returns the peers in the fields of b, in the order of the fields. It leaves out a peer
// without an id, and a peer with ChosenAttr, which is not the peer's own attribute.
func RanksIn(b Body) (peers []Peer) {
	v := reflect.ValueOf(b)
	if v.Kind() != reflect.Struct {
		return nil
	}
	for i := range v.NumField() {
		if !v.Type().Field(i).IsExported() {
			continue
		}
		if p, ok := v.Field(i).Interface().(Peer); ok && p.ID != 0 && p.Attr != ChosenAttr {
			peers = append(peers, p)
		}
	}
	return peers
}
