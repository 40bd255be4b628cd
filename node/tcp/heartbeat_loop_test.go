package tcp

import (
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/proto"
)

// quick makes a test wait less for a heartbeat to be missed, but not so little
// that a busy machine misses one.
func quick(c *Config) { c.Heartbeat, c.Misses = 50*time.Millisecond, 10 }

// beats waits until a PING of one of the two was answered by the other.
func (n *node) beats(t testing.TB, peer *node) {
	t.Helper()
	one, other := n.peer(peer.cfg.ID), peer.peer(n.cfg.ID)
	eventually(t, "heartbeats go on", func() bool {
		return one.heartbeats.roundTrip() > 0 || other != nil && other.heartbeats.roundTrip() > 0
	})
}

// Promise: "heartbeats between the leader and the rest", so that the traffic is
// linear: the leader watches everybody, the others only the leader, and nobody
// watches anybody before there is one.
func TestWhoWatchesWhom(t *testing.T) {
	a, b, c := start(t, 1, quick), start(t, 2, quick), start(t, 3, quick)
	connect(t, a, b, c)
	if a.watch(a.peer(3)) != unwatched || a.watch(a.peer(2)) != unwatched {
		t.Error("watches although nobody led")
	}
	for _, n := range []*node{a, b, c} {
		n.SetLeader(3)
	}
	a.beats(t, c)
	b.beats(t, c)
	if a.peer(2).heartbeats.roundTrip() != 0 || b.peer(1).heartbeats.roundTrip() != 0 {
		t.Error("followers ask each other")
	}
}

// A leader that hangs when nobody follows it for a moment is missed all the same: a
// round on a ring would wait for it until gossip notices, which takes seconds.
func TestHungBetweenTwoLeaderships(t *testing.T) {
	a, b := start(t, 1, quick), start(t, 2, quick)
	connect(t, a, b)
	a.SetLeader(2)
	a.beats(t, b)
	a.SetLeader(0)
	b.frozen.Store(true)
	s := b.cfg.Incarnation
	eventuallyEqual(t, "evidence", a.events, said(proto.LinkUp, s, 1), said(proto.HeartbeatMissed, s, 2))
}

// A follower that hangs, or was cut off together with the leader, is missed as soon as a
// round waits for it: a message that is owed an answer has it watched.
func TestHungFollowerBetweenTwoLeaderships(t *testing.T) {
	a, b, c := start(t, 1, quick), start(t, 2, quick), start(t, 3, quick)
	connect(t, a, b, c)
	a.SetLeader(3)
	a.beats(t, c)
	b.frozen.Store(true)
	a.Send(message(1, 2, 1))
	if w := a.watch(a.peer(2)); w != unwatched {
		t.Errorf("watches a follower while there is a leader: %v", w)
	}
	a.SetLeader(0)
	a.SetLeader(0) // again: the vacancy is the same
	a.Send(message(1, 2, 2))
	missed := said(proto.HeartbeatMissed, b.cfg.Incarnation, 2)
	eventually(t, "the follower is missed", func() bool { return slices.Contains(a.events(), missed) })
	a.SetLeader(3)
	if w := a.watch(a.peer(2)); w != unwatched {
		t.Errorf("watches a follower again under a leader: %v", w)
	}
}

// Promise: "the traffic grows with the number of nodes, not with its square", also while
// all wait for all; and who is silent is asked on.
func TestExpectedAreAskedByAndBy(t *testing.T) {
	slow := func(c *Config) { c.Heartbeat, c.Misses = time.Hour, 10 } // the test beats
	all := []*node{start(t, 1, slow)}
	for id := range proto.NodeID(maxExpected + 3) {
		all = append(all, start(t, id+2, slow))
	}
	a := all[0]
	connect(t, all...)
	a.SetLeader(99)
	a.SetLeader(0)
	for _, n := range all[1:] {
		n.frozen.Store(true)
		a.Send(message(1, n.cfg.ID, 1))
	}
	silent := func() (n int) {
		for _, p := range *a.peers.Load() {
			p.heartbeats.mu.Lock()
			if p.heartbeats.silent > 0 {
				n++
			}
			p.heartbeats.mu.Unlock()
		}
		return n
	}
	a.beat(beat{intervals: 1}, time.Now())
	if n := silent(); n != maxExpected {
		t.Errorf("one beat asks %d, want %d", n, maxExpected)
	}
	eventually(t, "all were asked", func() bool {
		a.beat(beat{intervals: 1}, time.Now())
		return silent() == len(all)-1
	})
}

// "A process that is hung while its kernel still accepts connections is found by
// the heartbeat": its sockets work, its elections stand still.
func TestHungElections(t *testing.T) {
	a, b := start(t, 1, quick), start(t, 2, quick)
	connect(t, a, b)
	a.SetLeader(2)
	a.beats(t, b)
	b.frozen.Store(true)
	s := b.cfg.Incarnation
	up, missed := said(proto.LinkUp, s, 1), said(proto.HeartbeatMissed, s, 2)
	eventuallyEqual(t, "evidence", a.events, up, missed)

	// Acknowledgements go on, and are no sign of life.
	a.Send(message(1, 2, 1))
	eventually(t, "the message is heard", func() bool { return len(b.received()) == 1 })
	b.frozen.Store(false)
	eventuallyEqual(t, "evidence", a.events, up, missed, said(proto.HeartbeatBack, s, 2))
}

// No link is made with a process whose elections stand still; who only asks who
// is there is told.
func TestHungTakesNoLinks(t *testing.T) {
	a := start(t, 1, hurried)
	b := start(t, 2)
	b.frozen.Store(true)
	a.SetPeers([]Peer{b.asPeer()})
	eventuallyEqual(t, "evidence", a.events, said(proto.Unreachable, b.cfg.Incarnation, 0))
	if a.Stats().Rejected["hung"] == 0 || b.Stats().Rejected["hung"] == 0 {
		t.Error("not counted on both sides")
	}
	if w, err := a.Probe(t.Context(), b.Addr().String()); err != nil || w.ID != 2 {
		t.Errorf("%+v, %v", w, err)
	}
}

// A cut network says nothing: the connection stands, and no byte comes.
func TestBlackHole(t *testing.T) {
	a, b := start(t, 1, quick), start(t, 2, quick)
	hole := newProxy(t, b.Addr().String())
	a.SetPeers([]Peer{b.as(hole.addr)})
	a.SetLeader(2)
	a.beats(t, b)
	hole.stall(true)
	s := b.cfg.Incarnation
	eventuallyEqual(t, "evidence", a.events,
		said(proto.LinkUp, s, 1), said(proto.HeartbeatMissed, s, 1))
	hole.stall(false)
	eventuallyEqual(t, "evidence", a.events,
		said(proto.LinkUp, s, 1), said(proto.HeartbeatMissed, s, 1), said(proto.HeartbeatBack, s, 1))
}

// Promise: "a link that drops while its process lives (a proxy, an idle timeout,
// a reset) reconnects" and nobody is missed.
func TestCutLinksMissNobody(t *testing.T) {
	patiently := func(c *Config) { c.Heartbeat, c.Misses = 50*time.Millisecond, 20 }
	a, b := start(t, 1, patiently), start(t, 2, patiently)
	cutter := newProxy(t, b.Addr().String())
	a.SetPeers([]Peer{b.as(cutter.addr)})
	a.SetLeader(2)
	ups := func() (n int) {
		a.mu.Lock()
		defer a.mu.Unlock()
		for _, e := range a.evidence {
			switch e.Event {
			case proto.LinkUp:
				n++
			case proto.LinkClosed, proto.LinkReset:
			default:
				t.Fatalf("%v of a process that lives", e)
			}
		}
		return n
	}
	for n := range 20 {
		eventually(t, "the link is up again", func() bool { return ups() == n+1 && a.linked() == 1 })
		cutter.cut()
	}
}

// Promise: "a peer that sends PINGs far too often is answered at a bounded rate
// and counted".
func TestFloodOfPings(t *testing.T) {
	b := start(t, 2)
	r := joinRaw(t, b, 1)
	pongs := make(chan uint64, 1)
	go func() { // reads, so that b is never blocked
		n := uint64(0)
		for {
			if kind, _, err := r.r.next(maxControl); err != nil || kind != uint8(proto.KindPong) {
				pongs <- n
				return
			}
			n++
		}
	}()
	begun := time.Now()
	sent := uint64(0)
	for b.Stats().Ignored < 100 || b.logged(`"reason":"too-often"`) == 0 {
		var burst []byte
		for range 1000 {
			sent++
			kind, payload, err := proto.MarshalLink(proto.Ping{Count: sent, Micros: 1000})
			if err != nil {
				t.Fatal(err)
			}
			burst = appendFrame(burst, kind, payload)
		}
		r.send(burst)
	}
	_ = b.Close()
	took := time.Since(begun)
	if n, most := <-pongs, uint64(took/minPong)+1; n == 0 || n > most {
		t.Errorf("%d answers in %v, want 1 to %d", n, took, most)
	}
	if n := b.logged(`"reason":"too-often"`); n != 1 {
		t.Errorf("complained %d times", n)
	}
}

// A PING right behind a message does not keep the message's acknowledgement back.
func TestAckBeforeAPing(t *testing.T) {
	b := start(t, 2)
	r := joinRaw(t, b, 1)
	kind, payload, err := proto.MarshalLink(proto.Ping{Count: 1, Micros: 1000})
	if err != nil {
		t.Fatal(err)
	}
	for n := range uint64(20) { // in one piece most of the times
		r.send(frameOf(t, message(1, 2, n+1)))
	}
	r.send(appendFrame(frameOf(t, message(1, 2, 21)), kind, payload))
	for acked, ponged := uint64(0), false; acked < 21 || !ponged; {
		switch got := r.hear().(type) {
		case proto.Ack:
			acked = got.Count
		case proto.Pong:
			ponged = true
		}
	}
}

// Promise: "heartbeat settings that differ between nodes" are warned of, on
// both sides.
func TestHeartbeatsThatDiffer(t *testing.T) {
	slow := func(c *Config) { c.Heartbeat = 150 * time.Millisecond }
	a, b := start(t, 1, quick), start(t, 2, slow)
	connect(t, a, b)
	a.SetLeader(2)
	b.SetLeader(2)
	a.beats(t, b)
	b.beats(t, a)
	for _, n := range []*node{a, b} {
		eventually(t, "a warning", func() bool {
			return n.logged(`"reason":"other-heartbeat"`) == 1
		})
	}
}

// Promise: "if our own ticker fired late by more than an interval, start counting
// anew instead of accusing others".
func TestPaceKnowsThatItIsLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := &Transport{
			cfg: Config{ID: 1, Heartbeat: time.Second}, done: make(chan struct{}),
			beatTimer: newBeatTimer(time.Second, 3),
		}
		tr.cfg.Busy = func() time.Duration { return 0 }
		tr.SetLeader(1)
		var missed atomic.Int32
		watched := &peer{t: tr, id: 2, ask: make(chan struct{}, 1), detector: &failureDetector{}}
		watched.heartbeats = heartbeats{misses: 3, incarnation: one, say: func(proto.Incarnation, proto.LinkEvent) {
			missed.Add(1)
		}}
		// The second beat pauses this node for a minute.
		pause := &peer{t: tr, id: 3, ask: make(chan struct{}, 1), detector: &failureDetector{}}
		pause.heartbeats = heartbeats{misses: 1, incarnation: two, say: func(proto.Incarnation, proto.LinkEvent) {
			time.Sleep(time.Minute)
		}}
		tr.peers.Store(&map[proto.NodeID]*peer{2: watched, 3: pause})
		ended := make(chan struct{})
		go func() { defer close(ended); tr.runHeartbeats() }()
		time.Sleep(64500 * time.Millisecond)
		synctest.Wait()
		if missed.Load() != 0 {
			t.Error("accuses a peer after a pause of its own")
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if missed.Load() != 1 {
			t.Error("never accuses it again")
		}
		close(tr.done)
		<-ended
	})
}

// What cannot work is refused at the start.
func TestPaceIsRefused(t *testing.T) {
	for name, change := range map[string]func(*Config){
		"heartbeat": func(c *Config) { c.Heartbeat = MinHeartbeat - 1 },
		"missed":    func(c *Config) { c.Misses = MinMisses - 1 },
		"patience":  func(c *Config) { c.Patience = -1 },
	} {
		cfg := Config{
			ID: 1, Incarnation: proto.NewIncarnation(), Bind: "127.0.0.1:0",
			Receive: func(proto.Message) {}, Kinds: catalog.Kinds(),
		}
		change(&cfg)
		tr, err := Listen(cfg)
		if err == nil {
			_ = tr.Close()
		}
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
