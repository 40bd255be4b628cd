package fencehttp

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ringleader-dev/ringleader/fence"
	"github.com/ringleader-dev/ringleader/fence/fencetest"
)

// memory is a tokens that forgets.
type memory struct{ kept fence.Token }

func (m *memory) Highest() (fence.Token, error) { return m.kept, nil }
func (m *memory) Seal(t fence.Token) error      { m.kept = t; return nil }

func newGuard(t *testing.T) *fence.Guard {
	t.Helper()
	g, err := fence.NewGuard(new(memory))
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// ask sends a request with these tokens through Protect. reached tells whether
// it came to the handler behind.
func ask(g *fence.Guard, method string, tokens ...string) (answer *http.Response, reached bool) {
	r := httptest.NewRequest(method, "/", strings.NewReader("value"))
	for _, t := range tokens {
		r.Header.Add(Header, t)
	}
	w := httptest.NewRecorder()
	Protect(g, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		reached = true
	})).ServeHTTP(w, r)
	return w.Result(), reached
}

// Promise: "answers a stale one with a clear 412 and the current token; missing
// 428; malformed 400; as problem JSON".
func TestProtect(t *testing.T) {
	g := newGuard(t)
	four, five, six := fencetest.Token(4, 1), fencetest.Token(5, 2), fencetest.Token(6, 3)
	if err := g.Seal(t.Context(), five); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		why     string
		method  string
		tokens  []fence.Token
		status  int
		problem string
	}{
		{"a write", "PUT", []fence.Token{five}, 200, ""},
		{"a stale write", "PUT", []fence.Token{four}, 412, "stale-token"},
		{"of another holder", "POST", []fence.Token{fencetest.Token(5, 2)}, 412, "other-holder"},
		{"without a token", "DELETE", nil, 428, "no-token"},
		{"with two of them", "PATCH", []fence.Token{five, five}, 400, "malformed-token"},
		{"with none in the header", "PATCH", []fence.Token{{}}, 400, "malformed-token"},
		{"an unknown method", "FROBNICATE", nil, 428, "no-token"},
		{"anybody's read", "GET", nil, 200, ""},
		{"a question", "OPTIONS", nil, 200, ""},
		{"the leader's read", "GET", []fence.Token{five}, 200, ""},
		{"a former leader's", "HEAD", []fence.Token{four}, 412, "stale-token"},
		{"a new leader's before its seal", "GET", []fence.Token{six}, 412, "unsealed-token"},
		{"a read with nonsense", "GET", []fence.Token{{}}, 400, "malformed-token"},
		{"a new leader's write", "PUT", []fence.Token{six}, 200, ""},
		{"and its read", "GET", []fence.Token{six}, 200, ""},
		{"and the former's write", "PUT", []fence.Token{five}, 412, "stale-token"},
	} {
		before := g.Highest()
		var tokens []string
		for _, token := range c.tokens {
			tokens = append(tokens, token.String())
		}
		answer, reached := ask(g, c.method, tokens...)
		if answer.StatusCode != c.status || reached != (c.status == 200) {
			t.Errorf("%s: %d, reached: %v, want %d", c.why, answer.StatusCode, reached, c.status)
		}
		if c.problem != "" {
			wantProblem(t, answer, c.status, c.problem, before)
		}
	}
	want := fence.Counts{Accepted: 3, Stale: 2, OtherHolder: 1, Missing: 2, Malformed: 2}
	if got := g.Meter.Counts(); got != want {
		t.Errorf("counted %+v, want %+v", got, want)
	}
}

// wantProblem checks that an answer tells a program and a person what is wrong.
func wantProblem(t *testing.T, answer *http.Response, status int, name string, current fence.Token) {
	t.Helper()
	var p Problem
	if err := json.NewDecoder(answer.Body).Decode(&p); err != nil {
		t.Fatal(err)
	}
	if answer.Header.Get("Content-Type") != ProblemType || p.Status != status ||
		p.Type != Docs+name || p.Title == "" || p.Detail == "" {
		t.Errorf("%s: %+v", answer.Header.Get("Content-Type"), p)
	}
	if status != http.StatusPreconditionFailed || name == "unsealed-token" {
		return
	}
	if p.Current != current || answer.Header.Get(Header) != current.String() {
		t.Errorf("the highest token is given as %v and %q, want %v",
			p.Current, answer.Header.Get(Header), current)
	}
}

// A write that waits for a former leader's says so when it has to give up.
func TestProtectBusy(t *testing.T) {
	g := newGuard(t)
	leave, err := g.Enter(t.Context(), fencetest.Token(5, 1))
	if err != nil {
		t.Fatal(err)
	}
	defer leave()
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	r := httptest.NewRequestWithContext(gone, http.MethodPut, "/", nil)
	r.Header.Set(Header, fencetest.Token(6, 2).String())
	w := httptest.NewRecorder()
	Protect(g, http.NotFoundHandler()).ServeHTTP(w, r)
	if w.Code != http.StatusServiceUnavailable {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// What is no refusal is the server's failure, and told as one.
func TestDescribeFailure(t *testing.T) {
	p := Describe(errors.New("input/output error"))
	if p.Status != http.StatusInternalServerError || p.Detail != "input/output error" {
		t.Errorf("%+v", p)
	}
}

func FuzzFromRequest(f *testing.F) {
	f.Add(fencetest.Token(7, 3).String(), false)
	f.Add("", true)
	f.Fuzz(func(t *testing.T, shown string, twice bool) {
		r := &http.Request{Header: http.Header{}}
		r.Header.Add(Header, shown)
		if twice {
			r.Header.Add(Header, shown)
		}
		token, err := FromRequest(r)
		switch {
		case err != nil && (!errors.Is(err, fence.ErrMalformedToken) || !token.IsZero()):
			t.Errorf("%q: %v, %v", shown, token, err)
		case err == nil && (twice || token.String() != shown):
			t.Errorf("%q is read as %v", shown, token)
		}
	})
}

// The type of a problem leads to its description.
func TestProblemsAreDescribed(t *testing.T) {
	docs, err := os.ReadFile(filepath.Join("..", "..", "docs", "FENCING.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range known {
		heading, ok := strings.CutPrefix(Describe(k.err).Type, Docs)
		if !ok || !strings.Contains(string(docs), "\n### "+heading+"\n") {
			t.Errorf("%s is not described", Describe(k.err).Type)
		}
	}
}
