package main

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/internal/compare"
	"github.com/ringleader-dev/ringleader/node/httpapi"
	"github.com/ringleader-dev/ringleader/proto"
)

// Promise: "Migrating a live cluster from one algorithm to another, node by node, is
// supported (rolling restart, no moment with two leaders, with voters)".
func TestMigrateNodeByNode(t *testing.T) {
	e := newE2E(t, "bully", 3, "--voters", "1-3", "--lease", "2s", "--preempt=false")
	e.check(e.StartAll())
	began := time.Now()
	before := e.agreed()
	var deaths []compare.Death
	for _, id := range []proto.NodeID{1, 2, 3} {
		e.check(e.Terminate(id))
		e.exits(id, exitOK)
		deaths = append(deaths, compare.Death{Node: id, At: time.Now()})
		e.agreed(without(id, 1, 2, 3)...)
		e.check(e.Start(id, "--algorithm", "ring"))
		now := e.agreed()
		if now.Term < before.Term {
			t.Errorf("term %d after %d", now.Term, before.Term)
		}
		before = now
	}
	e.runs("ring", 1, 2, 3)
	_, two := compare.Led(e.Records(), deaths, began, time.Now())
	if two > 0 {
		t.Errorf("two led for %v", two)
	}
	// What is left is a ring like any other: its leader is replaced.
	_, err := e.Kill(before.Leader)
	e.check(err)
	e.agreed(without(before.Leader, 1, 2, 3)...)
	for _, id := range []proto.NodeID{1, 2, 3} {
		if strings.Contains(e.Log(id), "refused node") {
			t.Errorf("node %v refused another:\n%s", id, e.Log(id))
		}
	}
}

// "Any voter stands when no leader is heard of, so a leader that dies then is replaced":
// killed while one node has changed, and two have not.
func TestMigrateKilledMidway(t *testing.T) {
	t.Parallel()
	for _, pair := range [][2]string{{"bully", "ring"}, {"hs", "invitation"}, {"stoller", "broadcast"}} {
		t.Run(pair[0]+" to "+pair[1], func(t *testing.T) {
			e := newE2E(t, pair[0], 3, "--voters", "1-3", "--lease", "2s", "--preempt=true")
			e.check(e.StartAll())
			began, before := time.Now(), e.leads(3)
			var deaths []compare.Death
			for _, id := range []proto.NodeID{1, 3, 2} {
				at, err := e.Kill(id)
				e.check(err)
				deaths = append(deaths, compare.Death{Node: id, At: at})
				e.agreed(without(id, 1, 2, 3)...)
				e.check(e.Start(id, "--algorithm", pair[1]))
				now := e.agreed()
				if now.Term < before.Term {
					t.Errorf("term %d after %d", now.Term, before.Term)
				}
				before = now
			}
			e.runs(pair[1], 1, 2, 3)
			if _, two := compare.Led(e.Records(), deaths, began, time.Now()); two > 0 {
				t.Errorf("two led for %v", two)
			}
		})
	}
}

// runs checks that the nodes run an algorithm.
func (e e2e) runs(algorithm string, ids ...proto.NodeID) {
	e.Helper()
	for _, id := range ids {
		ctx, cancel := context.WithTimeout(e.ctx, patience)
		a, err := httpapi.Client{Addr: e.Node(id).HTTP}.Leader(ctx)
		cancel()
		e.check(err)
		if a.Algorithm != algorithm {
			e.Errorf("node %v runs %s, want %s", id, a.Algorithm, algorithm)
		}
	}
}

// Promise: without voters it is "refused with words that say how to do it", on both
// sides; the cluster stays as it is.
func TestMigrateBestEffortIsRefused(t *testing.T) {
	e := newE2E(t, "bully", 3, calm...)
	e.check(e.StartAll())
	before := e.leads(3)
	e.check(e.Terminate(1))
	e.exits(1, exitOK)
	e.check(e.Start(1, "--algorithm", "ring"))
	const how = "to change it, stop all nodes and start them with another, or give all of them voters first"
	e.logs(1, how)
	e.logs(2, how)
	if after := e.agreed(2, 3); after != before {
		t.Errorf("%+v lead, it was %+v", after, before)
	}
}

// Promise: "Between a nominating algorithm with voters and one with a quorum of its own, or two of these"
// migrating is "refused, on both sides, in the logs". "Who changes node by node all the
// same has no leader until a majority runs the new one, and never two"; also when the new
// one's leader is killed on the way.
func TestMigrateBetweenQuorums(t *testing.T) {
	t.Parallel()
	for _, pair := range [][2]string{
		{"bully", "raft"},
		{"ring", "zookeeper"},
		{"raft", "chubby"},
		{"chubby", "consensus"},
		{"zookeeper", "bully"},
		{"consensus", "raft"},
	} {
		t.Run(pair[0]+" to "+pair[1], func(t *testing.T) {
			e := newE2E(t, pair[0], 3, "--voters", "1-3", "--lease", "2s")
			e.check(e.StartAll())
			began, before := time.Now(), e.agreed()
			var deaths []compare.Death
			restart := func(id proto.NodeID) {
				at, err := e.Kill(id)
				e.check(err)
				deaths = append(deaths, compare.Death{Node: id, At: at})
				e.check(e.Start(id, "--algorithm", pair[1]))
			}
			restart(1)
			e.agreed(2, 3) // the old ones go on
			const how = "to change it, stop all nodes and start them with another"
			e.logs(1, how)
			e.logs(2, how)
			e.leads(0, 1)
			restart(2)
			half := e.agreed(1, 2)
			e.leads(0, 3)
			restart(half.Leader)
			half = e.agreed(1, 2)
			restart(3)
			after := e.agreed()
			e.runs(pair[1], 1, 2, 3)
			if half.Term <= before.Term || after.Term < half.Term {
				t.Errorf("terms %d, %d, %d", before.Term, half.Term, after.Term)
			}
			if _, two := compare.Led(e.Records(), deaths, began, time.Now()); two > 0 {
				t.Errorf("two led for %v", two)
			}
		})
	}
}
