package httpapi

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ringleader-dev/ringleader/internal/web"
)

// fixed is a Source that always says the same, with a loop that ticks.
type fixed Snapshot

func (f fixed) Snapshot() Snapshot {
	s := Snapshot(f)
	s.LastTick = time.Now()
	return s
}

func ask(h http.Handler, method, path string) *http.Response {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(method, path, nil))
	return w.Result()
}

func bodyOf(t *testing.T, resp *http.Response) string {
	t.Helper()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// Promise: "/leader 200 on the leader and 503 elsewhere; HEAD and OPTIONS too",
// and likewise for what else load balancers probe.
func TestCodes(t *testing.T) {
	hung := with(func(s *Snapshot) { s.Running = false })
	leader := with(func(s *Snapshot) { s.Leader.ID = 3 })
	cases := []struct {
		name, path string
		in         Snapshot
		code       int
		says       string
	}{
		{"well", "/healthz", well(), 200, `{"self":3,"ok":true}`},
		{"hung", "/healthz", hung, 503, `"reason":"the election loop`},
		{"well", "/readyz", well(), 200, `{"self":3,"ok":true}`},
		{"hung", "/readyz", hung, 503, `"reason":"the election loop`},
		{"leader", "/leader", leader, 200, `"is_leader":true,"leader":3`},
		{"follower", "/leader", well(), 503, `"is_leader":false,"leader":5,"leader_addr":"h5:2"`},
		{"hung", "/leader", hung, 503, `"leader":0`},
		{"well", "/v1/status", well(), 200, `"role":"follower"`},
		{"hung", "/v1/status", hung, 200, `"healthy":false`},
		{"well", "/v1/members", well(), 200, `{"self":3,"members":[{"id":1,"incarnation":"01",` +
			`"attr":-4,"gossip_addr":"h1:1","election_addr":"h1:2"},`},
		{"no members", "/v1/members", Snapshot{Self: 3}, 200, `{"self":3,"members":[]}`},
		{"well", "/version", well(), 200, `{"version":"v1"}`},
		{"well", "/", well(), 404, `there are /healthz`},
		{"well", "/healthz/", well(), 404, `there are /healthz`},
		{"well", "/v1/elections", well(), 404, `there are /healthz`},
	}
	for _, c := range cases {
		h := Handler(Config{Source: fixed(c.in), Version: map[string]string{"version": "v1"}})
		for _, method := range []string{"GET", "HEAD", "OPTIONS"} {
			t.Run(c.name+" "+method+" "+c.path, func(t *testing.T) {
				resp := ask(h, method, c.path)
				if resp.StatusCode != c.code {
					t.Errorf("code %d, want %d", resp.StatusCode, c.code)
				}
				if body := bodyOf(t, resp); !strings.Contains(body, c.says) {
					t.Errorf("says %s\nwant %s in it", body, c.says)
				}
				for header, want := range map[string]string{
					"Content-Type": "application/json", "Cache-Control": "no-store",
				} {
					if got := resp.Header.Get(header); got != want {
						t.Errorf("%s: %q, want %q", header, got, want)
					}
				}
			})
		}
	}
}

// Promise: "No GET changes anything; other methods 405 with Allow."
func TestMethodsRefused(t *testing.T) {
	h := Handler(Config{Source: fixed(well())})
	for _, path := range []string{
		"/healthz", "/readyz", "/leader", "/v1/status", "/v1/members", "/version",
	} {
		for _, method := range []string{"POST", "PUT", "PATCH", "DELETE", "TRACE", "X"} {
			resp := ask(h, method, path)
			if resp.StatusCode != http.StatusMethodNotAllowed {
				t.Errorf("%s %s: code %d, want 405", method, path, resp.StatusCode)
			}
			if allow := resp.Header.Get("Allow"); allow != "GET, HEAD, OPTIONS" {
				t.Errorf("%s %s: Allow: %q", method, path, allow)
			}
		}
	}
}

// A version that cannot be JSON is an error, not half an answer.
func TestUnspeakableVersion(t *testing.T) {
	resp := ask(Handler(Config{Source: fixed(well()), Version: func() {}}), "GET", "/version")
	if resp.StatusCode != http.StatusInternalServerError {
		t.Errorf("code %d, want 500", resp.StatusCode)
	}
}

// serve runs Serve on a real listener until the test's end.
func serve(t *testing.T, in Source) (addr string) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- Serve(ctx, ln, Config{Source: in}) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if _, err := net.Dial("tcp", ln.Addr().String()); err == nil {
			t.Error("the listener is still open after Serve")
		}
	})
	return ln.Addr().String()
}

// Promise: HEAD has the code and the header of GET, and no body.
func TestHeadOverTCP(t *testing.T) {
	addr := serve(t, fixed(well()))
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	const request = "HEAD /leader HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
	if _, err := io.WriteString(conn, request); err != nil {
		t.Fatal(err)
	}
	answer, err := io.ReadAll(conn)
	if err != nil {
		t.Fatal(err)
	}
	header, body, _ := strings.Cut(string(answer), "\r\n\r\n")
	if !strings.HasPrefix(header, "HTTP/1.1 503 ") || strings.Contains(header, "Length: 0") ||
		body != "" {
		t.Errorf("HEAD /leader is answered\n%s", answer)
	}
}

func TestHeaderTooLarge(t *testing.T) {
	addr := serve(t, fixed(well()))
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+addr+"/leader", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Long", strings.Repeat("x", 4*web.MaxHeader))
	resp, err := caller.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("code %d, want 431", resp.StatusCode)
	}
}

func TestServeOnAClosedListener(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := ln.Close(); err != nil {
		t.Fatal(err)
	}
	err = Serve(t.Context(), ln, Config{Source: fixed(well())})
	if err == nil || !strings.Contains(err.Error(), ln.Addr().String()) {
		t.Errorf("Serve = %v, want an error that names the address", err)
	}
}

// pipes is a listener in memory, so that time can be virtual.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
}

func (p pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p pipes) Close() error {
	close(p.closed)
	return nil
}

func (pipes) Addr() net.Addr { return &net.UnixAddr{Name: "memory", Net: "unix"} }

// inMemory runs Serve in a bubble; dial connects to it and stop ends it.
func inMemory(t *testing.T, in Source) (dial func() net.Conn, stop func()) {
	return inMemoryWith(t, Config{Source: in})
}

func inMemoryWith(t *testing.T, cfg Config) (dial func() net.Conn, stop func()) {
	ln := pipes{make(chan net.Conn), make(chan struct{})}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	cfg.ErrorLog = log.New(io.Discard, "", 0)
	go func() { done <- Serve(ctx, ln, cfg) }()
	dial = func() net.Conn {
		client, server := net.Pipe()
		ln.conns <- server
		return client
	}
	return dial, func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// Promise: "Server timeouts set (slowloris)": who never finishes a request, never
// reads the answer or never asks again loses the connection.
func TestSlowClientsAreCutOff(t *testing.T) {
	const request = "GET /leader HTTP/1.1\r\nHost: x\r\n"
	drip := func(c net.Conn) { // one header line a second, for ever
		_, err := io.WriteString(c, request)
		for err == nil {
			time.Sleep(time.Second)
			_, err = io.WriteString(c, "X-Slow: 1\r\n")
		}
	}
	cases := []struct {
		name   string
		client func(net.Conn) // returns when it is cut off
		within time.Duration
	}{
		{"says nothing", func(c net.Conn) { _, _ = io.ReadAll(c) }, web.HeaderLimit},
		{"drips its header", drip, web.HeaderLimit + time.Second},
		{"drips its body", func(c net.Conn) {
			_, err := io.WriteString(c, request+"Content-Length: 10000\r\n\r\n")
			go func() { _, _ = io.Copy(io.Discard, c) }()
			for err == nil {
				time.Sleep(100 * time.Millisecond)
				_, err = io.WriteString(c, "x")
			}
		}, limits.Request + time.Second},
		{"never reads", func(c net.Conn) {
			_, err := io.WriteString(c, request+"\r\n")
			for err == nil {
				time.Sleep(time.Second)
				_, err = io.WriteString(c, "x")
			}
		}, limits.Answer + time.Second},
		{"asks once and stays", func(c net.Conn) {
			_, _ = io.WriteString(c, request+"\r\n")
			_, _ = io.ReadAll(c)
		}, limits.Request},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				dial, stop := inMemory(t, fixed(well()))
				conn := dial()
				began := time.Now()
				c.client(conn)
				if took := time.Since(began); took > c.within {
					t.Errorf("held a connection for %v, want at most %v", took, c.within)
				}
				_ = conn.Close()
				stop()
			})
		})
	}
}

// Promise: an answer under way when the node stops is finished.
func TestStopFinishesAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dial, stop := inMemory(t, fixed(well()))
		conn := dial()
		defer conn.Close()
		const request = "GET /leader HTTP/1.1\r\nHost: x\r\n\r\n"
		if _, err := io.WriteString(conn, request); err != nil {
			t.Fatal(err)
		}
		synctest.Wait() // the answer waits for its reader
		stopped := make(chan struct{})
		go func() { stop(); close(stopped) }()
		time.Sleep(limits.Stop / 2)
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		if body := bodyOf(t, resp); !strings.Contains(body, `"leader":5`) {
			t.Errorf("answered %s", body)
		}
		<-stopped
	})
}

// Promise: a client that never takes its answer does not keep the node from
// stopping.
func TestStopDoesNotWaitForSlowClients(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dial, stop := inMemory(t, fixed(well()))
		conn := dial()
		defer conn.Close()
		const request = "GET /leader HTTP/1.1\r\nHost: x\r\n\r\n"
		if _, err := io.WriteString(conn, request); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		began := time.Now()
		stop()
		if took := time.Since(began); took > limits.Stop+time.Second {
			t.Errorf("stopping took %v", took)
		}
	})
}

// "Every answer … of it says 'unauthenticated'": the refusals, too.
func TestUnauthenticatedIsSaid(t *testing.T) {
	h := Handler(Config{Source: fixed(well()), Version: map[string]string{"version": "1"}, Security: "unauthenticated"})
	for _, path := range []string{
		"/healthz", "/readyz", "/leader", "/v1/status", "/v1/members", "/version",
		"/nowhere",
	} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		var said struct{ Security string }
		err := json.Unmarshal(w.Body.Bytes(), &said)
		header := w.Header().Get("Ringleader-Security")
		if err != nil || header != "unauthenticated" || said.Security != "unauthenticated" {
			t.Errorf("%s: header %q, body %s", path, header, w.Body)
		}
	}
}

// docs/SECURITY.md: "each answer to a request that is well formed" says "unauthenticated", whatever it asks for.
func TestEachAnswerSaysWhatAuthenticates(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		done <- Serve(ctx, ln, Config{Source: fixed(with(func(*Snapshot) {})), Security: "unauthenticated"})
	}()
	defer func() {
		cancel()
		if err := <-done; err != nil && !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}()
	for _, first := range []string{
		"GET /v1/status", "GET /v1//status", "POST /v1/pause", "OPTIONS *", "GET *", "CONNECT 127.0.0.1:1", "FOO /",
	} {
		conn, err := net.Dial("tcp", ln.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		_, err1 := fmt.Fprintf(conn, "%s HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n", first)
		answer, err2 := io.ReadAll(conn)
		if err := errors.Join(err1, err2, conn.Close()); err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(answer), "nauthenticated"); n != 2 {
			t.Errorf("%s: said %d times, want it in the header and in the body:\n%s", first, n, answer)
		}
	}
}
