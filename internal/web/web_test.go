package web

import (
	"context"
	"io"
	"log"
	"net"
	"net/http"
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

// client is a connection from an address. Whoever closes it has its goroutine end.
type client struct {
	net.Conn
	crowd  *crowd
	addr   string
	closed bool
}

func (c *client) Close() error {
	c.closed = true
	c.crowd.watch(c, http.StateClosed)
	return nil
}

func (c *client) RemoteAddr() net.Addr { return c }
func (c *client) Network() string      { return "tcp" }
func (c *client) String() string       { return c.addr + ":1" }

// come lets n connections come from an address.
func come(c *crowd, addr string, n int) (all []*client) {
	for range n {
		all = append(all, &client{crowd: c, addr: addr})
		c.watch(all[len(all)-1], http.StateNew)
	}
	return all
}

// closed says of each connection whether it was closed: "." if it was not, "x" if it was.
func closed(all ...*client) (s string) {
	for _, c := range all {
		s += map[bool]string{false: ".", true: "x"}[c.closed]
	}
	return s
}

// "A new one always gets in: the oldest one of the address that has the most makes room."
func TestCrowd(t *testing.T) {
	var out strings.Builder
	c := newCrowd(8, log.New(&out, "", 0))
	first, second := come(c, "10.0.0.1", 4), come(c, "10.0.0.2", 3)
	own := come(c, "127.0.0.1", 1)
	if out.Len() > 0 {
		t.Errorf("it says %q before there are too many", out.String())
	}
	own = append(own, come(c, "127.0.0.1", 2)...)
	if got := closed(first...) + closed(second...) + closed(own...); got != "xx.."+"..."+"..." {
		t.Errorf("after two more: %s", got)
	}
	for _, says := range []string{
		"8 connections from 3 addresses", "the oldest of 10.0.0.1, which has the most, 4",
	} {
		if !strings.Contains(out.String(), says) {
			t.Errorf("want %q in %s", says, out.String())
		}
	}
	c.watch(first[2], http.StateClosed)
	more := come(c, "10.0.0.3", 1)
	if got := closed(second...) + closed(more...) + closed(own...); strings.Contains(got, "x") {
		t.Errorf("one came after another had gone: %s", got)
	}
}

// "An order under way, and a stream, keep their places."
func TestCrowdKeeps(t *testing.T) {
	c := newCrowd(3, log.New(io.Discard, "", 0))
	all := come(c, "10.0.0.1", 3)
	for _, conn := range all[:2] {
		keep(c, conn)
	}
	all = append(all, come(c, "10.0.0.2", 2)...)
	if got := closed(all...); got != "..xx." {
		t.Errorf("two are kept: %s", got)
	}
	keep(c, all[4])
	all = append(all, come(c, "10.0.0.3", 1)...)
	if got := closed(all...); got != "..xx.x" {
		t.Errorf("all are kept: %s", got)
	}
	c.watch(all[0], http.StateIdle) // its answer is sent
	all = append(all, come(c, "10.0.0.3", 1)...)
	if got := closed(all...); got != "x.xx.x." {
		t.Errorf("one is kept no longer: %s", got)
	}
}

// However many come, those that are closed and have not ended yet are few.
func TestCrowdWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCrowd(3, log.New(io.Discard, "", 0))
		entered := 0
		var conns [3 + maxLeaving + 1]stuck
		go func() {
			for i := range conns {
				c.watch(&conns[i], http.StateNew)
				entered++
			}
		}()
		synctest.Wait()
		if entered != len(conns)-1 {
			t.Errorf("%d got in while none has ended, want %d", entered, len(conns)-1)
		}
		c.watch(&conns[0], http.StateClosed)
		synctest.Wait()
		if entered != len(conns) {
			t.Errorf("%d got in once one has ended, want %d", entered, len(conns))
		}
	})
}

// stuck is a connection whose goroutine does not end when it is closed.
type stuck struct{ client }

func (*stuck) Close() error { return nil }

// keep keeps a connection as the handler of a request on it does.
func keep(c *crowd, conn net.Conn) { Keep(c.know(context.Background(), conn)) }

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
