package tcp

import (
	"cmp"
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

// ErrAddrInUse says that another process listens on the address already.
var ErrAddrInUse = errors.New("address already in use")

// Peer is where a node's process is to be found.
type Peer struct {
	ID      proto.NodeID
	Session proto.Session // the process that is expected there; zero for any
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
	conns      connSet
	handshakes handshakes
	inbound    inboundConnections
	counts     tally
	warnings   logLimiter
	senders    sync.WaitGroup // one a peer
	others     sync.WaitGroup // the listener, each connection it accepted, the heartbeats, what waits

	beatTimer *beatTimer
	probes    indirectProbes
	leader    atomic.Uint64 // whose node is watched; see SetLeader
	vacant    atomic.Int64  // since when nobody leads, by clock; 0 when somebody does
	ignored   atomic.Uint64 // PINGs not answered because they came too often
	done      chan struct{} // closed by Close

	// peers is replaced, never changed, so that Send takes no lock that a
	// callback's caller may hold.
	peers atomic.Pointer[map[proto.NodeID]*peer]

	closing chan struct{}  // closed when Close begins
	holds   sync.WaitGroup // see Hold

	mu     sync.Mutex // serializes SetPeers, Hold and Close
	wanted bool       // closing is closed
	closed bool
}

// Listen binds cfg.Bind, alone, and begins to accept links. It returns
// ErrAddrInUse, wrapped, when another process has the address.
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
	t.peers.Store(&map[proto.NodeID]*peer{})
	t.others.Go(t.accept)
	t.others.Go(t.runHeartbeats)
	return t, nil
}

// Addr is the address that is listened on.
func (t *Transport) Addr() net.Addr { return t.ln.Addr() }

// Listener is the socket that is listened on. As long as a copy of it is open,
// in whatever process, its address refuses nobody and is nobody else's, so that no
// peer takes this process for dead. Work outside the process has to have one: see
// Evidence.Proven.
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
	p.out.put(p.session(), kind, payload, time.Now())
}

// SetPeers replaces the set of peers whose links are kept up: each is dialled
// at once, and again for as long as it is in the set. The link to one that
// left is closed once its queue is empty, or a moment later. This node itself,
// and what is no id, is left out.
func (t *Transport) SetPeers(peers []Peer) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
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
			if slices.Contains(t.cfg.SilentPeers, spec.ID) {
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

// Hold keeps Close from closing anything until release is called, once: while what this
// process does as the leader goes on, nobody may take it for dead. closing is closed when
// Close has been called, before or later: whoever holds should come to an end then.
func (t *Transport) Hold() (closing <-chan struct{}, release func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.wanted {
		return t.closing, func() {}
	}
	t.holds.Add(1)
	return t.closing, t.holds.Done
}

// Close waits until nobody holds the Transport any more, for ever if need be; until then
// it works as before. Then it gives the queues of established links a moment to empty, and
// ends everything. When it returns, well under a second later unless a callback
// blocks, no goroutine is left and no callback is called any more. So it must
// not be called by a callback, nor by work that has to end for a hold to. It resets the
// links: peers learn that they cannot reach this process, and not that it is dead, which
// only its kernel tells.
func (t *Transport) Close() error {
	t.mu.Lock()
	if !t.wanted {
		t.wanted = true
		close(t.closing)
	}
	t.mu.Unlock()
	t.holds.Wait()

	t.mu.Lock()
	if !t.closed {
		close(t.done)
	}
	t.closed = true
	for _, p := range *t.peers.Load() {
		p.leave()
	}
	t.mu.Unlock()

	late := time.AfterFunc(t.cfg.timing.drain, t.conns.closeAll)
	t.senders.Wait()
	late.Stop()
	err := t.ln.Close()
	t.conns.closeAll()
	t.others.Wait()
	if err != nil && !errors.Is(err, net.ErrClosed) {
		return fmt.Errorf("close the election transport: %w", err)
	}
	return nil
}

// peer finds a peer of the set, nil when it is not in it.
func (t *Transport) peer(id proto.NodeID) *peer { return (*t.peers.Load())[id] }

// complain logs a warning about who, once for each reason until forget.
func (t *Transport) complain(who string, r reason, format string, args ...any) {
	if t.warnings.first(who, r) {
		t.cfg.Log.Warn().Str("reason", r.String()).Msgf(format, args...)
	}
}

// connSet is every connection that is open, so that Close can end them.
type connSet struct {
	mu     sync.Mutex
	conns  map[net.Conn]struct{}
	closed bool
}

// add reports false, and closes c, when the set is closed already.
func (s *connSet) add(c net.Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		reset(c)
		return false
	}
	if s.conns == nil {
		s.conns = map[net.Conn]struct{}{}
	}
	s.conns[c] = struct{}{}
	return true
}

// end resets c and forgets it.
func (s *connSet) end(c net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, c)
	reset(c) // nothing to save: unsent bytes are sent again on the next one
}

func (s *connSet) closeAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for c := range s.conns {
		reset(c)
	}
}

// reset is the only way in which a living process ends a connection, and no error of it
// matters. The end of a stream that is closed looks like that of a process that died, and
// is half of the proof that it did: a firewall that refuses new connections, and lets
// those pass that are there, would be the other half. A reset proves nothing.
func reset(c net.Conn) {
	if l, ok := c.(interface{ SetLinger(seconds int) error }); ok {
		_ = l.SetLinger(0)
	}
	_ = c.Close()
}
