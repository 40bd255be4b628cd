package membership

import (
	"slices"
	"strings"
	"testing"

	"github.com/ringleader-dev/ringleader/proto"
)

var (
	first  = proto.Incarnation{1}
	second = proto.Incarnation{2}
)

func member5(incarnation proto.Incarnation) Member {
	return Member{
		Peer:       proto.Peer{ID: 5, Incarnation: incarnation, Attr: 50},
		GossipAddr: gossipAddr(5), ElectionAddr: electionAddr(5),
	}
}

func report(incarnation proto.Incarnation, events ...proto.LinkEvent) func(*merge) {
	return func(m *merge) {
		for _, e := range events {
			m.report(Evidence{ID: 5, Incarnation: incarnation, Event: e})
		}
	}
}

// The table in the package's documentation, one test a row, and what follows
// from it. Process 5, in its first incarnation, is listed at the start.
func TestMergeTable(t *testing.T) {
	gone := func(m *merge) { m.gossipGone(5, first) }
	rival := func(m *merge) { m.gossipRival(member5(second)) }
	bye := func(m *merge) { m.goodbye(5, first) }
	back := func(s proto.Incarnation) func(*merge) {
		return func(m *merge) { m.gossipAlive(member5(s)) }
	}
	changed := func(f func(*Member)) func(*merge) {
		return func(m *merge) {
			now := member5(first)
			f(&now)
			m.gossipAlive(now)
		}
	}
	newAttr := changed(func(m *Member) { m.Attr = 51 })
	newAddr := changed(func(m *Member) { m.ElectionAddr = "elsewhere:1" })

	for _, tt := range []struct {
		name  string
		steps []func(*merge)
		alive bool
		said  string
	}{
		{"listed, links say nothing", nil, true, ""},
		{"link closed", steps(report(first, proto.LinkClosed)), true, ""},
		{"link reset", steps(report(first, proto.LinkReset)), true, ""},
		{"dial refused", steps(report(first, proto.DialRefused)), false, "dial-refused 5"},
		{"other incarnation", steps(report(first, proto.OtherIncarnation)), false, "other-incarnation 5"},
		{"unreachable", steps(report(first, proto.Unreachable)), false, "unreachable 5"},
		{
			"closed, then refused", steps(report(first, proto.LinkClosed, proto.DialRefused)), false,
			"link-closed 5, dial-refused 5",
		},
		{
			"reset, then refused", steps(report(first, proto.LinkReset, proto.DialRefused)), false,
			"link-reset 5, dial-refused 5",
		},
		{
			"reset, up, then refused", steps(report(first, proto.LinkReset, proto.LinkUp, proto.DialRefused)), false,
			"dial-refused 5",
		},
		{
			"refused, then up", steps(report(first, proto.DialRefused, proto.LinkUp)), true,
			"dial-refused 5, link-up 5",
		},
		{
			"unreachable, then up", steps(report(first, proto.Unreachable, proto.LinkUp)), true,
			"unreachable 5, link-up 5",
		},
		{"heartbeat missed", steps(report(first, proto.HeartbeatMissed)), false, "heartbeat-missed 5"},
		{
			"nobody hears it", steps(report(first, proto.IndirectUnreachable)), false,
			"indirect-unreachable 5",
		},
		{"others hear it", steps(report(first, proto.IndirectAlive)), true, ""},
		{
			"reset, nobody hears it", steps(report(first, proto.LinkReset, proto.IndirectUnreachable)), false,
			"link-reset 5, indirect-unreachable 5",
		},
		{
			"others hear it, then missed",
			steps(report(first, proto.IndirectAlive, proto.IndirectAlive, proto.HeartbeatMissed)), false,
			"indirect-alive 5, heartbeat-missed 5",
		},
		{
			"reset, others hear it, then unreachable",
			steps(report(first, proto.LinkReset, proto.IndirectAlive, proto.Unreachable)), false,
			"link-reset 5, indirect-alive 5, unreachable 5",
		},
		{
			"others hear it, then up, then missed",
			steps(report(first, proto.IndirectAlive, proto.LinkUp, proto.HeartbeatMissed)), false,
			"heartbeat-missed 5",
		},
		{
			"missed, then others hear it", steps(report(first, proto.HeartbeatMissed, proto.IndirectAlive)),
			false, "heartbeat-missed 5",
		},
		{
			"nobody hears it, then up", steps(report(first, proto.IndirectUnreachable, proto.LinkUp)), true,
			"indirect-unreachable 5, link-up 5",
		},
		{
			"nobody hears it, then refused",
			steps(report(first, proto.IndirectUnreachable, proto.DialRefused), rival), true,
			"indirect-unreachable 5, new-incarnation 5",
		},
		{
			"reset, then missed", steps(report(first, proto.LinkReset, proto.HeartbeatMissed)), false,
			"link-reset 5, heartbeat-missed 5",
		},
		{
			"missed, then back", steps(report(first, proto.HeartbeatMissed, proto.HeartbeatBack)), true,
			"heartbeat-missed 5, heartbeat-back 5",
		},
		{
			"missed, then up", steps(report(first, proto.HeartbeatMissed, proto.LinkUp)), true,
			"heartbeat-missed 5, link-up 5",
		},
		{
			"missed, then refused", steps(report(first, proto.HeartbeatMissed, proto.DialRefused)), false,
			"heartbeat-missed 5",
		},
		{
			"missed, then a new incarnation", steps(report(first, proto.HeartbeatMissed), back(second)), true,
			"heartbeat-missed 5, new-incarnation 5",
		},
		{"back without a mark", steps(report(first, proto.HeartbeatBack)), true, ""},
		{"up without a mark", steps(report(first, proto.LinkUp)), true, ""},
		{
			"said once", steps(report(first, proto.Unreachable, proto.Unreachable, proto.DialRefused)), false,
			"unreachable 5",
		},
		{
			"links about another incarnation",
			steps(report(second, proto.LinkClosed, proto.DialRefused, proto.OtherIncarnation, proto.Unreachable,
				proto.HeartbeatMissed, proto.IndirectAlive, proto.IndirectUnreachable)), true, "",
		},
		{"links about a stranger", steps(func(m *merge) {
			m.report(Evidence{ID: 6, Incarnation: first, Event: proto.DialRefused})
		}), true, ""},
		{"new incarnation", steps(back(second)), true, "new-incarnation 5"},
		{
			"new incarnation after a mark", steps(report(first, proto.DialRefused), back(second)), true,
			"dial-refused 5, new-incarnation 5",
		},
		{
			"old news after a new incarnation", steps(back(second), report(first, proto.DialRefused)), true,
			"new-incarnation 5",
		},
		{"new attribute", steps(newAttr), true, "attr 5"},
		{
			"new attribute while marked", steps(report(first, proto.Unreachable), newAttr), false,
			"unreachable 5",
		},
		{"new address", steps(newAddr), true, "moved 5"},
		{"the same again", steps(back(first)), true, ""},
		{"gossip gives it up", steps(gone), false, "gossip-dead 5"},
		{
			"gossip after the links", steps(report(first, proto.DialRefused), gone), false,
			"dial-refused 5",
		},
		{
			"the links after gossip", steps(gone, report(first, proto.DialRefused)), false,
			"gossip-dead 5",
		},
		{"gossip lists it again", steps(gone, back(first)), true, "gossip-dead 5, joined 5"},
		{"another too", steps(rival), true, ""},
		{
			"another too, first unreachable", steps(report(first, proto.Unreachable), rival), false,
			"unreachable 5",
		},
		{
			"another too, first gone", steps(report(first, proto.DialRefused), rival), true,
			"dial-refused 5, new-incarnation 5",
		},
		{
			"another too, first missed and gone",
			steps(report(first, proto.HeartbeatMissed, proto.DialRefused), rival), true,
			"heartbeat-missed 5, new-incarnation 5",
		},
		{
			"another too, then the first is given up",
			steps(report(first, proto.DialRefused), rival, gone, back(second)), true,
			"dial-refused 5, new-incarnation 5",
		},
		{
			"another too, then that is gone",
			steps(report(first, proto.DialRefused), rival, report(second, proto.DialRefused)), false,
			"dial-refused 5, new-incarnation 5, dial-refused 5",
		},
		{"another after a goodbye", steps(bye, rival), true, "left 5, new-incarnation 5"},
		{"goodbye", steps(bye), false, "left 5"},
		{"goodbye, then given up", steps(bye, gone), false, "left 5"},
		{"goodbye, then link up", steps(bye, report(first, proto.LinkUp)), false, "left 5"},
		{"goodbye, then heartbeat back", steps(bye, report(first, proto.HeartbeatBack)), false, "left 5"},
		{"goodbye of another incarnation", steps(func(m *merge) { m.goodbye(5, second) }), true, ""},
		{"goodbye, then restarted", steps(bye, back(second)), true, "left 5, new-incarnation 5"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := newMerge(Member{Peer: proto.Peer{ID: 1, Incarnation: first}}, nil)
			m.gossipAlive(member5(first))
			start := m.take()
			if !slices.Equal(start.Evidence, []string{"joined 1", "joined 5"}) {
				t.Fatalf("at the start: %+v", start)
			}
			for _, step := range tt.steps {
				step(m)
			}
			v := m.take()
			if got := len(v.Alive) == 2 && v.Alive[1].ID == 5; got != tt.alive {
				t.Errorf("5 in the view: %v, want %v", got, tt.alive)
			}
			if got := strings.Join(v.Evidence, ", "); got != tt.said {
				t.Errorf("said %q, want %q", got, tt.said)
			}
		})
	}
}

func steps(s ...func(*merge)) []func(*merge) { return s }

// "Alive: self included, sorted by id", with the attribute as it is now.
func TestViewListsSelfInOrder(t *testing.T) {
	m := newMerge(Member{Peer: proto.Peer{ID: 4, Incarnation: first, Attr: 1}}, nil)
	m.gossipAlive(member5(first))
	m.gossipAlive(Member{Peer: proto.Peer{ID: 2, Incarnation: second}})
	m.take()
	self := Member{Peer: proto.Peer{ID: 4, Incarnation: first, Attr: 7, Ineligible: true}}
	m.setSelf(self)
	m.setSelf(self)
	v := m.take()
	var ids []proto.NodeID
	for _, p := range v.Alive {
		ids = append(ids, p.ID)
	}
	if !slices.Equal(ids, []proto.NodeID{2, 4, 5}) || v.Alive[1].Attr != 7 {
		t.Errorf("%+v", v)
	}
	if !slices.Equal(v.Evidence, []string{"attr 4", "ineligible 4"}) {
		t.Errorf("said %v", v.Evidence)
	}
}

// "An unread view is replaced by the newer one, their evidence accumulates;
// never duplicate equal views."
func TestOutbox(t *testing.T) {
	alive := func(ids ...proto.NodeID) []Member {
		var ms []Member
		for _, id := range ids {
			ms = append(ms, Member{Peer: proto.Peer{ID: id}})
		}
		return ms
	}
	var o outbox
	read := func() View {
		t.Helper()
		if !o.full {
			t.Fatal("nothing to read")
		}
		v := o.waiting
		o.taken()
		return v
	}
	o.put(View{alive(1), []string{"joined 1"}})
	o.put(View{alive(1, 2), []string{"joined 2"}})
	o.put(View{alive(1, 2, 3), []string{"joined 3"}})
	all := []string{"joined 1", "joined 2", "joined 3"}
	if v := read(); len(v.Alive) != 3 || !slices.Equal(v.Evidence, all) {
		t.Errorf("read %+v", v)
	}
	o.put(View{alive(1, 2, 3), nil})
	if o.full {
		t.Error("offers an equal view")
	}
	o.put(View{alive(1, 2), []string{"gossip-dead 3"}})
	o.put(View{alive(1, 2, 3), []string{"joined 3"}})
	if o.full {
		t.Error("offers what was read already")
	}
	for range 10 * maxEvidence {
		o.put(View{alive(1), []string{"gossip-dead 2"}})
		o.put(View{alive(1, 2), []string{"joined 2"}})
	}
	if v := read(); len(v.Evidence) != maxEvidence || v.Evidence[maxEvidence-1] != "joined 2" {
		t.Errorf("remembers %d pieces, the last %q", len(v.Evidence), v.Evidence[len(v.Evidence)-1])
	}
}
