package hs_test

import (
	"testing"

	"github.com/ringleader-dev/ringleader/algorithms/hs"
	"github.com/ringleader-dev/ringleader/algorithms/topology"
	"github.com/ringleader-dev/ringleader/internal/steptest"
	"github.com/ringleader-dev/ringleader/proto"
)

// Messages "contain id:attr", and are shown with it.
func TestBodies(t *testing.T) {
	p := proto.Peer{ID: 5, Incarnation: proto.Incarnation{1}, Attr: 80}
	steptest.Bodies(t, map[string]proto.Payload{
		"PROBE phase 3, candidate 5:80": hs.Probe{Candidate: p, Phase: 3, Clockwise: true, Hops: 1},
		"REPLY phase 3, candidate 5":    hs.Reply{Candidate: 5, Phase: 3, Hops: topology.MaxHops},
	})
	steptest.Refused(t, map[string]proto.Payload{
		"absurd phase":      hs.Probe{Candidate: p, Phase: topology.MaxPhase + 1},
		"absurd hops":       hs.Probe{Candidate: p, Hops: topology.MaxHops + 1},
		"a reply to nobody": hs.Reply{},
	})
}
