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

// NodeID identifies a node. The operator chooses it; it is unique in the cluster and the same after
// a restart. Zero is nobody.
type NodeID uint64

// MaxNodeID is the largest id. Some programs keep numbers as IEEE 754 doubles, as JavaScript and jq
// do. They cannot represent all larger integers.
const MaxNodeID NodeID = 1 << 53

// ErrNodeID says that a number cannot be a node's id.
var ErrNodeID = errors.New("a node id is a whole number from 1 to 9007199254740992")

// Validate returns an error that wraps ErrNodeID, unless id is in 1 … MaxNodeID.
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

// Term is the number of an election round. A process never lowers its own term. It is no candidate
// in a term in which an earlier process of its node may have taken part.
type Term uint64

// MaxTerm bounds every term that is read from the wire or from a disk.
const MaxTerm Term = 1 << 53

// MaxTermJump bounds the terms in messages that a node believes at once: a term may be this far above
// the highest term that the node knows. Real elections do not jump that far. Without the bound a
// single hostile message could use up all terms.
const MaxTermJump Term = 1 << 20

// Incarnation is 128 random bits that a process draws when it starts. The pair (id, incarnation)
// identifies one process. Without an incarnation, a delayed message to an earlier process of a node
// would act on the node's present process.
type Incarnation [16]byte

// NewIncarnation draws an incarnation from the system's random source.
func NewIncarnation() Incarnation {
	var s Incarnation
	_, _ = rand.Read(s[:]) // never fails: crypto/rand ends the process instead
	return s
}

// IsZero reports whether s is the zero Incarnation, which no process has.
func (s Incarnation) IsZero() bool { return s == Incarnation{} }

// Validate refuses the zero Incarnation.
func (s Incarnation) Validate() error {
	if s.IsZero() {
		return errors.New("no incarnation")
	}
	return nil
}

// Compare orders incarnations by their bytes. The order has no meaning; it only breaks ties.
func (s Incarnation) Compare(t Incarnation) int {
	for i := range s {
		if c := cmp.Compare(s[i], t[i]); c != 0 {
			return c
		}
	}
	return 0
}

// String returns the incarnation in hexadecimal.
func (s Incarnation) String() string { return hex.EncodeToString(s[:]) }

// ParseIncarnation reads what String writes.
func ParseIncarnation(text string) (s Incarnation, err error) {
	if len(text) != 2*len(s) {
		return Incarnation{}, fmt.Errorf("incarnation %.40q: want %d hexadecimal digits", text, 2*len(s))
	}
	if _, err := hex.Decode(s[:], []byte(text)); err != nil {
		return Incarnation{}, fmt.Errorf("incarnation %.40q: want %d hexadecimal digits", text, 2*len(s))
	}
	return s, s.Validate()
}

// Short returns the first eight hexadecimal digits. They are enough for people to tell two processes
// of a node apart.
func (s Incarnation) Short() string { return hex.EncodeToString(s[:4]) }

// Rank is the value by which an election compares two nodes: first whether the node is eligible,
// then the attribute, then the id. Since ids are unique, no two nodes have the same rank.
type Rank struct {
	Attr       int64
	ID         NodeID
	Ineligible bool // the node ranks below all eligible nodes
}

// Compare returns a negative number if r ranks below s, and a positive number if r ranks above s.
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

// Peer is one process of the cluster, with its rank. The lecture notes write it "id:attr".
type Peer struct {
	ID          NodeID      `msgpack:"i"`
	Incarnation Incarnation `msgpack:"s"`
	Attr        int64       `msgpack:"a"`
	// Ineligible says that the process is no candidate at present: it is paused, unhealthy, or
	// asked to stand aside. The flag is only a hint, as everything in membership is. With it, other
	// nodes need not wait for a node that would not lead.
	Ineligible bool `msgpack:"x"`
}

// ChosenAttr is the attribute with which a leader announces itself if an operator chose it: no node
// ranks above that leader.
const ChosenAttr = math.MaxInt64

// Rank returns the peer's rank in an election.
func (p Peer) Rank() Rank { return Rank{Attr: p.Attr, ID: p.ID, Ineligible: p.Ineligible} }

// Above reports whether p ranks above q.
func (p Peer) Above(q Peer) bool { return p.Rank().Compare(q.Rank()) > 0 }

// Is reports whether p and q are the same process: both id and incarnation are equal.
func (p Peer) Is(q Peer) bool { return p.ID == q.ID && p.Incarnation == q.Incarnation }

// Leadership identifies one leadership: it distinguishes two leaders of one term, and a leader from
// an earlier process of the same node.
type Leadership struct {
	Term        Term        `msgpack:"n"`
	Leader      NodeID      `msgpack:"i"`
	Incarnation Incarnation `msgpack:"s"`
}

// Validate refuses a Leadership that no process can have had.
func (e Leadership) Validate() error {
	if e.Term == 0 || e.Term > MaxTerm {
		return fmt.Errorf("term %d: want 1 to %d", e.Term, MaxTerm)
	}
	if err := e.Leader.Validate(); err != nil {
		return err
	}
	return e.Incarnation.Validate()
}

// Compare orders leaderships by term, then by leader, then by incarnation.
func (e Leadership) Compare(f Leadership) int {
	return cmp.Or(
		cmp.Compare(e.Term, f.Term),
		cmp.Compare(e.Leader, f.Leader),
		e.Incarnation.Compare(f.Incarnation),
	)
}
