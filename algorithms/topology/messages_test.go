package topology_test

import (
	"testing"

	"github.com/ringleader-dev/ringleader/algorithms/topology"
	"github.com/ringleader-dev/ringleader/internal/steptest"
	"github.com/ringleader-dev/ringleader/proto"
)

// Messages "contain id:attr", and are shown with it.
func TestBodies(t *testing.T) {
	p := proto.Peer{ID: 5, Incarnation: proto.Incarnation{1}, Attr: 80}
	steptest.Bodies(t, map[string]proto.Payload{
		"ELECTED leader 5:80": topology.Elected{Leader: p, Hops: topology.MaxHops},
	})
	steptest.Refused(t, map[string]proto.Payload{
		"nobody elected": topology.Elected{},
		"absurd hops":    topology.Elected{Leader: p, Hops: topology.MaxHops + 1},
	})
}
