// Package memtest is a network in memory for memberlist, made for tests in
// testing/synctest bubbles: nothing in it waits for anything but channels and
// timers, and it delivers in no time at all.
package memtest

import (
	"fmt"
	"net/netip"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// Network connects the Transports of one test. Its methods may be called from
// any goroutine.
type Network struct {
	mu      sync.Mutex
	ends    map[string]*Transport
	cut     map[pair]bool
	streams int
}

// pair is one direction between two addresses.
type pair struct{ from, to string }

// Test runs f in a bubble of virtual time, with a network that nobody is on yet.
// Whatever f starts on it has to be shut down by the end of f, or by the cleanup
// of the T that f is given.
//
// The bubble has one processor: with two, the race detector of Go 1.26 crashes
// when timers of one bubble expire on both at once.
func Test(t *testing.T, f func(t *testing.T, n *Network)) {
	t.Helper()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	synctest.Test(t, func(t *testing.T) {
		// The first cleanup runs last. memberlist leaves goroutines behind its
		// Shutdown, and time stands still once the test has returned.
		t.Cleanup(func() { time.Sleep(time.Minute) })
		f(t, &Network{ends: make(map[string]*Transport), cut: make(map[pair]bool)})
	})
}

// Transport is a new end at addr, "ip:port", which no living end may have. It
// panics on a bad address, as that is a mistake in the test.
func (n *Network) Transport(addr string) *Transport {
	ap := netip.MustParseAddrPort(addr)
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.ends[addr] != nil {
		panic(fmt.Sprintf("memtest: %s is in use", addr))
	}
	t := newTransport(n, ap)
	n.ends[addr] = t
	return t
}

// Cut drops, from now on, what from sends to to: one direction of a pair. A
// stream needs both directions; one that is open stays so.
func (n *Network) Cut(from, to string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.cut[pair{from, to}] = true
}

// Sever cuts a pair in both directions.
func (n *Network) Sever(a, b string) {
	n.Cut(a, b)
	n.Cut(b, a)
}

// Partition severs every address of each side from those of all other sides.
func (n *Network) Partition(sides ...[]string) {
	for i, side := range sides {
		for _, other := range sides[i+1:] {
			for _, a := range side {
				for _, b := range other {
					n.Sever(a, b)
				}
			}
		}
	}
}

// Heal undoes every cut.
func (n *Network) Heal() {
	n.mu.Lock()
	defer n.mu.Unlock()
	clear(n.cut)
}

// Kill takes the end at addr off the network at once, as the death of its
// process would: packets to it vanish, and whoever dials it is refused. The
// address is free for another Transport.
func (n *Network) Kill(addr string) {
	n.mu.Lock()
	t := n.ends[addr]
	n.mu.Unlock()
	if t != nil {
		_ = t.Shutdown()
	}
}

// Streams counts the streams dialled so far, successfully or not.
func (n *Network) Streams() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.streams
}

// route is the end at to, nil when nobody is there; open is false when what
// from sends does not arrive.
func (n *Network) route(from, to string) (end *Transport, open bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	alive := n.ends[from] != nil
	return n.ends[to], alive && !n.cut[pair{from, to}]
}

// remove frees t's address.
func (n *Network) remove(t *Transport) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.ends[t.addr.String()] == t {
		delete(n.ends, t.addr.String())
	}
}

func (n *Network) countStream() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.streams++
}
