package membership

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/proto"
)

// What links prove stands above gossip, one test a row of the table in the package's documentation. Gossip lists
// process 5 in its first incarnation at the start, and a link to it is up unless the row begins without one.
func TestProvenTable(t *testing.T) {
	links := map[proto.Incarnation]bool{} // the processes that have a link
	linked := func(s proto.Incarnation, yes bool) func(*merge) {
		return func(*merge) { links[s] = yes }
	}
	after := func(s ...func(*merge)) func(*merge) {
		return func(m *merge) {
			for _, step := range s {
				step(m)
			}
		}
	}
	up := after(linked(first, true), report(first, proto.LinkUp))
	half := report(first, proto.LinkReset) // of two links
	lost := after(linked(first, false), half)
	refused, missed := report(first, proto.DialRefused), report(first, proto.HeartbeatMissed)
	back := report(first, proto.HeartbeatBack)
	gone := func(m *merge) { m.gossipGone(5, first) }
	bye := func(m *merge) { m.goodbye(5, first) }
	listed := func(s proto.Incarnation, f func(*Member)) func(*merge) {
		return func(m *merge) {
			now := member5(s)
			f(&now)
			m.gossipAlive(now)
		}
	}
	same := func(*Member) {}
	tells := func(s proto.Incarnation, attr int64) func(*merge) {
		return func(m *merge) {
			now := member5(s)
			now.Attr = attr
			m.told(now)
		}
	}
	round := func(m *merge) { m.round() }
	found := func(m *merge) { m.found(member5(first)) }
	lie := func(m *Member) {
		m.Attr, m.Ineligible, m.ElectionAddr = 1e6, true, "10.66.0.1:7001"
		m.Voters = Voters{List: "7-9", Version: 9, Committed: true}
	}
	foundLie := func(m *merge) {
		now := member5(first)
		lie(&now)
		m.found(now)
	}
	for _, tt := range []struct {
		name  string
		steps []func(*merge)
		alive proto.Incarnation // zero for none
		said  string
	}{
		{"listed, and no link was up", steps(), proto.Incarnation{}, ""},
		{"found, and dialled for a while", steps(gone, found, round, round, round, up), first, "joined 5"},
		{
			"found again while it hangs, with a false attribute", steps(up, tells(first, 50), missed, gone, foundLie),
			proto.Incarnation{},
			"joined 5, heartbeat-missed 5",
		},
		{"a link comes up", steps(up), first, "joined 5"},
		{"it tells of itself", steps(tells(first, 50)), first, "joined 5"},
		{"a false death", steps(up, gone), first, "joined 5"},
		{"a false death and a lost link", steps(up, gone, lost), first, "joined 5"},
		{
			"a lost link, two rounds, and a false death", steps(up, lost, round, round, gone),
			proto.Incarnation{},
			"joined 5, gossip-dead 5",
		},
		{"a true death", steps(up, gone, lost, refused), proto.Incarnation{}, "joined 5, link-reset 5, dial-refused 5"},
		{
			"a vanished machine", steps(up, gone, missed),
			proto.Incarnation{},
			"joined 5, heartbeat-missed 5",
		},
		{"a false death, and the other's link is left", steps(up, gone, half, round, round, round), first, "joined 5"},
		{
			"a false death of one that hangs a while", steps(up, missed, gone, half, round, round, back), first,
			"joined 5, heartbeat-missed 5, heartbeat-back 5",
		},
		{
			"another process in the place of one that hangs a while",
			steps(up, missed, listed(second, same), round, round, listed(first, same), back), first,
			"joined 5, heartbeat-missed 5, heartbeat-back 5",
		},
		{
			"a false goodbye of one that hangs a while, and a rival",
			steps(up, missed, bye, func(m *merge) { m.gossipRival(member5(second)) }, back), first,
			"joined 5, heartbeat-missed 5, heartbeat-back 5",
		},
		{
			"its successor on another machine, when it hangs for good",
			steps(up, missed, listed(second, same), tells(second, 50)), second,
			"joined 5, heartbeat-missed 5, new-incarnation 5",
		},
		{
			"dropped, and listed again when a new link is up",
			steps(up, lost, round, round, gone, up, listed(first, same)), first,
			"joined 5, gossip-dead 5, joined 5",
		},
		{"a false goodbye", steps(up, bye), first, "joined 5"},
		{"a false goodbye, and the other's link is left", steps(up, bye, half, round, round), first, "joined 5"},
		{"a false goodbye, and a hiccup", steps(up, bye, lost, up), first, "joined 5, left 5, link-up 5"},
		{"a true goodbye", steps(up, bye, gone, lost), proto.Incarnation{}, "joined 5, left 5"},
		{"another process by gossip", steps(up, listed(second, same)), first, "joined 5"},
		{
			"another process that is true",
			steps(up, listed(second, same), lost, refused, report(second, proto.LinkUp)),
			second, "joined 5, link-reset 5, dial-refused 5, new-incarnation 5",
		},
		{"false attributes", steps(up, tells(first, 50), listed(first, lie)), first, "joined 5"},
		{"a true attribute", steps(up, tells(first, 50), tells(first, 51)), first, "joined 5, attr 5"},
		{"another process with the certificate", steps(up, tells(second, 50)), first, "joined 5"},
		{
			"… and the first one ends", steps(up, tells(second, 50), lost, refused), second,
			"joined 5, link-reset 5, dial-refused 5, new-incarnation 5",
		},
		{
			"back, and gossip knows it not", steps(up, lost, refused, tells(second, 50)), second,
			"joined 5, link-reset 5, dial-refused 5, new-incarnation 5",
		},
		{
			"… and it ends",
			steps(up, lost, refused, tells(second, 50), report(second, proto.LinkReset, proto.DialRefused)),
			proto.Incarnation{},
			"joined 5, link-reset 5, dial-refused 5, new-incarnation 5, link-reset 5, dial-refused 5",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			clear(links)
			m := newMerge(Member{Peer: proto.Peer{ID: 1, Incarnation: first}},
				func(_ proto.NodeID, s proto.Incarnation) bool { return links[s] })
			m.gossipAlive(member5(first))
			m.take()
			for _, step := range tt.steps {
				step(m)
			}
			v := m.take()
			var alive proto.Incarnation
			if len(v.Alive) == 2 {
				alive = v.Alive[1].Incarnation
				want := member5(alive)
				want.Attr = v.Alive[1].Attr
				if v.Alive[1] != want || want.Attr > 51 {
					t.Errorf("the view describes it as %+v", v.Alive[1])
				}
			}
			if alive != tt.alive {
				t.Errorf("%v is in the view, want %v", alive, tt.alive)
			}
			if got := strings.Join(v.Evidence, ", "); got != tt.said {
				t.Errorf("said %q, want %q", got, tt.said)
			}
		})
	}
}

func TestNewsAreRead(t *testing.T) {
	notice, gossip := Notice{Version: 7, Origin: 2, Text: "paused"}, "10.0.0.5:7946"
	m := sampleMeta()
	good := append(append(notice.encode(), byte(len(gossip))), gossip...)
	good = append(good, m.encode()...)
	who := identity{m.ID, m.Incarnation}
	n, got, err := decodeNews(good, who)
	if err != nil || n != notice || got.meta != m || got.gossip.String() != gossip {
		t.Errorf("came back as %+v, %+v, %v", n, got, err)
	}
	for name, b := range map[string][]byte{
		"nothing": nil, "a notice alone": notice.encode(), "cut short": good[:len(good)-1],
		"no address": append(append(notice.encode(), 1, 'x'), m.encode()...),
	} {
		if _, n, err := decodeNews(b, who); err == nil {
			t.Errorf("%s: %+v", name, n)
		}
	}
	if _, _, err := decodeNews(good, identity{m.ID + 1, m.Incarnation}); err == nil {
		t.Error("a node describes another")
	}
	const address = "[ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff%zone]:65535"
	if size := noticeLen + MaxNotice + 1 + len(address) + 512; size > proto.MaxNews {
		t.Errorf("news may have %d bytes, a frame takes %d", size, proto.MaxNews)
	}
}

// "With credentials notices come over links alone": of whatever version, one that gossip brings counts for nothing;
// what a node says reaches all, and who joins later.
func TestNoticesByLinksAlone(t *testing.T) {
	inBubble(t, func(t *testing.T, c *cluster) {
		l := newLinked(c, 3)
		c.eventually(3*time.Second, []int{1, 2, 3}, c.nodes...)
		a := c.attacker()
		for version := range uint64(100) {
			for _, v := range []uint64{version + 2, maxVersion(time.Now()), 1<<63 - 1} {
				n := Notice{Version: v, Origin: 9, Text: "paused by a stranger"}
				a.sends(append([]byte{userMsg}, n.encode()...), c.seeds...)
				delegate{c.nodes[0].Group}.MergeRemoteState(append(n.encode(), *c.nodes[1].roll.Load()...), false)
			}
		}
		time.Sleep(time.Minute) // of the bubble
		agree := func(want string) {
			t.Helper()
			for _, n := range c.nodes {
				if got := n.Notice().Text; got != want {
					t.Errorf("node %d knows %q, want %q", n.id, got, want)
				}
			}
		}
		agree("")
		c.nodes[1].SetNotice("paused by 2")
		time.Sleep(time.Second)
		agree("paused by 2")
		l.start(4)
		c.eventually(3*time.Second, []int{1, 2, 3, 4}, c.nodes...)
		time.Sleep(time.Second)
		agree("paused by 2")
	})
}

// "Made-up members count for nothing": gossip lists them, no view does.
func TestMadeUpMembersAreInNoView(t *testing.T) {
	inBubble(t, func(t *testing.T, c *cluster) {
		newLinked(c, 2)
		c.eventually(3*time.Second, []int{1, 2}, c.nodes...)
		a := c.attacker()
		a.sends(a.alive(madeUp(666), "10.66.0.1:7946", ownVersions), c.seeds...)
		c.until(time.Second, "it is listed", func() bool { return len(c.nodes[0].Listed()) == 2 })
		time.Sleep(time.Minute)
		for _, n := range c.nodes {
			if got := n.evidence(); slices.Contains(got, "joined 666") {
				t.Errorf("node %d: %s", n.id, fmt.Sprint(got))
			}
		}
	})
}
