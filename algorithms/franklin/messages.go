package franklin

import (
	"github.com/ringleader-dev/ringleader/algorithms/topology"
	"github.com/ringleader-dev/ringleader/proto"
)

// KindCandidate is the only kind of message that this algorithm does not share with others.
var KindCandidate = proto.NewKind[Candidate](
	67, "CANDIDATE", "I stand: do you, at the other end, rank above me?", proto.Nominates)

// Candidate goes round the ring in one direction, to the next candidate of its round.
type Candidate struct {
	Candidate proto.Peer `msgpack:"p"`
	Round     uint64     `msgpack:"e"`
	Clockwise bool       `msgpack:"w"` // the way it goes
	Hops      uint64     `msgpack:"h"` // links travelled so far, this one included
}

func (Candidate) Kind() proto.Kind       { return KindCandidate }
func (b Candidate) Validate() error      { return topology.ValidateProbe(b.Candidate.ID, b.Round, b.Hops) }
func (b Candidate) Caller() proto.NodeID { return b.Candidate.ID }
func (b Candidate) String() string {
	return proto.Describe(b, "round", b.Round, "candidate", b.Candidate)
}
