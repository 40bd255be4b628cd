package daemon

import (
	"testing"

	"github.com/ringleader-dev/ringleader/algorithms/quorum"
	"github.com/ringleader-dev/ringleader/membership"
	"github.com/ringleader-dev/ringleader/proto"
)

// "Another node that could lead is believed alive and, with voters, a majority of them."
func TestCouldSucceed(t *testing.T) {
	for _, tt := range []struct {
		name   string
		voters quorum.Voters
		alive  []proto.NodeID
		barred proto.NodeID
		want   bool
	}{
		{"alone", nil, []proto.NodeID{3}, 0, false},
		{"another", nil, []proto.NodeID{1, 3}, 0, true},
		{"another that does not stand", nil, []proto.NodeID{1, 3}, 1, false},
		{"itself does not stand", nil, []proto.NodeID{1, 3}, 3, true},
		{"one of three voters", quorum.Voters{1, 2, 3}, []proto.NodeID{3, 4, 5}, 0, false},
		{"two of three voters", quorum.Voters{1, 2, 3}, []proto.NodeID{1, 3}, 0, true},
		{"the other voter does not stand", quorum.Voters{1, 2, 3}, []proto.NodeID{1, 3, 4}, 1, false},
	} {
		d := &Daemon{Settings: Settings{ID: 3, Voters: tt.voters}}
		view := membership.View{}
		for _, id := range tt.alive {
			member := membership.Member{Peer: proto.Peer{ID: id}}
			member.Ineligible = id == tt.barred
			view.Alive = append(view.Alive, member)
		}
		d.view.Store(&view)
		if got := d.couldSucceed(); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}
