package tcp

import (
	"errors"
	"net"
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/algorithms/nomination"
	"github.com/ringleader-dev/ringleader/proto"
)

func TestTwoNodesExchangeMessages(t *testing.T) {
	a, b := start(t, 1), start(t, 2)
	connect(t, a, b)
	peer := proto.Peer{ID: 1, Incarnation: a.cfg.Incarnation, Attr: 80}
	there := proto.Message{From: 1, To: 2, Term: 3, Seq: 1, Body: nomination.Coordinator{Leader: peer}}
	back := proto.Message{From: 2, To: 1, Term: 3, Seq: 1, Body: nomination.TimeoutNow{}}
	a.Send(there)
	eventually(t, "ELECTION arrives", func() bool { return len(b.received()) == 1 })
	b.Send(back)
	eventually(t, "OK arrives", func() bool { return len(a.received()) == 1 })
	there.Sender, back.Sender = a.cfg.Incarnation, b.cfg.Incarnation // whoever receives it knows the process
	if b.got[0] != there || a.got[0] != back {
		t.Errorf("%+v, %+v", b.got, a.got)
	}
	eventually(t, "both are acknowledged", func() bool {
		return a.Stats().Peers[0].Queued+b.Stats().Peers[0].Queued == 0
	})
	want := PeerStats{ID: 2, Addr: b.Addr().String(), Up: true, Sent: 1, Received: 1}
	if got := a.Stats().Peers[0]; got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// "Delivery is at-least-once", in order, over a link that is cut between any
// two bytes.
func TestNothingIsLostOverALinkThatIsCut(t *testing.T) {
	const total, cuts = 3000, 15
	a := start(t, 1, func(c *Config) { c.queueLen = total })
	b := start(t, 2)
	via := newProxy(t, b.Addr().String())
	a.SetPeers([]Peer{b.as(via.addr)})
	for seq := range uint64(total) {
		a.Send(message(1, 2, seq+1))
		if (seq+1)%(total/cuts) == 0 {
			eventually(t, "half of it arrives", func() bool {
				return slices.Contains(b.received(), seq/2+1)
			})
			via.cut()
		}
	}
	eventually(t, "the last arrives", func() bool { return slices.Contains(b.received(), total) })
	next := uint64(1)
	for _, seq := range b.received() {
		if seq > next {
			t.Fatalf("%d came when %d was due", seq, next)
		}
		next = max(next, seq+1)
	}
	t.Logf("%d messages, %d repeats", next-1, len(b.received())-total)
	if s := a.Stats(); s.Dropped["queue-full"]+s.Dropped["expired"] > 0 {
		t.Errorf("dropped: %v", s.Dropped)
	}
}

// "Receivers deduplicate", but not across lives: what a process got and did
// not acknowledge is not sent to the one that comes after it.
func TestANewIncarnationGetsNothingOfTheOld(t *testing.T) {
	got := make(chan proto.Message, 1)
	silent := fake(t, func(r *raw) { // welcomes, reads, and acknowledges nothing
		h := r.hear().(proto.Hello)
		r.say(proto.Welcome{ID: h.To, Incarnation: s1})
		kind, payload, err := r.r.next(proto.MaxPayload)
		if err != nil {
			return
		}
		m, err := catalog.Kinds().Unmarshal(kind, payload)
		if err != nil {
			t.Error(err)
		}
		got <- m
		r.untilClosed()
	})
	a, b := start(t, 1), start(t, 2)
	via := newProxy(t, silent)
	a.SetPeers([]Peer{{ID: 2, Incarnation: s1, Addr: via.addr}})
	a.Send(message(1, 2, 1))
	if m := <-got; m.Seq != 1 {
		t.Fatalf("%+v", m)
	}
	via.aim(b.Addr().String())
	via.cut()
	eventuallyEqual(t, "evidence", a.events, said(proto.LinkUp, s1, 1), said(proto.LinkClosed, s1, 0),
		said(proto.OtherIncarnation, s1, 0), said(proto.LinkUp, b.cfg.Incarnation, 1))
	a.Send(message(1, 2, 2))
	eventually(t, "the next message arrives", func() bool { return len(b.received()) > 0 })
	if got := b.received(); !slices.Equal(got, []uint64{2}) {
		t.Errorf("the new process got %v", got)
	}
	if n := a.Stats().Dropped["other-incarnation"]; n != 1 {
		t.Errorf("%d dropped as another incarnation's, want 1", n)
	}
}

// "A restart on a new address" is followed, and so is one at the same address.
func TestAPeerThatMoves(t *testing.T) {
	a, b := start(t, 1), start(t, 2)
	connect(t, a, b)
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	moved := start(t, 2)
	a.SetPeers([]Peer{moved.asPeer()})
	a.Send(message(1, 2, 1))
	eventually(t, "a message arrives at the new address", func() bool {
		return len(moved.received()) == 1
	})

	again := newProxy(t, moved.Addr().String()) // the same process elsewhere
	a.SetPeers([]Peer{moved.as(again.addr)})
	eventually(t, "the link goes there", func() bool {
		again.mu.Lock()
		defer again.mu.Unlock()
		return len(again.conns) > 0 && a.linked() == 1
	})
	a.Send(message(1, 2, 2))
	eventually(t, "a message arrives that way", func() bool {
		return slices.Contains(moved.received(), 2) // the one before may come twice
	})

	addr := moved.Addr().String()
	a.SetPeers([]Peer{moved.asPeer()})
	if err := moved.Close(); err != nil {
		t.Fatal(err)
	}
	restarted := start(t, 2, func(c *Config) { c.Bind = addr })
	a.Send(message(1, 2, 3)) // for the process before
	a.SetPeers([]Peer{restarted.asPeer()})
	a.Send(message(1, 2, 4))
	eventually(t, "a message arrives after the restart", func() bool {
		return slices.Contains(restarted.received(), 4)
	})
}

// "A link is up, in either direction": with the process that dialled, and with the one that was dialled, until it ends.
func TestLinked(t *testing.T) {
	a, b := start(t, 1), start(t, 2)
	a.SetPeers([]Peer{b.asPeer()})
	between := func() bool {
		return a.Linked(2, b.cfg.Incarnation) && b.Linked(1, a.cfg.Incarnation)
	}
	eventually(t, "both know of the link", between)
	b.SetPeers([]Peer{a.asPeer()})
	if !between() {
		t.Error("the second link has the first forgotten")
	}
	if a.Linked(2, a.cfg.Incarnation) || b.Linked(3, a.cfg.Incarnation) {
		t.Error("another process has the link")
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "no link is left", func() bool { return !a.Linked(2, b.cfg.Incarnation) })
}

// "A peer that leaves the set has its link closed after its queue drained":
// no later, however long that may take at most.
func TestAPeerThatLeavesTheSet(t *testing.T) {
	a := start(t, 1, func(c *Config) {
		c.timing = timingFor(defaultPatience)
		c.timing.drain, c.timing.ack = time.Hour, time.Hour
	})
	b := start(t, 2)
	connect(t, a, b)
	for seq := range uint64(100) {
		a.Send(message(1, 2, seq+1))
	}
	a.SetPeers(nil)
	eventually(t, "its link is closed", func() bool {
		return b.inbound.count(1, a.cfg.Incarnation) == 0
	})
	if n := len(b.received()); n != 100 {
		t.Errorf("%d messages came before the link was closed, want 100", n)
	}
	a.Send(message(1, 2, 101))
	if s := a.Stats(); s.Dropped["no-peer"] != 1 || len(s.Peers) != 0 {
		t.Errorf("%+v", s)
	}
	// The one that left the set is alive, as its own link to the other shows.
	eventually(t, "evidence", func() bool {
		return slices.Contains(b.events(), said(proto.LinkReset, a.cfg.Incarnation, 1))
	})
	if len(a.events()) != 1 {
		t.Errorf("a link that this node ends is no evidence: %q", a.events())
	}
}

// "Send never blocks"; "bounded queue per peer"; "what cannot be sent is
// dropped and counted (by reason)".
func TestAQueueThatOverflows(t *testing.T) {
	a := start(t, 1, func(c *Config) { c.queueLen = 4 })
	greeted := make(chan proto.LinkBody, 1)
	nobody := fake(t, func(r *raw) {
		greeted <- r.hear()
		r.untilClosed()
	})
	a.SetPeers([]Peer{{ID: 2, Addr: nobody}})
	for seq := range uint64(10) {
		a.Send(message(1, 2, seq+1))
	}
	s := a.Stats()
	if s.Dropped["queue-full"] != 6 || s.Peers[0].Dropped != 6 || s.Peers[0].Queued != 4 {
		t.Errorf("%+v", s)
	}
	<-greeted
	if err := a.Close(); err != nil {
		t.Error(err)
	}
	s = a.Stats()
	if n := s.Dropped["closed"]; n != 4 {
		t.Errorf("%d dropped when it closed, want 4", n)
	}
	if n := s.Rejected["no-answer"]; n != 0 {
		t.Errorf("a dial that this node gave up counts as %d without an answer", n)
	}
}

func TestMessagesThatCannotBeSent(t *testing.T) {
	a, b := start(t, 1), start(t, 2)
	connect(t, a, b)
	a.Send(message(3, 2, 1))                   // in another's name
	a.Send(message(1, 0, 2))                   // to nobody
	a.Send(proto.Message{From: 1, To: 2})      // saying nothing
	a.Send(message(1, 1, 3))                   // to itself
	a.Send(message(1, 7, 4))                   // to a stranger
	a.SetPeers([]Peer{b.asPeer(), a.asPeer()}) // itself is left out
	a.SetPeers([]Peer{b.asPeer(), {ID: 0}})    // nobody too
	a.SetPeers(nil)
	a.SetPeers([]Peer{b.asPeer(), b.asPeer()}) // twice is once
	a.Send(message(1, 2, 5))
	eventually(t, "the valid one arrives", func() bool { return len(b.received()) == 1 })
	s := a.Stats()
	if s.Dropped["invalid"] != 3 || s.Dropped["no-peer"] != 2 || len(s.Peers) != 1 {
		t.Errorf("%+v", s)
	}
}

// "After Close no goroutine remains", whatever it was doing.
func TestCloseLeavesNothing(t *testing.T) {
	before := goleak.IgnoreCurrent()
	a, b := start(t, 1), start(t, 2)
	ln, err := net.Listen("tcp", "127.0.0.1:0") // in whose backlog dials wait
	if err != nil {
		t.Fatal(err)
	}
	connect(t, a, b)
	a.SetPeers([]Peer{
		b.asPeer(),
		{ID: 3, Addr: ln.Addr().String()},
		{ID: 4, Addr: "127.0.0.1:1"},
		{ID: 5, Addr: "192.0.2.1:1"},
		{ID: 6, Addr: "no address"},
	})
	waiting, err := net.Dial("tcp", a.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	for seq := range uint64(100) {
		a.Send(message(1, 2, seq+1))
		a.Send(message(1, 3, seq+1))
	}
	begin := time.Now()
	if err := errors.Join(a.Close(), b.Close()); err != nil {
		t.Error(err)
	}
	if took := time.Since(begin); took > 5*time.Second {
		t.Errorf("it took %v", took)
	}
	if n := len(b.received()); n != 100 {
		t.Errorf("%d messages were delivered before it closed, want 100", n)
	}
	if got := a.events(); !slices.Equal(got, []string{said(proto.LinkUp, b.cfg.Incarnation, 1)}) {
		t.Errorf("links that this node ends are no evidence: %q", got)
	}
	a.Send(message(1, 2, 1)) // harmless
	a.SetPeers([]Peer{b.asPeer()})
	if err := a.Close(); err != nil {
		t.Errorf("closing twice: %v", err)
	}
	if err := errors.Join(ln.Close(), waiting.Close()); err != nil {
		t.Error(err)
	}
	goleak.VerifyNone(t, before)
}
