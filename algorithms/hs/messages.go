package hs

import (
	"github.com/ringleader-dev/ringleader/algorithms/topology"
	"github.com/ringleader-dev/ringleader/proto"
)

// The kinds of Hirschberg's and Sinclair's own messages; the algorithms on a ring share ELECTED.
var (
	KindProbe = proto.NewKind[Probe](
		25, "PROBE", "does anybody so far from me rank above me?", proto.Nominates)
	KindReply = proto.NewKind[Reply](26, "REPLY", "nobody between us does", proto.Nominates)
)

// Probe goes round the ring in one direction and asks whether any node ranks above the candidate.
type Probe struct {
	Candidate proto.Peer `msgpack:"p"`
	Phase     uint64     `msgpack:"e"` // the probe goes over up to 2^Phase links
	Clockwise bool       `msgpack:"w"` // the way it goes
	Hops      uint64     `msgpack:"h"` // links travelled so far, this one included
}

func (Probe) Kind() proto.Kind       { return KindProbe }
func (b Probe) Validate() error      { return topology.ValidateProbe(b.Candidate.ID, b.Phase, b.Hops) }
func (b Probe) Caller() proto.NodeID { return b.Candidate.ID }
func (b Probe) String() string {
	return proto.Describe(b, "phase", b.Phase, "candidate", b.Candidate)
}

// Reply goes back the way that a probe came: no node that the probe passed ranks above the candidate.
type Reply struct {
	Candidate proto.NodeID `msgpack:"i"`
	Phase     uint64       `msgpack:"e"`
	Clockwise bool         `msgpack:"w"` // the way it goes
	Hops      uint64       `msgpack:"h"` // links travelled so far, this one included
}

func (Reply) Kind() proto.Kind  { return KindReply }
func (b Reply) Validate() error { return topology.ValidateProbe(b.Candidate, b.Phase, b.Hops) }
func (b Reply) String() string {
	return proto.Describe(b, "phase", b.Phase, "candidate", b.Candidate)
}
