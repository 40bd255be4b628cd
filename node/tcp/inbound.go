package tcp

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/ringleader-dev/ringleader/proto"
)

// acceptPause is the pause after the system could not accept a connection, for example because
// there were no file descriptors left.
const acceptPause = 50 * time.Millisecond

// inbound is a connection that a peer dialled.
type inbound struct {
	conn        net.Conn
	id          proto.NodeID
	incarnation proto.Incarnation
	silent      bool
	frames      *frameReader
	acks        *acker
	pings       answerer // like probes, it belongs to the goroutine that reads
	probes      indirectAnswerer
	heard       atomic.Int64  // when something was last read, by Transport.clock
	done        chan struct{} // closed when no callback gets a message of this connection any more

	mu     sync.Mutex // held while writing
	mute   bool       // the other end takes no more answers
	broken error      // the error of a write, if that error ended the link
}

// accept takes connections until the listener closes.
func (t *Transport) accept() {
	for {
		conn, err := t.ln.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			t.complain("accept", crowded, "cannot accept election links: %v", err)
			time.Sleep(acceptPause)
			continue
		}
		t.others.Go(func() { t.host(quiet(conn)) })
	}
}

// host serves one accepted connection until it ends.
func (t *Transport) host(conn net.Conn) {
	defer reset(conn)
	defer t.resetAtEnd(conn)()
	talk, in, err := t.admit(conn)
	if in == nil {
		if err == nil || t.turnAway(talk, err) {
			t.seeOff(conn)
		}
		return
	}
	err = in.whyEnded(t.read(in))
	if f := faultIn(err); f != nil {
		t.counts.add(f.reason, 1)
		t.complain(in.name(), f.reason, "ended the link from %s: %v", in.name(), err)
	}
	if in.silent {
		t.inbound.leave(in)
		return
	}
	lost := func() bool { // unless this node itself ended it
		return t.inbound.leave(in) && !errors.Is(err, net.ErrClosed)
	}
	p := t.peer(in.id)
	if p == nil {
		lost()
		return
	}
	p.detector.endedByPeer(in.incarnation, endOf(err), lost)
	p.hurry()
	p.doubt()
}

// admit does the handshake, and returns the connection on which to talk from here on. It returns no inbound and no
// error if the caller only asked who is here.
func (t *Transport) admit(raw net.Conn) (net.Conn, *inbound, error) {
	ctx, giveUp := context.WithCancel(context.Background())
	defer giveUp()
	t.beginHandshake(raw, giveUp)
	conn, r, h, err := t.awaitHello(ctx, raw)
	if err != nil {
		return conn, nil, err
	}
	me := proto.Welcome{ID: t.cfg.ID, Incarnation: t.cfg.Incarnation}
	if h.To == 0 {
		return conn, nil, say(conn, me)
	}
	if t.cfg.Busy() >= t.cfg.silence() {
		return conn, nil, t.refusal(h, proto.Hung)
	}
	in := &inbound{
		conn: conn, id: h.ID, incarnation: h.Incarnation, silent: h.Silent, frames: r,
		done: make(chan struct{}),
	}
	in.acks = newAcker(in, t.cfg.timing)
	in.heard.Store(t.clock())
	in.pings, in.probes = answerer{t: t, in: in}, indirectAnswerer{t: t, in: in}
	if out := t.inbound.enter(in); out != nil {
		t.counts.add(crowded, 1)
		t.complain(ipOf(out.conn), crowded, "too many links of node %v, or of nodes that this one does not know: "+
			"ended one from %s", in.id, out.name())
	}
	t.warnings.forget(in.name())
	t.warnings.forget(ipOf(conn))
	if err := errors.Join(say(conn, me), conn.SetDeadline(time.Time{})); err != nil {
		t.inbound.leave(in)
		return conn, nil, err
	}
	if p := t.peer(in.id); p != nil {
		p.hurry() // it is there
	}
	return conn, in, nil
}

// beginHandshake adds conn to the handshakes. If there are too many, it ends another handshake, and calls the function
// giveUp of that one.
func (t *Transport) beginHandshake(conn net.Conn, giveUp func()) {
	evicted := t.handshakes.enter(conn, giveUp)
	if evicted == nil {
		return
	}
	reset(evicted)
	t.counts.add(crowded, 1)
	t.complain(ipOf(evicted), crowded, "too many connections that do not say who they "+
		"are: ended the oldest from %s", ipOf(evicted))
}

// seeOff waits until a peer that was refused has closed the connection, for timing.drain at most. A
// reset by this node could overtake the answer.
func (t *Transport) seeOff(conn net.Conn) {
	t.beginHandshake(conn, func() {})
	defer t.handshakes.exit(conn)
	t.drain(conn)
}

// drain waits until the other end has closed the connection, for timing.drain at most.
func (t *Transport) drain(conn net.Conn) {
	if err := conn.SetReadDeadline(time.Now().Add(t.cfg.timing.drain)); err != nil {
		return
	}
	var dropped [64]byte
	for {
		if _, err := conn.Read(dropped[:]); err != nil {
			return
		}
	}
}

// awaitHello reads the HELLO of raw, and returns the connection to go on with. The error is net.ErrClosed if another
// handshake displaced raw meanwhile: beginHandshake has counted and logged that, and ctx is done.
func (t *Transport) awaitHello(
	ctx context.Context, raw net.Conn,
) (conn net.Conn, r *frameReader, h proto.Hello, err error) {
	var proven proto.NodeID
	err = raw.SetDeadline(time.Now().Add(t.cfg.timing.handshake))
	if err == nil {
		conn, proven, err = t.secureAccepted(ctx, raw)
	}
	if conn == nil {
		conn = raw
	}
	if err == nil {
		r = newFrameReader(conn)
		h, err = t.readHello(r, proven)
	}
	if !t.handshakes.exit(raw) {
		err = net.ErrClosed
	}
	return conn, r, h, err
}

// turnAway tells the peer and the log why a handshake led to no link. It tells neither if the peer
// hung up or was displaced. It returns whether the peer was told.
func (t *Transport) turnAway(conn net.Conn, err error) (told bool) {
	if r, ok := errors.AsType[*RefusedError](err); ok {
		why := refusals[r.Answer.Reason]
		t.counts.add(why, 1)
		t.complain(callerName(conn, r.Hello.ID), why, "refused a link from %v: %v",
			conn.RemoteAddr(), err)
		return say(conn, r.Answer) == nil // a courtesy
	}
	if isTimeout(err) {
		err = faultf(tooSlow, "no HELLO within %v", t.cfg.timing.handshake)
	}
	f := faultIn(err)
	if f == nil {
		return false
	}
	t.counts.add(f.reason, 1)
	t.complain(ipOf(conn), f.reason, "refused a link from %v: %v", conn.RemoteAddr(), err)
	switch f.reason {
	case otherVersion:
		return say(conn, t.refusal(proto.Hello{}, proto.OtherVersion).Answer) == nil
	case plaintext: // to somebody of whom nothing is known
		return say(conn, proto.Refuse{Reason: proto.NeedsCredentials, ID: t.cfg.ID}) == nil
	case unproven:
		return true // by an alert of TLS
	}
	return false
}

// read passes messages to the callback until the link ends, and returns why it ended.
func (t *Transport) read(in *inbound) error {
	for {
		number, payload, err := in.frames.next(proto.MaxPayload)
		if err != nil {
			return err
		}
		in.heard.Store(t.clock())
		switch kind := proto.LinkKind(number); {
		case in.silent:
			err = faultf(unexpected, "%v on a silent connection", kind)
		case kind == proto.KindPing, kind == proto.KindPingReq:
			err = in.answer(kind, payload)
		case kind == proto.KindNews:
			err = t.hearNews(in, payload)
		default:
			if err = t.handUp(in, number, payload); err == nil {
				in.acks.owe()
			}
		}
		if err != nil {
			return err
		}
	}
}

// answer handles a PING or a PING_REQ.
func (in *inbound) answer(kind proto.LinkKind, payload []byte) error {
	body, err := decodeControl(kind, payload)
	switch b := body.(type) {
	case proto.Ping:
		err = in.pings.read(b)
	case proto.PingReq:
		err = in.probes.read(b)
	}
	return err
}

// handUp passes one message to the callback.
func (t *Transport) handUp(in *inbound, number uint8, payload []byte) error {
	m, err := t.message(in, number, payload)
	if err != nil {
		return err
	}
	if p := t.peer(m.From); p != nil {
		p.received.Add(1)
	}
	t.cfg.Receive(m)
	return nil
}

// message decodes a message, and checks that its sender and receiver are the ends of the link.
func (t *Transport) message(in *inbound, number uint8, payload []byte) (proto.Message, error) {
	m, err := t.cfg.Kinds.Unmarshal(number, payload)
	if errors.Is(err, proto.ErrKind) {
		return m, faultf(unexpected, "%v where a message belongs: %v", proto.LinkKind(number), err)
	}
	if err != nil {
		return m, faultf(badPayload, "%v", err)
	}
	if m.From != in.id || m.To != t.cfg.ID {
		return m, faultf(wrongEnvelope, "a message from node %v to node %v on the link "+
			"from node %v to node %v", m.From, m.To, in.id, t.cfg.ID)
	}
	m.Sender = in.incarnation
	return m, nil
}

// say sends an answer on the link, unless the other end takes no more answers. After a broken pipe
// the messages that the other end sent before are still read; any other failure stops the reader.
// Any goroutine may call it.
func (in *inbound) say(b proto.LinkBody, limit time.Duration) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.mute {
		return
	}
	err := sayWithin(in.conn, b, limit)
	in.mute = err != nil
	if isTimeout(err) || errors.Is(err, syscall.ECONNRESET) {
		in.broken = err
		_ = in.conn.SetReadDeadline(time.Unix(1, 0))
	}
}

// isMute reports whether the other end takes no more answers.
func (in *inbound) isMute() bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.mute
}

// whyEnded returns why the link ended. The parameter read is the error of the reader. The kernel reports a
// reset only once: if a write got the reset, a read sees what looks like a clean end.
func (in *inbound) whyEnded(read error) error {
	in.acks.timer.Stop()
	in.mu.Lock()
	defer in.mu.Unlock()
	in.mute = true
	if in.broken != nil {
		return in.broken
	}
	return read
}

func (in *inbound) caller() caller {
	return caller{id: in.id, incarnation: in.incarnation, silent: in.silent}
}

func (in *inbound) name() string { return callerName(in.conn, in.id) }

// callerName returns the name, for the log, of the other end of a connection. The other end said that its id
// is id.
func callerName(conn net.Conn, id proto.NodeID) string {
	return fmt.Sprintf("node %v at %s", id, ipOf(conn))
}

func ipOf(conn net.Conn) string { return homeOf(conn.RemoteAddr()).Addr().String() }
