package tcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/netip"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/ringleader-dev/ringleader/proto"
)

// peer keeps a link to one node up, as long as the node is in the set of peers.
type peer struct {
	t        *Transport
	id       proto.NodeID
	out      *outbox
	detector *failureDetector

	ctx        context.Context // ends when the peer leaves the set
	leave      context.CancelFunc
	nudge      chan struct{} // a token: something changed, dial without waiting
	ask        chan struct{} // a token: send a PING
	news       chan struct{} // a token: send NEWS
	heartbeats heartbeats
	link       atomic.Pointer[link] // the present link; nil for none
	spoken     atomic.Int64         // when a message was last sent, by Transport.clock; 0 for never
	silent     silentConnection
	differs    atomic.Value // string: see PeerStats.Differs
	mistrust   atomic.Value // string: see PeerStats.Mistrust

	requests chan proto.PingReq // probes to send to this peer
	doubting atomic.Bool        // doubt is waiting
	sought   atomic.Int64       // when seek last asked the peer, in Unix nanoseconds
	probe    uint64             // the number of the latest probe about the peer
	probedAt time.Time          // when that probe was made; Transport.probes guards both fields

	doubted atomic.Int64 // until when Doubt has the peer watched, by Transport.clock
	proven  atomic.Bool  // see PeerStats.Proven

	sent, received, dropped atomic.Uint64

	spec atomic.Pointer[Peer] // what SetPeers last said
}

func newPeer(t *Transport, spec Peer) *peer {
	p := &peer{
		t: t, id: spec.ID,
		nudge: make(chan struct{}, 1), ask: make(chan struct{}, 1), news: make(chan struct{}, 1),
		requests: make(chan proto.PingReq, maxProbes),
		silent:   silentConnection{linked: make(chan struct{}, 1)},
	}
	p.ctx, p.leave = context.WithCancel(context.Background())
	p.out = newOutbox(t.cfg.queueLen, t.cfg.timing.age, p.drop)
	p.detector = &failureDetector{
		id: spec.ID, patience: t.cfg.timing.unreachable, emit: t.cfg.Evidence,
		linksToMe: func(s proto.Incarnation) int { return t.inbound.count(spec.ID, s) },
	}
	p.heartbeats.misses, p.heartbeats.say = t.cfg.Misses, p.detector.beat
	p.spec.Store(&spec)
	p.setSpec(spec)
	return p
}

// setSpec stores what SetPeers says about the peer. If that has changed, the peer is dialled at once. Only
// one goroutine at a time may call setSpec.
func (p *peer) setSpec(spec Peer) {
	old := p.spec.Swap(&spec)
	if former := old.Incarnation; former != spec.Incarnation && !former.IsZero() {
		p.out.replaced(former)
	}
	// With a host name the address stays zero: the first WELCOME tells it.
	home, _ := netip.ParseAddrPort(spec.Addr)
	p.detector.tell(spec.Incarnation, unmap(home))
	if *old != spec {
		p.hurry()
	}
}

func (p *peer) drop(r reason, n int) {
	p.dropped.Add(uint64(n))
	p.t.counts.add(r, n)
}

// hurry lets the next dial begin at once, if there is no link.
func (p *peer) hurry() { signal(p.nudge) }

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

// A kernel that cleans up after a dead process closes its connections before its listener. So the
// first dial may still be accepted and then reset. The dial is repeated after a moment, a few
// times: only a refused dial proves the death.
const (
	dyingRetry   = 100 * time.Microsecond
	dyingRetries = 10
)

// isDying reports whether err is an error that a dial gets while the process at the address is ending.
func isDying(err error) bool {
	return errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

// pause waits until the next dial is due. The parameter failures counts the dials in a row that led to no
// link. For the latest unclear dials among them isDying was true. The parameter last is when the latest dial
// began. pause returns false if the peer has left the set.
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

// backoff returns the pause between two dials. The pause is zero at first, then doubles, up to
// timing.maxBackoff. Part of it is random, so that the nodes of a cluster do not all dial at once when a node
// returns.
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

// connect dials the peer and does the handshake. It tells the failure detector what it finds. If
// there is no link, it returns why.
func (p *peer) connect(now time.Time) (*link, error) {
	addr := p.spec.Load().Addr
	a := p.detector.begin(now)
	l, err := p.t.reach(p.ctx, addr, p.t.hello(p.id), p.id)
	p.differs.Store(differs(err))
	p.mistrust.Store(mistrust(err))
	_, refused := errors.AsType[*RefusedError](err)
	p.proven.Store(p.t.cfg.Security != nil && (err == nil || refused))
	if err != nil {
		p.failed(a, addr, err)
		return nil, err
	}
	p.heartbeats.begin(l.incarnation(), time.Now())
	p.detector.up(a, l.incarnation(), homeOf(l.conn.RemoteAddr()))
	p.t.warnings.forget(p.name())
	p.t.cfg.Log.Debug().Uint64("peer", uint64(p.id)).Str("addr", addr).
		Str("incarnation", l.incarnation().Short()).Msg("link up")
	return l, nil
}

// failed tells the failure detector and the log that a dial or a handshake led to no link.
func (p *peer) failed(a attempt, addr string, err error) {
	if p.ctx.Err() != nil {
		return // given up by this node
	}
	op, _ := errors.AsType[*net.OpError](err)
	dialling := op != nil && op.Op == "dial"
	if dialling && errors.Is(err, syscall.ECONNREFUSED) {
		// No complaint at first: most likely the process is not running.
		p.t.counts.add(notListening, 1)
		if p.detector.refused(a, homeOf(op.Addr), time.Now()) {
			p.t.complain(p.name(), notListening, "no link to node %v at %s: %v", p.id, addr, err)
		}
		return
	}
	why := reasonOf(err)
	if why == noAnswer || why == hung || why == unproven { // somebody else may answer there
		p.detector.unanswered(a, time.Now())
		p.doubt()
	} else {
		p.detector.answered()
	}
	p.t.counts.add(why, 1)
	p.t.complain(p.name(), why, "no link to node %v at %s: %v", p.id, addr, err)
}

// differs returns what RefusedError.Differs returns for err, the error of a dial; "" for any other error.
func differs(err error) string {
	if r, ok := errors.AsType[*RefusedError](err); ok {
		return r.Differs()
	}
	return ""
}

// mistrust returns why a dial led to no link if that is about credentials; "" for any other error.
func mistrust(err error) string {
	if err == nil {
		return ""
	}
	switch reasonOf(err) {
	case plaintext:
		return err.Error() // which says what to do
	case unproven:
		return err.Error() + "; if it is a node of this cluster, give both valid certificates of one authority"
	}
	return ""
}

// reasonOf returns why a dial led to no link.
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

// name returns the peer's name for the log.
func (p *peer) name() string { return fmt.Sprintf("peer %v", p.id) }

// homeOf returns the address of a TCP connection; the zero value for any other.
func homeOf(a net.Addr) netip.AddrPort {
	tcp, ok := a.(*net.TCPAddr)
	if !ok {
		return netip.AddrPort{}
	}
	return unmap(tcp.AddrPort())
}

// unmap converts an IPv4 address in the form of IPv6 into an IPv4 address.
func unmap(a netip.AddrPort) netip.AddrPort {
	return netip.AddrPortFrom(a.Addr().Unmap(), a.Port())
}

func isTimeout(err error) bool {
	var n net.Error
	return errors.As(err, &n) && n.Timeout()
}
