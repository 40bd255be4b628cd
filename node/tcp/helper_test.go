package tcp

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"go.uber.org/goleak"

	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/algorithms/nomination"
	"github.com/ringleader-dev/ringleader/proto"
)

// TestMain also is the node that a test kills: see kill_test.go. And it looks
// for goroutines left behind by any test.
func TestMain(m *testing.M) {
	if parent := os.Getenv(victimEnv); parent != "" {
		beVictim(parent)
		return
	}
	goleak.VerifyTestMain(m)
}

// node is a Transport under test, and everything it said.
type node struct {
	*Transport
	mu       sync.Mutex
	got      []proto.Message
	evidence []Evidence
	log      bytes.Buffer
	frozen   atomic.Bool // its elections stand still
}

// start listens on a free loopback port until the test ends.
func start(t testing.TB, id proto.NodeID, change ...func(*Config)) *node {
	t.Helper()
	n := &node{}
	cfg := Config{
		Cluster: "demo", Algorithm: "bully", Kinds: catalog.Kinds(), ID: id, Incarnation: proto.NewIncarnation(),
		Bind: "127.0.0.1:0", Receive: n.receive, Evidence: n.took,
		Log: zerolog.New(&lockedWriter{n: n}), Busy: n.busy,
	}
	for _, f := range change {
		f(&cfg)
	}
	tr, err := Listen(cfg)
	if err != nil {
		t.Fatal(err)
	}
	n.Transport = tr
	t.Cleanup(func() { _ = tr.Close() })
	return n
}

func (n *node) busy() time.Duration {
	if n.frozen.Load() {
		return time.Hour
	}
	return 0
}

func (n *node) receive(m proto.Message) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.got = append(n.got, m)
}

func (n *node) took(e Evidence) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.evidence = append(n.evidence, e)
}

// proven reports whether any evidence was proof.
func (n *node) proven() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.ContainsFunc(n.evidence, func(e Evidence) bool { return e.Proven })
}

type lockedWriter struct{ n *node }

func (w *lockedWriter) Write(p []byte) (int, error) {
	w.n.mu.Lock()
	defer w.n.mu.Unlock()
	return w.n.log.Write(p)
}

// messages are those that came, in order.
func (n *node) messages() []proto.Message {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.got)
}

// received are the numbers of the messages that came, in order.
func (n *node) received() []uint64 {
	all := n.messages()
	seqs := make([]uint64, 0, len(all))
	for _, m := range all {
		seqs = append(seqs, m.Seq)
	}
	return seqs
}

// events is the evidence so far. How many links there are when one comes up is
// left to chance, which of the two directions is first: it counts as one.
func (n *node) events() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	var all []string
	for _, e := range n.evidence {
		if e.Event == proto.LinkUp {
			e.Links = 1
		}
		all = append(all, said(e.Event, e.Incarnation, e.Links))
	}
	return all
}

// said is evidence as "word incarnation links".
func said(e proto.LinkEvent, s proto.Incarnation, links int) string {
	return fmt.Sprintf("%v %s %d", e, s.Short(), links)
}

// logged counts the log lines that contain text.
func (n *node) logged(text string) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return strings.Count(n.log.String(), text)
}

func (n *node) as(addr string) Peer {
	return Peer{ID: n.cfg.ID, Incarnation: n.cfg.Incarnation, Addr: addr}
}

func (n *node) asPeer() Peer { return n.as(n.Addr().String()) }

// message is message number seq from one node to another.
func message(from, to proto.NodeID, seq uint64) proto.Message {
	return proto.Message{From: from, To: to, Term: 1, Seq: seq, Body: nomination.TimeoutNow{}}
}

// connect makes every node a peer of every other, and waits for the links.
func connect(t testing.TB, nodes ...*node) {
	t.Helper()
	for _, n := range nodes {
		var peers []Peer
		for _, p := range nodes {
			peers = append(peers, p.asPeer())
		}
		n.SetPeers(peers)
	}
	for _, n := range nodes {
		eventually(t, "all links are up", func() bool { return n.linked() == len(nodes)-1 })
	}
}

// linked counts the links that n dialled.
func (n *node) linked() int {
	up := 0
	for _, p := range n.Stats().Peers {
		if p.Up {
			up++
		}
	}
	return up
}

// eventually waits until cond holds, and fails the test if it never does.
func eventually(t testing.TB, what string, cond func() bool) {
	t.Helper()
	deadline := time.After(time.Minute)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !cond() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("never came true: %s", what)
		}
	}
}

func eventuallyEqual(t testing.TB, what string, get func() []string, want ...string) {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	eventually(t, what, func() bool {
		got := get()
		if !slices.Equal(got, want) && time.Now().After(deadline.Add(-time.Second)) {
			t.Fatalf("%s:\n got %q\nwant %q", what, got, want)
		}
		return slices.Equal(got, want)
	})
}

// hurried shortens the limits that a test has to wait for.
func hurried(c *Config) {
	c.timing = timingFor(defaultPatience)
	c.timing.handshake = 200 * time.Millisecond
	c.timing.ack = 200 * time.Millisecond
	c.timing.unreachable = 300 * time.Millisecond
}
