package bully_test

import (
	"testing"

	"github.com/ringleader-dev/ringleader/algorithms/bully"
	"github.com/ringleader-dev/ringleader/internal/steptest"
	"github.com/ringleader-dev/ringleader/proto"
)

// Messages "contain id:attr", and are shown with it.
func TestBodies(t *testing.T) {
	p := proto.Peer{ID: 5, Incarnation: proto.Incarnation{1}, Attr: 80}
	steptest.Bodies(t, map[string]proto.Payload{
		"ELECTION candidate 5:80": bully.Election{Candidate: p},
		"OK":                      bully.OK{},
	})
	steptest.Refused(t, map[string]proto.Payload{
		"nobody stands": bully.Election{},
	})
}
