package franklin_test

import (
	"testing"

	"github.com/ringleader-dev/ringleader/algorithms/franklin"
	"github.com/ringleader-dev/ringleader/algorithms/topology"
	"github.com/ringleader-dev/ringleader/internal/steptest"
	"github.com/ringleader-dev/ringleader/proto"
)

// Messages "contain id:attr", and are shown with it.
func TestBodies(t *testing.T) {
	p := proto.Peer{ID: 5, Incarnation: proto.Incarnation{1}, Attr: 80}
	steptest.Bodies(t, map[string]proto.Payload{
		"CANDIDATE round 3, candidate 5:80": franklin.Candidate{Candidate: p, Round: 3, Clockwise: true, Hops: 1},
	})
	steptest.Refused(t, map[string]proto.Payload{
		"absurd round":  franklin.Candidate{Candidate: p, Round: topology.MaxPhase + 1},
		"nobody stands": franklin.Candidate{},
	})
}
