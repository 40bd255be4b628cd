package main

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/node/httpapi"
	"github.com/ringleader-dev/ringleader/proto"
)

// "What a link proves beats what gossip says": whoever has the key of gossip has no node drop another while one of them
// hangs. All count all again within 20 seconds of the end of the lies, as before them.
func TestTheGossipKeyWhileANodeHangs(t *testing.T) {
	in := newIntruderOf(t, "2s")
	in.stealKey()
	in.patient()
	began, hung := time.Now(), in.followers()[0]
	told, stop := again(50*time.Millisecond, in.everyLie())
	defer stop()
	in.reaches(told, 20)
	in.check(in.Pause(hung))
	for _, id := range without(hung, 1, 2, 3) { // they find out by themselves
		in.told(id, func(s httpapi.Status) bool { return !slices.Contains(s.Alive, hung) })
	}
	in.check(in.Resume(hung))
	in.countAll("it goes on")
	in.reaches(told, told.Load()+200) // rounds in which a node believes gossip of whom no link vouches for
	stop()
	in.countAll("the lies have ended")
	if rec, found := in.recorded(began, func(r trace.Record) bool {
		return strings.Contains(r.Evidence, "gossip-dead")
	}); found {
		t.Errorf("node %v believed a forged death: %s", rec.Node, rec.Evidence)
	}
}

// countAll waits until all nodes count all.
func (in *intruder) countAll(after string) {
	in.Helper()
	began := time.Now()
	within, cancel := in.within(backWithin)
	defer cancel()
	for id := range proto.NodeID(3) {
		within.told(id+1, func(s httpapi.Status) bool { return len(s.Alive) == 3 })
	}
	in.Logf("all count all %v after %s", time.Since(began).Round(time.Millisecond), after)
}

// everyLie returns what tells, each time that it is called, that each node is dead, is as it is not, and is another
// process. Each lie has a higher number than what the nodes said against the last one.
func (in *intruder) everyLie() func() {
	in.Helper()
	var nodes []someone
	for id := range proto.NodeID(3) {
		nodes = append(nodes, in.truly(id+1))
	}
	number := uint32(1 << 20)
	return func() {
		for _, n := range nodes {
			in.gossip(in.dead(n.ID, number+1), without(n.ID, 1, 2, 3)...)
			described, another := n, n
			described.number, described.Attr, described.flags = number+2, math.MaxInt64, 2
			another.number, another.Incarnation, another.election = number+3, proto.Incarnation{9}, "127.0.0.1:9"
			in.gossip(in.alive(described))
			in.gossip(in.alive(another))
			number += 4
		}
	}
}
