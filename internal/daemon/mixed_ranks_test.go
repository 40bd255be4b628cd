package daemon

import (
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"github.com/ringleader-dev/ringleader/membership"
	"github.com/ringleader-dev/ringleader/proto"
)

// "Nodes started with different … parameters in one cluster": one that ranks by
// something else is told of, once, and not where all rank alike.
func TestMixedRanks(t *testing.T) {
	view := membership.View{Alive: []membership.Member{
		{Peer: proto.Peer{ID: 1}}, {Peer: proto.Peer{ID: 2, Attr: 16}},
	}}
	for rankBy, want := range map[string]int{"id": 1, "cpu": 0} {
		var log strings.Builder
		ranks := mixedRanks{}
		for range 3 {
			ranks.judge(view, rankBy, zerolog.New(&log))
		}
		const says = "node 2 is ranked by an attribute, 16, this node by its id alone"
		if got := strings.Count(log.String(), says); got != want || strings.Count(log.String(), "\n") != want {
			t.Errorf("ranked by %s: told %d times, want %d: %s", rankBy, got, want, &log)
		}
	}
}
