package proto

import (
	"encoding/binary"
	"fmt"
	"iter"
	"strings"

	"github.com/vmihailenco/msgpack/v5"
)

// Roll is a list of processes that stand, packed, so that messages that carry one can
// be compared, and take no more memory than bytes on the wire.
type Roll string

// A process in a Roll: id and attribute in big endian, and the session.
const peerSize = 8 + 8 + 16

// MaxRoll is the most processes that a Roll may have: with more, the message would
// not fit into a frame.
const MaxRoll = 2000

// Add returns the roll with one more process at its end.
func (r Roll) Add(p Peer) Roll {
	var packed [peerSize]byte
	binary.BigEndian.PutUint64(packed[:], uint64(p.ID))
	binary.BigEndian.PutUint64(packed[8:], uint64(p.Attr))
	copy(packed[16:], p.Session[:])
	return r + Roll(packed[:]) // the roll is copied once
}

// Len is the number of processes.
func (r Roll) Len() int { return len(r) / peerSize }

// All are the processes, in the order in which they were added.
func (r Roll) All() iter.Seq[Peer] {
	return func(yield func(Peer) bool) {
		for ; len(r) >= peerSize; r = r[peerSize:] {
			p := Peer{ID: NodeID(number(r)), Attr: int64(number(r[8:]))}
			copy(p.Session[:], r[16:peerSize])
			if !yield(p) {
				return
			}
		}
	}
}

// number reads the first eight bytes.
func number(r Roll) uint64 { return binary.BigEndian.Uint64([]byte(r[:8])) }

// Has reports whether a process of the node is on the roll.
func (r Roll) Has(id NodeID) bool {
	for ; len(r) >= peerSize; r = r[peerSize:] {
		if NodeID(number(r)) == id {
			return true
		}
	}
	return false
}

// Lists reports whether this very process is on the roll.
func (r Roll) Lists(p Peer) bool {
	for q := range r.All() {
		if q.Is(p) {
			return true
		}
	}
	return false
}

// String is "3 4 5", or how many there are when they are too many to read.
func (r Roll) String() string {
	const readable = 8
	switch n := r.Len(); {
	case n == 0:
		return "nobody"
	case n > readable:
		return fmt.Sprintf("%d ids", n)
	}
	var words []string
	for p := range r.All() {
		words = append(words, p.ID.String())
	}
	return strings.Join(words, " ")
}

// EncodeMsgpack writes the packed processes as binary.
func (r Roll) EncodeMsgpack(e *msgpack.Encoder) error { return e.EncodeBytes([]byte(r)) }

// DecodeMsgpack reads binary.
func (r *Roll) DecodeMsgpack(d *msgpack.Decoder) error {
	packed, err := d.DecodeBytes()
	*r = Roll(packed)
	return err
}

// Validate refuses what Add never makes.
func (r Roll) Validate() error {
	if len(r)%peerSize != 0 || r.Len() > MaxRoll {
		return fmt.Errorf("a roll of %d bytes: want up to %d times %d", len(r), MaxRoll, peerSize)
	}
	for p := range r.All() {
		if err := p.ID.Validate(); err != nil {
			return err
		}
	}
	return nil
}
