package httpapi

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// "Whoever holds idle connections … keeps nobody out": two addresses hold as many as there may be, and the node's own
// machine asks all the same, as its health check does.
func TestNobodyIsLockedOut(t *testing.T) {
	p := newPKI(t)
	for name, over := range map[string]func(*Config, *Client){
		"plain HTTP": func(cfg *Config, _ *Client) { cfg.TLS, cfg.Tokens = nil, nil },
		"HTTPS": func(cfg *Config, c *Client) {
			cfg.TLS, c.TLS, c.Token = p.node("blue", 3).Web, p.operator().Ask(), token
		},
	} {
		t.Run(name, func(t *testing.T) {
			cfg, _ := secured(t)
			var c Client
			over(&cfg, &c)
			var logged *lockedBuffer
			c.Addr, logged = serveWith(t, cfg)
			full := fmt.Sprintf("%d connections from 2 addresses", limits.Connections)
			for i := 0; !strings.Contains(logged.String(), full); i++ {
				if i > 10*limits.Connections {
					t.Fatalf("want %q in the log:\n%s", full, logged)
				}
				from := net.TCPAddr{IP: net.IPv4(127, 0, 0, byte(2+i%2))}
				conn, err := (&net.Dialer{LocalAddr: &from}).DialContext(t.Context(), "tcp", c.Addr)
				if err != nil {
					t.Fatal(err)
				}
				defer conn.Close()
			}
			if h, err := c.Health(t.Context()); err != nil || !h.OK {
				t.Errorf("Health = %+v, %v", h, err)
			}
			if s, err := c.Status(t.Context()); err != nil || s.Self != 3 {
				t.Errorf("Status = %+v, %v", s, err)
			}
		})
	}
}

// "An order under way, and a stream of /v1/events, keep their places", whoever comes.
func TestCrowdsEndNoOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Uint64
		feed := make(chan Change)
		dial, stop := inMemoryWith(t, Config{
			Source: fixed(well()), Changes: feeding(feed, &asked), Control: slowControl{}, Tokens: taking(t, token),
		})
		send := func(request string) *bufio.Reader {
			conn := dial()
			t.Cleanup(func() { _ = conn.Close() })
			if _, err := io.WriteString(conn, request+"\r\n\r\n"); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			return bufio.NewReader(conn)
		}
		events := send("GET /v1/events HTTP/1.1\r\nHost: x")
		if _, err := http.ReadResponse(events, nil); err != nil {
			t.Fatal(err)
		}
		order := send("POST /v1/transfer HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + token)
		for range 2 * limits.Connections {
			conn := dial()
			defer conn.Close()
		}
		answered := func(r *bufio.Reader, want string) {
			resp, err := http.ReadResponse(r, nil)
			if err != nil {
				t.Fatalf("want %s: %v", want, err)
			}
			if body := bodyOf(t, resp); !strings.Contains(body, want) {
				t.Errorf("answered %s, want %s", body, want)
			}
		}
		answered(send("GET /leader HTTP/1.1\r\nHost: x"), `"leader":5`)
		answered(order, "slowly")
		go func() { feed <- Change{Seq: 1, At: time.Now()} }()
		if _, e := nextEvent(t, events); e.Seq != 1 {
			t.Errorf("event %+v", e)
		}
		stop()
	})
}
