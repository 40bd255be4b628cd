package ring

import (
	"github.com/ringleader-dev/ringleader/algorithms/topology"
	"github.com/ringleader-dev/ringleader/proto"
)

// KindElection is the only kind of message that this algorithm does not share with others.
var KindElection = proto.NewKind[Election](20, "ELECTION", "who is the best on the ring?", proto.Nominates)

// Election goes clockwise and finds the best candidate: Best is the best one so far.
type Election struct {
	Initiator proto.NodeID `msgpack:"o"`
	Best      proto.Peer   `msgpack:"p"`
	Hops      uint64       `msgpack:"h"` // links travelled so far, this one included
}

func (Election) Kind() proto.Kind       { return KindElection }
func (b Election) Caller() proto.NodeID { return b.Initiator }

func (b Election) String() string {
	return proto.Describe(b, "best", b.Best, "initiator", b.Initiator)
}

func (b Election) Validate() error {
	if err := b.Initiator.Validate(); err != nil {
		return err
	}
	if err := b.Best.ID.Validate(); err != nil {
		return err
	}
	return topology.ValidateHops(b.Hops)
}
