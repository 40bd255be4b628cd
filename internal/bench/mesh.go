package bench

import (
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms/nomination"
	"github.com/ringleader-dev/ringleader/proto"
)

// mesh is a bare process that is connected to all others.
type mesh struct {
	id  int
	out io.Writer

	mu    sync.Mutex
	conns map[int]net.Conn // connections to the living processes
	knows bool
}

// runMesh connects to all others, then waits until the highest process dies. The next highest
// process then announces itself with one message.
func (b bareProcess) runMesh(ln net.Listener, in io.Reader, out io.Writer) error {
	m := &mesh{id: b.ID, out: out, conns: make(map[int]net.Conn)}
	for lower := 1; lower < b.ID; lower++ {
		conn, err := b.dial(lower)
		if err != nil {
			return err
		}
		m.conns[lower] = conn
	}
	for range len(b.Addrs) - b.ID {
		higher, conn, err := accept(ln)
		if err != nil {
			return fmt.Errorf("wait for the other processes of the mesh: %w", err)
		}
		m.conns[higher] = conn
	}
	m.mu.Lock() // nobody is read before all are there
	for id, conn := range m.conns {
		go m.watch(id, conn)
	}
	m.mu.Unlock()
	fmt.Fprintln(out, "ready 0")
	_, err := io.Copy(io.Discard, in)
	return err
}

// watch reads from process id until that has ended.
func (m *mesh) watch(id int, conn net.Conn) {
	buf := make([]byte, bareFrame)
	for {
		message, err := readFrame(conn, buf)
		at := time.Now()
		if err != nil {
			m.gone(id, at)
			return
		}
		if _, err := nomination.KindCoordinator.Unmarshal(message[2:]); err == nil {
			m.learn(at)
		}
	}
}

// gone takes the end of a stream for the death of process id. The highest process that is left then
// leads.
func (m *mesh) gone(id int, at time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.conns, id)
	highest := m.id
	for other := range m.conns {
		highest = max(highest, other)
	}
	if id > m.id && highest == m.id && !m.knows {
		message, err := announcement(m.id, proto.NodeID(m.id))
		for _, conn := range m.conns {
			if err == nil {
				_, err = conn.Write(message)
			}
		}
		m.knows = true
		defer fmt.Fprintf(m.out, "known %d\n", at.UnixNano())
	}
	fmt.Fprintf(m.out, "gone %d\n", at.UnixNano())
}

// learn handles the announcement of the new leader.
func (m *mesh) learn(at time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.knows {
		m.knows = true
		fmt.Fprintf(m.out, "known %d\n", at.UnixNano())
	}
}
