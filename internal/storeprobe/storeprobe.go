// Package storeprobe finds out what is behind an address where a store should be and does not answer as one:
// another product, or the same with TLS where none is wanted, or without.
//
// It knows a product only by what it says itself. A server that says nothing, or ends the connection, may be
// starting, or be paused: of that nothing is concluded.
package storeprobe

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/ringleader-dev/ringleader/store"
)

// The products, as people call them.
const (
	Etcd       = "etcd"
	ZooKeeper  = "ZooKeeper"
	Redis      = "Redis"
	PostgreSQL = "PostgreSQL"
	Kubernetes = "the API server of Kubernetes"
	web        = "an HTTP server"
	secureWeb  = "an HTTP server that wants TLS"
	ssh        = "an SSH server"
)

// patience bounds the time in which a server says what it is: a busy one, over TLS, needs more than a moment.
const patience = 3 * time.Second

// Target is a store as it is configured.
type Target struct {
	Product string
	Servers []string    // each with its port
	TLS     *tls.Config // nil without TLS
	// What to do if the servers want TLS and none is configured, and if they have none and TLS is configured.
	WantsTLS, HasNone string
}

// Check runs check. If that fails, and it is not known that the configuration is to blame, it finds out what the
// servers are in the rest of the time that ctx has, and returns an error that wraps store.ErrWrong if one of them
// is not what it should be.
func (t Target) Check(ctx context.Context, check func(context.Context) error) error {
	most, cancel := ctx, func() {}
	if end, ok := ctx.Deadline(); ok {
		most, cancel = context.WithDeadline(ctx, end.Add(-min(patience, time.Until(end)/3)))
	}
	err := check(most)
	cancel()
	if err == nil || errors.Is(err, store.ErrWrong) || ctx.Err() != nil {
		return err
	}
	ctx, cancel = context.WithTimeout(ctx, patience)
	defer cancel()
	found := make([]error, len(t.Servers))
	var all sync.WaitGroup
	for i, server := range t.Servers {
		all.Go(func() { found[i] = t.blame(ctx, server) })
	}
	all.Wait()
	if other := errors.Join(found...); other != nil {
		return fmt.Errorf("%w (%w)", other, err)
	}
	return err
}

// blame returns what is wrong with a server; nil if that is not known.
func (t Target) blame(ctx context.Context, server string) error {
	var plain, encrypted string
	var wantsTLS, hasNone bool
	var both sync.WaitGroup
	both.Go(func() { plain = find(ctx, server, nil) })
	both.Go(func() {
		lax := &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12} // it is told no secret
		if t.TLS != nil {
			lax.GetClientCertificate = t.TLS.GetClientCertificate
		}
		if wantsTLS, hasNone = handshakes(ctx, server, lax); wantsTLS {
			encrypted = find(ctx, server, lax)
		}
	})
	both.Wait()
	if plain == secureWeb {
		plain, wantsTLS = "", true
	}
	secure := t.TLS != nil && t.Product != PostgreSQL // which is asked for TLS without TLS
	own, other, where, do := plain, encrypted, " over TLS", t.WantsTLS
	if secure {
		own, other, where, do = encrypted, plain, " without TLS", t.HasNone
	}
	what := ""
	switch correct := "correct the address, or the scheme of the URL"; {
	case t.is(own):
		return nil
	case own != "":
		what, do = own, correct
	case t.is(other):
		what = other + where
	case other != "":
		what, do = other+where, correct
	case wantsTLS && !secure:
		what = "a server that wants TLS"
	case hasNone && secure:
		what = "a server without TLS"
	default:
		return nil
	}
	return fmt.Errorf("%w: %s is %s: %s", store.ErrWrong, server, what, do)
}

// is reports whether what was found may be what is wanted. A proxy before etcd or Kubernetes is a web server.
func (t Target) is(found string) bool {
	return found == t.Product || found == web && (t.Product == Kubernetes || t.Product == Etcd)
}

func dial(ctx context.Context, server string, secure *tls.Config) (net.Conn, error) {
	if secure == nil {
		return new(net.Dialer).DialContext(ctx, "tcp", server)
	}
	return (&tls.Dialer{Config: secure}).DialContext(ctx, "tcp", server)
}

// handshakes reports whether the server speaks TLS, since it agrees on it or says in its terms why not, or whether
// it answers with something else. Both are false if it does not answer.
func handshakes(ctx context.Context, server string, secure *tls.Config) (yes, no bool) {
	conn, err := dial(ctx, server, secure)
	if err != nil {
		_, no = errors.AsType[tls.RecordHeaderError](err)
		return strings.Contains(err.Error(), "remote error: tls: "), no
	}
	_ = conn.Close()
	return true, false
}

// questions are what each product answers in a way of its own.
var questions = []struct {
	ask  string
	read func(answer string) (product string)
}{
	{"PING\r\n", func(a string) string {
		for _, own := range []string{"+PONG\r\n", "-NOAUTH ", "-LOADING ", "-MASTERDOWN ", "-DENIED ", "-NOPERM "} {
			if strings.HasPrefix(a, own) {
				return Redis
			}
		}
		return ""
	}},
	{"srvr", func(a string) string {
		for _, own := range []string{"Zookeeper version: ", "srvr is not executed ", "This ZooKeeper instance "} {
			if strings.HasPrefix(a, own) {
				return ZooKeeper
			}
		}
		return ""
	}},
	{"\x00\x00\x00\x08\x04\xd2\x16\x2f", func(a string) string { // may I have TLS?
		if a == "S" || a == "N" {
			return PostgreSQL
		}
		return ""
	}},
	{"GET /version HTTP/1.0\r\n\r\n", func(a string) string {
		switch {
		case strings.HasPrefix(a, "SSH-"):
			return ssh
		case !strings.HasPrefix(a, "HTTP/1."):
			return ""
		case strings.Contains(a, `"etcdserver"`):
			return Etcd
		case strings.Contains(a, `"gitVersion"`):
			return Kubernetes
		case strings.Contains(a, "HTTP request to an HTTPS server"),
			strings.Contains(a, "HTTP request was sent to HTTPS"):
			return secureWeb
		case strings.HasPrefix(a[min(len("HTTP/1.1 "), len(a)):], "5"):
			return "" // a proxy may say this of a store that is down
		}
		return web
	}},
}

// find asks who is there; "" if that is not told.
func find(ctx context.Context, server string, secure *tls.Config) string {
	answers := make([]string, len(questions))
	var all sync.WaitGroup
	for i, q := range questions {
		all.Go(func() { answers[i] = q.read(says(ctx, server, secure, q.ask)) })
	}
	all.Wait()
	for _, product := range answers {
		if product != "" {
			return product
		}
	}
	return ""
}

// most is how much of an answer is read.
const most = 4096

// says returns the beginning of the answer to what is sent.
func says(ctx context.Context, server string, secure *tls.Config, words string) string {
	conn, err := dial(ctx, server, secure)
	if err != nil {
		return ""
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })()
	if _, err := io.WriteString(conn, words); err != nil {
		return ""
	}
	var answer bytes.Buffer
	_, _ = io.Copy(&answer, &io.LimitedReader{R: conn, N: most}) // to the end, or for as long as there is time
	return answer.String()
}
