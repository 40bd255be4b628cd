package kv

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/ringleader-dev/ringleader/fence"
	"github.com/ringleader-dev/ringleader/fence/fencehttp"
	"github.com/ringleader-dev/ringleader/fence/fencetest"
	"github.com/ringleader-dev/ringleader/fence/store"
)

// running is a service.
type running struct {
	Client
	store *store.Store

	mu      sync.Mutex
	refused []string
}

func start(t *testing.T) *running {
	t.Helper()
	s, err := store.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	r := &running{store: s}
	srv := httptest.NewServer(NewHandler(s, func(req *http.Request, err error) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.refused = append(r.refused, req.Method+" "+err.Error())
	}))
	r.Client = NewClient(srv.URL)
	t.Cleanup(func() {
		srv.Close()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// ask sends one request with a token, or without one.
func (r *running) ask(t *testing.T, method, path, body string, tokens ...fence.Token) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, r.Base+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for _, token := range tokens {
		req.Header.Add(fencehttp.Header, token.String())
	}
	resp, err := r.HTTP.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = resp.Body.Close() })
	return resp
}

func wantStatus(t *testing.T, resp *http.Response, want int) string {
	t.Helper()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode != want {
		t.Errorf("%s %s: %s, want %d: %s", resp.Request.Method, resp.Request.URL, resp.Status, want, body)
	}
	if kind := resp.Header.Get("Content-Type"); want >= 400 && kind != fencehttp.ProblemType &&
		resp.Request.Method != http.MethodHead {
		t.Errorf("%s %s: %s, want a problem: %s", resp.Request.Method, resp.Request.URL, kind, body)
	}
	return string(body)
}

// storage is one key of a service.
type storage struct{ Client }

func (s storage) Write(ctx context.Context, t fence.Token, value string) error {
	return s.Put(ctx, t, "k", []byte(value))
}

func (s storage) Read(ctx context.Context) (string, error) {
	v, err := s.Get(ctx, fence.Token{}, "k")
	if errors.Is(err, store.ErrNotFound) {
		return "", nil
	}
	return string(v.Data), err
}

func TestStorage(t *testing.T) {
	t.Run("rules", func(t *testing.T) { fencetest.Rules(t, storage{start(t).Client}) })
	t.Run("race", func(t *testing.T) {
		r := start(t)
		fencetest.Race(t, storage{r.Client})
		status, err := r.Status(t.Context())
		if c := status.Calls; err != nil || c.Stale == 0 || c.OtherHolder == 0 || c.Accepted == 0 {
			t.Errorf("the meter does not show the race: %+v, %v", c, err)
		}
	})
}

// Promise: "checks a token on each write and answers a stale one with a clear
// 412 and the current token".
func TestAnswers(t *testing.T) {
	r := start(t)
	four, five, six := fencetest.Token(4, 1), fencetest.Token(5, 2), fencetest.Token(6, 3)
	wantStatus(t, r.ask(t, "GET", "/v1/kv/a", ""), 404)
	put := r.ask(t, "PUT", "/v1/kv/a", "1", five)
	wantStatus(t, put, 204)
	if got := put.Header.Get(fencehttp.Header); got != five.String() {
		t.Errorf("the write's answer gives token %q", got)
	}
	stale := r.ask(t, "PUT", "/v1/kv/a", "2", four)
	body := wantStatus(t, stale, 412)
	if !strings.Contains(body, `"current":"`+five.String()+`"`) ||
		stale.Header.Get(fencehttp.Header) != five.String() {
		t.Errorf("the highest token is not told: %s", body)
	}
	wantStatus(t, r.ask(t, "DELETE", "/v1/kv/a", "", four), 412)
	wantStatus(t, r.ask(t, "POST", "/v1/seal", "", four), 412)
	wantStatus(t, r.ask(t, "PUT", "/v1/kv/a", "2"), 428)
	wantStatus(t, r.ask(t, "PUT", "/v1/kv/a", "2", five, five), 400)
	wantStatus(t, r.ask(t, "PUT", "/v1/kv/a", "2", fence.Token{}), 400)

	wantStatus(t, r.ask(t, "GET", "/v1/kv/a", "", six), 412)
	wantStatus(t, r.ask(t, "POST", "/v1/seal", "", six), 204)
	got := r.ask(t, "GET", "/v1/kv/a", "", six)
	if body := wantStatus(t, got, 200); body != "1" || got.Header.Get(WrittenBy) != five.String() {
		t.Errorf("read %q, written by %s", body, got.Header.Get(WrittenBy))
	}
	wantStatus(t, r.ask(t, "GET", "/v1/kv/a", "", five), 412)
	wantStatus(t, r.ask(t, "HEAD", "/v1/kv/a", ""), 200)
	wantStatus(t, r.ask(t, "DELETE", "/v1/kv/a", "", six), 204)
	wantStatus(t, r.ask(t, "GET", "/v1/kv/a", ""), 404)

	status, err := r.Status(t.Context())
	want := fence.Counts{Accepted: 3, Stale: 3, Missing: 1, Malformed: 2}
	if err != nil || status.Token != six || status.Calls != want {
		t.Errorf("the status is %+v, %v, want %v and %+v", status, err, six, want)
	}
	if len(r.refused) != 6 || !strings.HasPrefix(r.refused[0], "PUT token "+four.String()) {
		t.Errorf("told of what was refused: %q", r.refused)
	}
}

// A path means one key, or none; no redirect leads to another.
func TestPaths(t *testing.T) {
	r := start(t)
	five := fencetest.Token(5, 1)
	for path, key := range map[string]string{
		"a": "a", "a/b": "a/b", "a%2Fb%25": "a/b%", "a//b": "a//b", "../a": "../a", ".": ".",
		"%D0%BA%20%F0%9F%94%91": "к 🔑", "a%3Fb": "a?b", "a+b": "a+b", "a/": "a/",
	} {
		wantStatus(t, r.ask(t, "PUT", "/v1/kv/"+path, "value of "+key, five), 204)
		if v, err := r.store.Get(key); err != nil || string(v.Data) != "value of "+key {
			t.Errorf("%s: under %q is %q, %v", path, key, v.Data, err)
		}
		if v, err := r.Get(t.Context(), five, key); err != nil || string(v.Data) != "value of "+key {
			t.Errorf("the client reads %q under %q, %v", v.Data, key, err)
		}
	}
	for _, path := range []string{"", "a%00", "%FF", "a%0Ab", strings.Repeat("k", store.MaxKey+1)} {
		wantStatus(t, r.ask(t, "PUT", "/v1/kv/"+path, "", five), 400)
		wantStatus(t, r.ask(t, "GET", "/v1/kv/"+path, ""), 400)
	}
	for _, path := range []string{"/", "/v1/kv", "/v1/seal/", "/V1/seal", "//v1/seal", "/v1/kvx"} {
		wantStatus(t, r.ask(t, "GET", path, ""), 404)
	}
	for path, allowed := range map[string]string{
		"/v1/kv/a": "OPTIONS, DELETE, GET, PUT, HEAD", "/v1/seal": "OPTIONS, POST",
		"/v1/status": "OPTIONS, GET, HEAD", "/healthz": "OPTIONS, GET, HEAD",
	} {
		refused := r.ask(t, "PATCH", path, "", five)
		wantStatus(t, refused, 405)
		asked := r.ask(t, "OPTIONS", path, "")
		wantStatus(t, asked, 204)
		if a, b := refused.Header.Get("Allow"), asked.Header.Get("Allow"); a != allowed || b != allowed {
			t.Errorf("%s allows %q and %q, want %q", path, a, b, allowed)
		}
	}
	wantStatus(t, r.ask(t, "GET", "/healthz", ""), 200)
}

// A value over the limit, or one that did not arrive whole, is not kept.
func TestBodies(t *testing.T) {
	r := start(t)
	five := fencetest.Token(5, 1)
	large := bytes.Repeat([]byte("x"), store.MaxValue+1)
	wantStatus(t, r.ask(t, "PUT", "/v1/kv/a", string(large), five), 413)
	wantStatus(t, r.ask(t, "PUT", "/v1/kv/a", string(large[:store.MaxValue]), five), 204)
	if v, err := r.Get(t.Context(), five, "a"); err != nil || len(v.Data) != store.MaxValue {
		t.Errorf("%d bytes, %v", len(v.Data), err)
	}
	for name, body := range map[string]string{
		"shorter than said": "PUT /v1/kv/b HTTP/1.1\r\nContent-Length: 10\r\n",
		"a broken chunk":    "PUT /v1/kv/b HTTP/1.1\r\nTransfer-Encoding: chunked\r\n",
	} {
		conn, err := net.Dial("tcp", strings.TrimPrefix(r.Base, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(conn, "%sHost: x\r\n%s: %v\r\n\r\n5\r\nhe", body, fencehttp.Header, five)
		if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
			t.Fatal(err)
		}
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		if resp.StatusCode != http.StatusBadRequest {
			t.Errorf("%s: %s", name, resp.Status)
		}
		_ = conn.Close()
	}
	if _, err := r.Get(t.Context(), five, "b"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("half a value was kept: %v", err)
	}
}

// A page of another site cannot write through a browser.
func TestCrossOrigin(t *testing.T) {
	r := start(t)
	req, err := http.NewRequestWithContext(t.Context(), "POST", r.Base+"/v1/seal", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set(fencehttp.Header, fencetest.Token(5, 1).String())
	req.Header.Set("Origin", "https://other.example")
	resp, err := r.HTTP.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	wantStatus(t, resp, 403)
}
