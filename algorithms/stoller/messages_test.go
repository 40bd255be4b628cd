package stoller_test

import (
	"testing"

	"github.com/ringleader-dev/ringleader/algorithms/stoller"
	"github.com/ringleader-dev/ringleader/internal/steptest"
	"github.com/ringleader-dev/ringleader/proto"
)

// Messages "contain id:attr", and are shown with it.
func TestBodies(t *testing.T) {
	p := proto.Peer{ID: 5, Incarnation: proto.Incarnation{1}, Attr: 80}
	steptest.Bodies(t, map[string]proto.Payload{
		"HALT candidate 5:80": stoller.Halt{Candidate: p},
		"ACK":                 stoller.Halted{},
		"REJECT above 5:80":   stoller.Reject{Above: p},
		"LEADER leader 5:80":  stoller.Leads{Leader: p},
		"NOT_NORM self 5:80":  stoller.NotNorm{Self: p},
	})
	steptest.Refused(t, map[string]proto.Payload{
		"halted by nobody":   stoller.Halt{},
		"rejected by nobody": stoller.Reject{},
		"led by nobody":      stoller.Leads{},
		"nobody is not norm": stoller.NotNorm{},
	})
}
