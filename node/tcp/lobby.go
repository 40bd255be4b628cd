package tcp

import (
	"net"
	"net/netip"
	"slices"
	"sync"
)

// maxLobby bounds the connections whose HELLO is still awaited. A correct
// caller is among them for a millisecond.
const maxLobby = 256

// lobby is where a connection waits until it has said who it is. When it is
// full, the address with the most connections in it loses its oldest: one that
// floods the lobby throws out nobody but itself.
type lobby struct {
	limit int

	mu      sync.Mutex
	waiting []net.Conn // oldest first
}

// enter admits c, and returns the connection that had to go for it, if any.
func (l *lobby) enter(c net.Conn) (evicted net.Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waiting = append(l.waiting, c)
	if len(l.waiting) <= l.limit {
		return nil
	}
	counts := map[netip.Addr]int{}
	var crowd netip.Addr
	for _, w := range l.waiting {
		ip := homeOf(w.RemoteAddr()).Addr()
		counts[ip]++
		if counts[ip] > counts[crowd] {
			crowd = ip
		}
	}
	i := slices.IndexFunc(l.waiting, func(w net.Conn) bool {
		return homeOf(w.RemoteAddr()).Addr() == crowd
	})
	evicted = l.waiting[i]
	l.waiting = slices.Delete(l.waiting, i, i+1)
	return evicted
}

// exit takes c out, and reports false when it was evicted before.
func (l *lobby) exit(c net.Conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := slices.Index(l.waiting, c)
	if i < 0 {
		return false
	}
	l.waiting = slices.Delete(l.waiting, i, i+1)
	return true
}
