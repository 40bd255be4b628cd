package main

import (
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/ringleader-dev/ringleader/proto"
)

// asked are the nodes that why-not asks, by their HTTP addresses.
type asked []proto.NodeID

// says waits until one answer of `why-not id --addr` holds all of the words, and none of those that begin
// with "!". Any one look may find the nodes between two leaders: those that start on a busy machine may
// lead before they have seen each other, and then mend that.
func (e e2e) says(id proto.NodeID, nodes asked, words ...string) {
	e.Helper()
	args := []string{"why-not", id.String()}
	for _, n := range nodes {
		args = append(args, "--addr", e.Node(n).HTTP)
	}
	e.eventually(func() string {
		out, err := exec.CommandContext(e.Context(), "ringleader", args...).CombinedOutput()
		if err != nil {
			return fmt.Sprintf("%v: %v: %s", args, err, out)
		}
		for _, want := range words {
			unwanted, not := strings.CutPrefix(want, "!")
			if strings.Contains(string(out), unwanted) == not {
				return fmt.Sprintf("%v: want %q in: %s", args, want, out)
			}
		}
		return ""
	})
}

// "`why-not NODE` answers … from a live cluster (`--addr`), why that node does
// not lead": outranked, killed and back again, never heard of, in a small cluster
// and in a larger one.
func TestWhyNotLive(t *testing.T) {
	t.Parallel()
	for _, nodes := range []int{5, 20} {
		t.Run(strconv.Itoa(nodes), func(t *testing.T) {
			e := newE2E(t, "bully", nodes, "--log-level", "info", "--failover-budget", "5s")
			best := proto.NodeID(nodes)
			e.check(e.StartAll())
			e.leads(best)
			e.says(best, asked{1}, "Node "+best.String()+" leads term", " UTC, it says itself (best-effort)",
				"!outranks")
			e.says(2, asked{1}, "Node "+best.String()+" leads term",
				"Node "+best.String()+" outranks node 2: its id is higher")
			_, err := e.Kill(2)
			e.check(err)
			e.says(2, asked{1}, "UTC nodes 1, 3",
				"lost node 2: connection closed", "port refused", "its process ended (peers saw it).",
				"!ever heard of", "!paused")
			e.says(77, asked{1}, "No node that answers has ever heard of node 77", "!lost node", "!paused")
			e.check(e.Start(2))
			e.leads(best)
			e.says(2, asked{1}, "Node "+best.String()+" outranks node 2", "!lost node 2")
		})
	}
}

// "or why nobody does: … no quorum and who is missing", and a node that is no
// voter never leads.
func TestWhyNotLiveQuorum(t *testing.T) {
	e := newE2E(t, "bully", 4, "--voters", "1-3")
	e.check(e.StartAll())
	e.leads(3)
	e.says(4, asked{1}, "Node 4 is none of the voters (1 2 3)", "!another list of voters")
	for _, id := range []proto.NodeID{3, 2} {
		_, err := e.Kill(id)
		e.check(err)
	}
	e.leads(0, 1)
	e.says(1, asked{1}, "Nobody leads since ", ": no quorum: 1 of 3", "2 are needed", "missing: 2, 3")
}

// "another algorithm or label": the node itself says so, when it is asked too.
func TestWhyNotLiveStrangers(t *testing.T) {
	e := newE2E(t, "bully", 4)
	e.check(e.Start(1))
	e.check(e.Start(2))
	e.check(e.Start(3, "--algorithm", "ring"))
	e.check(e.Start(4, "--cluster", "other"))
	e.leads(2, 1, 2)
	e.leads(3, 3)
	e.leads(4, 4)
	e.says(3, asked{1}, "No node that answers has ever heard of node 3", "another algorithm than bully")
	e.says(3, asked{1, 3}, "Node 3 runs ring, the others bully")
	e.says(4, asked{1, 4}, `Node 4 is of cluster "other", the others of "ringleader"`)
}

// "paused": it does not answer, and the others do not hear it.
func TestWhyNotLivePaused(t *testing.T) {
	e := newE2E(t, "bully", 3)
	e.check(e.StartAll())
	e.leads(3)
	e.check(e.Pause(3))
	e.leads(2, 1, 2)
	e.says(3, asked{1, 3}, "Node 2 leads", " UTC node 3 stopped answering heartbeats of nodes 1 and 2: it was paused, "+
		"hung or cut off", "nobody answers", "!process ended", "!ever heard of")
	e.check(e.Resume(3))
	e.leads(3)
	e.says(3, asked{1}, "Node 3 leads term", "!stopped answering")
}

// "It is outranked" is no reason where the rank does not decide.
func TestWhyNotLiveUnranked(t *testing.T) {
	e := newE2E(t, "raft", 3, append([]string{"--voters", "1-3"}, calm...)...)
	e.check(e.StartAll())
	leader := e.agreed().Leader
	for _, id := range e.others(leader) {
		e.says(id, asked{1}, "Node "+leader.String()+" leads term", "!outrank")
	}
}

// A node with another list of voters than the leader's: which lists, and what to do.
func TestWhyNotLiveOtherVoters(t *testing.T) {
	e := newE2E(t, "bully", 5, calm...)
	for id := proto.NodeID(1); id <= 3; id++ {
		e.check(e.Start(id, "--voters", "1-3"))
	}
	e.leads(3, 1, 2, 3)
	e.confirmed(1, 2, 3)
	for id := proto.NodeID(4); id <= 5; id++ {
		e.check(e.Start(id, "--voters", "1-5"))
	}
	for _, first := range []proto.NodeID{1, 5} {
		e.says(3, asked{first}, "Node 3 leads term", "But nobody leads, by the word of nodes 4 and 5",
			"Node 4 has another list of voters than node 3, the leader")
		e.says(5, asked{first, 5}, "Node 3 leads term", "Node 5 has another list of voters than node 3, the leader: "+
			"it has voters 1-5, node 3 has voters 1-3.",
			"Start the one that is wrong again with the list of the others")
	}
}

// "an unreachable `--addr`": what was tried, what happened, what to do.
func TestWhyNotLiveUnreachable(t *testing.T) {
	out, err := exec.Command("ringleader", "why-not", "1", "--addr", "127.0.0.1:1").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "ask 127.0.0.1:1 for /v1/status: no answer") ||
		!strings.Contains(string(out), "is the node running") {
		t.Errorf("%v: %s", err, out)
	}
}
