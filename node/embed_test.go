package node_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/membership"
	"github.com/ringleader-dev/ringleader/node"
	"github.com/ringleader-dev/ringleader/node/clock"
	"github.com/ringleader-dev/ringleader/node/statefile"
	"github.com/ringleader-dev/ringleader/node/tcp"
	"github.com/ringleader-dev/ringleader/proto"
)

// What must be the same on every node. The label of the links names whatever decides on
// majorities, apart from the voters themselves: who promises less is refused, and who has
// other voters, but for one.
const (
	cluster  = "example"
	gossiped = "bully"
	elected  = "bully with promise 5s"
	delta    = 150 * time.Millisecond // the worst latency, of a busy machine too
	promise  = 5 * time.Second        // at least lease.MinPromise(delta)
)

var voters = []proto.NodeID{1, 2, 3}

// embedded is a node inside a program, with all that it needs.
type embedded struct {
	*node.Node
	file  *statefile.File
	links *tcp.Transport
	group atomic.Pointer[membership.Group] // set once it is there
	stop  context.CancelFunc
	ran   chan struct{} // closed when Run has returned
	parts sync.WaitGroup
}

// Send is the Node's Transport: the links are opened after the Node is made.
func (e *embedded) Send(m proto.Message) { e.links.Send(m) }

// Hold keeps the links open while the work of this node has not ended.
func (e *embedded) Hold() (closing <-chan struct{}, release func()) { return e.links.Hold() }

// embed starts node id, which keeps its votes in dir and looks for others at join. In a
// program each node is a process of its own, and every error is looked at.
func embed(id proto.NodeID, dir string, join ...string) (*embedded, error) {
	e, session := &embedded{ran: make(chan struct{})}, proto.NewSession()
	file, saved, err := statefile.Open(dir, statefile.Owner{Cluster: cluster, ID: id})
	if err != nil {
		return nil, err
	}
	e.file = file
	algorithm, err := catalog.Lookup("bully")
	if err != nil {
		return nil, err
	}
	algorithm = algorithm.WithOffice() // it nominates; a majority of the voters elects
	e.Node, err = node.New(node.Config{
		ID: id, Session: session, Saved: saved, Store: file, Transport: e, Now: clock.Now,
		Guarantee: algorithm.Guarantee,
		Machine: algorithm.New(algorithms.Config{
			Self: id, Session: session, Delta: delta, Preempt: algorithm.Preempt, Seed: uint64(time.Now().UnixNano()),
			Voters: voters, Promise: promise,
		}),
		Ineligible: e.tellEligible,
		Recorder: trace.NewRecorder(trace.RecorderConfig{
			Cluster: cluster, Node: id, Session: session, Algorithm: algorithm.Name, Guarantee: algorithm.Guarantee,
		}),
	})
	if err != nil {
		return nil, err
	}
	e.links, err = tcp.Listen(tcp.Config{
		Cluster: cluster, Algorithm: elected, Voters: proto.ListVoters(voters),
		ID: id, Session: session, Bind: "127.0.0.1:0",
		Receive: e.Deliver, Evidence: e.tell, Busy: e.Busy, SilentPeers: voters,
		Heartbeat: 250 * time.Millisecond, Misses: 8, // who hangs is found out within two seconds
	})
	if err != nil {
		return nil, err
	}
	group, err := membership.Start(membership.Config{
		Self: proto.Peer{ID: id, Session: session}, Cluster: cluster, Algorithm: gossiped,
		Bind: "127.0.0.1:0", ElectionAddr: e.links.Addr().String(), Join: join, Probe: e.probe,
	})
	if err != nil {
		return nil, err
	}
	e.group.Store(group)
	e.run()
	return e, nil
}

// run ties the parts together: the views go to the links first, which have to know a
// process before the node writes to it.
func (e *embedded) run() {
	ctx, stop := context.WithCancel(context.Background())
	e.stop = stop
	e.parts.Go(func() {
		defer close(e.ran)
		_ = e.Run(ctx)
	})
	e.parts.Go(func() {
		for leader := range e.Watch(ctx) {
			e.links.SetLeader(leader.ID)
		}
	})
	e.parts.Go(func() {
		group := e.group.Load()
		for view := range group.Views() {
			var peers []tcp.Peer
			for _, m := range group.Listed() {
				peers = append(peers, tcp.Peer{ID: m.ID, Session: m.Session, Addr: m.ElectionAddr})
			}
			e.links.SetPeers(peers)
			var alive []proto.Peer
			for _, m := range view.Alive {
				alive = append(alive, m.Peer)
			}
			e.PeersChanged(alive, strings.Join(view.Evidence, ", "))
		}
	})
}

// tell passes on what the links know of a process. A proof of its death ends promises; one
// that answers all the same is not dead.
func (e *embedded) tell(ev tcp.Evidence) {
	switch {
	case ev.Proven:
		e.Gone(ev.Peer, ev.Session)
	case ev.Event == proto.LinkUp:
		e.HeardAgain(ev.Peer, ev.Session)
	}
	if group := e.group.Load(); group != nil {
		group.Report(membership.Evidence{
			ID: ev.Peer, Session: ev.Session, Event: ev.Event,
		})
	}
}

func (e *embedded) tellEligible(why string) {
	if group := e.group.Load(); group != nil {
		group.SetEligible(why == "")
	}
}

func (e *embedded) probe(ctx context.Context, addr string) (proto.NodeID, proto.Session, error) {
	welcome, err := e.links.Probe(ctx, addr)
	return welcome.ID, welcome.Session, err
}

// leave resigns, waits until all work has ended, says goodbye and closes what is open. In
// whatever order it did that, the links would close only after the work.
func (e *embedded) leave() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = e.Resign(ctx, 0)
	e.stop()
	<-e.ran
	_ = e.group.Load().Leave(ctx)
	e.parts.Wait()
	_ = e.links.Close()
	_ = e.file.Close()
}

// The whole of a node inside a program: what it keeps on disk, its links, gossip, and
// what ties them together. Three of them elect, and one is told to hand over.
func Example() {
	dir, err := os.MkdirTemp("", "embedded")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	var nodes []*embedded
	var join []string
	for _, id := range voters {
		n, err := embed(id, filepath.Join(dir, id.String()), join...)
		if err != nil {
			fmt.Println(err)
			return
		}
		defer n.leave()
		nodes, join = append(nodes, n), []string{n.group.Load().GossipAddr()}
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	for _, n := range nodes {
		go func() {
			_ = n.Lead(ctx, func(ctx context.Context, l node.Lease) error {
				<-ctx.Done() // the work: it ends before the lease can
				return nil
			})
		}()
	}
	for len(nodes[2].Status().Alive) < len(voters) {
		time.Sleep(time.Millisecond) // a view can only be looked at again
	}
	for leader := range nodes[0].Watch(ctx) {
		if leader.ID == 3 {
			fmt.Println("node 3 leads, which ranks highest")
			break
		}
	}
	_, err = nodes[2].Transfer(ctx, 9, "an example")
	fmt.Println(err)
	leader, err := nodes[2].Transfer(ctx, 2, "an example")
	fmt.Println("node", leader.ID, "leads, as it was asked to:", err)
	// Output:
	// node 3 leads, which ranks highest
	// transfer leadership from node 3: no transfer to node 9: it is no voter; name one that could take over: 1 or 2
	// node 2 leads, as it was asked to: <nil>
}
