package tcp

import (
	"fmt"
	"net"
	"testing"
	"testing/synctest"
	"time"
)

// visitor is a connection from an address.
type visitor struct {
	net.Conn
	from net.Addr
}

func (v *visitor) RemoteAddr() net.Addr { return v.from }

func newVisitor(ip string) *visitor { return &visitor{from: &net.TCPAddr{IP: net.ParseIP(ip)}} }

// "A cap on concurrently unauthenticated inbound connections": one that floods
// this node loses only its own.
func TestAFloodThrowsOutItself(t *testing.T) {
	l := &handshakes{limit: 4}
	honest := newVisitor("10.0.0.1")
	flood := []*visitor{}
	gaveUp := 0
	enter := func(v *visitor) net.Conn { return l.enter(v, func() { gaveUp++ }) }
	if out := enter(honest); out != nil {
		t.Fatalf("%v evicted from no handshakes", out.RemoteAddr())
	}
	for i := range 20 {
		flood = append(flood, newVisitor("10.0.0.66"))
		out := enter(flood[i])
		if i < 3 && out != nil || i >= 3 && out != net.Conn(flood[i-3]) {
			t.Fatalf("connection %d of the flood evicted %v", i, out)
		}
	}
	if late := newVisitor("10.0.0.2"); enter(late) != net.Conn(flood[17]) || !l.exit(late) {
		t.Error("the flood's oldest did not make room for a newcomer")
	}
	if !l.exit(honest) {
		t.Error("the honest one is no longer there")
	}
	if l.exit(flood[0]) || !l.exit(flood[19]) {
		t.Error("evicted ones are there, or present ones are not")
	}
	if gaveUp != 18 {
		t.Errorf("this node gave up %d handshakes, want the 18 that were evicted", gaveUp)
	}
}

// "Once per peer and reason until it changes."
func TestComplaintsAreMadeOnce(t *testing.T) {
	var g logLimiter
	want := func(what string, who string, r reason, first bool) {
		t.Helper()
		if got := g.first(who, r); got != first {
			t.Errorf("%s: first is %v", what, got)
		}
	}
	want("the first", "a", otherCluster, true)
	want("the same", "a", otherCluster, false)
	want("another reason", "a", otherAlgorithm, true)
	want("another offender", "b", otherCluster, true)
	g.forget("a")
	want("after it was forgotten", "a", otherCluster, true)
	want("the one not forgotten", "b", otherCluster, false)
}

// One who comes under ever new names does not fill the log.
func TestComplaintsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g logLimiter
		flood := func() (firsts int) {
			for i := range 10 * maxOffenders {
				if g.first(fmt.Sprint(i), badPayload) {
					firsts++
				}
			}
			return firsts
		}
		if n := flood(); n != maxOffenders {
			t.Errorf("%d complaints, want %d", n, maxOffenders)
		}
		if !g.first("0", badAck) {
			t.Error("another reason of a known offender is new")
		}
		time.Sleep(limitPeriod + time.Second)
		if n := flood(); n != maxOffenders {
			t.Errorf("a minute later: %d complaints, want %d", n, maxOffenders)
		}
	})
}
