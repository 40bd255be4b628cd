package tcp

import (
	"io"
	"net"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/proto"
)

// raw is a connection that speaks the protocol by hand, right or wrong.
type raw struct {
	net.Conn
	r    *frameReader
	fail func(...any)
}

func newRaw(t testing.TB, c net.Conn) *raw {
	t.Helper()
	t.Cleanup(func() { _ = c.Close() })
	if err := c.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	return &raw{Conn: c, r: newFrameReader(c), fail: t.Fatal}
}

func dialRaw(t testing.TB, n *node) *raw {
	t.Helper()
	c, err := net.Dial("tcp", n.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return newRaw(t, c)
}

func (r *raw) say(b proto.LinkBody) {
	if err := say(r.Conn, b); err != nil {
		r.fail(err)
	}
}

func (r *raw) send(bytes []byte) {
	if _, err := r.Write(bytes); err != nil {
		r.fail(err)
	}
}

// hear reads one control frame.
func (r *raw) hear() proto.LinkBody {
	kind, payload, err := r.r.next(maxControl)
	if err != nil {
		r.fail(err)
	}
	b, err := proto.UnmarshalLink(proto.LinkKind(kind), payload)
	if err != nil {
		r.fail(err)
	}
	return b
}

// untilClosed reads until the other end has closed the connection.
func (r *raw) untilClosed() {
	if _, err := io.Copy(io.Discard, r.r.src); isTimeout(err) {
		r.fail("the connection was not closed")
	}
}

// helloFrom is what a correct peer with this id says to n.
func (n *node) helloFrom(id proto.NodeID) proto.Hello {
	return proto.Hello{
		Cluster: n.cfg.Cluster, Algorithm: n.cfg.Algorithm, Agreement: agreement(n.cfg.Algorithm), Voters: n.cfg.Voters,
		ID: id, Incarnation: proto.Incarnation{byte(id), byte(id >> 8)}, To: n.cfg.ID,
	}
}

// joinRaw is a link with n, its handshake done by hand.
func joinRaw(t testing.TB, n *node, id proto.NodeID) *raw {
	t.Helper()
	r := dialRaw(t, n)
	r.say(n.helloFrom(id))
	if b := r.hear(); b.Kind() != proto.KindWelcome {
		t.Fatalf("%+v where WELCOME was due", b)
	}
	return r
}

// fake listens by hand: serve gets every connection, and ends when it fails.
func fake(t testing.TB, serve func(*raw)) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			r := &raw{Conn: c, r: newFrameReader(c), fail: func(...any) { runtime.Goexit() }}
			wg.Go(func() {
				defer c.Close()
				serve(r)
			})
		}
	})
	t.Cleanup(func() { _ = ln.Close(); wg.Wait() })
	return ln.Addr().String()
}

func frameOf(t testing.TB, m proto.Message) []byte {
	t.Helper()
	kind, payload, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return appendFrame(nil, kind.Number(), payload)
}
