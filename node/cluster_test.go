package node_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/membership"
	"github.com/ringleader-dev/ringleader/membership/memtest"
	"github.com/ringleader-dev/ringleader/node"
	"github.com/ringleader-dev/ringleader/proto"
)

// hall is a cluster of real runtimes, real algorithms and the real memberlist,
// all in memory and in virtual time. Gossip is the only failure detector here.
type hall struct {
	t     *testing.T
	net   *memtest.Network
	entry catalog.Entry

	mu    sync.Mutex
	nodes map[proto.NodeID]*resident
	cut   map[[2]proto.NodeID]bool
}

// resident is one process.
type resident struct {
	id    proto.NodeID
	node  *node.Node
	group *membership.Group
	addr  string
	stop  context.CancelFunc
	done  chan struct{}
}

const oneWay = time.Millisecond

// forEach runs f with five nodes that agree on node 5, for every algorithm that leads
// by itself: here are no voters, and no disk that would keep their votes.
func forEach(t *testing.T, f func(h *hall)) {
	for _, entry := range catalog.All() {
		if entry.NeedsVoters() {
			continue
		}
		t.Run(entry.Name, func(t *testing.T) {
			memtest.Test(t, func(t *testing.T, n *memtest.Network) {
				h := &hall{
					t: t, net: n, entry: entry,
					nodes: map[proto.NodeID]*resident{}, cut: map[[2]proto.NodeID]bool{},
				}
				for id := range proto.NodeID(5) {
					h.start(id+1, algorithms.State{})
				}
				t.Cleanup(h.close)
				h.agree(5, 1, 2, 3, 4, 5)
				f(h)
			})
		})
	}
}

func gossipAddr(id proto.NodeID) string { return fmt.Sprintf("10.0.0.%d:7946", id) }

// start starts a process of node id with what its former life saved.
func (h *hall) start(id proto.NodeID, saved algorithms.State) {
	h.t.Helper()
	incarnation := proto.NewIncarnation()
	r := &resident{id: id, addr: gossipAddr(id), done: make(chan struct{})}
	var err error
	r.node, err = node.New(node.Config{
		ID: id, Incarnation: incarnation, Saved: saved, Disk: keep{}, Transport: mail{h},
		Machine: h.entry.New(algorithms.Config{
			Self: id, Incarnation: incarnation, Delta: 50 * time.Millisecond, Preempt: h.entry.Preempt,
			Seed: uint64(id),
		}),
		Guarantee: h.entry.Guarantee,
		Recorder: trace.NewRecorder(trace.RecorderConfig{
			Node: id, Incarnation: incarnation, Algorithm: h.entry.Name, Level: zerolog.InfoLevel,
		}),
	})
	if err != nil {
		h.t.Fatal(err)
	}
	r.group, err = membership.Start(membership.Config{
		Self:    proto.Peer{ID: id, Incarnation: incarnation},
		Cluster: "hall", Algorithm: h.entry.Name, Profile: membership.Fast,
		ElectionAddr: fmt.Sprintf("10.0.0.%d:7947", id),
		Join:         []string{gossipAddr(1), gossipAddr(2)},
		Probe: func(context.Context, string) (proto.NodeID, proto.Incarnation, error) {
			return 0, proto.Incarnation{}, syscall.ECONNREFUSED
		},
		Transport: h.net.Transport(r.addr),
	})
	if err != nil {
		h.t.Fatal(err)
	}
	h.mu.Lock()
	h.nodes[id] = r
	h.mu.Unlock()
	ctx, stop := context.WithCancel(context.Background())
	r.stop = stop
	go func() {
		defer close(r.done)
		if err := r.node.Run(ctx); err != nil {
			h.t.Error(err)
		}
	}()
	go func() {
		for view := range r.group.Views() {
			alive := make([]proto.Peer, 0, len(view.Alive))
			for _, m := range view.Alive {
				alive = append(alive, m.Peer)
			}
			r.node.PeersChanged(alive, strings.Join(view.Evidence, ", "))
		}
	}()
}

// kill ends a process at once, and returns what it had saved.
func (h *hall) kill(id proto.NodeID) algorithms.State {
	h.mu.Lock()
	r := h.nodes[id]
	delete(h.nodes, id)
	h.mu.Unlock()
	saved := algorithms.State{Term: r.node.Status().Leader.Term}
	h.net.Kill(r.addr)
	r.stop()
	<-r.done
	_ = r.group.Close()
	return saved
}

func (h *hall) close() {
	for id := range proto.NodeID(5) {
		if h.living(id+1) != nil {
			h.kill(id + 1)
		}
	}
}

func (h *hall) living(id proto.NodeID) *resident {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.nodes[id]
}

// partition cuts gossip and elections between the two sides.
func (h *hall) partition(left, right []proto.NodeID) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, a := range left {
		for _, b := range right {
			h.cut[[2]proto.NodeID{a, b}], h.cut[[2]proto.NodeID{b, a}] = true, true
			h.net.Sever(gossipAddr(a), gossipAddr(b))
		}
	}
}

func (h *hall) heal() {
	h.mu.Lock()
	defer h.mu.Unlock()
	clear(h.cut)
	h.net.Heal()
}

// agree waits, in virtual time, until the nodes with the given ids all name the
// leader, which says so itself.
func (h *hall) agree(leader proto.NodeID, ids ...proto.NodeID) {
	h.t.Helper()
	var beliefs []string
	for range 6000 { // ten minutes
		beliefs = beliefs[:0]
		agreed := true
		for _, id := range ids {
			s := h.living(id).node.Status()
			beliefs = append(beliefs, fmt.Sprintf("%d names %d in term %d", id, s.Leader.ID, s.Leader.Term))
			agreed = agreed && s.Leader.ID == leader
		}
		if agreed {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	h.t.Fatalf("%d does not lead: %s", leader, strings.Join(beliefs, ", "))
}

// mail delivers messages after oneWay, but not across a cut.
type mail struct{ *hall }

func (m mail) Send(msg proto.Message) {
	time.AfterFunc(oneWay, func() {
		to := m.living(msg.To)
		m.mu.Lock()
		cut := m.cut[[2]proto.NodeID{msg.From, msg.To}]
		m.mu.Unlock()
		if to != nil && !cut {
			to.node.Deliver(msg)
		}
	})
}

func (mail) Hold() (<-chan struct{}, func()) { return nil, func() {} }

// keep is a disk that never fails.
type keep struct{}

func (keep) Save(algorithms.State) error { return nil }

// "All living nodes name the same living leader": after the leader's death, and
// again after the death of the next. The best living node leads.
func TestLeadersDie(t *testing.T) {
	forEach(t, func(h *hall) {
		h.kill(5)
		h.agree(4, 1, 2, 3, 4)
		h.kill(4)
		h.agree(3, 1, 2, 3)
	})
}

// A node that comes back follows, or takes over, as its algorithm says; its term
// survived.
func TestLeaderComesBack(t *testing.T) {
	forEach(t, func(h *hall) {
		saved := h.kill(5)
		h.agree(4, 1, 2, 3, 4)
		h.start(5, saved)
		leader := proto.NodeID(4)
		if h.entry.Preempt {
			leader = 5
		}
		h.agree(leader, 1, 2, 3, 4, 5)
	})
}

// "In a partition each side has a leader", and "two leaders that meet after a
// partition become one".
func TestPartitionHeals(t *testing.T) {
	forEach(t, func(h *hall) {
		left, right := []proto.NodeID{1, 2}, []proto.NodeID{3, 4, 5}
		h.partition(left, right)
		h.agree(2, left...)
		h.agree(5, right...)
		time.Sleep(45 * time.Second)
		h.heal()
		leader := proto.NodeID(5)
		if !h.entry.Preempt {
			leader = 2 // its term is the higher one
		}
		h.agree(leader, 1, 2, 3, 4, 5)
	})
}

// A leader that resigns hands over; the cluster does not wait for a detector.
func TestHandOver(t *testing.T) {
	forEach(t, func(h *hall) {
		before := time.Now()
		if err := h.living(5).node.Resign(h.t.Context(), 3, "told to"); err != nil {
			h.t.Fatal(err)
		}
		watch := h.living(3).node.Watch(h.t.Context())
		for l := range watch {
			if l.ID == 3 {
				break
			}
		}
		if gap := time.Since(before); gap > 10*oneWay {
			h.t.Errorf("3 leads after %v of virtual time", gap)
		}
	})
}
