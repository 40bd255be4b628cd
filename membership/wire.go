package membership

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/ringleader-dev/ringleader/proto"
)

// Processes tell each other more than the meta, in big endian:
//
//	goodbye  'G' | id 8 bytes | incarnation 16
//	         The process leaves. It sends this to each member, on a stream.
//	roll     'R' | id 8 | incarnation 16 | (id 8 | incarnation 16)*
//	         The sender, and each process that it lists. This goes with every exchange of
//	         memberlist's states, behind the notice.
const (
	goodbyeTag = 'G'
	rollTag    = 'R'
	processLen = 8 + 16
)

var errWire = errors.New("unreadable gossip message")

// identity identifies one process.
type identity struct {
	id          proto.NodeID
	incarnation proto.Incarnation
}

func (i identity) append(b []byte) []byte {
	b = binary.BigEndian.AppendUint64(b, uint64(i.id))
	return append(b, i.incarnation[:]...)
}

func readIdentity(b []byte) identity {
	i := identity{id: proto.NodeID(binary.BigEndian.Uint64(b))}
	copy(i.incarnation[:], b[8:])
	return i
}

func encodeGoodbye(who identity) []byte { return who.append([]byte{goodbyeTag}) }

func decodeGoodbye(b []byte) (identity, error) {
	if len(b) != 1+processLen || b[0] != goodbyeTag {
		return identity{}, fmt.Errorf("%w: %d bytes are no goodbye", errWire, len(b))
	}
	return readIdentity(b[1:]), nil
}

// encodeRoll encodes the roll of sender, which lists these members.
func encodeRoll(sender identity, lists []Member) []byte {
	b := make([]byte, 0, 1+processLen*(1+len(lists)))
	b = sender.append(append(b, rollTag))
	for _, m := range lists {
		b = identity{m.ID, m.Incarnation}.append(b)
	}
	return b
}

// decodeRoll returns who sent the roll, and whether the sender lists me.
func decodeRoll(b []byte, me identity) (sender identity, listed bool, err error) {
	if len(b) < 1+processLen || b[0] != rollTag || (len(b)-1)%processLen != 0 {
		return identity{}, false, fmt.Errorf("%w: %d bytes are no roll", errWire, len(b))
	}
	sender = readIdentity(b[1:])
	for rest := b[1+processLen:]; len(rest) > 0; rest = rest[processLen:] {
		listed = listed || readIdentity(rest) == me
	}
	return sender, listed, nil
}
