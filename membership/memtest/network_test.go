package memtest

import (
	"errors"
	"net"
	"os"
	"syscall"
	"testing"
	"time"
)

const (
	a = "10.0.0.1:7946"
	b = "10.0.0.2:7946"
	c = "10.0.0.3:7946"
)

// arrives reports whether a packet gets from one end to another.
func arrives(from, to *Transport) bool {
	_, _ = from.WriteTo([]byte("hello"), to.addr.String())
	select {
	case p := <-to.PacketCh():
		return string(p.Buf) == "hello" && p.From.String() == from.addr.String()
	default:
		return false
	}
}

// connects reports whether a stream opens and carries a byte each way.
func connects(t *testing.T, from, to *Transport) error {
	t.Helper()
	near, err := from.DialTimeout(to.addr.String(), time.Second)
	if err != nil {
		return err
	}
	defer near.Close()
	far := <-to.StreamCh()
	defer far.Close()
	go func() { _, _ = far.Write([]byte{7}) }()
	buf := make([]byte, 1)
	if _, err := near.Read(buf); err != nil || buf[0] != 7 {
		t.Errorf("read %v, %v", buf, err)
	}
	return nil
}

func TestFaults(t *testing.T) {
	Test(t, func(t *testing.T, n *Network) {
		ta, tb, tc := n.Transport(a), n.Transport(b), n.Transport(c)
		check := func(what string, from, to *Transport, packets bool, dial error) {
			t.Helper()
			if got := arrives(from, to); got != packets {
				t.Errorf("%s: packets arrive: %v", what, got)
			}
			start := time.Now()
			if err := connects(t, from, to); !errors.Is(err, dial) {
				t.Errorf("%s: dial: %v, want %v", what, err, dial)
			}
			want := time.Duration(0)
			if errors.Is(dial, os.ErrDeadlineExceeded) {
				want = time.Second
			}
			if took := time.Since(start); took != want {
				t.Errorf("%s: dialling took %v", what, took)
			}
		}
		check("whole", ta, tb, true, nil)
		n.Cut(a, b)
		check("one way, there", ta, tb, false, os.ErrDeadlineExceeded)
		check("one way, back", tb, ta, true, os.ErrDeadlineExceeded)
		n.Heal()
		check("healed", ta, tb, true, nil)
		n.Partition([]string{a}, []string{b, c})
		check("across", ta, tb, false, os.ErrDeadlineExceeded)
		check("across, back", tc, ta, false, os.ErrDeadlineExceeded)
		check("within a side", tb, tc, true, nil)
		n.Heal()
		n.Kill(b)
		check("dead", ta, tb, false, syscall.ECONNREFUSED)
		again := n.Transport(b)
		check("restarted", ta, again, true, nil)
		if got := n.Streams(); got != 9 {
			t.Errorf("%d streams dialled", got)
		}
		if err := errors.Join(ta.Shutdown(), ta.Shutdown()); err != nil {
			t.Error(err)
		}
		if _, err := ta.DialTimeout(c, time.Hour); !errors.Is(err, net.ErrClosed) {
			t.Errorf("dial after the end: %v", err)
		}
	})
}

// An end that nobody reads from drops, and blocks nobody.
func TestFullEndDrops(t *testing.T) {
	Test(t, func(t *testing.T, n *Network) {
		ta := n.Transport(a)
		tb := n.Transport(b)
		for range 2 * backlog {
			_, _ = ta.WriteTo([]byte{1}, b)
		}
		if got := len(tb.packets); got != backlog {
			t.Errorf("%d packets wait", got)
		}
	})
}
