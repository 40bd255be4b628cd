package proto

import (
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"strconv"
)

// NodeID names a node. It is chosen by the operator, unique in the cluster and
// the same across restarts. Zero is nobody.
type NodeID uint64

// MaxNodeID is the largest id: the largest integer that survives a reader who
// keeps numbers as IEEE 754 doubles, as JavaScript and jq do.
const MaxNodeID NodeID = 1 << 53

// ErrNodeID says that a number cannot be a node's id.
var ErrNodeID = errors.New("a node id is a whole number from 1 to 9007199254740992")

// Validate returns ErrNodeID, wrapped, unless id is in 1 … MaxNodeID.
func (id NodeID) Validate() error {
	if id == 0 || id > MaxNodeID {
		return fmt.Errorf("node id %d: %w", uint64(id), ErrNodeID)
	}
	return nil
}

func (id NodeID) String() string { return strconv.FormatUint(uint64(id), 10) }

// ParseNodeID reads a decimal id.
func ParseNodeID(s string) (NodeID, error) {
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("node id %q: %w", s, ErrNodeID)
	}
	id := NodeID(n)
	return id, id.Validate()
}

// Term numbers election rounds. A process only ever raises its own, and never
// stands in one that an earlier process of its node may have taken part in.
type Term uint64

// MaxTerm bounds every term that is taken from the wire or from a disk.
const MaxTerm Term = 1 << 53

// MaxTermJump is how far beyond what a node knows another's term is believed at once. No
// sequence of real elections leaps like that, and a single hostile message could use up
// all terms.
const MaxTermJump Term = 1 << 20

// Session is 128 random bits drawn when a process starts: (id, session) is one
// process. Without it a delayed message of a node's former life acts on its
// new one.
type Session [16]byte

// NewSession draws a session from the system's random source.
func NewSession() Session {
	var s Session
	_, _ = rand.Read(s[:]) // never fails: crypto/rand ends the process instead
	return s
}

// IsZero reports whether s was never drawn.
func (s Session) IsZero() bool { return s == Session{} }

// Validate refuses a session that was never drawn.
func (s Session) Validate() error {
	if s.IsZero() {
		return errors.New("no session")
	}
	return nil
}

// Compare orders sessions by their bytes. The order means nothing by itself:
// it only makes ties impossible.
func (s Session) Compare(t Session) int {
	for i := range s {
		if c := cmp.Compare(s[i], t[i]); c != 0 {
			return c
		}
	}
	return 0
}

// String is the session in hexadecimal.
func (s Session) String() string { return hex.EncodeToString(s[:]) }

// Short is the first eight hexadecimal digits, enough for people to tell two
// lives of a node apart.
func (s Session) Short() string { return hex.EncodeToString(s[:4]) }

// Rank is what an election compares: whether the node may lead at all, then the
// attribute, then the id, so that ties cannot be.
type Rank struct {
	Attr       int64
	ID         NodeID
	Ineligible bool // ranks below all that are eligible
}

// Compare is negative when r ranks below s, positive when above.
func (r Rank) Compare(s Rank) int {
	if r.Ineligible != s.Ineligible {
		if r.Ineligible {
			return -1
		}
		return 1
	}
	if r.Attr != s.Attr {
		return cmp.Compare(r.Attr, s.Attr)
	}
	return cmp.Compare(r.ID, s.ID)
}

// Peer is one process of the cluster, as its rank and session present it.
// Seeds write it "id:attr".
type Peer struct {
	ID      NodeID  `msgpack:"i"`
	Session Session `msgpack:"s"`
	Attr    int64   `msgpack:"a"`
	// Ineligible says that the process does not stand for election at present: it
	// is paused, unhealthy, or asked to stand aside. A hint, as all of membership:
	// it spares others the wait for a node that would not lead.
	Ineligible bool `msgpack:"x"`
}

// ChosenAttr is the attribute of a leader that an operator chose, as it announces
// itself: nobody ranks above it.
const ChosenAttr = math.MaxInt64

// Rank is the peer's place in an election.
func (p Peer) Rank() Rank { return Rank{Attr: p.Attr, ID: p.ID, Ineligible: p.Ineligible} }

// Above reports whether p ranks above q.
func (p Peer) Above(q Peer) bool { return p.Rank().Compare(q.Rank()) > 0 }

// Is reports whether p and q are the same process: the same id and session.
func (p Peer) Is(q Peer) bool { return p.ID == q.ID && p.Session == q.Session }

// Epoch names one leadership: it tells two leaders of one term apart, and a
// leader from its own former life.
type Epoch struct {
	Term    Term    `msgpack:"n"`
	Leader  NodeID  `msgpack:"i"`
	Session Session `msgpack:"s"`
}

// Validate refuses what no process ever led.
func (e Epoch) Validate() error {
	if e.Term == 0 || e.Term > MaxTerm {
		return fmt.Errorf("term %d: want 1 to %d", e.Term, MaxTerm)
	}
	if err := e.Leader.Validate(); err != nil {
		return err
	}
	return e.Session.Validate()
}

// Compare orders epochs: by term, then leader, then session.
func (e Epoch) Compare(f Epoch) int {
	return cmp.Or(
		cmp.Compare(e.Term, f.Term),
		cmp.Compare(e.Leader, f.Leader),
		e.Session.Compare(f.Session),
	)
}
