//go:build !race

// Under the race detector Go 1.26's runtime crashed in here: SIGSEGV in maybeRunChan, in a
// select of a bubble. make test runs it without.

package daemon

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/internal/health"
	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/node"
	"github.com/ringleader-dev/ringleader/proto"
)

// The pace of the profile fast.
const (
	fastPatience = 250 * time.Millisecond
	fastPromise  = 2 * fastPatience
	fastDelta    = 7 * time.Millisecond
)

// starved is a cluster of real runtimes and their health monitors, in virtual time, whose
// processes get no processor at times: then their loops stand still at one event.
type starved struct {
	mu    sync.Mutex
	nodes map[proto.NodeID]*node.Node
	unfit map[proto.NodeID]bool
	until map[proto.NodeID]time.Time // it stands still until then
}

// newStarved starts three voters. It is to be called in a bubble.
func newStarved(t *testing.T, name string) *starved {
	t.Helper()
	entry, err := catalog.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	s := &starved{
		nodes: map[proto.NodeID]*node.Node{}, unfit: map[proto.NodeID]bool{},
		until: map[proto.NodeID]time.Time{},
	}
	voters := []proto.NodeID{1, 2, 3}
	ctx, cancel := context.WithCancel(context.Background())
	var parts sync.WaitGroup
	var run []func(context.Context) // once all nodes are in the map, which nobody writes then
	t.Cleanup(func() {
		cancel()
		parts.Wait()
	})
	for _, id := range voters {
		incarnation := proto.Incarnation{byte(id)}
		n, err := node.New(node.Config{
			ID: id, Incarnation: incarnation, Disk: noDisk{}, Transport: post{s, id},
			Machine: entry.WithLease().New(algorithms.Config{
				Self: id, Incarnation: incarnation, Delta: fastDelta, Preempt: entry.Preempt, Seed: uint64(id),
				Voters: voters, Promise: fastPromise,
			}),
			Guarantee: algorithms.Lease,
			Recorder: trace.NewRecorder(trace.RecorderConfig{
				Node: id, Incarnation: incarnation, Algorithm: name, Level: zerolog.InfoLevel,
			}),
			Ineligible: func(why string) { s.tell(id, why != "") },
		})
		if err != nil {
			t.Fatal(err)
		}
		s.nodes[id] = n
		needed := need{patience: 2 * fastPromise}
		m, err := health.New(health.Config{
			Checks:   []health.Check{health.Loop(n.Busy, fastPatience)},
			Interval: 5 * time.Second, Timeout: 2 * time.Second, Rise: 2, Fall: 3,
			HoldDown: 10 * time.Second, MaxHoldDown: 320 * time.Second,
			Needed: func() bool { return needed.of(n.Status().Leader.ID != 0, s.anotherThan(id), time.Now()) },
			Report: func(healthy bool, why string) { n.SetEligible(causeHealth, healthy, why) },
		})
		if err != nil {
			t.Fatal(err)
		}
		run = append(run, func(ctx context.Context) { _ = n.Run(ctx) }, m.Run)
	}
	for _, f := range run {
		parts.Go(func() { f(ctx) })
	}
	s.tell(0, false)
	return s
}

// tell gives all nodes a view, in which one may not lead, or may again.
func (s *starved) tell(id proto.NodeID, unfit bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unfit[id] = unfit
	var alive []proto.Peer
	for id := range proto.NodeID(3) {
		alive = append(alive, proto.Peer{
			ID: id + 1, Incarnation: proto.Incarnation{byte(id + 1)}, Ineligible: s.unfit[id+1],
		})
	}
	for _, n := range s.nodes {
		n.PeersChanged(slices.Clone(alive), "told")
	}
}

func (s *starved) anotherThan(id proto.NodeID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for other := range s.nodes {
		if other != id && !s.unfit[other] {
			return true
		}
	}
	return false
}

// stall stops a node for a while, in the next of its events that sends anything.
func (s *starved) stall(id proto.NodeID, span time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.until[id] = time.Now().Add(span)
}

func (s *starved) leader() proto.NodeID {
	for id, n := range s.nodes {
		if n.Status().Leader.ID == id {
			return id
		}
	}
	return 0
}

// post delivers messages after a millisecond, and is where a node stands still.
type post struct {
	*starved
	from proto.NodeID
}

func (p post) Send(m proto.Message) {
	p.mu.Lock()
	until := p.until[p.from]
	p.mu.Unlock()
	time.Sleep(time.Until(until)) // of the bubble: its sender stands still
	time.AfterFunc(time.Millisecond, func() {
		if to := p.nodes[m.To]; to != nil {
			to.Deliver(m)
		}
	})
}

func (post) Hold() (<-chan struct{}, func()) { return nil, func() {} }

type noDisk struct{}

func (noDisk) Save(algorithms.State) error { return nil }

// "What slows a node for a second keeps it from leading for about as long; and when nobody
// else can lead, a node that is held down does." Nodes stand still, again and again, for up
// to a second: once that is over somebody leads within the last stall and three promises.
// All sleeps are in virtual time.
func TestStallsEnd(t *testing.T) {
	for _, name := range []string{"bully", "ring", "raft", "chubby"} {
		for seed := range uint64(20) {
			synctest.Test(t, func(t *testing.T) {
				const most = time.Second
				s, dice := newStarved(t, name), rand.New(rand.NewPCG(seed, seed))
				time.Sleep(10 * time.Second)
				if s.leader() == 0 {
					t.Fatalf("%s: nobody leads before the first stall", name)
				}
				for range 100 {
					s.stall(proto.NodeID(1+dice.IntN(3)), time.Duration(dice.Int64N(int64(most))))
					time.Sleep(time.Duration(dice.Int64N(int64(most / 2))))
				}
				over := time.Now()
				for s.leader() == 0 {
					if time.Since(over) > most+most+3*fastPromise {
						t.Fatalf("%s, seed %d: nobody leads %v after all stalls", name, seed, time.Since(over))
					}
					time.Sleep(10 * time.Millisecond)
				}
			})
		}
	}
}
