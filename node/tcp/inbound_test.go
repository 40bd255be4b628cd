package tcp

import (
	"bytes"
	"context"
	"io"
	"net"
	"syscall"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/proto"
)

// Messages of one sender are handed up one at a time: when it gives a
// connection up and makes the next, that one waits for what is still being
// handed up from the first.
func TestOneSenderIsHeardOneMessageAtATime(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	entered, release := make(chan struct{}), make(chan struct{})
	b := start(t, 2, func(c *Config) {
		c.Receive = func(proto.Message) {
			entered <- struct{}{}
			<-release
		}
	})
	first := joinRaw(t, b, 1)
	first.send(frameOf(t, message(1, 2, 1)))
	<-entered

	second := dialRaw(t, b)
	second.say(b.helloFrom(1))
	welcome := make(chan struct{})
	go func() { second.hear(); close(welcome) }()
	first.untilClosed()
	for range 20 { // time enough for the welcome that must not come
		if _, err := b.Probe(ctx, b.Addr().String()); err != nil {
			t.Fatal(err)
		}
	}
	select {
	case <-welcome:
		t.Error("the second link is up while a message of the first is handed up")
	default:
	}
	close(release)
	<-welcome
	second.send(frameOf(t, message(1, 2, 2)))
	<-entered
}

// What a process sent before its end is handed up, although nobody is left to
// take the acknowledgements, and its end is the clean one that it was.
func TestWhatWasSentBeforeTheEndIsHeard(t *testing.T) {
	const total = 500
	ended := make(chan struct{})
	var b *node
	b = start(t, 2, slowToDial, func(c *Config) {
		c.Receive = func(m proto.Message) { <-ended; b.receive(m) }
	})
	s := b.helloFrom(1).Incarnation
	b.SetPeers([]Peer{{ID: 1, Incarnation: s, Addr: "no address"}})
	r := joinRaw(t, b, 1)
	var stream []byte
	for seq := range uint64(total) {
		stream = append(stream, frameOf(t, message(1, 2, seq+1))...)
	}
	r.send(stream)
	_ = r.Close()
	close(ended)
	eventuallyEqual(t, "evidence", b.events, said(proto.LinkClosed, s, 0))
	if n := len(b.received()); n != total {
		t.Errorf("%d messages were handed up, want %d", n, total)
	}
}

// broken is a connection whose writes fail, all but the first.
type broken struct {
	net.Conn
	reads  io.Reader
	err    error
	writes int
}

func (c *broken) Read(b []byte) (int, error)  { return c.reads.Read(b) }
func (c *broken) SetDeadline(time.Time) error { return nil }

func (c *broken) SetWriteDeadline(time.Time) error { return nil }

func (c *broken) Write(b []byte) (int, error) {
	if c.writes++; c.writes > 1 {
		return 0, c.err
	}
	return len(b), nil
}

// A reset that an acknowledgement meets is a reset, although what is read
// after it ends like a closed stream.
func TestWhyAnAcknowledgementFailed(t *testing.T) {
	for err, want := range map[syscall.Errno]proto.LinkEvent{
		syscall.ECONNRESET: proto.LinkReset, syscall.EPIPE: proto.LinkClosed,
	} {
		b := start(t, 2, slowToDial)
		h := b.helloFrom(1)
		b.SetPeers([]Peer{{ID: 1, Incarnation: h.Incarnation, Addr: "no address"}})
		kind, payload, marshalErr := proto.MarshalLink(h)
		if marshalErr != nil {
			t.Fatal(marshalErr)
		}
		stream := appendFrame(nil, kind, payload)
		for seq := range uint64(ackEvery) {
			stream = append(stream, frameOf(t, message(1, 2, seq+1))...)
		}
		pipe, _ := net.Pipe()
		b.host(&broken{Conn: pipe, reads: bytes.NewReader(stream), err: err})
		eventuallyEqual(t, "evidence", b.events, said(want, h.Incarnation, 0))
	}
}

// Acknowledgements are cumulative and "coalesced": one for what came together,
// but not for more than 64.
func TestAcknowledgementsAreCoalesced(t *testing.T) {
	b := start(t, 2)
	near, far := net.Pipe()
	done := make(chan struct{})
	go func() { defer close(done); b.host(far) }()
	r := newRaw(t, near)
	r.say(b.helloFrom(1))
	r.hear()
	var stream []byte
	for seq := range uint64(ackEvery + 3) {
		stream = append(stream, frameOf(t, message(1, 2, seq+1))...)
	}
	if len(stream) > chunk {
		t.Fatalf("%d bytes are not read at once", len(stream))
	}
	r.send(stream)
	for _, want := range []uint64{ackEvery, ackEvery + 3} {
		if got := r.hear(); got != (proto.Ack{Count: want}) {
			t.Errorf("%+v, want %d", got, want)
		}
	}
	_ = near.Close()
	<-done
}

// slowToDial waits an hour after a dial that failed.
func slowToDial(c *Config) {
	c.timing = timingFor(defaultPatience)
	c.timing.minBackoff, c.timing.maxBackoff = time.Hour, time.Hour
}

// A process that dialled this node and is lost is dialled at once, however
// long the back-off.
func TestALostCallerIsDialledAtOnce(t *testing.T) {
	a := start(t, 1, slowToDial)
	gone := start(t, 2)
	_ = gone.Close()
	h := a.helloFrom(2)
	a.SetPeers([]Peer{{ID: 2, Incarnation: h.Incarnation, Addr: gone.Addr().String()}})
	r := joinRaw(t, a, 2)
	_ = r.Close()
	eventuallyEqual(t, "evidence", a.events,
		said(proto.LinkClosed, h.Incarnation, 0), said(proto.DialRefused, h.Incarnation, 0))
}

// So is one that comes, or of which SetPeers has news.
func TestNewsOfAPeerIsAReasonToDial(t *testing.T) {
	for name, tell := range map[string]func(a, b *node){
		"it dials":      func(a, b *node) { b.SetPeers([]Peer{a.asPeer()}) },
		"it is another": func(a, b *node) { a.SetPeers([]Peer{b.asPeer()}) },
	} {
		t.Run(name, func(t *testing.T) {
			a := start(t, 1, slowToDial)
			gone := start(t, 2)
			addr := gone.Addr().String()
			_ = gone.Close()
			a.SetPeers([]Peer{{ID: 2, Incarnation: s1, Addr: addr}})
			eventually(t, "its dial fails", func() bool {
				return a.Stats().Rejected["not-listening"] > 0
			})
			b := start(t, 2, func(c *Config) { c.Bind = addr })
			tell(a, b)
			eventually(t, "the link is up", func() bool { return a.linked() == 1 })
		})
	}
}
