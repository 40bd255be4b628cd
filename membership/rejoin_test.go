package membership

import (
	"bytes"
	"errors"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/ringleader-dev/ringleader/proto"
)

var (
	errSilent  = errors.New("i/o timeout")
	leadership = time.Date(2026, 11, 20, 15, 0, 0, 0, time.UTC)
)

func at(id int) netip.AddrPort { return netip.MustParseAddrPort(gossipAddr(id)) }

func nodeAt(id int, incarnation proto.Incarnation) node {
	return node{
		meta:   meta{Peer: proto.Peer{ID: proto.NodeID(id), Incarnation: incarnation}},
		gossip: at(id),
	}
}

// newTestRejoin is that of node 1, with these nodes' addresses as seeds.
func newTestRejoin(t *testing.T, seeds ...int) *rejoin {
	t.Helper()
	var list []*seed
	for _, id := range seeds {
		s, err := parseSeed(gossipAddr(id))
		if err != nil {
			t.Fatal(err)
		}
		s.complete(1)
		list = append(list, s)
	}
	return newRejoin(at(1), profiles[LAN], list, leadership, zerolog.Nop())
}

// round is the targets of one round, all of which then succeed.
func round(r *rejoin, now time.Time, err error) []int {
	var ids []int
	for _, addr := range r.targets(now) {
		ids = append(ids, int(addr.Addr().As4()[3]))
		r.tried(addr, now, err)
	}
	slices.Sort(ids)
	return ids
}

// "When all seeds and known peers are alive members, no join traffic is needed";
// everybody else is asked in every round, but never this node itself.
func TestRejoinTargets(t *testing.T) {
	confirm := func(id int) func(*rejoin) {
		return func(r *rejoin) { r.called(identity{proto.NodeID(id), first}, true) }
	}
	deny := func(id int) func(*rejoin) {
		return func(r *rejoin) { r.called(identity{proto.NodeID(id), first}, false) }
	}
	meet := func(id int) func(*rejoin) {
		return func(r *rejoin) { r.met(nodeAt(id, first)) }
	}
	lose := func(id int) func(*rejoin) {
		return func(r *rejoin) { r.lost(proto.NodeID(id), leadership) }
	}
	bye := func(id int) func(*rejoin) {
		return func(r *rejoin) { r.goodbye(identity{proto.NodeID(id), first}) }
	}
	for _, tt := range []struct {
		name  string
		after []func(*rejoin)
		want  []int
	}{
		{"at the start, the seeds", nil, []int{2, 3}},
		{"nobody lists me yet", []func(*rejoin){meet(2), meet(3), meet(4)}, []int{2, 3, 4}},
		{
			"one does, the others are fine",
			[]func(*rejoin){meet(2), meet(3), meet(4), confirm(4)},
			nil,
		},
		{
			"but this one does not",
			[]func(*rejoin){meet(2), meet(3), meet(4), confirm(4), deny(3)},
			[]int{3},
		},
		{"a seed is missing", []func(*rejoin){meet(2), confirm(2)}, []int{3}},
		{
			"one once met is missing",
			[]func(*rejoin){meet(2), meet(3), meet(4), confirm(2), lose(4)},
			[]int{4},
		},
		{
			"it is back, without a word so far",
			[]func(*rejoin){meet(2), meet(3), meet(4), confirm(2), deny(4), lose(4), meet(4)},
			nil,
		},
		{
			"it said goodbye",
			[]func(*rejoin){meet(2), meet(3), meet(4), confirm(2), bye(4), lose(4)},
			nil,
		},
		{
			"it said goodbye late",
			[]func(*rejoin){meet(2), meet(3), meet(4), confirm(2), lose(4), bye(4)},
			nil,
		},
		{
			"a seed said goodbye",
			[]func(*rejoin){meet(2), meet(3), confirm(2), bye(3), lose(3)},
			[]int{3},
		},
		{
			"the one that listed me is gone",
			[]func(*rejoin){meet(2), meet(3), confirm(2), lose(2)},
			[]int{2, 3},
		},
		{"its word was another incarnation's", []func(*rejoin){
			meet(2), meet(3), confirm(2),
			func(r *rejoin) { r.met(nodeAt(2, second)) },
		}, []int{2, 3}},
		{"a rival of one I list", []func(*rejoin){
			meet(2), meet(3), confirm(2),
			func(r *rejoin) { r.rival(at(9), leadership) },
		}, []int{9}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newTestRejoin(t, 1, 2, 3)
			for _, f := range tt.after {
				f(r)
			}
			for range 3 {
				if got := round(r, leadership, errSilent); !slices.Equal(got, tt.want) {
					t.Fatalf("asks %v, want %v", got, tt.want)
				}
			}
		})
	}
}

// "Others remembered, bounded in number and time."
func TestRejoinForgets(t *testing.T) {
	r := newTestRejoin(t)
	r.met(nodeAt(2, first))
	r.lost(2, leadership)
	if got := round(r, leadership.Add(rememberGone), errSilent); !slices.Equal(got, []int{2}) {
		t.Errorf("after a day it asks %v", got)
	}
	if got := round(r, leadership.Add(rememberGone+time.Second), errSilent); got != nil {
		t.Errorf("after more than a day it asks %v", got)
	}
	for id := range 2 * maxKnown {
		r.met(nodeAt(2, first).withID(id + 10))
		r.lost(proto.NodeID(id+10), leadership)
		r.rival(netip.AddrPortFrom(at(9).Addr(), uint16(id+1)), leadership)
	}
	r.targets(leadership)
	if len(r.known) > maxKnown || len(r.rivals) > maxAttempts {
		t.Errorf("remembers %d processes and %d rivals", len(r.known), len(r.rivals))
	}
}

func (n node) withID(id int) node {
	n.ID = proto.NodeID(id)
	return n
}

// "Bounded concurrency": at most so many attempts at once, one per address.
func TestRejoinAttemptsAreBounded(t *testing.T) {
	r := newTestRejoin(t)
	for id := 2; id < 2+2*maxAttempts; id++ {
		r.met(nodeAt(id, first))
		r.lost(proto.NodeID(id), leadership)
	}
	if got := len(r.targets(leadership)); got != maxAttempts {
		t.Errorf("%d attempts at once", got)
	}
	if got := len(r.targets(leadership)); got != 0 {
		t.Errorf("%d more", got)
	}
}

// A seed that leads to a member under another address, or to this node itself,
// is not asked in every round.
func TestRejoinSparesAliases(t *testing.T) {
	r := newTestRejoin(t, 7)
	r.met(nodeAt(2, first))
	r.called(identity{2, first}, true)
	if got := round(r, leadership, nil); !slices.Equal(got, []int{7}) {
		t.Fatalf("asks %v", got)
	}
	if got := round(r, leadership.Add(aliasInterval-1), nil); got != nil {
		t.Errorf("asks %v again too soon", got)
	}
	if got := round(r, leadership.Add(aliasInterval+1), nil); !slices.Equal(got, []int{7}) {
		t.Errorf("then asks %v", got)
	}
}

// "Faster for the first seconds after start", jittered always.
func TestRejoinPause(t *testing.T) {
	r := newTestRejoin(t)
	seen := make(map[time.Duration]bool)
	for range 100 {
		early, late := r.pause(leadership), r.pause(leadership.Add(coldStart))
		if early < coldInterval || early >= 2*coldInterval {
			t.Errorf("at first %v", early)
		}
		if late < time.Second || late >= 2*time.Second {
			t.Errorf("later %v", late)
		}
		seen[late] = true
	}
	if len(seen) < 50 {
		t.Error("no jitter")
	}
}

// A target without a port has this node's own: where that leads to nobody but this node
// itself it is said, once after a grace, and not where others are known.
func TestOnlySeedIsItself(t *testing.T) {
	for name, c := range map[string]struct {
		seeds []int
		met   bool
		want  int
	}{
		"itself": {[]int{1}, false, 1}, "itself, and another came": {[]int{1}, true, 0},
		"itself and another": {[]int{1, 2}, false, 0}, "nobody": {nil, false, 0},
	} {
		r := newTestRejoin(t, c.seeds...)
		var log bytes.Buffer
		r.log = zerolog.New(&log)
		if c.met {
			r.met(nodeAt(2, first))
		}
		for i := range 3 {
			r.complain(leadership.Add(time.Duration(i) * silentGrace))
		}
		if got := strings.Count(log.String(), "every join target is this node itself"); got != c.want {
			t.Errorf("%s: said %d times, want %d: %s", name, got, c.want, &log)
		}
	}
}

// "Says so once, then rarely."
func TestSilenceIsSaidRarely(t *testing.T) {
	var s silence
	var said []time.Duration
	for d := time.Duration(0); d < 25*time.Minute; d += time.Second {
		if s.worthSaying(leadership.Add(d)) {
			said = append(said, d)
		}
	}
	want := []time.Duration{
		silentGrace, silentGrace + silentAgain, silentGrace + 2*silentAgain,
	}
	if !slices.Equal(said, want) {
		t.Errorf("said after %v", said)
	}
	if !s.over() || s.over() {
		t.Error("its end is to be said once")
	}
}
