package topology

import (
	"fmt"

	"github.com/ringleader-dev/ringleader/proto"
)

// KindElected is the kind of the announcement that goes round a ring.
var KindElected = proto.NewKind[Elected](21, "ELECTED", "this node was elected", proto.Nominates)

// Kinds returns the kinds of messages that several algorithms on a ring share.
func Kinds() []proto.Kind { return []proto.Kind{KindElected} }

// Elected goes clockwise and announces the leader of its term.
type Elected struct {
	Leader proto.Peer `msgpack:"p"`
	Hops   uint64     `msgpack:"h"` // links travelled so far, this one included
}

func (Elected) Kind() proto.Kind                          { return KindElected }
func (b Elected) String() string                          { return proto.Describe(b, "leader", b.Leader) }
func (b Elected) Announced() (leader proto.Peer, ok bool) { return b.Leader, true }

func (b Elected) Validate() error {
	if err := b.Leader.ID.Validate(); err != nil {
		return err
	}
	return ValidateHops(b.Hops)
}

const (
	// MaxHops is the largest hop count that is accepted in a message.
	MaxHops = 1 << 20
	// MaxPhase is the largest phase, or round, that is accepted in a message: no ring has 2^64 nodes.
	MaxPhase = 64
)

// ValidateHops returns an error if no message can have made n hops.
func ValidateHops(n uint64) error {
	if n > MaxHops {
		return fmt.Errorf("%d hops: at most %d", n, MaxHops)
	}
	return nil
}

// ValidateProbe returns an error if no candidate sends a message with this id, this phase or round,
// and this number of hops.
func ValidateProbe(candidate proto.NodeID, phase, hops uint64) error {
	if phase > MaxPhase {
		return fmt.Errorf("phase %d: at most %d", phase, MaxPhase)
	}
	if err := candidate.Validate(); err != nil {
		return err
	}
	return ValidateHops(hops)
}
