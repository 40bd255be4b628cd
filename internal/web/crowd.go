package web

import (
	"context"
	"crypto/tls"
	"log"
	"net"
	"net/http"
	"sync"
)

// crowd bounds how many connections a service has at once. Any goroutine may call its methods.
//
//  1. A new connection always gets in. If there are too many, one of the source that has the most makes room: so a
//     source closes no connection of another one that has fewer.
//  2. It is the oldest one of that source. What a client sends makes its connection no younger: so clients that send
//     much do not close those of others that are still in their handshake.
//  3. A connection that is kept makes no room until its answer is sent. If all are kept, the new one is closed.
//  4. At most maxLeaving have been closed and still have a goroutine. The next one waits for those to end: so they do
//     not become more while the process is too busy to run them.
type crowd struct {
	most    int
	log     *log.Logger
	running chan struct{} // has an element for each connection that has a goroutine

	mu   sync.Mutex
	came uint64 // how many connections there ever were
	all  map[net.Conn]*guest
}

const maxLeaving = 16

// guest is a connection in a crowd.
type guest struct {
	from   string // its Source
	number uint64 // in the order in which they came
	kept   bool
}

func newCrowd(most int, errorLog *log.Logger) *crowd {
	return &crowd{
		most: most, log: Seldom(errorLog), running: make(chan struct{}, most+maxLeaving), all: map[net.Conn]*guest{},
	}
}

// watch is the http.Server.ConnState of the service.
func (c *crowd) watch(conn net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		c.running <- struct{}{}
		if out := c.enter(conn); out != nil {
			cut(out)
		}
	case http.StateIdle:
		c.keep(conn, false)
	case http.StateClosed, http.StateHijacked:
		c.leave(conn)
		<-c.running
	}
}

// enter takes conn in. It returns the connection that has to be closed for it; nil if there is room.
func (c *crowd) enter(conn net.Conn) (out net.Conn) {
	from := Source(conn.RemoteAddr().String())
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.all) >= c.most {
		if out = c.makeRoom(from); out == nil {
			return conn
		}
		delete(c.all, out)
	}
	c.came++
	c.all[conn] = &guest{from: from, number: c.came}
	return out
}

func (c *crowd) leave(conn net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.all, conn)
}

// makeRoom returns the connection that makes room for one from a source, and says so in the log; nil if all are kept.
// The caller holds mu.
func (c *crowd) makeRoom(from string) (out net.Conn) {
	count := map[string]int{}
	for _, g := range c.all {
		if !g.kept {
			count[g.from]++
		}
	}
	var first *guest
	for conn, g := range c.all {
		switch {
		case g.kept:
		case first == nil, count[g.from] > count[first.from],
			count[g.from] == count[first.from] && g.number < first.number:
			out, first = conn, g
		}
	}
	if first == nil {
		c.log.Printf("%d connections, each with an order under way or a stream: a new one from %s was closed",
			c.most, from)
		return nil
	}
	c.log.Printf("%d connections from %d addresses, and there may be no more: for a new one from %s the oldest of %s, "+
		"which has the most, %d, was closed; if it is no client of yours, keep it off this port by a firewall",
		c.most, len(count), from, first.from, count[first.from])
	return out
}

// keep says whether conn is kept. A connection that has left stays away.
func (c *crowd) keep(conn net.Conn, kept bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if g := c.all[conn]; g != nil {
		g.kept = kept
	}
}

// cut closes a connection and waits for nothing: under TLS it says no goodbye, which the other end could hold up.
func cut(conn net.Conn) {
	if under, ok := conn.(*tls.Conn); ok {
		conn = under.NetConn()
	}
	_ = conn.Close()
}

type keepKey struct{}

// know is the http.Server.ConnContext of the service: with its context Keep finds the connection.
func (c *crowd) know(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, keepKey{}, func() { c.keep(conn, true) })
}

// Keep says that the connection of a request makes no room for others until the request is answered. ctx is the
// request's. A handler calls it for clients that it trusts, or whose number it bounds: they may take all connections.
func Keep(ctx context.Context) {
	if keep, ok := ctx.Value(keepKey{}).(func()); ok {
		keep()
	}
}
