package node

import (
	"bytes"
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/nomination"
	"github.com/ringleader-dev/ringleader/proto"
)

// gated is a Machine that notes its events and waits in each Campaign.
type gated struct {
	gate   chan struct{}
	events []algorithms.Event
}

func (m *gated) step(_ time.Time, ev algorithms.Event) (algorithms.Output, bool) {
	if _, ok := ev.(algorithms.Campaign); ok {
		<-m.gate
	} else if _, ok := ev.(algorithms.Start); !ok {
		m.events = append(m.events, ev)
	}
	return algorithms.Output{}, false
}

// whileBusy runs fill while the Machine is in a Step, then returns the events
// that the Machine took after it.
func whileBusy(
	t *testing.T, log *bytes.Buffer, fill func(*fixture),
) (*fixture, []algorithms.Event) {
	t.Helper()
	m := &gated{gate: make(chan struct{})}
	f := start(t, m.step, func(_ *fixture, c *Config) { c.Logger = zerolog.New(log) })
	go func() { _ = f.Campaign(context.Background(), "busy") }()
	synctest.Wait()
	fill(f)
	close(m.gate)
	synctest.Wait()
	if err := f.stop(); err != nil {
		t.Error(err)
	}
	return f, m.events
}

// Promise: "what cannot be taken is dropped and counted, never blocks."
func TestInboxOverflow(t *testing.T) {
	const sent = inboxSize + 100
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		f, events := whileBusy(t, &log, func(f *fixture) {
			for seq := range uint64(sent) {
				f.Deliver(message(seq))
			}
		})
		if len(events) != inboxSize {
			t.Errorf("the Machine took %d messages, want %d", len(events), inboxSize)
		}
		for i, ev := range events {
			if m := ev.(algorithms.Receive).Message; m.Seq != uint64(i) {
				t.Fatalf("message %d came at place %d", m.Seq, i)
			}
		}
		want := Counters{Steps: 2 + inboxSize, Received: inboxSize, Overflowed: 100}
		if got := f.Status().Counters; got != want {
			t.Errorf("counters %+v, want %+v", got, want)
		}
		if n := strings.Count(log.String(), "\n"); n != 1 {
			t.Errorf("%d warnings for one burst:\n%s", n, log.String())
		}
	})
}

// Promise: messages that are not addressed to this node are dropped, counted and
// warned of, at a bounded rate.
func TestMisaddressed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		f, events := whileBusy(t, &log, func(f *fixture) {
			for range 3 {
				for range 100 {
					f.Deliver(proto.Message{From: other, To: 9, Seq: 4, Body: nomination.TimeoutNow{}})
				}
				time.Sleep(warnEvery)
			}
			f.Deliver(proto.Message{From: other, Body: nomination.TimeoutNow{}})
		})
		if len(events) != 0 {
			t.Errorf("the Machine took %v", events)
		}
		if got := f.Status().Counters.Misaddressed; got != 301 {
			t.Errorf("%d counted, want 301", got)
		}
		lines := strings.Split(strings.TrimSpace(log.String()), "\n")
		want := `{"level":"warn","from":5,"to":9,"msg_id":"5:4","dropped_total":101,` +
			`"message":"a message is not for this node -> dropped"}`
		if len(lines) != 4 || lines[1] != want {
			t.Errorf("%d warnings, want 4; the second is\n%s\nwant\n%s", len(lines), lines[1], want)
		}
	})
}

// Promise: "latest wins, evidence accumulates, never lost."
func TestPeersChangedCoalesces(t *testing.T) {
	peers := func(ids ...proto.NodeID) (alive []proto.Peer) {
		for _, id := range ids {
			alive = append(alive, proto.Peer{ID: id})
		}
		return alive
	}
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		f, events := whileBusy(t, &log, func(f *fixture) {
			f.PeersChanged(peers(1, 3, 5), "joined 5")
			f.PeersChanged(peers(1, 3), "link-closed 5")
			f.PeersChanged(peers(1, 3), "link-closed 5")
			f.PeersChanged(peers(1, 3), "")
			latest := peers(3)
			f.PeersChanged(latest, "gossip-dead 1")
			latest[0].ID = 99 // the caller may use its slice again
		})
		want := []algorithms.Event{algorithms.PeersChanged{
			Alive: peers(3), Evidence: "joined 5, link-closed 5, gossip-dead 1",
		}}
		if !reflect.DeepEqual(events, want) {
			t.Errorf("the Machine was told %+v, want %+v", events, want)
		}
		if got := f.Status().Alive; !reflect.DeepEqual(got, peers(3)) {
			t.Errorf("Status says alive: %+v", got)
		}
	})
}

func TestPeersChangedOneByOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told []string
		f := start(t, func(_ time.Time, ev algorithms.Event) (algorithms.Output, bool) {
			if ev, ok := ev.(algorithms.PeersChanged); ok {
				told = append(told, fmt.Sprintf("%d (%s)", len(ev.Alive), ev.Evidence))
			}
			return algorithms.Output{}, false
		})
		f.PeersChanged(make([]proto.Peer, 2), "joined 2")
		synctest.Wait()
		f.PeersChanged(nil, "left 2")
		synctest.Wait()
		if got := strings.Join(told, "; "); got != "2 (joined 2); 0 (left 2)" {
			t.Errorf("the Machine was told %s", got)
		}
	})
}

// A second opinion that comes between the wake-up and the take is taken with the
// first. The wake-up it leaves behind must not pass for "nobody is alive".
func TestNoOpinionOutOfNothing(t *testing.T) {
	b := peersBox{wake: make(chan struct{}, 1)}
	b.put([]proto.Peer{{ID: 1}}, "joined 1")
	<-b.wake
	b.put([]proto.Peer{{ID: 2}}, "joined 2")
	ev, ok := b.take()
	if !ok || len(ev.Alive) != 1 || ev.Alive[0].ID != 2 || ev.Evidence != "joined 1, joined 2" {
		t.Errorf("took %+v, %v", ev, ok)
	}
	<-b.wake
	if ev, ok := b.take(); ok {
		t.Errorf("took %+v out of an empty box", ev)
	}
}

// A detector that never rests while the Machine is busy does not fill memory.
func TestEvidenceIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		_, events := whileBusy(t, &log, func(f *fixture) {
			for i := range 1000 {
				f.PeersChanged(nil, fmt.Sprintf("link-closed %d", i))
			}
		})
		evidence := events[0].(algorithms.PeersChanged).Evidence
		if n := len(strings.Split(evidence, ", ")); n != maxEvidence {
			t.Errorf("%d pieces of evidence, want %d", n, maxEvidence)
		}
	})
}

// What a process said, it said before it died: messages that wait are taken
// before an opinion that waits, in whichever order they came.
func TestMessagesComeBeforeAnOpinion(t *testing.T) {
	for range 20 { // a choice at random between the two would not pass them all
		synctest.Test(t, func(t *testing.T) {
			var log bytes.Buffer
			_, events := whileBusy(t, &log, func(f *fixture) {
				f.PeersChanged(make([]proto.Peer, 3), "dial-refused 5")
				f.Deliver(message(1))
				f.Deliver(message(2))
			})
			if _, last := events[len(events)-1].(algorithms.PeersChanged); !last || len(events) != 3 {
				t.Errorf("the Machine took %+v", events)
			}
		})
	}
}
