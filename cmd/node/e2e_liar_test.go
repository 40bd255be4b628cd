package main

import (
	"encoding/binary"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ringleader-dev/ringleader/proto"
)

// liar is a proxy before the election address of each node. It can end, for a while, all
// connections from and to one of them, cleanly, and refuse new ones.
type liar struct {
	t *testing.T
	// doors are where the nodes say that they are found, homes where they listen.
	doors, homes map[proto.NodeID]string

	mu      sync.Mutex
	about   proto.NodeID // who is lied about, 0 for nobody
	over    bool         // nothing is passed on any more
	doormen map[proto.NodeID]net.Listener
	pairs   []pair
	wg      sync.WaitGroup
}

// pair is one connection through the proxy.
type pair struct {
	from, to proto.NodeID
	ends     [2]net.Conn
}

func newLiar(t *testing.T, e e2e) *liar {
	l := &liar{
		t: t, doors: map[proto.NodeID]string{}, homes: map[proto.NodeID]string{},
		doormen: map[proto.NodeID]net.Listener{},
	}
	for _, n := range e.Nodes() {
		l.homes[n.ID], l.doors[n.ID] = n.Election, "127.0.0.1:0"
	}
	for id := range l.homes { // nobody writes them from here on
		l.open(id)
	}
	t.Cleanup(func() {
		l.mu.Lock()
		l.over = true
		for _, ln := range l.doormen {
			_ = ln.Close()
		}
		l.mu.Unlock()
		l.end(func(pair) bool { return true })
		l.wg.Wait()
	})
	return l
}

// open lets callers in at the door of a node.
func (l *liar) open(id proto.NodeID) {
	ln, err := net.Listen("tcp", l.doors[id])
	if err != nil {
		l.t.Fatal(err)
	}
	l.mu.Lock()
	l.doormen[id], l.doors[id] = ln, ln.Addr().String()
	l.mu.Unlock()
	l.wg.Go(func() {
		for {
			in, err := ln.Accept()
			if err != nil {
				return
			}
			l.wg.Go(func() { l.serve(in, id) })
		}
	})
}

// serve reads who calls, and then passes on what both ends say.
func (l *liar) serve(in net.Conn, to proto.NodeID) {
	defer in.Close()
	header := make([]byte, 6)
	if _, err := io.ReadFull(in, header); err != nil {
		return
	}
	payload := make([]byte, binary.BigEndian.Uint32(header))
	if _, err := io.ReadFull(in, payload); err != nil {
		return
	}
	hello, err := proto.UnmarshalLink(proto.LinkKind(header[5]), payload)
	if err != nil {
		return
	}
	out, err := net.Dial("tcp", l.homes[to])
	if err != nil {
		return
	}
	defer out.Close()
	p := pair{hello.(proto.Hello).ID, to, [2]net.Conn{in, out}}
	l.mu.Lock()
	l.pairs = append(l.pairs, p)
	lied := l.over || l.about != 0 && (p.from == l.about || to == l.about)
	l.mu.Unlock()
	if lied {
		return
	}
	if _, err := out.Write(slices.Concat(header, payload)); err != nil {
		return
	}
	var both sync.WaitGroup
	for i := range 2 {
		both.Go(func() {
			_, _ = io.Copy(p.ends[i], p.ends[1-i])
			_, _ = in.Close(), out.Close()
		})
	}
	both.Wait()
}

// end ends connections.
func (l *liar) end(which func(pair) bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pairs = slices.DeleteFunc(l.pairs, func(p pair) bool {
		if which(p) {
			_, _ = p.ends[0].Close(), p.ends[1].Close()
		}
		return which(p)
	})
}

// lie has a node, which lives, look dead to the others. It cannot reach them either, but
// they refuse nobody.
func (l *liar) lie(about proto.NodeID) {
	l.mu.Lock()
	l.about = about
	_ = l.doormen[about].Close()
	l.mu.Unlock()
	l.end(func(p pair) bool { return p.from == about || p.to == about })
}

// stop has the truth told again.
func (l *liar) stop() {
	l.mu.Lock()
	about := l.about
	l.about = 0
	l.mu.Unlock()
	l.open(about)
}

// "A process that is heard again by a new link is alive: its promise stays free, its words
// count." A proxy ends the connections of three leaders in turn and refuses dials, so that
// each is held for dead. Once it has stopped, somebody leads.
func TestWhoWasHeldForDeadLeadsAgain(t *testing.T) {
	t.Parallel()
	for _, algorithm := range []string{"bully", "raft", "chubby"} {
		t.Run(algorithm, func(t *testing.T) {
			e := newE2E(t, algorithm, 3, "--voters", "1-3")
			l := newLiar(t, e)
			for _, n := range e.Nodes() {
				e.check(e.Start(n.ID, "--election-advertise", l.doors[n.ID]))
			}
			for range 3 {
				leader := e.agreed().Leader
				others := slices.DeleteFunc([]proto.NodeID{1, 2, 3}, func(id proto.NodeID) bool { return id == leader })
				dead := `"event":"gone","detail":"` + leader.String() + " "
				proofs := e.count(dead)
				l.lie(leader)
				e.eventually(func() string {
					if e.count(dead) <= proofs { // who has no link back since the last lie has no proof
						return "nobody holds the leader for dead"
					}
					return ""
				})
				e.agreed(others...)
				l.stop()
			}
			if b := e.agreed(); b.Leader == 0 {
				t.Error("nobody leads")
			}
		})
	}
}

// count counts words in the logs of all nodes.
func (e e2e) count(words string) (n int) {
	for _, node := range e.Nodes() {
		n += strings.Count(e.Log(node.ID), words)
	}
	return n
}
