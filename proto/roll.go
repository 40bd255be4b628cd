package proto

import (
	"encoding/binary"
	"fmt"
	"iter"
	"strings"

	"github.com/vmihailenco/msgpack/v5"
)

// Roll is a list of processes, packed into a string. So messages that contain a Roll can be compared
// with ==, and a Roll needs no more memory than on the wire.
type Roll string

// peerSize is the size of a process in a Roll, in bytes: the id and the attribute, both in big
// endian, and the incarnation.
const peerSize = 8 + 8 + 16

// MaxRoll is the largest number of processes in a Roll: more would not fit into a frame.
const MaxRoll = 2000

// RollOf returns a roll with these processes, in the same order.
func RollOf(peers []Peer) Roll {
	packed := make([]byte, 0, len(peers)*peerSize)
	for _, p := range peers {
		packed = appendPeer(packed, p)
	}
	return Roll(packed)
}

// Add returns the roll with p added at its end.
func (r Roll) Add(p Peer) Roll {
	var packed [peerSize]byte
	return r + Roll(appendPeer(packed[:0], p)) // the roll is copied once
}

func appendPeer(packed []byte, p Peer) []byte {
	packed = binary.BigEndian.AppendUint64(packed, uint64(p.ID))
	packed = binary.BigEndian.AppendUint64(packed, uint64(p.Attr))
	return append(packed, p.Incarnation[:]...)
}

// Len returns the number of processes.
func (r Roll) Len() int { return len(r) / peerSize }

// All yields the processes in the order in which they were added.
func (r Roll) All() iter.Seq[Peer] {
	return func(yield func(Peer) bool) {
		for ; len(r) >= peerSize; r = r[peerSize:] {
			p := Peer{ID: NodeID(number(r)), Attr: int64(number(r[8:]))}
			copy(p.Incarnation[:], r[16:peerSize])
			if !yield(p) {
				return
			}
		}
	}
}

// number decodes the first eight bytes of r.
func number(r Roll) uint64 { return binary.BigEndian.Uint64([]byte(r[:8])) }

// Has reports whether the roll has a process of the node with this id.
func (r Roll) Has(id NodeID) bool {
	for ; len(r) >= peerSize; r = r[peerSize:] {
		if NodeID(number(r)) == id {
			return true
		}
	}
	return false
}

// Lists reports whether the roll has the process p, with the same incarnation.
func (r Roll) Lists(p Peer) bool {
	for q := range r.All() {
		if q.Is(p) {
			return true
		}
	}
	return false
}

// String lists the ids, as in "3 4 5". If there are too many ids to read, it says how many there are.
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

// DecodeMsgpack reads what EncodeMsgpack wrote.
func (r *Roll) DecodeMsgpack(d *msgpack.Decoder) error {
	packed, err := d.DecodeBytes()
	*r = Roll(packed)
	return err
}

// Validate refuses a string that Add does not return.
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
