package tcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/ringleader-dev/ringleader/proto"
)

// peer keeps the link to one node up for as long as the node is in the set.
type peer struct {
	t        *Transport
	id       proto.NodeID
	out      *outbox
	detector *failureDetector

	ctx        context.Context // done when the peer left the set
	leave      context.CancelFunc
	nudge      chan struct{} // a token: something changed, dial without waiting
	ask        chan struct{} // a token: send a PING
	heartbeats heartbeats
	link       atomic.Pointer[link] // the present one, nil for none
	spoken     atomic.Int64         // when a message was last sent, by Transport.clock; 0 for never
	silent     silentConnection

	requests chan proto.PingReq // to be sent
	doubting atomic.Bool        // doubt waits
	sought   atomic.Int64       // when seek last did something, in Unix nanoseconds
	probe    uint64             // the latest about the peer, and
	probedAt time.Time          // when that was; both of Transport.probes

	sent, received, dropped atomic.Uint64

	mu   sync.Mutex
	spec Peer
}

func newPeer(t *Transport, spec Peer) *peer {
	p := &peer{
		t: t, id: spec.ID, spec: spec,
		nudge: make(chan struct{}, 1), ask: make(chan struct{}, 1),
		requests: make(chan proto.PingReq, maxProbes),
		silent:   silentConnection{linked: make(chan struct{}, 1)},
	}
	p.ctx, p.leave = context.WithCancel(context.Background())
	p.out = newOutbox(t.cfg.QueueLen, t.cfg.timing.age, p.drop)
	p.detector = &failureDetector{
		id: spec.ID, patience: t.cfg.timing.unreachable, emit: t.cfg.Evidence,
		linksToMe: func(s proto.Session) int { return t.inbound.count(spec.ID, s) },
	}
	p.heartbeats.misses, p.heartbeats.say = t.cfg.Misses, p.detector.beat
	p.setSpec(spec)
	return p
}

// setSpec takes what SetPeers says. News of the peer is a reason to dial.
func (p *peer) setSpec(spec Peer) {
	p.mu.Lock()
	news, former := p.spec != spec, p.spec.Session
	p.spec = spec
	p.mu.Unlock()
	if former != spec.Session && !former.IsZero() {
		p.out.replaced(former)
	}
	// With a name it stays zero: the first WELCOME says where that leads.
	home, _ := netip.ParseAddrPort(spec.Addr)
	p.detector.tell(spec.Session, unmap(home))
	if news {
		p.hurry()
	}
}

func (p *peer) addr() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.spec.Addr
}

// session is the process that the node is known to be, zero when it is not.
func (p *peer) session() proto.Session {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.spec.Session
}

func (p *peer) drop(r reason, n int) {
	p.dropped.Add(uint64(n))
	p.t.counts.add(r, n)
}

// hurry makes the next dial come at once, if there is no link.
func (p *peer) hurry() {
	select {
	case p.nudge <- struct{}{}:
	default:
	}
}

// run dials, serves the link, and dials again.
func (p *peer) run() {
	defer p.out.close()
	defer p.t.probes.forget(p)
	failures, unclear := 0, 0
	var last time.Time // when the last dial began
	for p.pause(failures, unclear, last) {
		last = time.Now()
		l, err := p.connect(last)
		if l == nil {
			failures++
			if isDying(err) {
				unclear++
			} else {
				unclear = 0
			}
			continue
		}
		// A link that was up and is lost is dialled again without delay: what
		// the dial finds tells whether the process is gone.
		failures, unclear = 0, 0
		p.serve(l)
	}
}

// A kernel that cleans up after a dead process closes its connections before
// its listener, so that the first dial may still be accepted and then reset. It
// is repeated in a moment, a few times: a refusal is what proves the death.
const (
	dyingRetry   = 100 * time.Microsecond
	dyingRetries = 10
)

// isDying reports whether a dial ended as it does at a process whose end is
// under way.
func isDying(err error) bool {
	return errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

// pause waits before the next dial, the last unclear ones in a row having ended
// as isDying says. It reports false when there is none.
func (p *peer) pause(failures, unclear int, last time.Time) bool {
	spacing := time.Until(last.Add(p.t.cfg.timing.minBackoff))
	wait := time.NewTimer(max(spacing, p.backoff(failures)))
	if 0 < unclear && unclear <= dyingRetries {
		wait.Reset(dyingRetry)
	}
	defer wait.Stop()
	select {
	case <-p.ctx.Done():
	case <-wait.C:
	case <-p.nudge:
	}
	return p.ctx.Err() == nil
}

// backoff is nothing at first, then doubles, with jitter so that the nodes of
// a cluster do not dial one that returns all at once.
func (p *peer) backoff(failures int) time.Duration {
	if failures == 0 {
		return 0
	}
	limit := p.t.cfg.timing.maxBackoff
	d := p.t.cfg.timing.minBackoff
	for ; failures > 1 && d < limit; failures-- {
		d *= 2
	}
	d = min(d, limit)
	return d/2 + rand.N(d/2+1)
}

// connect dials the peer and says hello. It returns no link, and why, when none
// comes of
// it. What it finds is evidence.
func (p *peer) connect(now time.Time) (*link, error) {
	addr := p.addr()
	a := p.detector.begin(now)
	conn, err := p.t.dial(p.ctx, addr)
	if err != nil {
		p.failed(a, addr, err)
		return nil, err
	}
	l, err := p.greet(conn, addr, p.t.hello(p.id))
	if err != nil {
		p.t.conns.end(conn)
		p.failed(a, addr, err)
		return nil, err
	}
	p.heartbeats.begin(l.session, time.Now())
	p.detector.up(a, l.session, homeOf(conn.RemoteAddr()))
	p.t.warnings.forget(p.name())
	p.t.cfg.Log.Debug().Uint64("peer", uint64(p.id)).Str("addr", addr).
		Str("session", l.session.Short()).Msg("link up")
	return l, nil
}

func (p *peer) greet(conn net.Conn, addr string, h proto.Hello) (*link, error) {
	// If the peer leaves the set the handshake ends there and then.
	stop := context.AfterFunc(p.ctx, func() { reset(conn) })
	limit := time.Now().Add(p.t.cfg.timing.handshake)
	if err := conn.SetDeadline(limit); err != nil {
		return nil, err
	}
	r := newFrameReader(conn)
	welcome, err := greet(conn, r, h)
	if !stop() {
		return nil, net.ErrClosed
	}
	if err != nil {
		return nil, err
	}
	if err := conn.SetDeadline(time.Time{}); err != nil {
		return nil, err
	}
	return &link{conn: conn, addr: addr, session: welcome.Session, frames: r}, nil
}

// failed draws the conclusions from a dial or a handshake that led to no link.
func (p *peer) failed(a attempt, addr string, err error) {
	if p.ctx.Err() != nil {
		return // given up by this node
	}
	op, _ := errors.AsType[*net.OpError](err)
	dialling := op != nil && op.Op == "dial"
	if dialling && errors.Is(err, syscall.ECONNREFUSED) {
		// No complaint at first: most likely its process is not running.
		p.t.counts.add(notListening, 1)
		if p.detector.refused(a, homeOf(op.Addr), time.Now()) {
			p.t.complain(p.name(), notListening, "no link to node %v at %s: %v", p.id, addr, err)
		}
		return
	}
	why := reasonOf(err)
	if why == noAnswer || why == hung {
		p.detector.unanswered(a, time.Now())
		p.doubt()
	} else {
		p.detector.answered()
	}
	p.t.counts.add(why, 1)
	p.t.complain(p.name(), why, "no link to node %v at %s: %v", p.id, addr, err)
}

// reasonOf is why a dial led to no link.
func reasonOf(err error) reason {
	if r, ok := errors.AsType[*RefusedError](err); ok {
		if why, known := refusals[r.Answer.Reason]; known {
			return why
		}
		return unexpected
	}
	if f := faultIn(err); f != nil {
		return f.reason
	}
	return noAnswer
}

// name is what complaints about the peer go by.
func (p *peer) name() string { return fmt.Sprintf("peer %v", p.id) }

func homeOf(a net.Addr) netip.AddrPort {
	tcp, ok := a.(*net.TCPAddr)
	if !ok {
		return netip.AddrPort{}
	}
	return unmap(tcp.AddrPort())
}

// unmap makes the two ways to write an IPv4 address one.
func unmap(a netip.AddrPort) netip.AddrPort {
	return netip.AddrPortFrom(a.Addr().Unmap(), a.Port())
}

func isTimeout(err error) bool {
	var n net.Error
	return errors.As(err, &n) && n.Timeout()
}
