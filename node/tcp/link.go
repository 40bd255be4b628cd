package tcp

import (
	"errors"
	"io"
	"net"
	"syscall"
	"time"

	"github.com/ringleader-dev/ringleader/proto"
)

// link is a connection that this node dialled, its handshake done.
type link struct {
	conn    net.Conn
	addr    string // as it was dialled
	session proto.Session
	frames  *frameReader
}

// Why this node itself ends a link.
var (
	errMoved = errors.New("the peer moved")
	errLeft  = errors.New("the peer left the set of peers")
)

// serve writes the peer's queue to l until the link ends.
func (p *peer) serve(l *link) {
	p.link.Store(l)
	p.openSilent(l.session)
	p.out.begin(l.session, time.Now())
	verdict := make(chan error, 1)
	go func() { verdict <- p.readAnswers(l) }()
	read, err := p.pump(l, verdict)
	p.t.conns.end(l.conn)
	if !read {
		<-verdict //nolint:errcheck // the reader stops with the connection
	}
	p.out.end()
	p.link.Store(nil)
	p.over(l, err)
}

// pump moves messages from the queue to the connection. It returns whether the
// reader's verdict was taken, and why it stopped.
func (p *peer) pump(l *link, verdict <-chan error) (read bool, err error) {
	limits := p.t.cfg.timing
	stall := newStall(limits.ack)
	defer stall.timer.Stop()
	leave := p.ctx.Done()
	var late <-chan time.Time
	var buf []byte
	for {
		// What was put after the peer moved, or its end was read, is for the next link.
		if p.addr() != l.addr {
			return false, errMoved
		}
		select {
		case err := <-verdict:
			return true, err
		default:
		}
		var n int
		buf, n = p.out.take(buf[:0], l.session, p.detector.goneProcess(), time.Now())
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
			if err := l.say(req, limits.write); err != nil {
				return p.judge(l, err, verdict)
			}
		case <-p.ask:
			if err := p.ping(l); err != nil {
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

// stall looks after the acknowledgements of a link: its timer runs only while one is
// owed, so that links at rest cost nothing.
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

// begin says that a message was written.
func (s *stall) begin() {
	if !s.owed {
		s.owed = true
		s.timer.Reset(s.limit / 4)
	}
}

// check is called when the timer fires. since is when the oldest message without an
// acknowledgement was written, zero for none.
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

// judge decides why a write failed. A reset that the write reports is a reset,
// even if the reader, coming second, finds an ended stream; with a broken pipe
// it is the reader that knows.
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

// readAnswers reads what the peer answers until the link ends, and says why.
func (p *peer) readAnswers(l *link) error {
	for {
		number, payload, err := l.frames.next(maxControl)
		if err != nil {
			return err
		}
		kind := proto.LinkKind(number)
		if kind != proto.KindAck && kind != proto.KindPong && kind != proto.KindPingRes {
			return faultf(unexpected, "%v in answer to messages", kind)
		}
		body, err := proto.UnmarshalLink(kind, payload)
		if err != nil {
			return faultf(badPayload, "%v", err)
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

// over draws the conclusions from the end of l.
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
		Str("session", l.session.Short()).Msg("link lost")
	p.detector.ended(endOf(err))
	p.doubt()
}

// endOf tells a stream that ended between two frames from every other end.
func endOf(err error) proto.LinkEvent {
	if err == io.EOF { //nolint:errorlint // a wrapped one is another end
		return proto.LinkClosed
	}
	return proto.LinkReset
}

// say writes one control frame.
func (l *link) say(b proto.LinkBody, limit time.Duration) error {
	kind, payload, err := proto.MarshalLink(b)
	if err != nil {
		return err
	}
	return write(l.conn, appendFrame(nil, kind, payload), limit)
}

func write(conn net.Conn, b []byte, limit time.Duration) error {
	if err := conn.SetWriteDeadline(time.Now().Add(limit)); err != nil {
		return err
	}
	_, err := conn.Write(b)
	return err
}
