package nomination_test

import (
	"testing"

	"github.com/ringleader-dev/ringleader/algorithms/nomination"
	"github.com/ringleader-dev/ringleader/internal/steptest"
	"github.com/ringleader-dev/ringleader/proto"
)

// Messages "contain id:attr", and are shown with it.
func TestBodies(t *testing.T) {
	p := proto.Peer{ID: 5, Incarnation: proto.Incarnation{1}, Attr: 80}
	steptest.Bodies(t, map[string]proto.Payload{
		"STAND_NOW":               nomination.TimeoutNow{},
		"COORDINATOR leader 5:80": nomination.Coordinator{Leader: p},
	})
	steptest.Refused(t, map[string]proto.Payload{
		"led by nobody": nomination.Coordinator{},
	})
}
