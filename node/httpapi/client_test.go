package httpapi

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"github.com/ringleader-dev/ringleader/proto"
)

// Promise: the client gets what the server knows, over a real connection.
func TestClientAndServer(t *testing.T) {
	c := Client{Addr: serve(t, fixed(well()))}
	ctx := t.Context()

	health, err := c.Health(ctx)
	if want := (Health{Self: 3, OK: true}); err != nil || health != want {
		t.Errorf("Health = %+v, %v", health, err)
	}
	leader, err := c.Leader(ctx) // answered with 503 by a follower: no error
	if want := well().leadership(noon); err != nil || leader != want {
		t.Errorf("Leader = %+v, %v; want %+v", leader, err, want)
	}
	members, err := c.Members(ctx)
	if want := (Members{Self: 3, Members: well().Members}); err != nil || !reflect.DeepEqual(members, want) {
		t.Errorf("Members = %+v, %v; want %+v", members, err, want)
	}
	status, err := c.Status(ctx)
	want := well().status(noon)
	if !status.LastTick.After(noon) {
		t.Errorf("Status: last tick %v", status.LastTick)
	}
	status.LastTick = noon
	if err != nil || !reflect.DeepEqual(status, want) {
		t.Errorf("Status = %+v, %v; want %+v", status, err, want)
	}
}

// Promise: an unwell node is an answer, not an error.
func TestClientOfAnUnwellNode(t *testing.T) {
	c := Client{Addr: serve(t, fixed(Snapshot{Self: 3}))}
	health, err := c.Health(t.Context())
	if err != nil || health.OK || !strings.Contains(health.Reason, "not running") {
		t.Errorf("Health = %+v, %v", health, err)
	}
}

// Promise: "clear errors (unreachable: what was tried, what to do)".
func TestClientUnreachable(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := ln.Close(); err != nil {
		t.Fatal(err)
	}
	for addr, hint := range map[string]string{
		ln.Addr().String(): "is the node running",
		"127.0.0.1":        "want host:port",
		"":                 "want host:port",
		"127.0.0.1:x":      "is the node running",
	} {
		_, err := Client{Addr: addr}.Status(t.Context())
		if !errors.Is(err, ErrUnreachable) {
			t.Errorf("ask %q: %v, want ErrUnreachable", addr, err)
			continue
		}
		for _, part := range []string{"ask " + addr, "/v1/status", hint} {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("ask %q: %q, want %q in it", addr, err, part)
			}
		}
	}
}

func TestClientGivesUp(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0") // connects, never answers
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	ctx, cancel := context.WithCancel(t.Context())
	go cancel()
	_, err = Client{Addr: ln.Addr().String()}.Leader(ctx)
	if !errors.Is(err, ErrUnreachable) || !errors.Is(err, context.Canceled) {
		t.Errorf("Leader = %v, want ErrUnreachable and the cause", err)
	}
}

// Promise: what another program says is never taken for a node's answer.
func TestClientAtTheWrongDoor(t *testing.T) {
	cases := map[string]http.HandlerFunc{
		"not found": http.NotFound,
		"a page":    func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>")) },
		"a redirect": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/login", http.StatusFound)
		},
		"other JSON": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte(`{"status":"ok"}`))
		},
		"an absurd node": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte(`{"self":9007199254740993}`))
		},
		"no end": func(w http.ResponseWriter, _ *http.Request) {
			spaces := []byte(strings.Repeat(" ", 1<<20))
			for range 16 {
				if _, err := w.Write(spaces); err != nil {
					return
				}
			}
		},
	}
	for name, handler := range cases {
		t.Run(name, func(t *testing.T) {
			srv := httptest.NewServer(handler)
			defer srv.Close()
			c := Client{Addr: srv.Listener.Addr().String()}
			got, err := c.Leader(t.Context())
			if !errors.Is(err, ErrNotANode) || got.Self != proto.NodeID(0) {
				t.Errorf("Leader = %+v, %v; want ErrNotANode", got, err)
			}
		})
	}
}
