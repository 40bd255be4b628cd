package node

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/proto"
)

// "Gone are the processes that left Alive and are not back": with the evidence about each, and when it left.
func TestGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, func(time.Time, algorithms.Event) (algorithms.Output, bool) {
			return algorithms.Output{}, false
		})
		peer := func(id proto.NodeID, incarnation byte) proto.Peer {
			return proto.Peer{ID: id, Incarnation: proto.Incarnation{incarnation}}
		}
		me, one, five, again := peer(self, 1), peer(1, 7), peer(5, 8), peer(5, 9)
		began := time.Now()
		view := func(evidence string, alive ...proto.Peer) func() {
			return func() { f.PeersChanged(alive, evidence) }
		}
		for _, c := range []struct {
			do   func()
			want string
		}{
			{view("joined 1, joined 5", one, me, five), ""},
			{view("attr 1, link-closed 5, dial-refused 5", one, me), "5 08 link-closed 5, dial-refused 5 @2s"},
			{func() { f.ProvenDead(5, five.Incarnation) }, "5 08 link-closed 5, dial-refused 5, proven-dead 5 @2s"},
			{func() { f.HeardAgain(5, five.Incarnation) }, "5 08 link-closed 5, dial-refused 5 @2s"},
			{view("new-incarnation 5", one, me, again), ""},
			{func() { f.ProvenDead(5, five.Incarnation) }, ""}, // a former process of a node that is back
			{view("heartbeat-missed 1, left 5", me), "1 07 heartbeat-missed 1 @7s; 5 09 left 5 @7s"},
			{view("heartbeat-back 1", one, me), "5 09 left 5 @7s"},
		} {
			time.Sleep(time.Second)
			c.do()
			synctest.Wait()
			var got []string
			for _, g := range f.Status().Gone {
				at := g.At.Sub(began)
				got = append(got, fmt.Sprintf("%d %.2s %s @%v", g.ID, g.Incarnation.String(), g.Evidence, at))
			}
			if list := strings.Join(got, "; "); list != c.want {
				t.Errorf("gone are %q, want %q", list, c.want)
			}
		}
	})
}

// The list is bounded, and has the last that left.
func TestGoneIsBounded(t *testing.T) {
	var g gone
	var peers []proto.Peer
	for id := range proto.NodeID(2 * maxGone) {
		peers = append(peers, proto.Peer{ID: id + 1})
	}
	for range peers {
		g.view(peers, algorithms.PeersChanged{Alive: peers[1:]}, time.Now())
		peers = peers[1:]
	}
	if last := g.sorted()[maxGone-1]; len(g) != maxGone || last.ID != 2*maxGone {
		t.Errorf("%d are kept, the last is %+v", len(g), last)
	}
}

// Since is the time of the change to the present leader, or to nobody.
func TestSince(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		leader := leads(other, 2)
		f := start(t, func(_ time.Time, ev algorithms.Event) (algorithms.Output, bool) {
			_, called := ev.(algorithms.Campaign)
			return algorithms.Output{Leader: leader}, called
		})
		if s := f.Status(); !s.Since.IsZero() {
			t.Errorf("before the first leader: since %v", s.Since)
		}
		began := time.Now()
		for second, c := range []struct {
			leader algorithms.Leader
			want   time.Duration
		}{
			{leads(other, 2), 1}, {leads(other, 2), 1}, {leads(other, 3), 3}, {nobody(3), 4}, {nobody(4), 4},
		} {
			time.Sleep(time.Second)
			leader = c.leader
			f.campaign("now")
			if got := f.Status().Since.Sub(began); got != c.want*time.Second {
				t.Errorf("after %d s: since %v, want %v s", second+1, got, int(c.want))
			}
		}
	})
}
