package all

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/internal/needs"
	"github.com/ringleader-dev/ringleader/internal/storeserver"
	"github.com/ringleader-dev/ringleader/store"
	"github.com/ringleader-dev/ringleader/store/storetest"
)

// listen accepts connections, and gives each to f.
func listen(t *testing.T, f func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				f(c)
			}()
		}
	}()
	return l.Addr().String()
}

// inTLS returns the address of a server behind TLS.
func inTLS(t *testing.T, pair tls.Certificate, address string) string {
	t.Helper()
	secure := &tls.Config{
		Certificates: []tls.Certificate{pair},
		NextProtos:   []string{"h2"},
		MinVersion:   tls.VersionTLS12,
	}
	return listen(t, func(c net.Conn) {
		outer := tls.Server(c, secure)
		if outer.Handshake() != nil {
			return
		}
		inner, err := net.Dial("tcp", address)
		if err != nil {
			return
		}
		go func() {
			_, _ = io.Copy(outer, inner)
			_ = c.Close()
		}()
		_, _ = io.Copy(inner, outer)
		_ = inner.Close()
	})
}

// web is a web server that answers everything with this code.
func web(t *testing.T, code int, start func(*httptest.Server)) string {
	t.Helper()
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(code)
	}))
	start(s)
	t.Cleanup(s.Close)
	return s.Listener.Addr().String()
}

// Promise: another product, TLS where none is wanted and none where TLS is are refused with what was found and what
// to do. Of a server that says nothing, or ends connections, nothing is concluded.
func TestAnotherProduct(t *testing.T) {
	cert, key := storetest.Pair(t)
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		t.Fatal(err)
	}
	ca := "ca=" + cert
	end := make(chan struct{})
	at := map[string]string{
		"http": web(
			t,
			http.StatusNotFound,
			(*httptest.Server).Start,
		), "https": web(t, 404, (*httptest.Server).StartTLS),
		"silent": listen(t, func(net.Conn) { <-end }), "closing": listen(t, func(net.Conn) {}),
		"proxy": web(t, http.StatusServiceUnavailable, (*httptest.Server).Start),
		"ssh": listen(t, func(c net.Conn) {
			_, _ = io.WriteString(c, "SSH-2.0-OpenSSH_9.2\r\n")
			<-end
		}),
	}
	t.Cleanup(func() { close(end) })
	for _, kind := range storeserver.Kinds() {
		s, err := storeserver.Start(t.Context(), kind)
		if errors.Is(err, storeserver.ErrMissing) {
			needs.Here(t, "the servers of all stores", err)
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		at[kind], at[kind+"-tls"] = s.Address(), inTLS(t, pair, s.Address())
	}
	names := map[string]string{
		"etcd": "is etcd", "zookeeper": "is ZooKeeper", "redis": "is Redis", "postgres": "is PostgreSQL",
		"http": "HTTP server", "ssh": "SSH server",
	}
	type row struct{ scheme, option, server, want string } // an empty want for a server that may be down
	var rows []row
	for _, scheme := range []string{"etcd", "zookeeper", "redis", "postgres", "kubernetes"} {
		for _, option := range []string{"", ca} {
			for _, server := range []string{"silent", "closing"} {
				rows = append(rows, row{scheme, option, server, ""})
			}
			for server, name := range names {
				switch found := "cannot be used"; { // what the client library says
				case server == scheme, scheme == "kubernetes" && (server == "http" || server == "etcd"):
				case server == "http", server == "ssh", scheme == "etcd" && option == "" && server == "redis",
					scheme == "zookeeper" && option == "" && server == "postgres":
					rows = append(rows, row{scheme, option, server, found})
				default:
					rows = append(rows, row{scheme, option, server, name})
				}
			}
		}
	}
	rows = append(
		rows,
		row{"etcd", "", "etcd-tls", "is etcd over TLS: give tls=true or ca=FILE"},
		row{"etcd", ca, "etcd", "is etcd without TLS: leave out tls, ca and cert"},
		row{"etcd", ca, "zookeeper-tls", "is ZooKeeper: correct the address"},
		row{"etcd", "", "https", "is an HTTP server over TLS: give tls=true"},
		row{"zookeeper", "", "zookeeper-tls", "is ZooKeeper over TLS: give tls=true or ca=FILE"},
		row{"zookeeper", ca, "zookeeper", "is ZooKeeper without TLS: leave out tls, ca and cert"},
		row{"zookeeper", ca, "etcd-tls", "is etcd: correct the address"},
		row{"zookeeper", "", "https", "is an HTTP server over TLS: correct the address"},
		row{"redis", "", "redis-tls", "is Redis over TLS: write rediss://"},
		row{"redis", ca, "redis", "is Redis without TLS: write redis://, without tls=true"},
		row{"redis", ca, "etcd-tls", "is etcd: correct the address"},
		row{"redis", "", "zookeeper-tls", "is ZooKeeper over TLS: correct the address"},
		row{"postgres", "", "redis-tls", "is Redis over TLS: correct the address"},
		row{"postgres", ca, "postgres", "does not speak TLS: leave tls out"},
		row{"kubernetes", "", "https", "write server=https://"},
		row{"kubernetes", ca, "http", "write server=http://"},
		row{"etcd", ca, "proxy", "leave out tls"},
	)
	for _, r := range rows {
		option, _, _ := strings.Cut(r.option, "=")
		t.Run(fmt.Sprintf("%s to %s with %q", r.scheme, r.server, option), func(t *testing.T) {
			url := r.scheme + "://" + at[r.server] + "/x?" + r.option
			if r.scheme == "kubernetes" {
				scheme := map[string]string{"": "http", ca: "https"}[r.option]
				url = "kubernetes://default/x?server=" + scheme + "://" + at[r.server] + "&" + r.option
			}
			s, err := Parse(url)
			if err != nil {
				t.Fatal(err)
			}
			p := storetest.Open(t, s, 1, max(s.MinTTL(), 10*time.Second))
			t.Parallel()
			ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
			defer cancel()
			err = p.Check(ctx)
			t.Logf("%v", err)
			if err == nil || errors.Is(err, store.ErrWrong) != (r.want != "") ||
				!strings.Contains(err.Error(), r.want) {
				t.Errorf("%v, want %q", err, r.want)
			}
		})
	}
}
