package tokenring

import (
	"github.com/ringleader-dev/ringleader/algorithms/topology"
	"github.com/ringleader-dev/ringleader/proto"
)

// The kinds of the token ring's messages.
var (
	KindElection    = proto.NewKind[Election](23, "ELECTION", "who is on the ring?", proto.Nominates)
	KindCoordinator = proto.NewKind[Coordinator](
		24, "COORDINATOR", "this one was chosen, or leads", proto.Nominates)
)

// Election goes clockwise and collects the nodes that are candidates.
type Election struct {
	Initiator proto.NodeID `msgpack:"o"`
	Roll      proto.Roll   `msgpack:"m"`
	Hops      uint64       `msgpack:"h"` // links travelled so far, this one included
}

func (Election) Kind() proto.Kind       { return KindElection }
func (b Election) Caller() proto.NodeID { return b.Initiator }

func (b Election) String() string {
	return proto.Describe(b, "collected", b.Roll, "initiator", b.Initiator)
}

func (b Election) Validate() error {
	if err := b.Initiator.Validate(); err != nil {
		return err
	}
	if err := b.Roll.Validate(); err != nil {
		return err
	}
	return topology.ValidateHops(b.Hops)
}

// Coordinator goes clockwise and announces the highest node that Election collected.
type Coordinator struct {
	Leader proto.Peer `msgpack:"p"`
	// Taken says that the chosen node leads: the message has reached that node and goes on from there.
	// If Taken is false, the message only says which node was chosen.
	Taken bool   `msgpack:"k"`
	Hops  uint64 `msgpack:"h"` // links travelled since it was sent, or since the leader passed it on, this one included
}

func (Coordinator) Kind() proto.Kind                          { return KindCoordinator }
func (b Coordinator) Announced() (leader proto.Peer, ok bool) { return b.Leader, b.Taken }

func (b Coordinator) String() string {
	if b.Taken {
		return proto.Describe(b, "round, leader", b.Leader)
	}
	return proto.Describe(b, "round, chosen", b.Leader)
}

func (b Coordinator) Validate() error {
	if err := b.Leader.ID.Validate(); err != nil {
		return err
	}
	return topology.ValidateHops(b.Hops)
}
