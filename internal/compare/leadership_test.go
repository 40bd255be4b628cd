package compare

import (
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/proto"
)

var began = time.Date(2026, 11, 20, 15, 0, 0, 0, time.UTC)

func after(ms int) time.Time { return began.Add(time.Duration(ms) * time.Millisecond) }

func believes(node uint64, ms int, role trace.Role) trace.Record {
	incarnation := string('a' + rune(node))
	return trace.Record{Time: after(ms), Node: node, Incarnation: incarnation, Role: role}
}

func leased(r trace.Record, until int) trace.Record {
	r.ValidUntil = after(until)
	return r
}

// A process leads from its record that it does "to its record that it does not, its
// death, or the end of its lease".
func TestLeading(t *testing.T) {
	const end = 100
	for _, c := range []struct {
		name        string
		records     []trace.Record
		deaths      []Death
		nobody, two int
	}{
		{"nobody at all", []trace.Record{believes(1, 0, trace.Looking)}, nil, 100, 0},
		{"one, all the while", []trace.Record{believes(1, -50, trace.Leading)}, nil, 0, 0},
		{"one, from 30 to 70", []trace.Record{
			believes(1, 30, trace.Leading), believes(1, 70, trace.Following),
		}, nil, 60, 0},
		{"a killed one, and its successor", []trace.Record{
			believes(1, -50, trace.Leading), believes(2, 25, trace.Leading),
		}, []Death{{1, began}}, 25, 0},
		{"a hung one, and its successor", []trace.Record{
			believes(1, -50, trace.Leading), believes(2, 40, trace.Leading), believes(1, 90, trace.Following),
		}, nil, 0, 50},
		{"a hung one with a lease", []trace.Record{
			leased(believes(1, -50, trace.Leading), 20), believes(2, 40, trace.Leading),
			believes(1, 90, trace.Following),
		}, nil, 20, 0},
		{"a lease that is renewed", []trace.Record{
			leased(believes(1, -50, trace.Leading), 20), leased(believes(1, 10, trace.Leading), 60),
		}, nil, 40, 0},
		{"a lease that is renewed too late", []trace.Record{
			leased(believes(1, -50, trace.Leading), 20), leased(believes(1, 30, trace.Leading), 200),
		}, nil, 10, 0},
		{"three at once count once", []trace.Record{
			believes(1, -50, trace.Leading), believes(2, -50, trace.Leading), believes(3, 50, trace.Leading),
		}, nil, 0, 100},
		{"a death before it led is another process's", []trace.Record{
			believes(1, 50, trace.Leading),
		}, []Death{{1, after(10)}}, 50, 0},
	} {
		nobody, two := Led(c.records, c.deaths, began, after(end))
		if nobody != time.Duration(c.nobody)*time.Millisecond || two != time.Duration(c.two)*time.Millisecond {
			t.Errorf("%s: nobody for %v, two for %v; want %d ms, %d ms", c.name, nobody, two, c.nobody, c.two)
		}
	}
}

// Who is cut off may hold an election among themselves: the others' is measured.
func TestHeard(t *testing.T) {
	f := fault{apart: []proto.NodeID{2, 3}}
	got := f.heard([]trace.Record{
		believes(1, 0, trace.Looking), believes(2, 0, trace.Leading), believes(3, 0, trace.Following),
	})
	if len(got) != 1 || got[0].Node != 1 {
		t.Errorf("heard %v", got)
	}
}
