package zookeeper

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/ringleader-dev/ringleader/internal/storeurl"
	"github.com/ringleader-dev/ringleader/store"
)

// session is a session of the client library, which may in time become another session on the servers.
type session struct {
	*place
	ttl    time.Duration
	conn   *zk.Conn
	events <-chan zk.Event
	auth   bool // the user is known to the servers
	life   context.Context
	end    context.CancelFunc
	muted  atomic.Bool   // nothing is sent any more
	odd    chan struct{} // closed once a server turns out to be no ZooKeeper
	done   sync.WaitGroup

	mu      sync.Mutex
	granted time.Duration // the session timeout
	touched []touch       // in the order of time; the first one counts
	failed  error         // why there is no connection
}

// touch is a request that keeps the session.
type touch struct{ asked, answered time.Time }

// connect opens a session. It waits for nothing.
func (p *place) connect(ttl time.Duration, hint store.Hint) (*session, error) {
	s := &session{place: p, ttl: ttl, odd: make(chan struct{})}
	s.life, s.end = context.WithCancel(context.Background())
	var err error
	s.conn, s.events, err = zk.Connect(p.Servers, ttl,
		zk.WithHostProvider(new(hosts)),
		zk.WithDialer(s.dial),
		zk.WithLogger(silence{}), zk.WithLogInfo(false),
		zk.WithMaxBufferSize(1<<18), zk.WithMaxConnBufferSize(1<<16),
		zk.WithEventCallback(func(ev zk.Event) {
			if ev.State == zk.StateHasSession || ev.State == zk.StateExpired {
				hint.Give()
			}
		}))
	if err != nil {
		return nil, err
	}
	s.done.Go(s.keep)
	return s, nil
}

// silence drops what the client library logs: an error says it, too.
type silence struct{}

func (silence) Printf(string, ...any) {}

// keep keeps touching the session; see "How long an entry is kept".
func (s *session) keep() {
	tick := time.NewTicker(s.Tick / 4)
	defer tick.Stop()
	for {
		select {
		case <-s.life.Done():
			return
		case <-tick.C:
		}
		t := touch{asked: time.Now()}
		id := s.conn.SessionID()
		if _, _, err := s.conn.Exists(s.Path); err != nil || s.conn.SessionID() != id {
			continue
		}
		t.answered = time.Now()
		s.mu.Lock()
		s.touched = append(s.touched, t)
		s.count()
		s.mu.Unlock()
	}
}

// count forgets what was before the last touch that counts. The caller has locked mu.
func (s *session) count() {
	for len(s.touched) > 1 && time.Since(s.touched[1].answered) >= s.Tick*3/4 {
		s.touched = s.touched[1:]
	}
}

// keeps returns how long the servers keep the session, counted from the given time.
func (s *session) keeps(from time.Time) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.count()
	if len(s.touched) == 0 {
		return 0
	}
	return min(s.ttl, s.granted-max(s.Tick, from.Sub(s.touched[0].asked)))
}

// close ends the connection, and with it the session if so wanted; else the servers end it when it times out.
func (s *session) close(ended bool) {
	s.muted.Store(!ended)
	closed := make(chan struct{})
	go func() {
		s.conn.Close()
		for range s.events { // until the library has ended
		}
		close(closed)
	}()
	select {
	case <-closed:
	case <-time.After(closing):
	}
	s.end()
	<-closed
	s.done.Wait()
}

// closing bounds the wait for servers that are asked to end a session.
const closing = 200 * time.Millisecond

// why returns the reason for which there is no connection, joined to the error.
func (s *session) why(err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if errors.Is(s.failed, store.ErrWrong) {
		return s.failed
	}
	if s.failed != nil {
		return fmt.Errorf("%w: %w", err, s.failed)
	}
	return err
}

func (s *session) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failed = err; errors.Is(err, store.ErrWrong) {
		select {
		case <-s.odd:
		default:
			close(s.odd)
		}
	}
}

// dial makes a connection that ends with s.life.
func (s *session) dial(network, address string, timeout time.Duration) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(s.life, timeout)
	defer cancel()
	w := &wire{session: s, address: address, began: time.Now()}
	var err error
	if s.TLS != nil {
		w.Conn, err = (&tls.Dialer{Config: s.TLS}).DialContext(ctx, network, address)
	} else {
		w.Conn, err = new(net.Dialer).DialContext(ctx, network, address)
	}
	if err != nil {
		if bad, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
			err = fmt.Errorf("%w: %s: its certificate is not trusted: give the ca=FILE that signed it (%w)",
				store.ErrWrong, address, bad)
		}
		s.fail(err)
		return nil, err
	}
	w.forget = context.AfterFunc(s.life, func() { _ = w.Conn.Close() })
	return w, nil
}

// password returns what the user proves its name with.
func (p *place) password() ([]byte, error) {
	text, err := storeurl.Password(p.PasswordFile)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", store.ErrWrong, err)
	}
	return []byte(p.User + ":" + text), nil
}

// wire is a connection of which we read the first answer, too: the client library does not tell the session
// timeout, and believes whatever it reads.
type wire struct {
	net.Conn
	*session
	address string
	began   time.Time
	forget  func() bool
	head    []byte
}

// The first answer: its length, the version of the protocol, and the session timeout in milliseconds.
const headLength = 4 + 4 + 4

func (w *wire) Read(b []byte) (int, error) {
	n, err := w.Conn.Read(b)
	if len(w.head) >= headLength {
		return n, err
	}
	w.head = append(w.head, b[:n]...)
	if len(w.head) >= 4 && binary.BigEndian.Uint32(w.head) > 1024 ||
		len(w.head) >= 8 && binary.BigEndian.Uint32(w.head[4:]) != 0 {
		err := fmt.Errorf("%w: %s is no ZooKeeper, or wants TLS: correct the address, or give tls=true (it answers %q)",
			store.ErrWrong, w.address, w.head)
		w.fail(err)
		return 0, err
	}
	if err != nil {
		w.fail(fmt.Errorf("%s: %w", w.address, err))
	}
	if len(w.head) >= headLength {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.failed = nil
		if timeout := binary.BigEndian.Uint32(w.head[8:]); timeout > 0 {
			// The leader of the servers took part in making this connection.
			w.granted = time.Duration(timeout) * time.Millisecond
			w.touched = []touch{{w.began, w.began}}
		}
	}
	return n, err
}

// Write keeps the client library from ending the session as it closes the connection.
func (w *wire) Write(b []byte) (int, error) {
	if w.muted.Load() {
		return 0, net.ErrClosed
	}
	return w.Conn.Write(b)
}

// SetReadDeadline bounds the wait for the first answer, which is several timeouts in the client library.
func (w *wire) SetReadDeadline(t time.Time) error {
	if bound := time.Now().Add(w.ttl); len(w.head) < headLength && t.After(bound) {
		t = bound
	}
	return w.Conn.SetReadDeadline(t)
}

func (w *wire) Close() error {
	w.forget()
	return w.Conn.Close()
}

// hosts gives the client library one server after another. Their names are looked up for each connection.
type hosts struct {
	mu         sync.Mutex
	servers    []string
	next, last int
}

func (h *hosts) Init(servers []string) error {
	h.servers, h.last = servers, -1
	return nil
}

func (h *hosts) Len() int { return len(h.servers) }

func (h *hosts) Next() (server string, again bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	at := h.next
	h.next = (h.next + 1) % len(h.servers)
	again = at == h.last
	if h.last < 0 {
		h.last = at
	}
	return h.servers[at], again
}

func (h *hosts) Connected() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.last = (h.next + len(h.servers) - 1) % len(h.servers)
}
