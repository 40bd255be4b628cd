package web

import (
	"fmt"
	"log"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestSource(t *testing.T) {
	for remote, want := range map[string]string{
		"10.0.0.9:1": "10.0.0.9", "[::ffff:10.0.0.9]:1": "10.0.0.9", "[2001:db8::1:2:3:4]:5": "2001:db8::/64",
		"[2001:db8:0:1::1]:5": "2001:db8:0:1::/64", "[fe80::1%eth0]:5": "fe80::/64", "@": "", "": "",
	} {
		if got := Source(remote); got != want {
			t.Errorf("Source(%q) = %q, want %q", remote, got, want)
		}
	}
}

// from is a connection from an address.
type from struct {
	net.Conn
	addr   string
	closed *int
}

func (f from) Close() error         { *f.closed++; return nil }
func (f from) RemoteAddr() net.Addr { return f }
func (f from) Network() string      { return "tcp" }
func (f from) String() string       { return f.addr }

// queue is a listener to which connections have come.
type queue struct {
	net.Listener
	conns []net.Conn
}

func (q *queue) Accept() (net.Conn, error) {
	if len(q.conns) == 0 {
		return nil, net.ErrClosed
	}
	next := q.conns[0]
	q.conns = q.conns[1:]
	return next, nil
}

func TestBounded(t *testing.T) {
	var closed int
	q := &queue{}
	come := func(addr string, n int) {
		for i := range n {
			q.conns = append(q.conns, from{addr: fmt.Sprintf("%s:%d", addr, i+1), closed: &closed})
		}
	}
	b := &bounded{Listener: q, most: 8, open: map[string]int{}}
	accepted := func() (all []net.Conn) {
		for {
			c, err := b.Accept()
			if err != nil {
				return all
			}
			all = append(all, c)
		}
	}
	come("10.0.0.1", 9)
	first := accepted()
	come("10.0.0.2", 3)
	come("10.0.0.3", 3)
	others := accepted()
	if len(first) != 4 || len(others) != 4 || closed != 5+2 {
		t.Fatalf("%d of one source, %d of others, %d closed", len(first), len(others), closed)
	}
	for range 2 { // closed twice is free once
		_ = first[0].Close()
	}
	come("10.0.0.3", 2)
	if again := accepted(); len(again) != 1 {
		t.Errorf("%d fit after one was closed", len(again))
	}
	for _, c := range append(first, others...) {
		_ = c.Close()
	}
	if b.all != 1 || len(b.open) != 1 {
		t.Errorf("%d are open, of %v", b.all, b.open)
	}
}

// A flood of wrong handshakes does not fill the log, and is counted.
func TestSeldom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		l := Seldom(log.New(&out, "", 0))
		for i := range 1000 {
			l.Printf("line %d", i)
		}
		time.Sleep(seldomEvery)
		l.Print("later")
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		if len(lines) != seldomFirst+1 || lines[seldomFirst] != "995 lines like this were left out; later" {
			t.Errorf("%q", lines)
		}
	})
}
