package zookeeper_test

import (
	"testing"

	"github.com/ringleader-dev/ringleader/algorithms/zookeeper"
	"github.com/ringleader-dev/ringleader/internal/steptest"
	"github.com/ringleader-dev/ringleader/proto"
)

// Messages "contain id:attr", and are shown with it.
func TestBodies(t *testing.T) {
	p := proto.Peer{ID: 5, Incarnation: proto.Incarnation{1}, Attr: 80}
	steptest.Bodies(t, map[string]proto.Payload{
		"WATCH self 5:80":           zookeeper.Watch{Self: p},
		"EXISTS":                    zookeeper.Exists{},
		"NEW_LEADER candidate 5:80": zookeeper.NewLeader{Candidate: p},
		"ACK for 01000000":          zookeeper.Ack{Candidate: p.Incarnation},
		"COMMIT leader 5:80":        zookeeper.Commit{Leader: p},
	})
	steptest.Refused(t, map[string]proto.Payload{
		"nobody watches": zookeeper.Watch{},
		"nobody stands":  zookeeper.NewLeader{},
		"led by nobody":  zookeeper.Commit{},
	})
}
