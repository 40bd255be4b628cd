package membership

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/ringleader-dev/ringleader/membership/memtest"
	"github.com/ringleader-dev/ringleader/proto"
)

// cluster is the nodes of one test, on one network in memory.
type cluster struct {
	t     *testing.T
	net   *memtest.Network
	seeds []string
	mu    sync.Mutex
	doors map[string]identity // who listens at an election address
	nodes []*testNode
}

// testNode is one process with a reader of its views.
type testNode struct {
	*Group
	id   proto.NodeID
	addr string
	log  *lockedBuffer

	mu    sync.Mutex
	views []View
}

// inBubble runs f with a cluster inside a bubble of virtual time, and takes the
// cluster down afterwards.
func inBubble(t *testing.T, f func(t *testing.T, c *cluster)) {
	t.Helper()
	memtest.Test(t, func(t *testing.T, n *memtest.Network) {
		f(t, &cluster{t: t, net: n, doors: make(map[string]identity)})
	})
}

func gossipAddr(id int) string   { return fmt.Sprintf("10.0.0.%d:7946", id) }
func electionAddr(id int) string { return fmt.Sprintf("10.0.0.%d:7001", id) }

// config is that of a fresh process with the id.
func (c *cluster) config(id int) Config {
	return Config{
		Self: proto.Peer{
			ID: proto.NodeID(id), Incarnation: proto.NewIncarnation(), Attr: int64(10 * id),
		},
		Cluster: "demo", Algorithm: "bully",
		ElectionAddr: electionAddr(id), HTTPAddr: fmt.Sprintf("10.0.0.%d:8001", id),
		Join: c.seeds, Probe: c.probe,
	}
}

// probe answers as a real node's election port would.
func (c *cluster) probe(_ context.Context, addr string) (proto.NodeID, proto.Incarnation, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	who, ok := c.doors[addr]
	if !ok {
		return 0, proto.Incarnation{}, syscall.ECONNREFUSED
	}
	return who.id, who.incarnation, nil
}

// start starts a process with cfg, gossiping at addr.
func (c *cluster) start(cfg Config, addr string) *testNode {
	c.t.Helper()
	n := &testNode{id: cfg.Self.ID, addr: addr, log: &lockedBuffer{}}
	cfg.Transport = c.net.Transport(addr)
	cfg.Logger = zerolog.New(n.log)
	g, err := Start(cfg)
	if err != nil {
		c.t.Fatalf("start node %d: %v", cfg.Self.ID, err)
	}
	n.Group = g
	c.t.Cleanup(func() { _ = g.Close() })
	c.mu.Lock()
	c.doors[cfg.ElectionAddr] = identity{cfg.Self.ID, cfg.Self.Incarnation}
	c.mu.Unlock()
	go func() {
		for v := range g.Views() {
			n.mu.Lock()
			n.views = append(n.views, v)
			n.mu.Unlock()
		}
	}()
	c.nodes = append(c.nodes, n)
	return n
}

// startAll starts nodes 1 … n, each with all of them as seeds.
func (c *cluster) startAll(n int) []*testNode {
	c.seeds = nil
	for id := 1; id <= n; id++ {
		c.seeds = append(c.seeds, gossipAddr(id))
	}
	for id := 1; id <= n; id++ {
		c.start(c.config(id), gossipAddr(id))
	}
	return c.nodes
}

// kill ends a process as SIGKILL would.
func (c *cluster) kill(n *testNode) {
	c.net.Kill(n.addr)
	c.closeDoor(n)
	_ = n.Close()
}

// closeDoor makes the node's election port refuse.
func (c *cluster) closeDoor(n *testNode) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.doors, n.cfg.ElectionAddr)
}

// eventually waits until all nodes list exactly the ids, and returns how long
// that took.
func (c *cluster) eventually(within time.Duration, ids []int, nodes ...*testNode) time.Duration {
	c.t.Helper()
	return c.until(within, fmt.Sprintf("all list %v", ids), func() bool {
		for _, n := range nodes {
			if !slices.Equal(n.alive(), ids) {
				return false
			}
		}
		return true
	})
}

// until waits for a condition.
func (c *cluster) until(within time.Duration, what string, cond func() bool) time.Duration {
	c.t.Helper()
	start := time.Now()
	for !cond() {
		if time.Since(start) > within {
			for _, n := range c.nodes {
				c.t.Logf("node %d at %s: %v", n.id, n.addr, n.alive())
				c.t.Logf("%s", n.log)
			}
			c.t.Fatalf("after %v not yet: %s", within, what)
		}
		time.Sleep(time.Millisecond)
	}
	return time.Since(start)
}

// alive are the ids in the newest view.
func (n *testNode) alive() []int {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.views) == 0 {
		return nil
	}
	var ids []int
	for _, m := range n.views[len(n.views)-1].Alive {
		ids = append(ids, int(m.ID))
	}
	return ids
}

// member is how the newest view describes a process.
func (n *testNode) member(id int) Member {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, m := range n.views[len(n.views)-1].Alive {
		if int(m.ID) == id {
			return m
		}
	}
	return Member{}
}

// forget drops the views read so far, but for the newest.
func (n *testNode) forget() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.views = n.views[len(n.views)-1:]
	n.views[0].Evidence = nil
}

// evidence is all that the views since the last forget told.
func (n *testNode) evidence() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	var all []string
	for _, v := range n.views {
		all = append(all, v.Evidence...)
	}
	return all
}

func (n *testNode) told(evidence string) bool { return slices.Contains(n.evidence(), evidence) }

// lockedBuffer is a log that any goroutine may write.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// count is how many lines at warn or above have all the words.
func (l *lockedBuffer) count(words ...string) int {
	found := 0
	for line := range strings.Lines(l.String()) {
		loud := strings.Contains(line, `"level":"warn"`) ||
			strings.Contains(line, `"level":"error"`)
		for _, w := range words {
			loud = loud && strings.Contains(line, w)
		}
		if loud {
			found++
		}
	}
	return found
}
