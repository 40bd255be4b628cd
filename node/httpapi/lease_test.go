package httpapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/ringleader-dev/ringleader/fence"
	"github.com/ringleader-dev/ringleader/proto"
)

// lending is a Lender that has one lease, number 7, or an error.
type lending struct {
	fails    error
	returned []uint64
}

func (l *lending) Lend(context.Context) (Lease, error) {
	return Lease{
		Self: 3, ID: 7, Term: 9, FencingToken: fence.Token{Term: 9, Leader: 3, Incarnation: proto.Incarnation{1}},
		ValidForMS: 1890,
	}, l.fails
}

func (l *lending) Return(id uint64) bool {
	l.returned = append(l.returned, id)
	return id == 7
}

// "An answer that lets a process outside act is a lease that is lent: asked for explicitly",
// guarded like the orders; it has a duration and never a time of day, and other nodes say
// who leads.
func TestLease(t *testing.T) {
	const answer = `{"self":3,"id":7,"term":9,"fencing_token":"9;node=3;incarnation=` +
		`01000000000000000000000000000000","valid_for_ms":1890}`
	cases := []struct {
		name, method, path, from, body string
		fails                          error
		code                           int
		answers                        string
		returned                       string
	}{
		{"asked", "POST", "/v1/lease", near, "", nil, 200, answer, "[]"},
		{"renewed", "POST", "/v1/lease", near, `{"renews":6}`, nil, 200, answer, "[6]"},
		{"nonsense", "POST", "/v1/lease", near, `{"for":6}`, nil, 400, "renews", "[]"},
		{"null", "POST", "/v1/lease", near, `null`, nil, 400, "no object: want one like", "[]"},
		{"a list", "POST", "/v1/lease", near, `[6]`, nil, 400, `{\"renews\": 7}, or nothing`, "[]"},
		{"two at once", "POST", "/v1/lease", near, `{"renews":6}{"renews":7}`, nil, 400, "more than one", "[]"},
		{"looked at", "GET", "/v1/lease", near, "", nil, 405, "POST asks for a lease", "[]"},
		{"from afar", "POST", "/v1/lease", "10.0.0.9:1", "", nil, 401, "needs its token", "[]"},
		{
			"another leads", "POST", "/v1/lease", near, `{"renews":6}`, fmt.Errorf("%w: 5 leads", ErrNotLeader), 409,
			`"not_leader":true`, "[]",
		},
		{
			"nobody leads", "POST", "/v1/lease", near, "", fmt.Errorf("%w: no", ErrNoLeader), 503, `"not_leader":true`,
			"[]",
		},
		{
			"hands over", "POST", "/v1/lease", near, "", fmt.Errorf("%w: a transfer", ErrConflict), 409,
			`{"error":"refused: a transfer"}`, "[]",
		},
		{"given back", "DELETE", "/v1/lease/7", near, "", nil, 204, "", "[7]"},
		{"ended", "DELETE", "/v1/lease/8", near, "", nil, 404, "has ended", "[8]"},
		{"no number", "DELETE", "/v1/lease/x", near, "", nil, 400, "want the id", "[]"},
		{"given back from afar", "DELETE", "/v1/lease/7", "10.0.0.9:1", "", nil, 401, "needs its token", "[]"},
		{"given back by a question", "GET", "/v1/lease/7", near, "", nil, 405, "only DELETE", "[]"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			l := &lending{fails: c.fails}
			r := httptest.NewRequest(c.method, "http://127.0.0.1:7948"+c.path, strings.NewReader(c.body))
			r.RemoteAddr = c.from
			w := httptest.NewRecorder()
			Handler(Config{Source: fixed(well()), Lender: l}).ServeHTTP(w, r)
			got := strings.TrimSpace(w.Body.String())
			if w.Code != c.code || !strings.Contains(got, c.answers) || fmt.Sprint(l.returned) != c.returned {
				t.Errorf("%d %s, returned %v; want %d %s, %s", w.Code, got, l.returned, c.code, c.answers, c.returned)
			}
		})
	}
}

const near = "127.0.0.1:1"

// The client tells what the server said.
func TestLeaseClient(t *testing.T) {
	l := &lending{}
	server := httptest.NewServer(Handler(Config{Source: fixed(well()), Lender: l}))
	defer server.Close()
	c := Client{Addr: strings.TrimPrefix(server.URL, "http://")}
	got, err := c.Lend(t.Context(), 6)
	if want, _ := l.Lend(t.Context()); err != nil || got != want || got.ValidFor().Milliseconds() != 1890 {
		t.Errorf("%+v, %v", got, err)
	}
	if err := c.Return(t.Context(), 7); err != nil {
		t.Error(err)
	}
	if err := c.Return(t.Context(), 8); !errors.Is(err, ErrConflict) {
		t.Error(err)
	}
	for _, why := range []error{ErrNotLeader, ErrNoLeader} {
		l.fails = fmt.Errorf("%w: so it is", why)
		_, err := c.Lend(t.Context(), 0)
		if !errors.Is(err, ErrNotLeader) || !strings.Contains(err.Error(), "so it is") {
			t.Errorf("%v", err)
		}
	}
	l.fails = ErrConflict
	if _, err := c.Lend(t.Context(), 0); errors.Is(err, ErrNotLeader) || !errors.Is(err, ErrConflict) {
		t.Errorf("%v", err)
	}
	other := httptest.NewServer(http.NotFoundHandler())
	defer other.Close()
	c.Addr = strings.TrimPrefix(other.URL, "http://")
	if _, err := c.Lend(t.Context(), 0); !errors.Is(err, ErrNotANode) {
		t.Errorf("another program: %v", err)
	}
}
