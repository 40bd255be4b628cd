package daemon

import (
	"maps"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/membership"
	"github.com/ringleader-dev/ringleader/node"
	"github.com/ringleader-dev/ringleader/node/tcp"
)

func TestCounters(t *testing.T) {
	got := counters(node.Counters{
		Steps: 1, Saves: 2, Received: 3, Sent: 4, Splits: 2, TwoLed: 1500 * time.Millisecond,
	}, tcp.Stats{
		Dropped:  map[string]uint64{"queue-full": 7, "expired": 0},
		Rejected: map[string]uint64{"cluster": 9},
	}, membership.Dropped{UnknownKey: 5})
	want := map[string]uint64{
		"steps": 1, "saves": 2, "received": 3, "sent": 4, "overflowed": 0, "misaddressed": 0,
		"split_brains": 2, "split_brain_ms": 1500,
		"heartbeats_ignored": 0, "dropped_queue_full": 7, "rejected_cluster": 9,
		"gossip_dropped_unknown_key": 5,
	}
	if !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
