package httpapi

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/proto"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// well is node 3 of three, at noon, with node 5 leading.
func well() Snapshot {
	return Snapshot{
		Self: 3, Incarnation: proto.Incarnation{0xab}, Cluster: "demo", Algorithm: "bully",
		Guarantee: algorithms.BestEffort, Running: true, LastTick: noon, Gossiping: true,
		Leader: algorithms.Leader{ID: 5, Incarnation: proto.Incarnation{1}, Term: 7},
		Members: []Member{
			{ID: 1, Incarnation: "01", Attr: -4, GossipAddr: "h1:1", ElectionAddr: "h1:2"},
			{ID: 3, Incarnation: "ab", GossipAddr: "h3:1", ElectionAddr: "h3:2", HTTPAddr: "h3:3"},
			{ID: 5, Incarnation: "05", GossipAddr: "h5:1", ElectionAddr: "h5:2"},
		},
		Counters: map[string]uint64{"sent": 12, "received": 9},
	}
}

// with is well, edited.
func with(edit func(*Snapshot)) Snapshot {
	s := well()
	edit(&s)
	return s
}

// Promise: "Every answer about leadership states its guarantee", and none reads like a
// permission: it has no token, and no time until which it counts. And nobody is said to
// lead who cannot be known to.
func TestLeadership(t *testing.T) {
	lease := noon.Add(2 * time.Second)
	leased := func(id proto.NodeID) func(*Snapshot) {
		return func(s *Snapshot) {
			s.Guarantee = algorithms.Lease
			s.Leader.ID, s.Leader.Until = id, lease
		}
	}
	cases := []struct {
		name string
		in   Snapshot
		at   time.Time
		want string
	}{
		{
			"a follower", well(), noon,
			`{"self":3,"is_leader":false,"leader":5,"leader_addr":"h5:2","term":7,` +
				`"guarantee":"best-effort","algorithm":"bully"}`,
		},
		{
			"the leader, best-effort", with(func(s *Snapshot) { s.Leader.ID = 3 }), noon,
			`{"self":3,"is_leader":true,"leader":3,"leader_addr":"h3:2","term":7,` +
				`"guarantee":"best-effort","algorithm":"bully"}`,
		},
		{
			"the leader, with a lease", with(leased(3)), noon,
			`{"self":3,"is_leader":true,"leader":3,"leader_addr":"h3:2","term":7,` +
				`"guarantee":"lease","algorithm":"bully"}`,
		},
		{
			"a follower of a lease", with(leased(5)), lease.Add(-1),
			`{"self":3,"is_leader":false,"leader":5,"leader_addr":"h5:2","term":7,` +
				`"guarantee":"lease","algorithm":"bully"}`,
		},
		{
			"nobody", with(func(s *Snapshot) { s.Leader.ID = 0 }), noon,
			`{"self":3,"is_leader":false,"leader":0,"term":7,"guarantee":"best-effort",` +
				`"algorithm":"bully","reason":"no leader is known"}`,
		},
		{
			"a leader gossip does not know", with(func(s *Snapshot) { s.Leader.ID = 9 }), noon,
			`{"self":3,"is_leader":false,"leader":9,"term":7,"guarantee":"best-effort",` +
				`"algorithm":"bully"}`,
		},
		{
			"a leader whose loop hangs", with(func(s *Snapshot) { s.Leader.ID = 3 }),
			noon.Add(7 * time.Second),
			`{"self":3,"is_leader":false,"leader":0,"term":7,"guarantee":"best-effort",` +
				`"algorithm":"bully","reason":"the election loop last ticked 7s ago: ` +
				`it waits for the disk, or the process was paused"}`,
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, err := json.Marshal(c.in.leadership(c.at))
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != c.want {
				t.Errorf("answers\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

// Promise: "/healthz (the loop ticked lately), /readyz (must not require a
// leader, or a bootstrap deadlocks)".
func TestHealthAndReadiness(t *testing.T) {
	cases := []struct {
		name          string
		in            Snapshot
		at            time.Time
		sick, unready string // a part of the reason, "" for well
	}{
		{"well", well(), noon, "", ""},
		{"without a leader", with(func(s *Snapshot) { s.Leader.ID = 0 }), noon, "", ""},
		{"alone", with(func(s *Snapshot) { s.Members = s.Members[1:2] }), noon, "", ""},
		{"ticked lately", well(), noon.Add(staleAfter), "", ""},
		{"ticked long ago", well(), noon.Add(staleAfter + 1), "ticked", "ticked"},
		{"never started", Snapshot{Self: 3, Gossiping: true}, noon, "not running", "not running"},
		{"ended", with(func(s *Snapshot) { s.Running = false }), noon, "not running", "not running"},
		{"no gossip", with(func(s *Snapshot) { s.Gossiping = false }), noon, "", "gossip"},
		{"refused by the others", with(func(s *Snapshot) { s.Refused = "it expired" }), noon, "", "it expired"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			sick, unready := c.in.sick(c.at), c.in.unready(c.at)
			if (sick == "") != (c.sick == "") || !strings.Contains(sick, c.sick) {
				t.Errorf("unhealthy because %q, want %q", sick, c.sick)
			}
			if (unready == "") != (c.unready == "") || !strings.Contains(unready, c.unready) {
				t.Errorf("not ready because %q, want %q", unready, c.unready)
			}
		})
	}
}

// Promise: /v1/status is one flat object, so that a shell can read it.
func TestStatus(t *testing.T) {
	lost := with(func(s *Snapshot) {
		s.Since = noon.Add(-time.Minute)
		s.Gone = []Gone{{ID: 4, Incarnation: "04", Evidence: "link-closed 4, dial-refused 4", At: noon}}
	})
	cases := []struct {
		name string
		in   Snapshot
		want string
	}{
		{
			"a follower", well(),
			`{"self":3,"is_leader":false,"leader":5,"leader_addr":"h5:2","term":7,` +
				`"guarantee":"best-effort","algorithm":"bully","role":"follower",` +
				`"incarnation":"ab000000000000000000000000000000","cluster":"demo",` +
				`"healthy":true,"ready":true,"last_tick":"2026-11-20T12:00:00Z",` +
				`"alive":[1,3,5],"counters":{"received":9,"sent":12}}`,
		},
		{
			"one that lost another", lost,
			`{"self":3,"is_leader":false,"leader":5,"leader_addr":"h5:2","term":7,` +
				`"guarantee":"best-effort","algorithm":"bully","since":"2026-11-20T11:59:00Z","role":"follower",` +
				`"incarnation":"ab000000000000000000000000000000","cluster":"demo",` +
				`"healthy":true,"ready":true,"last_tick":"2026-11-20T12:00:00Z",` +
				`"alive":[1,3,5],"gone":[{"id":4,"incarnation":"04","evidence":"link-closed 4, dial-refused 4",` +
				`"at":"2026-11-20T12:00:00Z"}],"counters":{"received":9,"sent":12}}`,
		},
		{
			"before the start",
			Snapshot{Self: 3, Guarantee: algorithms.BestEffort},
			`{"self":3,"is_leader":false,"leader":0,"term":0,` +
				`"guarantee":"best-effort","algorithm":"",` +
				`"reason":"the election loop is not running","role":"looking",` +
				`"incarnation":"00000000000000000000000000000000","cluster":"",` +
				`"healthy":false,"ready":false,` +
				`"not_ready":"the election loop is not running","alive":[]}`,
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, err := json.Marshal(c.in.status(noon))
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != c.want {
				t.Errorf("answers\n%s\nwant\n%s", got, c.want)
			}
		})
	}
	leader := with(func(s *Snapshot) { s.Leader.ID = 3 })
	if role := leader.status(noon).Role; role != "leader" {
		t.Errorf("the leader's role is %q", role)
	}
}

// "Clear words when the quorum is lost": how many voters are there, how many are
// needed, and who is missing.
func TestNoQuorum(t *testing.T) {
	s := well()
	s.Leader.ID = 0
	s.Voters = []proto.NodeID{1, 2, 3, 4, 5}
	if got := s.leadership(noon).Reason; got != "no leader is known" {
		t.Errorf("3 of 5 voters are alive: %q", got)
	}
	s.Unfenced = &Unfenced{For: s.Leader.Term + 1, Why: "the agent failed"}
	if got := s.leadership(noon).Reason; got != "no leader is known: the agent failed" {
		t.Errorf("nobody is fenced: %q", got)
	}
	s.Unfenced.For = s.Leader.Term
	if got := s.leadership(noon).Reason; got != "no leader is known" {
		t.Errorf("somebody led since the agent failed: %q", got)
	}
	s.Members = s.Members[:2]
	want := "no quorum: 2 of 5 voters are alive to this node, 3 are needed; missing: 2, 4, 5"
	if got := s.leadership(noon).Reason; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
