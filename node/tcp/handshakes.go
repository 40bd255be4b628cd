package tcp

import (
	"net"
	"net/netip"
	"slices"
	"sync"
)

// maxHandshakes is how many connections may wait for their HELLO. A correct peer sends it within a
// millisecond.
const maxHandshakes = 256

// handshakes are the accepted connections whose HELLO has not come yet. If there are too many, the oldest
// connection of the address that has the most of them is dropped: an address that floods this node loses only
// its own connections. Any goroutine may call its methods.
type handshakes struct {
	limit int

	mu      sync.Mutex
	waiting []handshake // oldest first
}

// handshake is one connection whose HELLO has not come yet.
type handshake struct {
	net.Conn
	giveUp func() // ends what this node does for it
}

// enter adds c. If there are too many connections then, enter drops another one, calls its function giveUp and
// returns that connection; otherwise it returns nil.
func (h *handshakes) enter(c net.Conn, giveUp func()) (evicted net.Conn) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.waiting = append(h.waiting, handshake{c, giveUp})
	if len(h.waiting) <= h.limit {
		return nil
	}
	counts := map[netip.Addr]int{}
	var crowd netip.Addr
	for _, w := range h.waiting {
		ip := homeOf(w.RemoteAddr()).Addr()
		counts[ip]++
		if counts[ip] > counts[crowd] {
			crowd = ip
		}
	}
	i := slices.IndexFunc(h.waiting, func(w handshake) bool { return homeOf(w.RemoteAddr()).Addr() == crowd })
	out := h.waiting[i]
	h.waiting = slices.Delete(h.waiting, i, i+1)
	out.giveUp()
	return out.Conn
}

// exit removes c. It returns false if c was dropped before.
func (h *handshakes) exit(c net.Conn) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	i := slices.IndexFunc(h.waiting, func(w handshake) bool { return w.Conn == c })
	if i < 0 {
		return false
	}
	h.waiting = slices.Delete(h.waiting, i, i+1)
	return true
}
