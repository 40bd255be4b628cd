package tcp

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/ringleader-dev/ringleader/proto"
)

// silentPatience is how long the end of a silent connection is waited for when the
// links with a process were reset: the kernel of a dead process ends all of its
// connections within moments.
const silentPatience = 100 * time.Millisecond

// silentConnection is a connection to a peer on which nothing is ever sent. When a process
// dies, its kernel resets the connections on which the process left bytes unread, and a
// reset proves nothing. This connection ends cleanly, however busy the process was.
type silentConnection struct {
	linked chan struct{} // a token: the link is up
	conn   atomic.Pointer[link]
}

// openSilent has a silent connection made to process s, which the link reaches now. One to
// a former process is given up.
func (p *peer) openSilent(s proto.Session) {
	if l := p.silent.conn.Load(); l != nil && l.session != s {
		reset(l.conn)
	}
	select {
	case p.silent.linked <- struct{}{}:
	default:
	}
}

// keepSilent holds a silent connection to the process that the link reaches, for as
// long as the peer is in the set. One that does not come up, as on a busy machine, is
// tried again while the link is there: until then the links alone must prove.
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

// hold makes a silent connection beside link beside, and keeps it until it ends. It
// reports whether there was one.
func (p *peer) hold(beside *link) bool {
	conn, err := p.t.dial(p.ctx, beside.addr)
	if err != nil {
		return false
	}
	defer p.t.conns.end(conn)
	h := p.t.hello(p.id)
	h.Silent = true
	l, err := p.greet(conn, beside.addr, h)
	if err != nil || l.session != beside.session {
		return false
	}
	defer context.AfterFunc(p.ctx, func() { reset(conn) })()
	p.detector.silentUp(l.session)
	p.silent.conn.Store(l)
	_, _, err = l.frames.next(0)
	p.silent.conn.Store(nil)
	p.detector.silentEnded(endOf(err) == proto.LinkClosed)
	if p.link.Load() != beside {
		p.hurry() // what refuses now is proven dead
		return true
	}
	// The link has a moment to end too. When it does not the process lives.
	select {
	case <-p.ctx.Done():
	case <-time.After(p.t.cfg.timing.maxBackoff):
		p.openSilent(beside.session)
	}
	return true
}
