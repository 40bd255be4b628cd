package bench

import (
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/proto"
)

// "Nothing failed, so each election and each node that was missed is a false
// alarm": those of the time that was watched.
func TestAlarmsAreCounted(t *testing.T) {
	since := time.Date(2026, time.November, 21, 12, 0, 0, 0, time.UTC)
	at := func(s int, term uint64, event, evidence string) trace.Record {
		return trace.Record{
			Time: since.Add(time.Duration(s) * time.Second), Term: term, Event: event, Evidence: evidence,
		}
	}
	var r AlarmsReport
	r.count([]trace.Record{
		at(-1, 1, "peers", "heartbeat-missed 2"), // before
		at(1, 1, "receive", ""),
		at(2, 1, "peers", "heartbeat-missed 5"),
		at(2, 2, "receive", ""),
		at(3, 2, "receive", ""),
		at(4, 3, "peers", "link-up 5"),
	}, since, proto.Term(1))
	if r.Missed != 1 || r.Elections != 2 {
		t.Errorf("%d missed, %d elections; want 1 and 2", r.Missed, r.Elections)
	}
}
