package tokenring_test

import (
	"testing"

	"github.com/ringleader-dev/ringleader/algorithms/tokenring"
	"github.com/ringleader-dev/ringleader/algorithms/topology"
	"github.com/ringleader-dev/ringleader/internal/steptest"
	"github.com/ringleader-dev/ringleader/proto"
)

// Messages "contain id:attr", and are shown with it.
func TestBodies(t *testing.T) {
	p := proto.Peer{ID: 5, Incarnation: proto.Incarnation{1}, Attr: 80}
	steptest.Bodies(t, map[string]proto.Payload{
		"ELECTION collected 5 5, initiator 17": tokenring.Election{
			Initiator: 17, Roll: proto.Roll("").Add(p).Add(p), Hops: 2,
		},
		"ELECTION collected nobody, initiator 17": tokenring.Election{Initiator: 17},
		"COORDINATOR round, chosen 5:80":          tokenring.Coordinator{Leader: p},
		"COORDINATOR round, leader 5:80": tokenring.Coordinator{
			Leader: p, Taken: true, Hops: topology.MaxHops,
		},
	})
	steptest.Refused(t, map[string]proto.Payload{
		"no initiator":  tokenring.Election{},
		"torn roll":     tokenring.Election{Initiator: 1, Roll: "torn"},
		"absurd hops":   tokenring.Election{Initiator: 1, Hops: topology.MaxHops + 1},
		"nobody chosen": tokenring.Coordinator{},
	})
}
