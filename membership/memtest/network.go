// Package memtest is a network in memory for memberlist, for tests in testing/synctest
// bubbles. It waits only for channels and timers, and delivers in no time. memberlist's own
// mock transport cannot be used there: it blocks after the first Shutdown.
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

// pair is the way from one address to another; the way back is another pair.
type pair struct{ from, to string }

// Test runs f in a bubble of virtual time, with an empty network. All that f starts on the network
// must be shut down by the end of f, or by the cleanup of the T that f gets.
//
// The bubble has one processor: with two, the race detector of Go 1.26 crashes when timers of one
// bubble expire on both at once.
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

// Transport returns a new Transport at addr, "ip:port". It panics if another Transport uses the address, or
// if the address is malformed, since both are mistakes in the test.
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

// Cut drops, from now on, everything that the address from sends to the address to. The other direction stays
// open. A new stream needs both directions. Streams that are open stay open.
func (n *Network) Cut(from, to string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.cut[pair{from, to}] = true
}

// Sever cuts both directions between two addresses.
func (n *Network) Sever(a, b string) {
	n.Cut(a, b)
	n.Cut(b, a)
}

// Partition severs every address of each side from every address of all other sides.
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

// Kill takes the Transport at addr off the network at once, as the death of its process would:
// packets to it vanish, and dials to it are refused. Another Transport may then use the address.
func (n *Network) Kill(addr string) {
	n.mu.Lock()
	t := n.ends[addr]
	n.mu.Unlock()
	if t != nil {
		_ = t.Shutdown()
	}
}

// Streams returns how many streams were dialled so far, successfully or not.
func (n *Network) Streams() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.streams
}

// route returns the Transport at the address to, nil if there is none. The result open is false if nothing
// that the address from sends arrives there.
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
