package daemon

import (
	"errors"
	"strings"
	"testing"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/lease"
	"github.com/ringleader-dev/ringleader/algorithms/quorum"
	"github.com/ringleader-dev/ringleader/proto"
)

// docs/VOTERS.md: "A node keeps on its disk the list that it voted under. It ends with 4, and changes
// nothing, when it is started with a list that differs by more than one voter", or with none. "A node
// that is none of the voters it is given votes for nobody, and starts."
func TestVotersOfANodeThatVoted(t *testing.T) {
	saved := func(list proto.VoterList) algorithms.State {
		return algorithms.State{Voters: algorithms.VoterState{List: list, Version: 4, Committed: true}}
	}
	none := "with voters 1-3 again or, if it is to leave that cluster for good, with an empty data directory"
	for _, c := range []struct {
		name    string
		saved   algorithms.State
		own     quorum.Voters
		changed proto.NodeID
		refused string
	}{
		{"the saved list", saved("1-3"), quorum.Voters{1, 2, 3}, 0, ""},
		{"its first list", algorithms.State{}, quorum.Voters{1, 2, 3}, 0, ""},
		{"never one", algorithms.State{Term: 7, Reserved: 7}, nil, 0, ""},
		{"without the node itself", saved("1-3"), quorum.Voters{1, 2}, 0, ""},
		{"without it, some changes later", saved("1-3"), quorum.Voters{1, 2, 4}, 0, ""},
		{"none any more", saved("1-3"), nil, 0, none},
		{"another", saved("1-3"), quorum.Voters{3, 4, 5}, 0, "more than one voter"},
	} {
		t.Run(c.name, func(t *testing.T) {
			changed, err := Settings{ID: 3, Voters: c.own}.VotersOf(c.saved)
			if c.refused == "" {
				if err != nil || changed != c.changed {
					t.Errorf("changed %v, %v; want %v", changed, err, c.changed)
				}
				return
			}
			if !errors.Is(err, lease.ErrVoters) || !strings.Contains(err.Error(), c.refused) {
				t.Errorf("%v, want ErrVoters that says %q", err, c.refused)
			}
		})
	}
}
