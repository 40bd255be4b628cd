package invitation_test

import (
	"testing"

	"github.com/ringleader-dev/ringleader/algorithms/invitation"
	"github.com/ringleader-dev/ringleader/internal/steptest"
	"github.com/ringleader-dev/ringleader/proto"
)

// Messages "contain id:attr", and are shown with it.
func TestBodies(t *testing.T) {
	p := proto.Peer{ID: 5, Incarnation: proto.Incarnation{1}, Attr: 80}
	steptest.Bodies(t, map[string]proto.Payload{
		"ARE_YOU_COORDINATOR self 5:80": invitation.AreYouCoordinator{Self: p},
		"GROUP coordinator 5:80":        invitation.Group{Coordinator: p},
		"INVITATION coordinator 5:80":   invitation.Invitation{Coordinator: p},
		"ACCEPT":                        invitation.Accept{},
		"READY leader 5:80":             invitation.Ready{Leader: p},
	})
	steptest.Refused(t, map[string]proto.Payload{
		"nobody asks":     invitation.AreYouCoordinator{},
		"nobody's group":  invitation.Group{},
		"nobody invites":  invitation.Invitation{},
		"nobody is ready": invitation.Ready{},
	})
}
