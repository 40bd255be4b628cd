package membership

import (
	"net"
	"slices"
	"sync"
)

// maxStreams is how many streams that others dialled may be open. memberlist ends each after streamTimeout at the
// latest; whoever opens them faster would use up the memory and the file descriptors of the process.
const maxStreams = 256

// openStreams are the streams that others dialled. If there are too many, the oldest one of the address that has the
// most is ended: an address that floods this node loses only its own. Any goroutine may call its methods.
type openStreams struct {
	mu  sync.Mutex
	all []*guardedConn // oldest first
}

// enter adds c. If there are too many then, it returns another one, which is counted no more and must be closed.
func (s *openStreams) enter(c *guardedConn) (evicted *guardedConn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = append(s.all, c)
	if len(s.all) <= maxStreams {
		return nil
	}
	counts, crowd := map[string]int{}, ""
	for _, c := range s.all {
		host := c.host()
		if counts[host]++; counts[host] > counts[crowd] {
			crowd = host
		}
	}
	i := slices.IndexFunc(s.all, func(c *guardedConn) bool { return c.host() == crowd })
	evicted = s.all[i]
	s.all = slices.Delete(s.all, i, i+1)
	return evicted
}

// leave removes c, if it is there.
func (s *openStreams) leave(c *guardedConn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.Index(s.all, c); i >= 0 {
		s.all = slices.Delete(s.all, i, i+1)
	}
}

// host returns the address of the other side, without its port.
func (c *guardedConn) host() string {
	host, _, err := net.SplitHostPort(c.from)
	if err != nil {
		return c.from
	}
	return host
}

// Close implements net.Conn.
func (c *guardedConn) Close() error {
	c.guard.open.leave(c)
	return c.Conn.Close()
}
