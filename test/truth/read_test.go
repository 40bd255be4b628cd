//go:build realtruth

package truth_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/rounds"
	"github.com/ringleader-dev/ringleader/rounds/logs"
)

// variant is one way in which the logs of a run come to the reader.
type variant struct {
	name    string
	off     bool // the wall clocks are off, by hours at most; the hybrid clocks are as they were
	missing bool // the log of one node is not there
	cut     bool // the end of one log is not there
}

var variants = []variant{
	{name: "as written"},
	{name: "clocks off", off: true},
	{name: "a log missing", missing: true},
	{name: "a log cut short", cut: true},
	{name: "a log missing, clocks off", missing: true, off: true},
}

// whole reports whether all records are there.
func (v variant) whole() bool { return !v.missing && !v.cut }

// reading is what the inspector makes of the logs of a run.
type reading struct {
	variant
	*story
	group   *rounds.Group
	shift   map[uint64]time.Duration // by how much the clock of each node is off
	spoilt  uint64                   // the node whose log is not whole
	offsets map[uint64]time.Duration // of the nodes' clocks, as the inspector estimates them
	found   []statement
}

// read reads the logs of a run, as the variant has them.
func read(t *testing.T, s *story, dir string, v variant, d *rand.Rand) *reading {
	t.Helper()
	r := &reading{variant: v, story: s, shift: map[uint64]time.Duration{}, offsets: map[uint64]time.Duration{}}
	spoilt, part := uint64(1+d.IntN(s.Plan.Nodes)), d.Float64()
	if !v.whole() {
		r.spoilt = spoilt
	}
	b := rounds.NewBuilder()
	for node := range uint64(s.Plan.Nodes) {
		node++
		if by := time.Duration(d.Int64N(int64(6*time.Hour))) - 3*time.Hour; v.off {
			r.shift[node] = by
		}
		if v.missing && node == spoilt {
			continue
		}
		text := r.restamp(logOf(t, dir, node), r.shift[node])
		if v.cut && node == spoilt {
			text = text[:int(part*float64(len(text)))]
		}
		if _, err := logs.Read(bytes.NewReader(text), b); err != nil {
			t.Fatal(err)
		}
	}
	h := b.History()
	if len(h.Groups) != 1 || len(h.Notes) > 0 {
		t.Fatalf("%v, %s: %d groups: %v", s.Plan, v.name, len(h.Groups), h.Notes)
	}
	r.group = h.Groups[0]
	for _, c := range r.group.Clocks {
		r.offsets[c.Node] = c.Offset
	}
	return r
}

// logOf returns what all processes of a node wrote.
func logOf(t *testing.T, dir string, node uint64) (text []byte) {
	t.Helper()
	for life := 1; ; life++ {
		one := logOfLife(t, dir, node, life)
		if one == nil {
			return text
		}
		text = append(text, one...)
	}
}

// logOfLife returns what one process of a node wrote, counted from 1; nil if there was none.
func logOfLife(t *testing.T, dir string, node uint64, life int) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, fmt.Sprintf("n%d-life%d.log", node, life)))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return text
}

var stamps = regexp.MustCompile(`"(time|valid_until)":"([^"\\]+)"`)

// restamp returns the log as a node writes it whose wall clock is off.
func (r *reading) restamp(text []byte, by time.Duration) []byte {
	if by == 0 {
		return text
	}
	return stamps.ReplaceAllFunc(text, func(match []byte) []byte {
		part := stamps.FindSubmatch(match)
		at, err := time.Parse(time.RFC3339Nano, string(part[2]))
		if err != nil {
			return match
		}
		return fmt.Appendf(nil, "%q:%q", part[1], at.Add(by).Format(time.RFC3339Nano))
	})
}

// ahead is how far the times that the inspector gives for a node's records are ahead of true time.
func (r *reading) ahead(node uint64) time.Duration { return r.shift[node] - r.offsets[node] }

// base returns how far the inspector's times are ahead of true time at least, and by how much those of one node are
// further ahead than those of another.
func (r *reading) base() (low, blur time.Duration) {
	first, high := true, time.Duration(0)
	for _, n := range r.group.Nodes {
		by := r.ahead(n.ID)
		if n.Records == 0 {
			continue
		}
		if first {
			first, low, high = false, by, by
		}
		low, high = min(low, by), max(high, by)
	}
	return low, high - low
}

// true returns the true time that the inspector means.
func (r *reading) true(at time.Time) time.Time {
	low, blur := r.base()
	return at.Add(-low - blur/2)
}

// slack is how far times of the inspector may be from the true ones: records are written a little after what they tell.
func (r *reading) slack() time.Duration {
	_, blur := r.base()
	return 60*time.Millisecond + blur
}

// timely reports whether the inspector's times can be compared with the true ones: messages compare the clocks.
func (r *reading) timely() bool {
	_, blur := r.base()
	return blur < 200*time.Millisecond
}

// fail notes a statement that is false, or that is missing.
func (r *reading) fail(kind, format string, args ...any) {
	name := r.name
	if r.spoilt != 0 {
		name += fmt.Sprintf(" (node %d)", r.spoilt)
	}
	r.found = append(r.found, statement{kind, r.name, name + ": " + fmt.Sprintf(format, args...)})
}
