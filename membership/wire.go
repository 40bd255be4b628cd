package membership

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/ringleader-dev/ringleader/proto"
)

// What processes tell each other beside the meta, in big endian:
//
//	goodbye  'G' | id 8 bytes | session 16: "I leave", to each member, reliably
//	roll     'R' | id 8 | session 16 | (id 8 | session 16) for each process that
//	         the sender lists: goes with every exchange of memberlist's state,
//	         after the notice; see there
const (
	goodbyeTag = 'G'
	rollTag    = 'R'
	processLen = 8 + 16
)

var errWire = errors.New("unreadable gossip message")

// identity is one process.
type identity struct {
	id      proto.NodeID
	session proto.Session
}

func (i identity) append(b []byte) []byte {
	b = binary.BigEndian.AppendUint64(b, uint64(i.id))
	return append(b, i.session[:]...)
}

func readIdentity(b []byte) identity {
	i := identity{id: proto.NodeID(binary.BigEndian.Uint64(b))}
	copy(i.session[:], b[8:])
	return i
}

func encodeGoodbye(who identity) []byte { return who.append([]byte{goodbyeTag}) }

func decodeGoodbye(b []byte) (identity, error) {
	if len(b) != 1+processLen || b[0] != goodbyeTag {
		return identity{}, fmt.Errorf("%w: %d bytes are no goodbye", errWire, len(b))
	}
	return readIdentity(b[1:]), nil
}

// encodeRoll is the roll of sender, who lists these members.
func encodeRoll(sender identity, lists []Member) []byte {
	b := make([]byte, 0, 1+processLen*(1+len(lists)))
	b = sender.append(append(b, rollTag))
	for _, m := range lists {
		b = identity{m.ID, m.Session}.append(b)
	}
	return b
}

// decodeRoll is who sent the roll, and whether it lists me.
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
