package tcp

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/ringleader-dev/ringleader/proto"
)

// silentPatience is how long the detector waits for the end of a silent connection after the links
// with the process were reset. The kernel of a dead process ends all its connections within
// moments.
const silentPatience = 100 * time.Millisecond

// silentConnection is a connection to a peer on which nothing is ever sent. When a process
// dies, its kernel resets the connections on which the process left bytes unread, and a
// reset proves nothing. This connection ends cleanly, however busy the process was.
type silentConnection struct {
	linked chan struct{} // a token: the link is up
	conn   atomic.Pointer[link]
}

// openSilent makes keepSilent connect to process s, which the link reaches now. It ends the silent
// connection to an earlier process.
func (p *peer) openSilent(s proto.Incarnation) {
	if l := p.silent.conn.Load(); l != nil && l.incarnation() != s {
		reset(l.conn)
	}
	signal(p.silent.linked)
}

// keepSilent keeps a silent connection to the process that the link reaches, as long as the peer is
// in the set. If the connection cannot be made, as on a busy machine, it tries again while there is
// a link. Until then only the links can prove a death.
func (p *peer) keepSilent() {
	for failures := 0; ; {
		var again <-chan time.Time
		if failures > 0 {
			again = time.After(p.backoff(failures))
		}
		select {
		case <-p.ctx.Done():
			return
		case <-p.silent.linked:
		case <-again:
		}
		failures++
		if l := p.link.Load(); l == nil || p.hold(l) {
			failures = 0
		}
	}
}

// hold makes a silent connection beside the given link, and keeps it until it ends. It reports whether it
// made one.
func (p *peer) hold(beside *link) bool {
	h := p.t.hello(p.id)
	h.Silent = true
	l, err := p.t.reach(p.ctx, beside.addr, h, p.id)
	if err != nil {
		return false
	}
	defer l.end()
	if l.incarnation() != beside.incarnation() {
		return false
	}
	defer context.AfterFunc(p.ctx, func() { reset(l.conn) })()
	p.detector.silentUp(l.incarnation())
	p.silent.conn.Store(l)
	_, _, err = l.frames.next(0)
	p.silent.conn.Store(nil)
	p.detector.silentEnded(endOf(err) == proto.LinkClosed)
	if p.link.Load() != beside {
		p.hurry() // what refuses now is proven dead
		return true
	}
	// The link has a moment to end too. When it does not end, the process lives.
	select {
	case <-p.ctx.Done():
	case <-time.After(p.t.cfg.timing.maxBackoff):
		p.openSilent(beside.incarnation())
	}
	return true
}
