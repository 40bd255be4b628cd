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

// says waits until one answer of `why-not id --addr` holds all of the words. Any one look
// may find the nodes between two leaders: those that start on a busy machine may lead before
// they have seen each other, and then mend that.
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
			if !strings.Contains(string(out), want) {
				return fmt.Sprintf("%v: no %q in: %s", args, want, out)
			}
		}
		return ""
	})
}

// "`why-not NODE` answers … from a live cluster (`--addr`), why that node does
// not lead": outranked, dead in whose view, never heard of, in a small cluster
// and in a larger one.
func TestWhyNotLive(t *testing.T) {
	t.Parallel()
	for _, nodes := range []int{5, 20} {
		t.Run(strconv.Itoa(nodes), func(t *testing.T) {
			e := newE2E(t, "bully", nodes, "--log-level", "info", "--failover-budget", "5s")
			best := proto.NodeID(nodes)
			e.check(e.StartAll())
			e.leads(best)
			e.says(best, asked{1}, "Node "+best.String()+" does lead")
			e.says(2, asked{1}, "Node "+best.String()+" leads term", "It is outranked: node "+best.String())
			_, err := e.Kill(2)
			e.check(err)
			e.says(2, asked{1}, "Node 2 is alive to none that answers", "is not running")
			e.says(77, asked{1}, "Node 77 is alive to none that answers", "never of this cluster")
		})
	}
}

// "or why nobody does: … no quorum and who is missing", and a node that is no
// voter never leads.
func TestWhyNotLiveQuorum(t *testing.T) {
	e := newE2E(t, "bully", 4, "--voters", "1-3")
	e.check(e.StartAll())
	e.leads(3)
	e.says(4, asked{1}, "Node 4 is none of the voters (1 2 3)")
	for _, id := range []proto.NodeID{3, 2} {
		_, err := e.Kill(id)
		e.check(err)
	}
	e.leads(0, 1)
	e.says(1, asked{1}, "no quorum: 1 of 3", "Nobody leads", "2 are needed", "missing: 2, 3")
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
	e.says(3, asked{1}, "Node 3 is alive to none that answers", "another algorithm than bully")
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
	e.says(3, asked{1, 3}, "Node 2 leads", "Node 3 is alive to none that answers: 1 2", "nobody answers", "paused")
	e.check(e.Resume(3))
	e.leads(3)
}

// "an unreachable `--addr`": what was tried, what happened, what to do.
func TestWhyNotLiveUnreachable(t *testing.T) {
	out, err := exec.Command("ringleader", "why-not", "1", "--addr", "127.0.0.1:1").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "ask 127.0.0.1:1 for /v1/status: no answer") ||
		!strings.Contains(string(out), "is the node running") {
		t.Errorf("%v: %s", err, out)
	}
}
