package credentials

import (
	"context"
	"crypto/tls"
	"net"
	"sync/atomic"
)

// turns let those who dial have their handshakes one after the other: what a handshake computes, anybody can ask
// for. Hundreds at once would keep the goroutines of the elections waiting for the processor.
type turns chan struct{}

func newTurns() turns { return make(turns, 1) }

// serve returns the end of a connection under TLS whose other end dialled. The handshake has its turn, from the first
// message on, while it does not wait for the other end.
func (t turns) serve(conn net.Conn, c *tls.Config) *tls.Conn {
	g := &guest{Conn: conn, turns: t}
	c.GetConfigForClient = func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
		g.handshake = hello.Context()
		context.AfterFunc(g.handshake, g.leave)
		return nil, g.wait()
	}
	return tls.Server(g, c)
}

// guest is a connection of one who dialled, below TLS.
type guest struct {
	net.Conn
	turns     turns
	handshake context.Context // until it is over; nil before the first message
	has       atomic.Bool     // the turn
}

func (g *guest) wait() error {
	select {
	case g.turns <- struct{}{}:
		g.has.Store(true)
	case <-g.handshake.Done():
	}
	if g.handshake.Err() != nil {
		g.leave()
	}
	return g.handshake.Err()
}

func (g *guest) leave() {
	if g.has.Swap(false) {
		<-g.turns
	}
}

func (g *guest) Read(b []byte) (int, error) {
	g.leave()
	n, err := g.Conn.Read(b)
	if err == nil && g.handshake != nil && g.handshake.Err() == nil {
		err = g.wait()
	}
	return n, err
}
