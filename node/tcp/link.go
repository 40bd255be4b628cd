package tcp

import (
	"errors"
	"io"
	"net"
	"syscall"
	"time"

	"github.com/ringleader-dev/ringleader/proto"
)

// link is a connection that this node dialled, after its handshake.
type link struct {
	conn    net.Conn
	addr    string // the address that was dialled
	welcome proto.Welcome
	frames  *frameReader
	forget  func() bool // cancels the reset of the connection when the Transport closes
}

// end resets the connection.
func (l *link) end() {
	l.forget()
	reset(l.conn)
}

// incarnation returns the incarnation of the process at the other end.
func (l *link) incarnation() proto.Incarnation { return l.welcome.Incarnation }

// Why this node itself ends a link.
var (
	errMoved = errors.New("the peer moved")
	errLeft  = errors.New("the peer left the set of peers")
)

// serve writes the peer's queue to l until the link ends.
func (p *peer) serve(l *link) {
	p.link.Store(l)
	p.openSilent(l.incarnation())
	p.out.begin(l.incarnation(), time.Now())
	signal(p.news)
	verdict := make(chan error, 1)
	go func() { verdict <- p.readAnswers(l) }()
	read, err := p.pump(l, verdict)
	l.end()
	if !read {
		<-verdict //nolint:errcheck // the reader stops with the connection
	}
	p.out.end()
	p.link.Store(nil)
	p.over(l, err)
}

// pump moves messages from the queue to the connection until the link ends. It returns why the link ended,
// and whether it has read this reason from verdict.
func (p *peer) pump(l *link, verdict <-chan error) (read bool, err error) {
	limits := p.t.cfg.timing
	stall := newStall(limits.ack)
	defer stall.timer.Stop()
	leave := p.ctx.Done()
	var late <-chan time.Time
	var buf []byte
	for {
		// Messages that were put after the peer moved, or after the reader found the end,
		// are for the next link.
		if p.spec.Load().Addr != l.addr {
			return false, errMoved
		}
		select {
		case err := <-verdict:
			return true, err
		default:
		}
		var n int
		buf, n = p.out.take(buf[:0], l.incarnation(), p.detector.goneProcess(), time.Now())
		if n > 0 {
			p.sent.Add(uint64(n))
			stall.begin()
			if err := write(l.conn, buf, limits.write); err != nil {
				return p.judge(l, err, verdict)
			}
		}
		if leave == nil && p.out.len() == 0 {
			return false, errLeft
		}
		select {
		case err := <-verdict:
			return true, err
		case <-p.out.ready:
		case req := <-p.requests:
			if err := sayWithin(l.conn, req, limits.write); err != nil {
				return p.judge(l, err, verdict)
			}
		case <-p.ask:
			if err := p.ping(l); err != nil {
				return p.judge(l, err, verdict)
			}
		case <-p.news:
			if err := p.tellNews(l); err != nil {
				return p.judge(l, err, verdict)
			}
		case <-p.nudge: // the peer may have moved
		case <-stall.timer.C:
			if err := stall.check(p.out.waitingSince()); err != nil {
				return false, err
			}
		case <-leave:
			leave, late = nil, time.After(limits.drain)
			if err := p.ping(l); err != nil { // it brings the last ACK
				return p.judge(l, err, verdict)
			}
		case <-late:
			return false, errLeft
		}
	}
}

// stall notices that a peer has acknowledged nothing for longer than limit. Its timer runs only
// while an acknowledgement is due, so idle links cost nothing.
type stall struct {
	limit time.Duration
	timer *time.Timer
	owed  bool
}

func newStall(limit time.Duration) *stall {
	s := &stall{limit: limit, timer: time.NewTimer(limit)}
	s.timer.Stop()
	return s
}

// begin starts the timer if it does not run. It is called when a message was written.
func (s *stall) begin() {
	if !s.owed {
		s.owed = true
		s.timer.Reset(s.limit / 4)
	}
}

// check returns an error if the peer has acknowledged nothing for longer than limit. It is called when the
// timer fires. The parameter since is when the oldest message without an acknowledgement was written; zero if
// there is none.
func (s *stall) check(since time.Time) error {
	s.owed = false
	switch {
	case since.IsZero():
		return nil
	case time.Since(since) > s.limit:
		return faultf(tooSlow, "no ACK for %v", s.limit)
	}
	s.begin()
	return nil
}

// judge returns why a link ended, after a write on that link failed with err. It returns err if the write
// timed out or got a reset: after the reset the reader sees what looks like a clean end. After a broken pipe
// it returns the error of the reader. The result read reports whether it has read verdict.
func (p *peer) judge(l *link, err error, verdict <-chan error) (read bool, cause error) {
	if isTimeout(err) || errors.Is(err, syscall.ECONNRESET) {
		return false, err
	}
	limit := time.Now().Add(p.t.cfg.timing.write)
	if err := l.conn.SetReadDeadline(limit); err != nil {
		return false, err
	}
	return true, <-verdict
}

// readAnswers reads the peer's answers until the link ends, and returns why it ended.
func (p *peer) readAnswers(l *link) error {
	for {
		body, err := l.frames.control("in answer to messages", proto.KindAck, proto.KindPong, proto.KindPingRes)
		if err != nil {
			return err
		}
		switch b := body.(type) {
		case proto.Ack:
			err = p.out.ack(b.Count)
		case proto.Pong:
			err = p.hearPong(l, b)
		case proto.PingRes:
			err = p.hearAnswer(b)
		}
		if err != nil {
			return err
		}
	}
}

// over tells the failure detector and the log that l ended with err.
func (p *peer) over(l *link, err error) {
	if p.ctx.Err() != nil || errors.Is(err, errMoved) {
		p.detector.dropped()
		return
	}
	if f := faultIn(err); f != nil {
		p.t.counts.add(f.reason, 1)
		p.t.complain(p.name(), f.reason, "ended the link to node %v at %s: %v", p.id, l.addr, err)
	}
	p.t.cfg.Log.Debug().Err(err).Uint64("peer", uint64(p.id)).
		Str("incarnation", l.incarnation().Short()).Msg("link lost")
	p.detector.ended(endOf(err))
	p.doubt()
}

// endOf returns LinkClosed if a stream ended between two frames, and LinkReset if it ended in any other way.
func endOf(err error) proto.LinkEvent {
	if err == io.EOF { //nolint:errorlint // a wrapped one is another end
		return proto.LinkClosed
	}
	return proto.LinkReset
}

// say sends one control frame.
func say(conn net.Conn, b proto.LinkBody) error {
	kind, payload, err := proto.MarshalLink(b)
	if err != nil {
		return err
	}
	_, err = conn.Write(appendFrame(nil, kind, payload))
	return err
}

// sayWithin sends one control frame within limit.
func sayWithin(conn net.Conn, b proto.LinkBody, limit time.Duration) error {
	if err := conn.SetWriteDeadline(time.Now().Add(limit)); err != nil {
		return err
	}
	return say(conn, b)
}

func write(conn net.Conn, b []byte, limit time.Duration) error {
	if err := conn.SetWriteDeadline(time.Now().Add(limit)); err != nil {
		return err
	}
	_, err := conn.Write(b)
	return err
}
