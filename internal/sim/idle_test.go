package sim

import (
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/algorithms/lease"
	"github.com/ringleader-dev/ringleader/algorithms/nomination"
	"github.com/ringleader-dev/ringleader/proto"
)

// "A leader's heartbeat is its renewal and its announcement": a leader under a lease sends each
// follower one message an interval, as one without a lease does, and nobody else says anything
// but the answers.
func TestAnIdleLeaderSendsOneMessageAnInterval(t *testing.T) {
	const intervals, nodes = 40, 5
	for _, name := range catalog.Names() {
		e, _ := catalog.Lookup(name)
		said := map[proto.NodeID]map[string]int{}
		a := leased(t, name)
		create := a.New
		a.New = func(c algorithms.Config) algorithms.Machine {
			said[c.Self] = map[string]int{}
			return counted{create(c), said[c.Self]}
		}
		c := agreedAmong(t, a, nodes)
		for _, n := range c.nodes {
			clear(said[n.id])
		}
		every := lease.HeartbeatEvery(c.Promise)
		c.runUntil(c.now + intervals*every)
		leader := c.leader().id
		for id, kinds := range said {
			most := intervals + 1
			if id == leader {
				most *= nodes - 1
			}
			sent := 0
			for _, n := range kinds {
				sent += n
			}
			if sent > most {
				t.Errorf("%s: %d, led by %d, sent %v in %d intervals", name, id, leader, kinds, intervals)
			}
		}
		if e.OwnLease {
			continue
		}
		if best := nomination.AnnounceEvery(c.delta, 0); every < best/2 {
			t.Errorf("%s: a leader under a lease says so each %v, one without each %v", name, every, best)
		}
	}
}

// counted is a Machine whose messages are counted, by the names of their kinds.
type counted struct {
	algorithms.Machine
	said map[string]int
}

func (m counted) Step(now time.Time, ev algorithms.Event) algorithms.Output {
	out := m.Machine.Step(now, ev)
	for i := range out.Send {
		m.said[out.Send[i].Body.Kind().String()]++
	}
	return out
}
