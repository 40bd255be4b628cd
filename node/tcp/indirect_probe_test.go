package tcp

import (
	"slices"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/proto"
)

// trio is three nodes of which the first reaches the second only through a proxy.
func trio(t *testing.T, change ...func(*Config)) (a, b, c *node, path *proxy) {
	t.Helper()
	a, b, c = start(t, 1, change...), start(t, 2, change...), start(t, 3, change...)
	path = newProxy(t, b.Addr().String())
	a.SetPeers([]Peer{b.as(path.addr), c.asPeer()})
	c.SetPeers([]Peer{a.asPeer(), b.asPeer()})
	eventually(t, "all links are up", func() bool { return a.linked()+c.linked() == 4 })
	return a, b, c, path
}

// said reports whether n has this evidence about a peer.
func (n *node) said(peer *node, event proto.LinkEvent) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.ContainsFunc(n.evidence, func(e Evidence) bool {
		return e.Peer == peer.cfg.ID && e.Event == event
	})
}

// Promise: before a watched process is missed, others are asked whether they hear
// it. On a loaded machine the answer may come too late, so there is more than one
// try.
func TestOthersHearThePeer(t *testing.T) {
	a, b, _, path := trio(t, quick)
	a.SetLeader(2)
	a.beats(t, b)
	for !a.said(b, proto.IndirectAlive) {
		path.stall(true)
		eventually(t, "the process is in doubt", func() bool {
			return a.said(b, proto.IndirectAlive) || a.peer(2).heartbeats.isMissed()
		})
		path.stall(false)
		eventually(t, "the process is back", func() bool { return !a.peer(2).heartbeats.owes() })
	}
}

func (h *heartbeats) isMissed() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.missed
}

// Nobody vouches for a process whose elections stand still, although its sockets
// work.
func TestNobodyHearsAHungProcess(t *testing.T) {
	a, b, _, _ := trio(t, quick)
	a.SetLeader(2)
	a.beats(t, b)
	b.frozen.Store(true)
	eventually(t, "the process is missed", func() bool { return a.said(b, proto.HeartbeatMissed) })
	if a.said(b, proto.IndirectAlive) {
		t.Error("somebody heard it")
	}
}

// lasting is a configuration in which nothing but an indirect probe tells of a peer that
// does not answer.
func lasting(c *Config) {
	c.timing = timingFor(defaultPatience)
	c.timing.handshake = 200 * time.Millisecond
	c.timing.unreachable = time.Hour
}

// Promise: "a reset or a timeout: unclear, ask further". When nobody hears the
// process it is unreachable at once instead of after seconds, and back with the
// next link.
func TestResetAndNobodyHears(t *testing.T) {
	a, b, c, path := trio(t, quick, lasting)
	other := newProxy(t, b.Addr().String())
	c.SetPeers([]Peer{a.asPeer(), b.as(other.addr)})
	eventually(t, "the link moved", func() bool {
		return slices.ContainsFunc(c.Stats().Peers, func(p PeerStats) bool {
			return p.Addr == other.addr && p.Up
		})
	})
	for _, p := range []*proxy{path, other} {
		p.stall(true)
		p.cut()
	}
	eventually(t, "nobody hears it", func() bool { return a.said(b, proto.IndirectUnreachable) })
	for _, p := range []*proxy{path, other} {
		p.stall(false)
		p.cut()
	}
	eventually(t, "the links are up again", func() bool { return a.linked()+c.linked() == 4 })
}

// Promise: when another node hears the process it stays for as long as ever.
func TestResetAndOthersHear(t *testing.T) {
	a, b, _, path := trio(t, lasting, func(c *Config) { c.Misses = 100 })
	path.stall(true)
	path.cut()
	eventually(t, "others hear it", func() bool { return a.said(b, proto.IndirectAlive) })
	if a.said(b, proto.IndirectUnreachable) {
		t.Error("it is unreachable all the same")
	}
}

// Questions about strangers, former lives and this node itself go unanswered, and
// those that come in crowds too; one whose number does not go up ends the link.
func TestQuestionsThatAreNotAnswered(t *testing.T) {
	b, c := start(t, 2), start(t, 3)
	connect(t, b, c)
	r := joinRaw(t, b, 1)
	ask := func(n uint64, target proto.NodeID, s proto.Incarnation) {
		r.say(proto.PingReq{Number: n, Target: target, Incarnation: s})
	}
	ask(1, 9, one)
	ask(2, 2, b.cfg.Incarnation)
	ask(3, 3, one)
	ask(4, 3, c.cfg.Incarnation)
	if got := r.hear(); got != (proto.PingRes{Number: 4, Heard: true}) {
		t.Errorf("%+v", got)
	}
	c.frozen.Store(true)
	before := b.Stats().Ignored
	for n := range uint64(maxProbes + 10) {
		ask(n+5, 3, c.cfg.Incarnation)
	}
	eventually(t, "the crowd is ignored", func() bool { return b.Stats().Ignored >= before+10 })
	ask(5, 3, c.cfg.Incarnation)
	r.untilClosed()
	if b.Stats().Rejected["unexpected"] != 1 {
		t.Errorf("%+v", b.Stats().Rejected)
	}
}

// An answer decides a question once, and only from who was asked.
func TestAnswers(t *testing.T) {
	var i indirectProbes
	peers := map[proto.NodeID]*peer{}
	var asked []*peer
	for id := range proto.NodeID(5) {
		p := &peer{id: id, requests: make(chan proto.PingReq, 1)}
		peers[id], asked = p, append(asked, p)
	}
	put := func(now time.Time) {
		q := &indirectProbe{target: peers[4], incarnation: one, asked: map[proto.NodeID]bool{}, unheard: true}
		i.put(q, asked[1:4], now, time.Minute)
	}
	put(dawn)
	put(dawn.Add(time.Second)) // too soon
	if req := <-peers[1].requests; req != (proto.PingReq{Number: 1, Target: 4, Incarnation: one}) {
		t.Errorf("asked %+v", req)
	}
	for _, c := range []struct {
		from    proto.NodeID
		n       uint64
		heard   bool
		decides bool
		fault   bool
	}{
		{from: 1, n: 2, fault: true},   // never asked
		{from: 1, n: 1},                // the first of three
		{from: 1, n: 1},                // twice
		{from: 0, n: 1},                // a stranger
		{from: 2, n: 1},                // the second
		{from: 3, n: 1, decides: true}, // all
		{from: 3, n: 1, heard: true},   // too late
		{from: 2, n: 0, heard: true},   // of no question
	} {
		q, err := i.answer(c.from, c.n, c.heard)
		if q != nil != c.decides || err != nil != c.fault {
			t.Errorf("%+v: %+v, %v", c, q, err)
		}
	}
	<-peers[2].requests
	put(dawn.Add(time.Minute)) // the third has not read yet
	if q, _ := i.answer(1, 2, true); q == nil || q.unheard {
		t.Errorf("one hears: %+v", q)
	}
	put(dawn.Add(time.Hour))
	i.forget(peers[4])
	if len(i.open) != 0 {
		t.Errorf("open: %v", i.open)
	}
}
