package daemon

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/internal/pacing"
	"github.com/ringleader-dev/ringleader/node/tcp"
)

// Promise: "a budget too small for the measured latency" is told of, with the
// smallest budget that would do; once, until it is well again.
func TestMeasuredLatency(t *testing.T) {
	entry, err := catalog.Lookup("bully")
	if err != nil {
		t.Fatal(err)
	}
	s := Settings{Algorithm: entry, Pacing: pacing.Pacing{Latency: 60 * time.Millisecond}}
	var log bytes.Buffer
	var w slowness
	for _, c := range []struct {
		trip time.Duration
		want int // warnings so far
	}{{0, 0}, {120, 0}, {122, 1}, {200, 1}, {100, 1}, {200, 2}} {
		peers := []tcp.PeerStats{{ID: 2}, {ID: 3, RoundTrip: c.trip * time.Millisecond}, {ID: 4}}
		w.judge(peers, s, zerolog.New(&log))
		if got := strings.Count(log.String(), "take longer than planned"); got != c.want {
			t.Errorf("%d warnings after %d ms, want %d", got, c.trip, c.want)
		}
	}
	if !strings.Contains(log.String(), `"measured":"100ms","planned":"60ms","smallest_budget":"1.667s"`) {
		t.Errorf("said\n%s", log.String())
	}
}
