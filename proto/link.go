package proto

import (
	"errors"
	"fmt"
	"math"
	"unicode/utf8"
)

// LinkKind is the kind of a frame that the two ends of a connection send each other and that is no
// message. The frame header has the number of the LinkKind where a message has the number of its
// Kind. The numbers of LinkKinds are lower than those of Kinds.
type LinkKind uint8

// The kinds of the link. Numbers are never used again.
const (
	KindHello   LinkKind = 1
	KindWelcome LinkKind = 2
	KindRefuse  LinkKind = 3
	KindAck     LinkKind = 4
	KindPing    LinkKind = 5
	KindPong    LinkKind = 6
	KindPingReq LinkKind = 7
	KindPingRes LinkKind = 8
	KindNews    LinkKind = 9
)

var linkNames = [...]string{
	KindHello: "HELLO", KindWelcome: "WELCOME", KindRefuse: "REFUSE", KindAck: "ACK",
	KindPing: "PING", KindPong: "PONG", KindPingReq: "PING_REQ", KindPingRes: "PING_RES",
	KindNews: "NEWS",
}

// String returns the kind's name.
func (k LinkKind) String() string {
	if k != 0 && int(k) < len(linkNames) {
		return linkNames[k]
	}
	return fmt.Sprintf("KIND(%d)", uint8(k))
}

// LinkBody is the content of a frame with a LinkKind. The end that dialled sends HELLO, and the other
// end answers WELCOME or REFUSE. Later an end sends an ACK now and then, a PONG for each PING, and
// a PING_RES for a PING_REQ. NEWS comes from the end that dialled, and has no answer.
type LinkBody interface {
	// Kind returns the kind that the frame header states for this struct.
	Kind() LinkKind
	// validate refuses values that no correct node sends.
	validate() error
}

// Hello is the first frame of a connection.
type Hello struct {
	Cluster string `msgpack:"c"`
	// Agreement is the hash of all settings that must be equal at both ends. Algorithm describes
	// these settings, as far as they fit into MaxLabel bytes. The list of voters is not one of these
	// settings, since two lists may differ by one voter.
	Agreement   uint64      `msgpack:"a"`
	Algorithm   string      `msgpack:"g"`
	Voters      VoterList   `msgpack:"v"`
	ID          NodeID      `msgpack:"i"` // the node that dials
	Incarnation Incarnation `msgpack:"s"` // the process that dials
	To          NodeID      `msgpack:"t"` // the node that the caller wants; zero to only ask who is there
	Silent      bool        `msgpack:"q"` // the connection is the silent one: nothing more will be sent on it
}

// Welcome answers a Hello. It says which process is there.
type Welcome struct {
	ID          NodeID      `msgpack:"i"`
	Incarnation Incarnation `msgpack:"s"`
}

// Refuse answers a Hello with a refusal. It says why, and describes the refusing node.
type Refuse struct {
	Reason    Refusal `msgpack:"r"`
	ID        NodeID  `msgpack:"i"`
	Cluster   string  `msgpack:"c"`
	Algorithm string  `msgpack:"g"`

	Voters VoterList `msgpack:"v"`
}

// Ack says how many messages of this connection the receiver has passed on.
type Ack struct {
	Count uint64 `msgpack:"n"`
}

// Ping asks whether the process at the other end is alive.
type Ping struct {
	Count  uint64 `msgpack:"n"` // counts the pings of this connection, from 1
	Micros uint64 `msgpack:"e"` // the time from one ping of the sender to the next
}

// Pong answers a Ping and all Pings before it on this connection.
type Pong struct {
	Count  uint64 `msgpack:"n"`
	Micros uint64 `msgpack:"e"` // the time between two pings of the process that answers
}

// PingReq asks the node at the other end whether it hears a third process from now on. The name
// and the idea are those of SWIM: Das, Gupta and Motivala, "SWIM: Scalable Weakly-consistent
// Infection-style Process Group Membership Protocol" (2002), 3.1.
type PingReq struct {
	Number      uint64      `msgpack:"n"` // numbers the questions of the process that asks, from 1
	Target      NodeID      `msgpack:"i"`
	Incarnation Incarnation `msgpack:"s"` // the process that the question is about
}

// PingRes answers a PingReq. A node that cannot tell does not answer.
type PingRes struct {
	Number uint64 `msgpack:"n"`
	Heard  bool   `msgpack:"h"` // the process gave a sign of life after the question
}

// News is what a node tells each of its peers when a link comes up, and whenever it changes. The receiver gets the
// bytes as they were given; package membership knows what they say.
type News struct {
	Bytes string `msgpack:"b"`
}

// Refusal says why a Hello was refused. A newer version may use further words.
type Refusal string

// The refusals.
const (
	OtherVersion   Refusal = "version"   // the frame's protocol version is not mine
	OtherCluster   Refusal = "cluster"   // the cluster label is not mine
	OtherAlgorithm Refusal = "algorithm" // the algorithm, or another setting that must agree, is not mine
	DistantVoters  Refusal = "voters"    // the voters and mine differ by more than one
	OtherNode      Refusal = "node"      // I am not the node that was asked for
	SameNode       Refusal = "same-id"   // the caller has my id
	TooMany        Refusal = "too-many"  // I have as many links as I take
	Hung           Refusal = "hung"      // my elections stand still

	// NeedsCredentials is what is said without TLS to a caller that speaks without it where I speak under it alone,
	// or to one that speaks under it where I do not. Such a refusal describes nothing of the node.
	NeedsCredentials Refusal = "credentials"
)

// maxPingMicros is the longest time between two pings: an hour. No correct node pings less often.
const maxPingMicros = 3600_000_000

// MaxNews is the most News, in bytes.
const MaxNews = 1280

// MaxLabel is the longest cluster label, and the longest description of the algorithm, in bytes.
const MaxLabel = 255

func (Hello) Kind() LinkKind   { return KindHello }
func (Welcome) Kind() LinkKind { return KindWelcome }
func (Refuse) Kind() LinkKind  { return KindRefuse }
func (Ack) Kind() LinkKind     { return KindAck }
func (Ping) Kind() LinkKind    { return KindPing }
func (Pong) Kind() LinkKind    { return KindPong }
func (PingReq) Kind() LinkKind { return KindPingReq }
func (PingRes) Kind() LinkKind { return KindPingRes }
func (News) Kind() LinkKind    { return KindNews }

func (h Hello) validate() error {
	if h.To > MaxNodeID {
		return fmt.Errorf("to: %w", h.To.Validate())
	}
	return errors.Join(h.ID.Validate(), validateIncarnation(h.Incarnation),
		validateLabel(h.Cluster), validateLabel(h.Algorithm), h.Voters.Validate())
}

func (w Welcome) validate() error {
	return errors.Join(w.ID.Validate(), validateIncarnation(w.Incarnation))
}

func (r Refuse) validate() error {
	return errors.Join(r.ID.Validate(), validateLabel(string(r.Reason)),
		validateLabel(r.Cluster), validateLabel(r.Algorithm), r.Voters.Validate())
}

func (a Ack) validate() error { return validateCount(a.Count) }

func (p Ping) validate() error { return validatePing(p.Count, p.Micros) }
func (p Pong) validate() error { return validatePing(p.Count, p.Micros) }

func (p PingReq) validate() error {
	return errors.Join(validateNumber(p.Number), p.Target.Validate(), validateIncarnation(p.Incarnation))
}

func (p PingRes) validate() error { return validateNumber(p.Number) }

func (n News) validate() error {
	if len(n.Bytes) > MaxNews {
		return fmt.Errorf("news of %d bytes, at most %d", len(n.Bytes), MaxNews)
	}
	return nil
}

func validateNumber(n uint64) error {
	if n == 0 {
		return errors.New("no number")
	}
	return validateCount(n)
}

func validatePing(count, micros uint64) error {
	if micros == 0 || micros > maxPingMicros {
		return fmt.Errorf("a ping every %d µs: want 1 to %d", micros, maxPingMicros)
	}
	return validateCount(count)
}

// validateCount refuses a number above the largest int64. The decoder reads a negative number as such.
func validateCount(n uint64) error {
	if n > math.MaxInt64 {
		return fmt.Errorf("count %d: at most %d", n, int64(math.MaxInt64))
	}
	return nil
}

func validateIncarnation(s Incarnation) error { return s.Validate() }

func validateLabel(s string) error {
	if len(s) > MaxLabel || !utf8.ValidString(s) {
		return fmt.Errorf("label of %d bytes: want UTF-8, at most %d bytes", len(s), MaxLabel)
	}
	return nil
}

// MarshalLink returns the kind of b and its payload.
func MarshalLink(b LinkBody) (LinkKind, []byte, error) {
	if err := b.validate(); err != nil {
		return 0, nil, fmt.Errorf("marshal %v: %w: %w", b.Kind(), ErrValue, err)
	}
	payload, err := encode(b)
	return b.Kind(), payload, err
}

// UnmarshalLink reads a payload that MarshalLink wrote. It returns the struct itself, not a pointer.
// payload may be any bytes, as for Unmarshal.
func UnmarshalLink(k LinkKind, payload []byte) (LinkBody, error) {
	switch k {
	case KindHello:
		return unmarshalLink[Hello](payload)
	case KindWelcome:
		return unmarshalLink[Welcome](payload)
	case KindRefuse:
		return unmarshalLink[Refuse](payload)
	case KindAck:
		return unmarshalLink[Ack](payload)
	case KindPing:
		return unmarshalLink[Ping](payload)
	case KindPong:
		return unmarshalLink[Pong](payload)
	case KindPingReq:
		return unmarshalLink[PingReq](payload)
	case KindPingRes:
		return unmarshalLink[PingRes](payload)
	case KindNews:
		return unmarshalLink[News](payload)
	}
	return nil, fmt.Errorf("unmarshal %v: %w", k, ErrKind)
}

func unmarshalLink[B LinkBody](payload []byte) (LinkBody, error) {
	var b B
	if err := decode(payload, &b); err != nil {
		return nil, fmt.Errorf("unmarshal %v: %w", b.Kind(), err)
	}
	if err := b.validate(); err != nil {
		return nil, fmt.Errorf("unmarshal %v: %w: %w", b.Kind(), ErrValue, err)
	}
	return b, nil
}
