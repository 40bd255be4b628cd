package httpapi

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ringleader-dev/ringleader/internal/credentials"
	"github.com/ringleader-dev/ringleader/internal/web"
	"github.com/ringleader-dev/ringleader/proto"
)

// pki makes credentials for nodes of the clusters blue and green.
type pki struct {
	t   *testing.T
	dir string
	*credentials.Authority
}

func newPKI(t *testing.T) pki {
	t.Helper()
	dir := t.TempDir()
	a, err := credentials.NewAuthority(dir, "blue")
	if err != nil {
		t.Fatal(err)
	}
	return pki{t, dir, a}
}

func (p pki) issue(cluster string, id proto.NodeID, life time.Duration) string {
	p.t.Helper()
	dir, err := p.Issue(credentials.Identity{Cluster: cluster, ID: id}, nil, life)
	if err != nil {
		p.t.Fatal(err)
	}
	return dir
}

// node returns the keeper of a node.
func (p pki) node(cluster string, id proto.NodeID) *credentials.Keeper {
	p.t.Helper()
	k, err := credentials.Open(p.issue(cluster, id, time.Hour), credentials.Identity{Cluster: cluster, ID: id})
	if err != nil {
		p.t.Fatal(err)
	}
	return k
}

// operator returns the keeper of one who asks.
func (p pki) operator() *credentials.Keeper {
	p.t.Helper()
	dir, err := p.Operator()
	if err != nil {
		p.t.Fatal(err)
	}
	k, err := credentials.Asking(dir)
	if err != nil {
		p.t.Fatal(err)
	}
	return k
}

// lockedBuffer is a buffer that goroutines share.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// serveWith runs Serve on a real listener until the test's end, and returns its address and its log.
func serveWith(t *testing.T, cfg Config) (addr string, logged *lockedBuffer) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	logged = &lockedBuffer{}
	cfg.ErrorLog = log.New(logged, "", 0)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- Serve(ctx, ln, cfg) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return ln.Addr().String(), logged
}

// Over HTTPS the client gets what the server knows, and a token goes with questions, too.
func TestClientAndServerOverTLS(t *testing.T) {
	p := newPKI(t)
	cfg, control := secured(t)
	cfg.TLS = p.node("blue", 3).Web
	addr, _ := serveWith(t, cfg)
	ask := p.operator().Ask()
	c := Client{Addr: addr, TLS: ask, Token: token}
	if s, err := c.Status(t.Context()); err != nil || s.Self != 3 {
		t.Errorf("Status = %+v, %v", s, err)
	}
	if _, err := c.Do(t.Context(), Pause, Order{}); err != nil || len(control.asked) != 1 {
		t.Errorf("Do: %v, asked %q", err, control.asked)
	}
	c.Token = ""
	if h, err := c.Health(t.Context()); err != nil || !h.OK || h.Ineligible != "" {
		t.Errorf("Health without a token = %+v, %v", h, err)
	}
	for token, says := range map[string]string{
		"": "needs a token of the role read", otherToken: "the token is not this node's",
	} {
		c.Token = token
		if _, err := c.Leader(t.Context()); !errors.Is(err, ErrForbidden) || !strings.Contains(err.Error(), says) {
			t.Errorf("Leader with the token %.5q: %v", token, err)
		}
	}
	c.Token = readToken
	if _, err := c.Do(t.Context(), Pause, Order{}); !errors.Is(err, ErrForbidden) ||
		!strings.Contains(err.Error(), "may only read") || len(control.asked) != 1 {
		t.Errorf("Do with a token that reads: %v, asked %q", err, control.asked)
	}
	var last error
	for c.Token = otherToken; last == nil || !strings.Contains(last.Error(), "too many wrong tokens"); {
		if _, last = c.Leader(t.Context()); !errors.Is(last, ErrForbidden) {
			t.Fatalf("a guess: %v", last)
		}
	}
}

// "TLS on one side only (both sides say so in words)."
func TestTLSOnOneSideOnly(t *testing.T) {
	p := newPKI(t)
	cfg, control := secured(t)
	cfg.TLS = p.node("blue", 3).Web
	addr, logged := serveWith(t, cfg)
	plain := Client{Addr: addr, Token: token}
	if _, err := plain.Status(t.Context()); !errors.Is(err, ErrHTTPS) ||
		!strings.Contains(err.Error(), "--credentials") {
		t.Errorf("plain Status = %v", err)
	}
	order := Order{Reason: strings.Repeat("x", MaxReason)}
	if _, err := plain.Do(t.Context(), Pause, order); !errors.Is(err, ErrHTTPS) || len(control.asked) > 0 {
		t.Errorf("plain Do = %v, asked %q", err, control.asked)
	}
	resp, err := http.Get("http://" + addr + "/leader?" + strings.Repeat("x", 3000)) // as curl does
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if body := bodyOf(t, resp); resp.StatusCode != 400 || !strings.Contains(body, "this node serves HTTPS") {
		t.Errorf("code %d: %s", resp.StatusCode, body)
	}
	if !strings.Contains(logged.String(), "the client speaks plain HTTP") {
		t.Errorf("the node logged %s", logged)
	}
	secure := Client{Addr: serve(t, fixed(well())), TLS: p.operator().Ask(), Token: token}
	// "Nothing was sent then." The advice must not make somebody send a token in clear.
	_, err = secure.Do(t.Context(), Pause, Order{})
	if !errors.Is(err, ErrPlainHTTP) {
		t.Fatalf("secure Do = %v", err)
	}
	for _, says := range []string{"no request was sent", "only on its own machine", "a token would go in clear"} {
		if !strings.Contains(err.Error(), says) {
			t.Errorf("secure Do = %v, want %q in it", err, says)
		}
	}
}

// The client says why it does not believe a node, and has not sent its token then.
func TestNodesThatAreNotBelieved(t *testing.T) {
	p, other := newPKI(t), newPKI(t)
	serving := func(k *credentials.Keeper) string {
		cfg, _ := secured(t)
		cfg.TLS = k.Web
		addr, _ := serveWith(t, cfg)
		return addr
	}
	expired := selfServing(t, p.issue("blue", 4, -time.Minute))
	revoked := serving(p.node("blue", 5))
	if err := p.Revoke(5); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, addr string
		ask        *credentials.Keeper
		says       []string
	}{
		{"another authority", serving(other.node("blue", 3)), p.operator(), []string{"no authority of ca.crt vouches"}},
		{"another cluster", serving(p.node("green", 7)), p.node("blue", 1), []string{`cluster "green"`, `"blue"`}},
		{"a revoked node", revoked, p.operator(), []string{"was revoked"}},
		{"an expired one", expired, p.operator(), []string{
			"expired on ", "this machine's clock says " + time.Now().UTC().Format("2006-01-02T"),
		}},
	} {
		_, err := Client{Addr: c.addr, TLS: c.ask.Ask(), Token: token}.Status(t.Context())
		if !errors.Is(err, ErrUntrusted) {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		for _, says := range c.says {
			if !strings.Contains(err.Error(), says) {
				t.Errorf("%s: %v, want %q in it", c.name, err, says)
			}
		}
	}
	roots := x509.NewCertPool() // a configuration of the user's own
	_, err := Client{Addr: serving(p.node("blue", 6)), TLS: &tls.Config{RootCAs: roots}}.Status(t.Context())
	if !errors.Is(err, ErrUntrusted) {
		t.Errorf("with roots of another: %v", err)
	}
}

// selfServing returns where a server of HTTPS shows the certificate in dir, whatever it is.
func selfServing(t *testing.T, dir string) string {
	t.Helper()
	pair, err := tls.LoadX509KeyPair(dir+"/tls.crt", dir+"/tls.key")
	if err != nil {
		t.Fatal(err)
	}
	cfg, _ := secured(t)
	cfg.TLS = func(conn net.Conn) *tls.Conn {
		return tls.Server(conn, &tls.Config{Certificates: []tls.Certificate{pair}})
	}
	addr, _ := serveWith(t, cfg)
	return addr
}

// What is no TLS at all, and who never finishes a handshake, loses the connection in time.
func TestNoHandshakeIsCutOff(t *testing.T) {
	keeper := newPKI(t).node("blue", 3)
	for name, says := range map[string]string{
		"nothing": "", "half a record": "\x16\x03\x01", "garbage": "\x00\xffgarbage",
	} {
		synctest.Test(t, func(t *testing.T) {
			cfg, _ := secured(t)
			cfg.TLS = keeper.Web
			dial, stop := inMemoryWith(t, cfg)
			conn, began := dial(), time.Now()
			_, _ = io.WriteString(conn, says)
			_, _ = io.Copy(io.Discard, conn)
			if took := time.Since(began); took > web.HeaderLimit+time.Second {
				t.Errorf("%s: the connection stays for %v", name, took)
			}
			_ = conn.Close()
			stop()
		})
	}
}
