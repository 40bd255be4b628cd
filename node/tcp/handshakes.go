package tcp

import (
	"net"
	"net/netip"
	"slices"
	"sync"
)

// maxHandshakes bounds the connections whose HELLO is still awaited. A correct
// caller is among them for a millisecond.
const maxHandshakes = 256

// handshakes are the accepted connections that have not said yet who they are. When
// there are too many, the address with the most of them loses its oldest: an address
// that floods this node loses only its own. Any goroutine may call its methods.
type handshakes struct {
	limit int

	mu      sync.Mutex
	waiting []net.Conn // oldest first
}

// enter adds c, and returns the connection that lost its place for it, nil for none.
func (h *handshakes) enter(c net.Conn) (evicted net.Conn) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.waiting = append(h.waiting, c)
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
	i := slices.IndexFunc(h.waiting, func(w net.Conn) bool {
		return homeOf(w.RemoteAddr()).Addr() == crowd
	})
	evicted = h.waiting[i]
	h.waiting = slices.Delete(h.waiting, i, i+1)
	return evicted
}

// exit takes c out, and reports false when it was evicted before.
func (h *handshakes) exit(c net.Conn) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	i := slices.Index(h.waiting, c)
	if i < 0 {
		return false
	}
	h.waiting = slices.Delete(h.waiting, i, i+1)
	return true
}
