package tcp

import (
	"net"
	"slices"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/proto"
)

// "A slow or silent peer costs nothing but its own link."
func TestAPeerThatNeverReads(t *testing.T) {
	a, b := start(t, 1, hurried), start(t, 2, hurried)
	stuck := make(chan struct{})
	slow := fake(t, func(r *raw) {
		r.say(proto.Welcome{ID: r.hear().(proto.Hello).To, Incarnation: s1})
		<-stuck
	})
	defer close(stuck)
	a.SetPeers([]Peer{b.asPeer(), {ID: 3, Incarnation: s1, Addr: slow}})
	eventually(t, "both links are up", func() bool { return a.linked() == 2 })
	begin := time.Now()
	for seq := range uint64(20_000) {
		a.Send(message(1, 3, seq+1))
	}
	if took := time.Since(begin); took > 5*time.Second {
		t.Errorf("20000 calls of Send took %v", took)
	}
	a.Send(message(1, 2, 1))
	eventually(t, "the other peer gets its message", func() bool { return len(b.received()) == 1 })
	eventually(t, "the link is given up", func() bool {
		return slices.Contains(a.events(), said(proto.LinkReset, s1, 0)) &&
			a.Stats().Rejected["too-slow"] > 0
	})
	if a.Stats().Dropped["queue-full"] == 0 {
		t.Error("nothing was dropped")
	}
}

// jam makes node 3 a peer of a that never reads, and sends to it until the
// kernel takes no more.
func jam(t *testing.T, a *node) {
	t.Helper()
	stuck := make(chan struct{})
	slow := fake(t, func(r *raw) {
		_ = r.Conn.(*net.TCPConn).SetReadBuffer(4 << 10)
		r.say(proto.Welcome{ID: r.hear().(proto.Hello).To, Incarnation: s1})
		<-stuck
	})
	t.Cleanup(func() { close(stuck) })
	a.SetPeers([]Peer{{ID: 3, Addr: slow}})
	eventually(t, "the link is up", func() bool { return a.linked() == 1 })
	seq := uint64(0)
	eventually(t, "messages pile up", func() bool {
		for range 10_000 {
			seq++
			a.Send(message(1, 3, seq))
		}
		s := a.Stats().Peers[0]
		gaveUp := slices.Contains(a.events(), said(proto.LinkReset, s1, 0)) // of a short limit
		return gaveUp || uint64(s.Queued) > s.Sent+50_000
	})
}

// patient waits an hour for an acknowledgement, and has room for a jam.
func patient(c *Config) {
	c.timing = timingFor(defaultPatience)
	c.timing.ack = time.Hour
	c.queueLen = 1 << 20
}

// "Write deadlines": a write that the kernel does not take ends the link.
func TestAWriteIsLimited(t *testing.T) {
	a := start(t, 1, patient, func(c *Config) { c.timing.write = 500 * time.Millisecond })
	jam(t, a)
	eventually(t, "the link is given up", func() bool {
		return slices.Contains(a.events(), said(proto.LinkReset, s1, 0))
	})
}

// "Close (bounded time)": it does not wait for such a write.
func TestCloseEndsABlockedWrite(t *testing.T) {
	a := start(t, 1, patient, func(c *Config) { c.timing.write = time.Hour })
	jam(t, a)
	closed := make(chan error)
	go func() { closed <- a.Close() }()
	select {
	case err := <-closed:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Fatal("it still waits")
	}
}

// A process that is stopped accepts connections (its kernel does) and says
// nothing: it is reported after a while, and proves nothing.
func TestASilentPeerIsUnreachable(t *testing.T) {
	a := start(t, 1, hurried)
	silent := fake(t, func(r *raw) { r.untilClosed() })
	a.SetPeers([]Peer{{ID: 2, Incarnation: s1, Addr: silent}})
	eventuallyEqual(t, "evidence", a.events, said(proto.Unreachable, s1, 0))
}
