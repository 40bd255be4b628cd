package tcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/ringleader-dev/ringleader/proto"
)

// ErrAddrInUse says that another process listens on the address.
var ErrAddrInUse = errors.New("address already in use")

// Peer says which process of a node to connect to, and where.
type Peer struct {
	ID          proto.NodeID
	Incarnation proto.Incarnation // the process that is expected there; zero for any
	// Addr is host:port. Give an IP address for the host: evidence is about
	// one address, and a name may have several.
	Addr string
}

// Transport is one node's end of all links. Its methods may be called from any
// goroutine.
type Transport struct {
	cfg        Config
	made       time.Time
	ln         net.Listener
	handshakes handshakes
	inbound    inboundConnections
	counts     tally
	warnings   logLimiter
	senders    sync.WaitGroup // one goroutine for each peer
	others     sync.WaitGroup // all other goroutines

	beatTimer *beatTimer
	probes    indirectProbes
	leader    atomic.Uint64          // the leader, whose process is watched; see SetLeader
	vacant    atomic.Int64           // the time by clock since which no node leads; 0 if a node leads
	news      atomic.Pointer[[]byte] // what SetNews said last
	ignored   atomic.Uint64          // PINGs not answered because they came too often
	done      chan struct{}          // closed by Close, once nobody holds the Transport any more

	// peers is replaced, never changed. So Send takes no lock, which the caller of a callback might
	// hold.
	peers atomic.Pointer[map[proto.NodeID]*peer]

	// open is done at the end of Close. Each connection is reset then: see resetAtEnd.
	open context.Context
	end  context.CancelFunc

	closing chan struct{}  // closed when Close begins
	holds   sync.WaitGroup // counts the callers of Hold

	mu sync.Mutex // serializes SetPeers, Hold and Close
}

// Listen binds cfg.Bind for this process alone, and begins to accept links. The error wraps
// ErrAddrInUse when another process has the address.
func Listen(cfg Config) (*Transport, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("election transport: %w", err)
	}
	ln, err := cfg.Network.Listen(cfg.Bind)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("listen for elections on %s: %w: another process has that "+
			"port; stop it, or choose another election address", cfg.Bind, ErrAddrInUse)
	}
	if err != nil {
		return nil, fmt.Errorf("listen for elections on %q: %w: "+
			"want host:port of this machine", cfg.Bind, err)
	}
	t := &Transport{
		cfg: cfg, made: time.Now(), ln: ln, handshakes: handshakes{limit: maxHandshakes}, done: make(chan struct{}),
		closing:   make(chan struct{}),
		beatTimer: newBeatTimer(cfg.Heartbeat, cfg.Misses),
	}
	t.inbound.expects = t.knows
	t.open, t.end = context.WithCancel(context.Background())
	t.peers.Store(&map[proto.NodeID]*peer{})
	t.others.Go(t.accept)
	t.others.Go(t.runHeartbeats)
	return t, nil
}

// Addr returns the address on which the Transport listens.
func (t *Transport) Addr() net.Addr { return t.ln.Addr() }

// Listener returns the listening socket. As long as any process has a copy of it open, no dial to
// its address is refused, and no other process can take the address. So no peer takes this process
// for dead. Work that runs in another process must have a copy: see Evidence.Proven.
func (t *Transport) Listener() syscall.Conn { return t.ln.(*net.TCPListener) }

// Send queues m for the peer m.To and returns at once. What cannot be sent is
// dropped and counted in Stats.
func (t *Transport) Send(m proto.Message) {
	kind, payload, err := proto.Marshal(m)
	if err == nil && m.From != t.cfg.ID {
		err = fmt.Errorf("from %v, which is not this node", m.From)
	}
	if err != nil {
		t.counts.add(invalid, 1)
		t.complain("send", invalid, "cannot send %v to node %v: %v", m.Body, m.To, err)
		return
	}
	p := t.peer(m.To)
	if p == nil {
		t.counts.add(noPeer, 1)
		return
	}
	p.spoken.Store(t.clock())
	p.out.put(p.spec.Load().Incarnation, kind, payload, time.Now())
}

// SetPeers replaces the set of peers. The Transport dials each of them at once, and again whenever
// the link ends, as long as the peer is in the set. It ends the link to a peer that left the set
// once the queue is empty, or after half a second. It ignores this node itself and invalid ids.
func (t *Transport) SetPeers(peers []Peer) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if isClosed(t.done) {
		return
	}
	old := *t.peers.Load()
	set := make(map[proto.NodeID]*peer, len(peers))
	for _, spec := range peers {
		if spec.ID == t.cfg.ID || spec.ID.Validate() != nil {
			continue
		}
		p := cmp.Or(set[spec.ID], old[spec.ID])
		if p == nil {
			p = newPeer(t, spec)
			t.senders.Go(p.run)
			if t.cfg.SilentToAll || slices.Contains(t.cfg.SilentPeers, spec.ID) {
				t.senders.Go(p.keepSilent)
			}
		} else {
			p.setSpec(spec)
		}
		set[spec.ID] = p
	}
	t.peers.Store(&set)
	for id, p := range old {
		if set[id] == nil {
			p.leave()
		}
	}
}

// Linked reports whether a link with process s of a node is up, in either direction. Of a node that is not in the set
// of peers, only what it dialled itself counts.
func (t *Transport) Linked(id proto.NodeID, s proto.Incarnation) bool {
	if p := t.peer(id); p != nil {
		return p.detector.linked(s)
	}
	return t.inbound.count(id, s) > 0
}

// Hold keeps Close from closing anything until release is called. While this process still works as the
// leader, no peer may take it for dead. The channel closing is closed when Close is called, or if Close was
// called before: then the caller should finish.
func (t *Transport) Hold() (closing <-chan struct{}, release func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if isClosed(t.closing) {
		return t.closing, func() {}
	}
	t.holds.Add(1)
	return t.closing, t.holds.Done
}

// Close waits until nobody holds the Transport any more, for ever if need be; until then the Transport works
// as before. Then it gives the queues of established links half a second to empty, and resets all links. When
// it returns, no goroutine is left and no callback is called any more. So no callback may call Close, and no
// work that holds the Transport may call it. Peers learn that they cannot reach this process, but not that it
// is dead: only its kernel tells that.
func (t *Transport) Close() error {
	t.mu.Lock()
	if !isClosed(t.closing) {
		close(t.closing)
	}
	t.mu.Unlock()
	t.holds.Wait()

	t.mu.Lock()
	if !isClosed(t.done) {
		close(t.done)
	}
	for _, p := range *t.peers.Load() {
		p.leave()
	}
	t.mu.Unlock()

	late := time.AfterFunc(t.cfg.timing.drain, t.end)
	t.senders.Wait()
	late.Stop()
	err := t.ln.Close()
	t.end()
	t.others.Wait()
	if err != nil && !errors.Is(err, net.ErrClosed) {
		return fmt.Errorf("close the election transport: %w", err)
	}
	return nil
}

// peer returns a peer of the set; nil if it is not in the set.
func (t *Transport) peer(id proto.NodeID) *peer { return (*t.peers.Load())[id] }

// knows returns whether a node is in the set of peers or is one of SilentPeers, as the voters are, and which of
// its processes is expected; the zero Incarnation if any is.
func (t *Transport) knows(id proto.NodeID) (known bool, process proto.Incarnation) {
	if p := t.peer(id); p != nil {
		return true, p.spec.Load().Incarnation
	}
	return slices.Contains(t.cfg.SilentPeers, id), process
}

// complain logs a warning about who. It logs one warning for each reason, until warnings.forget(who).
func (t *Transport) complain(who string, r reason, format string, args ...any) {
	if t.warnings.first(who, r) {
		t.cfg.Log.Warn().Str("reason", r.String()).Msgf(format, args...)
	}
}

// isClosed reports whether c is closed. Nothing is ever sent on c.
func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// resetAtEnd resets conn when the Transport closes, unless forget is called before.
func (t *Transport) resetAtEnd(conn net.Conn) (forget func() bool) {
	return context.AfterFunc(t.open, func() { reset(conn) })
}

// reset resets a connection: a living process must end connections in no other way. Errors do not matter. If
// the process closed the stream, the end of the stream would look as if the process were dead, which is half
// of a proof of death; a firewall that refuses new connections and lets existing ones pass could be the other
// half. A reset proves nothing.
func reset(c net.Conn) {
	if s, ok := c.(secured); ok {
		c = s.Conn
	}
	if l, ok := c.(interface{ SetLinger(seconds int) error }); ok {
		_ = l.SetLinger(0)
	}
	_ = c.Close()
}
