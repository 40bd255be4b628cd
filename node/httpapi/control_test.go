package httpapi

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ringleader-dev/ringleader/proto"
)

// controlled is a Control that does as it is told to and notes what it was asked.
type controlled struct {
	asked []string
	fails error
}

func (c *controlled) Do(_ context.Context, v Verb, o Order) (Done, error) {
	c.asked = append(c.asked, fmt.Sprintf("%s %d %v %q by %s", v, o.To, o.Cluster, o.Reason, o.By))
	return Done{Self: 3, Done: "done", Leader: o.To, Term: 7, Millis: 1.5}, c.fails
}

const token = "0123456789abcdef"

// post asks for a transfer, changed by edits; from is the client's address.
func post(cfg Config, from, body string, edits ...func(*http.Request)) *http.Response {
	r := httptest.NewRequest(http.MethodPost, "http://127.0.0.1:7948/v1/transfer", strings.NewReader(body))
	r.RemoteAddr = from
	for _, edit := range edits {
		edit(r)
	}
	w := httptest.NewRecorder()
	Handler(cfg).ServeHTTP(w, r)
	return w.Result()
}

func header(name, value string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set(name, value) }
}

func host(name string) func(*http.Request) { return func(r *http.Request) { r.Host = name } }

// "Mutating HTTP requests need a token or loopback, and refuse cross-origin
// browsers (Origin / Sec-Fetch-Site / Host check)."
func TestWhoMayChangeANode(t *testing.T) {
	const near, far, near6 = "127.0.0.1:1", "10.0.0.9:1", "[::1]:1"
	bearer := func(s string) func(*http.Request) { return header("Authorization", "Bearer "+s) }
	cases := []struct {
		name, token, from string
		edits             []func(*http.Request)
		code              int
	}{
		{"near", "", near, nil, 200},
		{"near, IPv6", "", near6, nil, 200},
		{"near, mapped", "", "[::ffff:127.0.0.1]:1", nil, 200},
		{"near, by the name localhost", "", near, []func(*http.Request){host("localhost:7948")}, 200},
		{"near, and there is a token", token, near, nil, 200},
		{"near, with the token", token, near, []func(*http.Request){bearer(token)}, 200},
		{"near, with a wrong token", token, near, []func(*http.Request){bearer(token + "x")}, 401},
		{"near, with a password", token, near, []func(*http.Request){header("Authorization", "Basic eDp5")}, 401},
		{"near, with a token, and there is none", "", near, []func(*http.Request){bearer(token)}, 401},
		{"near, with an empty token, and there is none", "", near, []func(*http.Request){bearer("")}, 401},
		{"near, by a name that DNS points here", "", near, []func(*http.Request){host("evil.example")}, 401},
		{"near, through a proxy", "", near, []func(*http.Request){header("X-Forwarded-For", "10.0.0.9")}, 401},
		{"far", "", far, nil, 401},
		{"far, and there is a token", token, far, nil, 401},
		{"far, with the token", token, far, []func(*http.Request){bearer(token), host("n3.example")}, 200},
		{"far, with a wrong token", token, far, []func(*http.Request){bearer("0123456789abcdee")}, 401},
		{"far, claims to be near", "", far, []func(*http.Request){host("localhost")}, 401},
		{"no address", "", "@", nil, 401},
		{"another site's page", "", near, []func(*http.Request){header("Sec-Fetch-Site", "cross-site")}, 403},
		{"another site's page, same machine", "", near, []func(*http.Request){
			header("Sec-Fetch-Site", "same-site"),
		}, 403},
		{"an old browser", "", near, []func(*http.Request){header("Origin", "http://evil.example")}, 403},
		{"a page without a site", "", near, []func(*http.Request){header("Origin", "null")}, 403},
		{"another site's page, with the token", token, near, []func(*http.Request){
			bearer(token), header("Origin", "http://evil.example"),
		}, 403},
		{"a page of our own", "", near, []func(*http.Request){header("Sec-Fetch-Site", "same-origin")}, 200},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			control := &controlled{}
			cfg := Config{Source: fixed(well()), Control: control, Tokens: taking(t, c.token)}
			resp := post(cfg, c.from, "", c.edits...)
			if resp.StatusCode != c.code {
				t.Errorf("code %d, want %d: %s", resp.StatusCode, c.code, bodyOf(t, resp))
			}
			if done := len(control.asked) == 1; done != (c.code == 200) {
				t.Errorf("carried out: %q", control.asked)
			}
			if c.code == 401 && resp.Header.Get("WWW-Authenticate") == "" {
				t.Error("no WWW-Authenticate")
			}
		})
	}
}

// "Bad input gets a clear error with its HTTP status."
func TestOrders(t *testing.T) {
	cases := map[string]struct {
		code int
		says string
	}{
		``:                           {200, `transfer 0 false "" by 127.0.0.1`},
		` `:                          {200, `transfer 0 false "" by 127.0.0.1`},
		`{}`:                         {200, `transfer 0 false "" by 127.0.0.1`},
		`{"to":5,"reason":"a disk"}`: {200, `transfer 5 false "a disk" by 127.0.0.1`},
		`{"by":"an operator"}`:       {200, `transfer 0 false "" by an operator (127.0.0.1)`},
		`{"to":"5"}`:                 {400, "want an object like"},
		`{"to":-1}`:                  {400, `\"to\" takes no number -1: want an object like`},
		`{"to":null}`:                {200, `transfer 0 false "" by 127.0.0.1`},
		`{"to":0}`:                   {400, `node id 0: a node id is a whole number`},
		`{"to":0,"reason":"a disk"}`: {400, `leave \"to\" out for the best node that would`},
		`{"to":9007199254740993}`:    {400, "a node id is a whole number"},
		`{"cluster":true}`:           {400, `transfer takes no \"cluster\"`},
		`{"too":5}`:                  {400, "unknown field"},
		`{"to":5} {"to":6}`:          {400, "more than one"},
		`[]`:                         {400, "no object: want one like"},
		`null`:                       {400, "no object: want one like"},
		`"transfer"`:                 {400, "no object: want one like"},
		`{"to":[5]}`:                 {400, `\"to\" takes no array: want an object like`},
		`{"reason":7}`:               {400, `\"reason\" takes no number: want an object like`},
		`{}}`:                        {400, "more than one"},
		`to=5`:                       {400, "no object: want one like"},
		`{"reason":"a\nb"}`:          {400, "printable"},
		`{"reason":"` + strings.Repeat("x", MaxReason+1) + `"}`: {400, "at most 200 bytes"},
		strings.Repeat(" ", maxOrder+1):                         {400, "too large"},
	}
	for body, c := range cases {
		control := &controlled{}
		resp := post(Config{Source: fixed(well()), Control: control}, "127.0.0.1:1", body)
		said := bodyOf(t, resp) + strings.Join(control.asked, "")
		if resp.StatusCode != c.code || !strings.Contains(said, c.says) {
			t.Errorf("%.40q: %d, %s; want %d, %q", body, resp.StatusCode, said, c.code, c.says)
		}
		if strings.Contains(said, "Go ") {
			t.Errorf("%.40q: %s speaks of types of Go", body, said)
		}
	}
}

// Promise: what a verb does not take is refused: to pause node 2 one asks node 2.
func TestOrdersFitTheirVerb(t *testing.T) {
	for _, c := range []struct {
		verb Verb
		body string
		says string // "" when it is carried out
	}{
		{Transfer, `{"to":2}`, ""},
		{Transfer, `{"cluster":true}`, `transfer takes no \"cluster\"`},
		{Resign, `{"to":2}`, `resign is of the node that is asked, and takes no \"to\": ask node 2 itself`},
		{Resign, `{"cluster":true}`, `resign takes no \"cluster\"`},
		{Pause, `{"to":2}`, `pause is of the node that is asked, and takes no \"to\": ask node 2 itself`},
		{Pause, `{"cluster":true}`, ""},
		{Resume, `{"to":2}`, `resume is of the node that is asked`},
		{Resume, `{"cluster":true}`, ""},
		{Elect, `{"reason":"to see"}`, ""},
		{Elect, `{"to":2}`, `elect is of the node that is asked, and takes no \"to\": ask node 2 itself`},
		{Elect, `{"cluster":true}`, `elect takes no \"cluster\"`},
	} {
		control := &controlled{}
		r := httptest.NewRequest(http.MethodPost, "http://127.0.0.1"+c.verb.path(), strings.NewReader(c.body))
		r.RemoteAddr = "127.0.0.1:1"
		w := httptest.NewRecorder()
		Handler(Config{Source: fixed(well()), Control: control}).ServeHTTP(w, r)
		done, want := len(control.asked) == 1, c.says == ""
		if done != want || want != (w.Code == http.StatusOK) || !strings.Contains(w.Body.String(), c.says) {
			t.Errorf("%s %s: %d, %s; want %q", c.verb, c.body, w.Code, w.Body, c.says)
		}
	}
}

// "No GET changes anything", and without a Control nothing does.
func TestCommandsArePosts(t *testing.T) {
	control := &controlled{}
	h := Handler(Config{Source: fixed(well()), Control: control})
	for _, v := range verbs {
		for _, method := range []string{"GET", "HEAD", "PUT", "DELETE", "OPTIONS"} {
			r := httptest.NewRequest(method, "http://127.0.0.1"+v.path(), nil)
			r.RemoteAddr = "127.0.0.1:1"
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if w.Code != http.StatusMethodNotAllowed || w.Header().Get("Allow") != "POST" {
				t.Errorf("%s %s: code %d, Allow %q", method, v, w.Code, w.Header().Get("Allow"))
			}
		}
	}
	if len(control.asked) > 0 {
		t.Errorf("carried out: %q", control.asked)
	}
	if resp := post(Config{Source: fixed(well())}, "127.0.0.1:1", ""); resp.StatusCode != http.StatusNotFound {
		t.Errorf("without a Control: code %d", resp.StatusCode)
	}
}

// Who forgets --credentials sends no token in clear to another machine: not even a connection is made. The node's own
// machine, and a machine that the client is told to trust, get it as ever.
func TestNoTokenGoesInClear(t *testing.T) {
	there := errors.New("it connects")
	for addr, wants := range map[string]error{
		"192.0.2.7:7948": ErrTokenInClear, "[2001:db8::7]:7948": ErrTokenInClear, "node-7:7948": ErrTokenInClear,
		"localhost.example:7948": ErrTokenInClear, "0.0.0.0:7948": there, ":7948": there,
		"127.0.0.1:7948": there, "127.9.9.9:7948": there, "[::1]:7948": there, "localhost:7948": there,
	} {
		for _, told := range []bool{false, true} {
			connects := false
			ctx, cancel := context.WithCancel(t.Context())
			_, err := Client{Addr: addr, Token: token, InClear: told}.Do(httptrace.WithClientTrace(ctx,
				&httptrace.ClientTrace{GetConn: func(string) {
					connects = true
					cancel()
				}}), Pause, Order{})
			if connects != (told || wants == there) || errors.Is(err, ErrTokenInClear) == connects {
				t.Errorf("at %s, told %v: connects %v, %v", addr, told, connects, err)
			}
			cancel()
		}
	}
}

// Promise: the client gets what the node says, over a real connection, and each
// failure as its own error.
func TestDo(t *testing.T) {
	control := &controlled{}
	srv := httptest.NewServer(Handler(Config{Source: fixed(well()), Control: control, Tokens: taking(t, token)}))
	defer srv.Close()
	c := Client{Addr: srv.Listener.Addr().String(), Token: token}
	done, err := c.Do(t.Context(), Pause, Order{Cluster: true, Reason: "work"})
	if want := (Done{Self: 3, Done: "done", Term: 7, Millis: 1.5}); err != nil || done != want {
		t.Errorf("Do = %+v, %v; want %+v", done, err, want)
	}
	if _, err := c.Do(t.Context(), Elect, Order{}); err != nil {
		t.Error(err)
	}
	if want := `elect 0 false "" by 127.0.0.1`; control.asked[1] != want {
		t.Errorf("asked %q, want %q", control.asked[1], want)
	}
	if want := `pause 0 true "work" by 127.0.0.1`; control.asked[0] != want {
		t.Errorf("asked %q, want %q", control.asked[0], want)
	}
	for want, fails := range map[error]error{
		ErrConflict:              fmt.Errorf("%w: it leads already", ErrConflict),
		ErrNoLeader:              ErrNoLeader,
		ErrForbidden:             ErrForbidden,
		context.DeadlineExceeded: fmt.Errorf("slow: %w", context.DeadlineExceeded),
		ErrNotANode:              errors.New("broken"),
	} {
		control.fails = fails
		_, err := c.Do(t.Context(), Transfer, Order{To: proto.NodeID(5)})
		if !errors.Is(err, want) || !strings.Contains(err.Error(), fails.Error()) {
			t.Errorf("the node says %q: %v", fails, err)
		}
	}
	control.fails = nil
	c.Token = "another one"
	if _, err := c.Do(t.Context(), Resume, Order{}); !errors.Is(err, ErrForbidden) {
		t.Errorf("with a wrong token: %v", err)
	}
	srv.Close()
	if _, err := c.Do(t.Context(), Resume, Order{}); !errors.Is(err, ErrUnreachable) {
		t.Errorf("nobody there: %v", err)
	}
}

// slowControl takes longer than an answer that needs no waiting may.
type slowControl struct{}

func (slowControl) Do(ctx context.Context, _ Verb, _ Order) (Done, error) {
	select {
	case <-time.After(limits.Answer + time.Second):
		return Done{Self: 3, Done: "slowly"}, nil
	case <-ctx.Done():
		return Done{}, ctx.Err()
	}
}

// A transfer waits for the leader's work to stop: its answer comes all the same.
func TestSlowOrdersAreAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ln := pipes{make(chan net.Conn), make(chan struct{})}
		ctx, cancel := context.WithCancel(context.Background())
		served := make(chan error)
		go func() {
			served <- Serve(ctx, ln, Config{Source: fixed(well()), Control: slowControl{}, Tokens: taking(t, token)})
		}()
		client, server := net.Pipe()
		ln.conns <- server
		const request = "POST /v1/transfer HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + token +
			"\r\nContent-Length: 2\r\n\r\n{}"
		if _, err := io.WriteString(client, request); err != nil {
			t.Fatal(err)
		}
		resp, err := http.ReadResponse(bufio.NewReader(client), nil)
		if err != nil {
			t.Fatal(err)
		}
		if body := bodyOf(t, resp); !strings.Contains(body, "slowly") {
			t.Errorf("answered %s", body)
		}
		_ = client.Close()
		cancel()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
}
