package broadcast_test

import (
	"testing"

	"github.com/ringleader-dev/ringleader/algorithms/broadcast"
	"github.com/ringleader-dev/ringleader/internal/steptest"
	"github.com/ringleader-dev/ringleader/proto"
)

// Messages "contain id:attr", and are shown with it.
func TestBodies(t *testing.T) {
	p := proto.Peer{ID: 5, Incarnation: proto.Incarnation{1}, Attr: 80}
	steptest.Bodies(t, map[string]proto.Payload{
		"ID self 5:80": broadcast.Identity{Self: p},
	})
	steptest.Refused(t, map[string]proto.Payload{
		"nobody": broadcast.Identity{},
	})
}
