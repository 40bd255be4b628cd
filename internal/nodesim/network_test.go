package nodesim

import (
	"context"
	"io"
	"net"
	"net/netip"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/ringleader-dev/ringleader/proto"
)

// network is the TCP between the machines. Nothing in it blocks but on channels and
// timers of the bubble. Its mutex is never held while anything waits.
//
// It behaves as Linux does where evidence is drawn from it:
//
//  1. Close sends what was written and then FIN; but with bytes unread, or after
//     SetLinger(0), it sends RST, and what was written and not delivered is lost.
//  2. What arrives at a connection that was closed is answered with RST.
//  3. Who reads gets what came before the end; then a RST once, by whichever call meets it
//     first, and after that a read finds what looks like a clean end.
//  4. A kernel whose process is paused goes on: it takes connections and data, and sends
//     what was written before.
//  5. What a cut holds up is sent again until it arrives.
//  6. A firewall refuses new connections; those that are there go on.
type network struct {
	mu        sync.Mutex
	seed      uint64
	latency   time.Duration // one way, at least; up to four times that
	listeners map[netip.AddrPort]*listener
	cut       map[path]int         // how many cuts lie on it
	refuses   map[proto.NodeID]int // firewalls that refuse new connections to the machine
	dials     map[path]uint64
}

// path is one direction between two machines.
type path struct{ from, to proto.NodeID }

func newNetwork(seed uint64) *network {
	return &network{
		seed: seed, latency: time.Duration(100+newDice(seed, 2).IntN(900)) * time.Microsecond,
		listeners: map[netip.AddrPort]*listener{}, cut: map[path]int{}, refuses: map[proto.NodeID]int{},
		dials: map[path]uint64{},
	}
}

const electionPort = 7000

func addrOf(id proto.NodeID) netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, 0, byte(id)}), electionPort)
}

func machineAt(a netip.AddrPort) proto.NodeID { return proto.NodeID(a.Addr().As4()[3]) }

// delay is how long a packet takes.
func (n *network) delay(d dice) time.Duration {
	delay := n.latency + d.N(3*n.latency)
	if d.IntN(200) == 0 {
		delay += d.N(30 * n.latency)
	}
	return delay
}

// open reports whether packets get through. The caller holds mu.
func (n *network) open(p path) bool { return n.cut[p] == 0 }

func (n *network) change(paths []path, by int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, p := range paths {
		n.cut[p] += by
	}
}

func (n *network) firewall(id proto.NodeID, by int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.refuses[id] += by
}

// packet is what one end sends to the other.
type packet struct {
	data     []byte
	fin, rst bool
}

// end is one process's end of a connection.
type end struct {
	n           *network
	dice        dice
	p           *process
	other       *end
	local, peer netip.AddrPort

	// All guarded by n.mu.
	wake     chan struct{} // a token: something changed
	unread   []byte
	finRead  bool      // the stream ends behind unread
	reset    error     // met by the next call
	over     bool      // reset was met, or told by a call
	closed   bool      // by the process
	gone     bool      // its kernel knows
	linger   bool      // Close resets
	deadline time.Time // of reads
	outgoing []packet  // held up by a cut
	flying   []packet  // in the order of their arrival
	arrives  time.Time // when the last packet sent arrives
	retrying bool
}

// send puts a packet on its way. The caller holds mu.
func (e *end) send(p packet) {
	if p.rst {
		e.outgoing = nil
	}
	e.outgoing = append(e.outgoing, p)
	if !e.retrying {
		e.flush()
	}
}

// flush sends what waits, or tries again later where a cut is. The caller holds mu.
func (e *end) flush() {
	if !e.n.open(path{machineAt(e.local), machineAt(e.peer)}) {
		e.retrying = true
		time.AfterFunc(e.dice.N(400*time.Millisecond)+50*time.Millisecond, func() {
			e.n.mu.Lock()
			defer e.n.mu.Unlock()
			e.retrying = false
			e.flush()
		})
		return
	}
	for _, p := range e.outgoing {
		at := time.Now().Add(e.n.delay(e.dice))
		if at.Before(e.arrives) {
			at = e.arrives
		}
		e.arrives = at
		e.flying = append(e.flying, p)
		time.AfterFunc(time.Until(at), e.deliver)
	}
	e.outgoing = nil
}

// deliver gives the other end the first packet that is on its way: two may arrive at the
// same instant, but not in another order.
func (e *end) deliver() {
	e.n.mu.Lock()
	defer e.n.mu.Unlock()
	p := e.flying[0]
	e.flying = e.flying[1:]
	e.other.receive(p)
}

// receive takes a packet from the other end. The caller holds mu.
func (e *end) receive(p packet) {
	switch {
	case p.rst:
		if !e.finRead && e.reset == nil {
			e.reset = syscall.ECONNRESET
		}
		e.outgoing, e.over = nil, e.over || e.finRead
	case e.gone:
		if len(p.data) > 0 {
			e.send(packet{rst: true})
		}
	case p.fin:
		e.finRead = true
	default:
		e.unread = append(e.unread, p.data...)
	}
	e.notify()
}

func (e *end) notify() {
	select {
	case e.wake <- struct{}{}:
	default:
	}
}

func (e *end) failed(op string, err error) error {
	if errno, ok := err.(syscall.Errno); ok {
		err = os.NewSyscallError(op, errno)
	}
	return &net.OpError{Op: op, Net: "tcp", Source: e.LocalAddr(), Addr: e.RemoteAddr(), Err: err}
}

// Read implements net.Conn.
func (e *end) Read(b []byte) (int, error) {
	for {
		if !e.p.gate.pass() {
			return 0, net.ErrClosed
		}
		e.n.mu.Lock()
		n, done, err := e.read(b)
		deadline := e.deadline
		e.n.mu.Unlock()
		if done {
			return n, err
		}
		var late <-chan time.Time
		if !deadline.IsZero() {
			timer := time.NewTimer(time.Until(deadline))
			defer timer.Stop()
			late = timer.C
		}
		select {
		case <-e.wake:
		case <-late:
		}
	}
}

// read is a Read that does not wait. The caller holds mu.
func (e *end) read(b []byte) (n int, done bool, err error) {
	switch {
	case e.closed:
		return 0, true, e.failed("read", net.ErrClosed)
	case len(e.unread) > 0:
		n = copy(b, e.unread)
		e.unread = e.unread[n:]
		return n, true, nil
	case e.reset != nil && !e.over:
		e.over = true
		return 0, true, e.failed("read", e.reset)
	case e.finRead || e.over:
		return 0, true, io.EOF
	case !e.deadline.IsZero() && !time.Now().Before(e.deadline):
		return 0, true, e.failed("read", os.ErrDeadlineExceeded)
	}
	return 0, false, nil
}

// Write implements net.Conn. It never waits: buffers are larger than what nodes write.
// What a paused process writes leaves when it goes on, as it would write it then.
func (e *end) Write(b []byte) (int, error) {
	e.n.mu.Lock()
	defer e.n.mu.Unlock()
	switch {
	case e.closed || e.p.gate.isDead():
		return 0, e.failed("write", net.ErrClosed)
	case e.reset != nil && !e.over:
		e.over = true
		return 0, e.failed("write", e.reset)
	case e.over:
		return 0, e.failed("write", syscall.EPIPE)
	}
	data := append([]byte(nil), b...)
	e.p.gate.later(func() {
		if cut := e.dice.IntN(8 * (len(data) + 1)); cut > 0 && cut < len(data) {
			e.send(packet{data: data[:cut]}) // two segments: a frame may arrive by half
			data = data[cut:]
		}
		e.send(packet{data: data})
	})
	return len(b), nil
}

// SetLinger is that of a *net.TCPConn: zero has Close reset the connection.
func (e *end) SetLinger(sec int) error {
	e.n.mu.Lock()
	defer e.n.mu.Unlock()
	e.linger = sec == 0
	return nil
}

// Close implements net.Conn.
func (e *end) Close() error {
	e.n.mu.Lock()
	defer e.n.mu.Unlock()
	if e.closed {
		return e.failed("close", net.ErrClosed)
	}
	e.closed = true
	e.notify()
	e.p.gate.later(e.shut)
	return nil
}

// shut has the kernel end the connection. The caller holds mu.
func (e *end) shut() {
	e.closed, e.gone = true, true
	delete(e.p.ends, e)
	switch {
	case e.reset != nil || e.over:
	case e.linger || len(e.unread) > 0:
		e.send(packet{rst: true})
	default:
		e.send(packet{fin: true})
	}
	e.notify()
}

// The rest of net.Conn.
func (e *end) LocalAddr() net.Addr              { return net.TCPAddrFromAddrPort(e.local) }
func (e *end) RemoteAddr() net.Addr             { return net.TCPAddrFromAddrPort(e.peer) }
func (e *end) SetWriteDeadline(time.Time) error { return nil }
func (e *end) SetDeadline(t time.Time) error    { return e.SetReadDeadline(t) }

func (e *end) SetReadDeadline(t time.Time) error {
	e.n.mu.Lock()
	defer e.n.mu.Unlock()
	if e.closed {
		return e.failed("set", net.ErrClosed)
	}
	e.deadline = t
	e.notify()
	return nil
}

// listener is where a process is dialled.
type listener struct {
	n      *network
	p      *process
	addr   netip.AddrPort
	wake   chan struct{}
	queue  []*end
	closed bool
}

// Accept implements net.Listener.
func (l *listener) Accept() (net.Conn, error) {
	for {
		if !l.p.gate.pass() {
			return nil, net.ErrClosed
		}
		l.n.mu.Lock()
		closed := l.closed
		var next *end
		if len(l.queue) > 0 && !closed {
			next, l.queue = l.queue[0], l.queue[1:]
		}
		l.n.mu.Unlock()
		switch {
		case closed:
			return nil, &net.OpError{Op: "accept", Net: "tcp", Err: net.ErrClosed}
		case next != nil:
			return next, nil
		}
		<-l.wake
	}
}

// Close implements net.Listener.
func (l *listener) Close() error {
	l.n.mu.Lock()
	defer l.n.mu.Unlock()
	if l.closed {
		return net.ErrClosed
	}
	l.closed = true
	l.notify()
	l.p.gate.later(l.shut)
	return nil
}

// shut has the kernel give the address free. The caller holds mu.
func (l *listener) shut() {
	l.closed = true
	if l.n.listeners[l.addr] == l {
		delete(l.n.listeners, l.addr)
	}
	for _, e := range l.queue {
		e.linger = true
		e.shut()
	}
	l.queue = nil
	l.notify()
}

func (l *listener) notify() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// Addr implements net.Listener.
func (l *listener) Addr() net.Addr { return net.TCPAddrFromAddrPort(l.addr) }

// socket is the network as one process sees it: a tcp.Network.
type socket struct {
	n *network
	p *process
}

// Listen implements tcp.Network.
func (s socket) Listen(addr string) (net.Listener, error) {
	at := netip.MustParseAddrPort(addr)
	s.n.mu.Lock()
	defer s.n.mu.Unlock()
	if s.n.listeners[at] != nil {
		return nil, &net.OpError{Op: "listen", Net: "tcp", Err: os.NewSyscallError("bind", syscall.EADDRINUSE)}
	}
	l := &listener{n: s.n, p: s.p, addr: at, wake: make(chan struct{}, 1)}
	s.n.listeners[at] = l
	s.p.listener = l
	return l, nil
}

// resent is how long after a packet that opens a connection the next one is sent.
const resent = time.Second

// Dial implements tcp.Network.
func (s socket) Dial(ctx context.Context, addr string, limit time.Duration) (net.Conn, error) {
	to := netip.MustParseAddrPort(addr)
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for {
		if !s.p.gate.pass() {
			return nil, net.ErrClosed
		}
		conn, wait, err := s.knock(to)
		select {
		case <-ctx.Done():
			if conn != nil {
				_ = conn.Close()
			}
			return nil, dialError(to, context.Cause(ctx))
		case <-time.After(wait):
		}
		if !s.p.gate.pass() {
			return nil, net.ErrClosed
		}
		if conn != nil {
			return conn, nil
		}
		if err != nil {
			return nil, dialError(to, err)
		}
	}
}

func dialError(to netip.AddrPort, err error) error {
	if errno, ok := err.(syscall.Errno); ok {
		err = os.NewSyscallError("connect", errno)
	}
	return &net.OpError{Op: "dial", Net: "tcp", Addr: net.TCPAddrFromAddrPort(to), Err: err}
}

// knock tries to connect. The answer comes after wait; without one, that is when to
// try again.
func (s socket) knock(to netip.AddrPort) (conn *end, wait time.Duration, err error) {
	n := s.n
	n.mu.Lock()
	defer n.mu.Unlock()
	me, it := s.p.machine.id, machineAt(to)
	if !n.open(path{me, it}) || !n.open(path{it, me}) {
		return nil, resent, nil
	}
	// Each connection has dice of its own: goroutines may run in any order.
	n.dials[path{me, it}]++
	nth := n.dials[path{me, it}]
	draw := func(end uint64) dice {
		return newDice(n.seed, end|nth<<8|uint64(me)<<48|uint64(it)<<56)
	}
	wait = 2 * n.delay(draw(2))
	l := n.listeners[to]
	if l == nil || l.closed || n.refuses[it] > 0 || s.p.gate.isDead() {
		return nil, wait, syscall.ECONNREFUSED
	}
	from := netip.AddrPortFrom(addrOf(me).Addr(), 30000+uint16(nth%30000))
	a := &end{n: n, dice: draw(0), p: s.p, local: from, peer: to, wake: make(chan struct{}, 1)}
	b := &end{n: n, dice: draw(1), p: l.p, local: to, peer: from, wake: make(chan struct{}, 1)}
	a.other, b.other = b, a
	a.p.ends[a], b.p.ends[b] = struct{}{}, struct{}{}
	l.queue = append(l.queue, b)
	l.notify()
	return a, wait, nil
}
