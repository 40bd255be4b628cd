package ring_test

import (
	"testing"

	"github.com/ringleader-dev/ringleader/algorithms/ring"
	"github.com/ringleader-dev/ringleader/algorithms/topology"
	"github.com/ringleader-dev/ringleader/internal/steptest"
	"github.com/ringleader-dev/ringleader/proto"
)

// Messages "contain id:attr", and are shown with it.
func TestBodies(t *testing.T) {
	p := proto.Peer{ID: 5, Incarnation: proto.Incarnation{1}, Attr: 80}
	steptest.Bodies(t, map[string]proto.Payload{
		"ELECTION best 5:80, initiator 17": ring.Election{Initiator: 17, Best: p, Hops: 2},
	})
	steptest.Refused(t, map[string]proto.Payload{
		"no initiator": ring.Election{Best: p},
		"nobody best":  ring.Election{Initiator: 1},
		"absurd hops":  ring.Election{Initiator: 1, Best: p, Hops: topology.MaxHops + 1},
	})
}
