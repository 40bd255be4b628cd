package httpapi

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"iter"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

const (
	readToken  = "read-0123456789abcdef"
	otherToken = "other-0123456789abcde"
)

// taking returns a source of tokens for a Config: one token that may operate, or none.
func taking(t *testing.T, text string) func() Tokens {
	t.Helper()
	if text == "" {
		return nil
	}
	all, err := ParseTokens(text)
	if err != nil {
		t.Fatal(err)
	}
	return func() Tokens { return all }
}

const bothTokens = "# who may do what\noperate " + token + "\n\n read  " + readToken + " \n"

// secured returns a Config of a node that serves HTTPS. A Handler serves requests that its test makes itself.
func secured(t *testing.T) (Config, *controlled) {
	control := &controlled{}
	return Config{
		Source: fixed(with(func(s *Snapshot) { s.Ineligible = "paused by 10.0.0.9: node 5 moves" })), Control: control,
		Lender: noLender{}, TLS: noTLS, Tokens: taking(t, bothTokens), Version: "v1",
		ErrorLog: log.New(io.Discard, "", 0),
	}, control
}

// noTLS is never called.
func noTLS(net.Conn) *tls.Conn { panic("a Handler has no connections") }

type noLender struct{}

func (noLender) Lend(context.Context) (Lease, error) { return Lease{}, ErrNotLeader }
func (noLender) Return(uint64) bool                  { return false }

func request(h http.Handler, method, path, token string, edits ...func(*http.Request)) *http.Response {
	r := httptest.NewRequest(method, path, nil)
	r.RemoteAddr = "127.0.0.1:1"
	r.Host = "127.0.0.1:7948"
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	for _, edit := range edits {
		edit(r)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result()
}

// Over TLS each path asks for a token, probes aside, from this machine too; and reading is not operating.
func TestRoles(t *testing.T) {
	cfg, control := secured(t)
	const open, read, operate = "", "read", "operate"
	for _, c := range []struct{ method, path, needs string }{
		{"GET", "/healthz", open},
		{"HEAD", "/readyz", open},
		{"GET", "/leader", read},
		{"HEAD", "/leader", read},
		{"OPTIONS", "/leader", read},
		{"GET", "/v1/status", read},
		{"GET", "/v1/members", read},
		{"GET", "/v1/events", read},
		{"GET", "/version", read},
		{"GET", "/nothing", read},
		{"GET", "/", read},
		{"POST", "/leader", read},
		{"POST", "/v1/transfer", operate},
		{"POST", "/v1/resign", operate},
		{"POST", "/v1/pause", operate},
		{"POST", "/v1/resume", operate},
		{"POST", "/v1/elections", operate},
		{"GET", "/v1/elections", operate},
		{"POST", "/v1/lease", operate},
		{"POST", "/v1/keys", operate},
		{"DELETE", "/v1/lease/7", operate},
		{"GET", "/v1//status", read}, // no path but those above is one of them
		{"GET", "//healthz", read},
		{"GET", "/leader/../healthz", read},
		{"GET", "/healthz/", read},
		{"POST", "/v1//pause", read},
		{"CONNECT", "127.0.0.1:1", read},
		{"OPTIONS", "*", read},
	} {
		for _, who := range []struct {
			token string
			code  map[string]int // by what the path needs; 0 is what the handler says
		}{
			{"", map[string]int{open: 0, read: 401, operate: 401}},
			{otherToken, map[string]int{open: 401, read: 401, operate: 401}},
			{token[:len(token)-1], map[string]int{open: 401, read: 401, operate: 401}},
			{readToken, map[string]int{open: 0, read: 0, operate: 403}},
			{token, map[string]int{open: 0, read: 0, operate: 0}},
		} {
			control.asked = nil
			resp := request(Handler(cfg), c.method, c.path, who.token)
			want := who.code[c.needs]
			refused := resp.StatusCode == 401 || resp.StatusCode == 403
			if want != 0 && resp.StatusCode != want || want == 0 && refused {
				t.Errorf("%s %s with %.4q…: code %d, want %d", c.method, c.path, who.token, resp.StatusCode, want)
			}
			if refused && len(control.asked) > 0 {
				t.Errorf("%s %s with %.4q…: carried out %q", c.method, c.path, who.token, control.asked)
			}
			for _, secret := range []string{token, readToken, otherToken} {
				if body := bodyOf(t, resp); strings.Contains(body, secret) {
					t.Errorf("%s %s: says the token: %s", c.method, c.path, body)
				}
			}
		}
	}
}

// A probe without a token learns whether the node is well, and nothing that names others.
func TestProbesTellLittle(t *testing.T) {
	cfg, _ := secured(t)
	if body := bodyOf(t, request(Handler(cfg), "GET", "/readyz", "")); body != `{"self":3,"ok":true}`+"\n" {
		t.Errorf("a stranger is told %s", body)
	}
	if body := bodyOf(t, request(Handler(cfg), "GET", "/readyz", readToken)); !strings.Contains(body, "node 5") {
		t.Errorf("one with a token is told %s", body)
	}
	cfg.TLS = nil
	if body := bodyOf(t, request(Handler(cfg), "GET", "/readyz", "")); !strings.Contains(body, "node 5") {
		t.Errorf("without TLS one is told %s", body)
	}
}

// A page of another site may not change a node over HTTPS either.
func TestOtherSitesOverTLS(t *testing.T) {
	cfg, control := secured(t)
	resp := request(Handler(cfg), "POST", "/v1/pause", token, header("Sec-Fetch-Site", "cross-site"))
	if resp.StatusCode != http.StatusForbidden || len(control.asked) > 0 {
		t.Errorf("code %d, carried out %q", resp.StatusCode, control.asked)
	}
}

// Guesses are slowed down, and whoever has a token is not kept out by those of others at the same address.
func TestGuessesAreLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg, _ := secured(t)
		var logged strings.Builder
		cfg.ErrorLog = log.New(&logged, "", 0)
		h := Handler(cfg)
		guess := func(from string) *http.Response {
			return request(h, "GET", "/leader", otherToken, func(r *http.Request) { r.RemoteAddr = from })
		}
		for i := range failuresAtOnce {
			if resp := guess("10.0.0.9:1"); resp.StatusCode != 401 {
				t.Fatalf("guess %d: code %d", i, resp.StatusCode)
			}
		}
		for range 100 {
			resp := guess("10.0.0.9:2")
			if resp.StatusCode != 429 || resp.Header.Get("Retry-After") != "1" ||
				resp.Header.Get("Connection") != "close" {
				t.Fatalf("code %d, %v", resp.StatusCode, resp.Header)
			}
		}
		if resp := guess("10.0.0.8:1"); resp.StatusCode != 401 {
			t.Errorf("from elsewhere: code %d", resp.StatusCode)
		}
		from := func(r *http.Request) { r.RemoteAddr = "10.0.0.9:3" }
		if resp := request(h, "GET", "/v1/status", readToken, from); resp.StatusCode != 200 {
			t.Errorf("a right token from that address: code %d", resp.StatusCode)
		}
		if resp := request(h, "GET", "/v1/status", "", from); resp.StatusCode != 401 {
			t.Errorf("no token from that address: code %d", resp.StatusCode)
		}
		time.Sleep(failureEvery)
		for _, want := range []int{401, 429} {
			if resp := guess("10.0.0.9:4"); resp.StatusCode != want {
				t.Errorf("a second later: code %d, want %d", resp.StatusCode, want)
			}
		}
		if said := logged.String(); !strings.Contains(said, "10.0.0.9") || strings.Contains(said, otherToken) ||
			strings.Count(said, "\n") > 10 {
			t.Errorf("logged %s", said)
		}
	})
}

// Missing tokens are no guesses, over plain HTTP neither; wrong ones are.
func TestPlainGuesses(t *testing.T) {
	h := Handler(Config{
		Source: fixed(well()), Control: &controlled{}, Tokens: taking(t, token), ErrorLog: log.New(io.Discard, "", 0),
	})
	far := func(r *http.Request) { r.RemoteAddr = "10.0.0.9:1" }
	for range 2 * failuresAtOnce {
		if resp := request(h, "POST", "/v1/pause", "", far); resp.StatusCode != 401 {
			t.Fatalf("without a token: code %d", resp.StatusCode)
		}
	}
	var codes []int
	for range failuresAtOnce + 1 {
		codes = append(codes, request(h, "POST", "/v1/pause", otherToken, far).StatusCode)
	}
	if codes[failuresAtOnce-1] != 401 || codes[failuresAtOnce] != 429 {
		t.Errorf("codes %v", codes)
	}
}

// An attacker with many addresses fills no memory; those that failed last are remembered.
func TestFailuresAreBounded(t *testing.T) {
	var f failures
	now := time.Now()
	for i := range 10 * maxFailing {
		for range failuresAtOnce {
			if wait := f.add(fmt.Sprint(i), now); wait != 0 {
				t.Fatalf("source %d waits %v", i, wait)
			}
		}
	}
	if len(f.sources) != maxFailing || f.order.Len() != maxFailing {
		t.Errorf("%d and %d sources are remembered", len(f.sources), f.order.Len())
	}
	if f.add(fmt.Sprint(10*maxFailing-1), now) == 0 || f.add("0", now) != 0 {
		t.Error("the last one is forgotten, or the first one is not")
	}
}

// The tokens of a file that has changed are taken at once, and a stream that was opened with an old one ends.
func TestTokensAreTakenAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg, _ := secured(t)
		var now atomic.Pointer[Tokens]
		before := taking(t, bothTokens)()
		now.Store(&before)
		cfg.Tokens = func() Tokens { return *now.Load() }
		cfg.Changes = func(ctx context.Context, _ uint64) iter.Seq[Change] {
			return func(func(Change) bool) { <-ctx.Done() }
		}
		h := Handler(cfg)
		ended := make(chan string)
		go func() {
			w := &flushed{ResponseRecorder: httptest.NewRecorder()}
			r := httptest.NewRequest("GET", "/v1/events", nil)
			r.Header.Set("Authorization", "Bearer "+readToken)
			h.ServeHTTP(w, r)
			ended <- w.Body.String()
		}()
		time.Sleep(2*aliveEvery + time.Second)
		select {
		case said := <-ended:
			t.Fatalf("the stream ended with a right token: %s", said)
		default:
		}
		after := taking(t, "read "+otherToken)()
		now.Store(&after)
		time.Sleep(aliveEvery)
		select {
		case <-ended:
		default:
			t.Error("the stream goes on with a token that was taken back")
		}
		if resp := request(h, "GET", "/leader", readToken); resp.StatusCode != 401 {
			t.Errorf("the old token: code %d", resp.StatusCode)
		}
		if resp := request(h, "GET", "/v1/status", otherToken); resp.StatusCode != 200 {
			t.Errorf("the new token: code %d", resp.StatusCode)
		}
	})
}

// flushed is a recorder that takes deadlines, as a connection does.
type flushed struct{ *httptest.ResponseRecorder }

func (flushed) SetReadDeadline(time.Time) error  { return nil }
func (flushed) SetWriteDeadline(time.Time) error { return nil }

func TestParseTokens(t *testing.T) {
	const bad = "se~ret"
	for text, says := range map[string]string{
		"":                                       "it is empty",
		bad:                                      "6 bytes",
		"# nothing\n":                            "it is empty",
		"operate " + bad:                         "line 1: a token of 6 bytes",
		"\n\nread " + token + " " + bad:          "line 3: want operate TOKEN or read TOKEN",
		"admin " + token + bad:                   "line 1: want operate TOKEN",
		token + bad + "\n" + token:               "line 1: want operate TOKEN",
		"read " + token + "\noperate " + token:   "line 2: the token is another line's, too",
		"read " + token + bad + "\x00":           "line 1: a token is one word of printable ASCII",
		strings.Repeat("read "+token+"\n", 1000): "1000 tokens: at most 64",
	} {
		_, err := ParseTokens(text)
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, want %q", text, err, says)
		}
		if err != nil && (strings.Contains(err.Error(), bad) || strings.Contains(err.Error(), token)) {
			t.Errorf("%q: the error shows the text: %v", text, err)
		}
	}
	all := taking(t, bothTokens)()
	if all.Best() != token || all.Operate() != token {
		t.Error("the token that operates is not the best")
	}
	if all = taking(t, "read "+readToken)(); all.Best() != readToken || all.Operate() != "" {
		t.Error("the token that reads is not the best, or operates")
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		if said := fmt.Sprintf(verb, []Tokens{all}); !strings.Contains(said, "(tokens: 1)") {
			t.Errorf("%s says %s", verb, said)
		}
		if said := fmt.Sprintf(verb, struct{ hidden Tokens }{all}); strings.Contains(said, readToken) {
			t.Errorf("%s of a struct says %s", verb, said)
		}
	}
}
