package node_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/algorithms/lease"
	"github.com/ringleader-dev/ringleader/internal/highest"
	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/node"
	"github.com/ringleader-dev/ringleader/node/tcp"
	"github.com/ringleader-dev/ringleader/proto"
)

// fragile is a Disk that fails once it is broken.
type fragile struct{ broken chan struct{} }

func (f fragile) Save(algorithms.State) error {
	select {
	case <-f.broken:
		return errors.New("the disk is broken")
	default:
		return nil
	}
}

// saver is a Machine that has something to save at each Campaign.
type saver struct{ algorithms.Machine }

func (s saver) Step(now time.Time, ev algorithms.Event) algorithms.Output {
	out := s.Machine.Step(now, ev)
	if _, ok := ev.(algorithms.Campaign); ok {
		out.Save = &algorithms.State{Term: 1, Reserved: 2}
	}
	return out
}

// held is a node with real links, one of them to a peer, whose work has begun and
// returns when it is let.
type held struct {
	*node.Node
	t        *testing.T
	links    *tcp.Transport
	peer     *tcp.Transport
	stop     context.CancelFunc
	disk     fragile
	evidence chan tcp.Evidence // of the peer
	told     chan struct{}     // closed when the work is told to stop
	let      chan struct{}
	result   chan error  // what Run returned
	order    chan string // what ended; the work is to be the first
}

// Send and Hold are the Node's Transport.
func (h *held) Send(m proto.Message)            { h.links.Send(m) }
func (h *held) Hold() (<-chan struct{}, func()) { return h.links.Hold() }

func hold(t *testing.T) *held {
	t.Helper()
	h := &held{
		t: t, disk: fragile{make(chan struct{})}, evidence: make(chan tcp.Evidence, 64),
		told: make(chan struct{}), let: make(chan struct{}), order: make(chan string, 3),
		result: make(chan error, 1),
	}
	incarnation := proto.NewIncarnation()
	machine := lease.New(algorithms.Config{
		Self: 1, Incarnation: incarnation, Delta: time.Millisecond, Voters: []proto.NodeID{1}, Promise: time.Minute,
	}, highest.New)
	var err error
	h.Node, err = node.New(node.Config{
		ID: 1, Incarnation: incarnation, Disk: h.disk, Transport: h, Guarantee: algorithms.Lease,
		Machine:  saver{machine},
		Recorder: trace.NewRecorder(trace.RecorderConfig{Node: 1, Incarnation: incarnation}),
	})
	if err != nil {
		t.Fatal(err)
	}
	h.links = h.listen(1, incarnation, func(tcp.Evidence) {})
	h.peer = h.listen(2, proto.NewIncarnation(), func(e tcp.Evidence) { h.evidence <- e })
	h.peer.SetPeers([]tcp.Peer{{ID: 1, Incarnation: incarnation, Addr: h.links.Addr().String()}})
	for e := range h.evidence {
		if e.Event == proto.LinkUp {
			break
		}
	}
	ctx, stop := context.WithCancel(context.Background())
	h.stop = stop
	t.Cleanup(func() { stop(); _ = h.links.Close(); _ = h.peer.Close() })
	h.run(ctx, incarnation)
	return h
}

func (h *held) listen(id proto.NodeID, s proto.Incarnation, evidence func(tcp.Evidence)) *tcp.Transport {
	h.t.Helper()
	links, err := tcp.Listen(tcp.Config{
		Cluster: "held", Algorithm: "bully", ID: id, Incarnation: s, Bind: "127.0.0.1:0",
		Kinds:   catalog.Kinds(),
		Receive: func(proto.Message) {}, Evidence: evidence,
	})
	if err != nil {
		h.t.Fatal(err)
	}
	return links
}

// run returns when the work has begun.
func (h *held) run(ctx context.Context, s proto.Incarnation) {
	begun := make(chan struct{})
	go func() {
		_ = h.Lead(context.Background(), func(ctx context.Context, _ node.Lease) error {
			close(begun)
			<-ctx.Done()
			close(h.told)
			<-h.let
			h.order <- "work"
			return errors.New("enough")
		})
	}()
	go func() { h.result <- h.Run(ctx); h.order <- "run" }()
	h.PeersChanged([]proto.Peer{{ID: 1, Incarnation: s}}, "")
	<-begun
}

// close closes the links, at once.
func (h *held) close() {
	go func() { _ = h.links.Close(); h.order <- "links" }()
}

// holds checks that nothing has ended while the work has not, as seen from outside;
// then the work returns, and the rest ends after it.
func (h *held) holds() {
	h.t.Helper()
	select {
	case <-h.told:
	case <-time.After(time.Minute):
		h.t.Fatal("the work was not told to stop")
	}
	closing, release := h.links.Hold()
	<-closing
	release()
	for range 200 { // handshakes take longer than a Close that does not wait
		select {
		case first := <-h.order:
			h.t.Fatalf("%s ended before the work", first)
		case e := <-h.evidence:
			h.t.Fatalf("the peer sees %v before the work has ended", e)
		default:
		}
		if _, err := h.peer.Probe(h.t.Context(), h.links.Addr().String()); err != nil {
			h.t.Fatalf("nobody answers, and the work has not ended: %v", err)
		}
	}
	if s := h.Status(); s.Running || s.Leader.ID != 0 {
		h.t.Errorf("running %v, node %v leads", s.Running, s.Leader.ID)
	}
	close(h.let)
	if first := <-h.order; first != "work" {
		h.t.Errorf("%s ended before the work", first)
	}
	for range 2 {
		<-h.order // Run and the links, whichever is first
	}
}

// "Run, Leave and Close return, and links and listener close, only when all work has,
// however the caller orders them."
func TestLinksCloseAfterTheWork(t *testing.T) {
	for name, end := range map[string]func(*held){
		"Close before Run's end": func(h *held) { h.close() },
		"Run's end before Close": func(h *held) { h.stop(); h.close() },
		"a resignation, and Close": func(h *held) {
			if err := h.Resign(t.Context(), 0, "told to"); err != nil {
				t.Error(err)
			}
			h.close()
		},
		"the store fails": func(h *held) {
			close(h.disk.broken)
			go func() { // as whoever owns a Node does
				_ = h.Campaign(context.Background(), "so that something is saved")
				h.close()
			}()
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := hold(t)
			end(h)
			h.holds()
			if err := <-h.result; errors.Is(err, node.ErrDisk) != (name == "the store fails") {
				t.Errorf("Run: %v", err)
			}
		})
	}
}
