package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/internal/testcluster"
	"github.com/ringleader-dev/ringleader/node/httpapi"
	"github.com/ringleader-dev/ringleader/proto"
)

var flagRotations = flag.Int("rotations", 20, "how many `times` TestLongKeys rotates the keys of gossip")

// securedE2E is a cluster of nodes with credentials.
type securedE2E struct{ e2e }

func newSecuredE2E(t *testing.T, algorithm string, nodes int, args ...string) securedE2E {
	t.Helper()
	return securedE2E{newE2EAs(t, testcluster.Config{
		Nodes: nodes, Algorithm: algorithm, Secured: true, Args: append([]string{"--log-level", "debug"}, args...),
	})}
}

// client returns a client of node id that may change it.
func (e securedE2E) client(id proto.NodeID) httpapi.Client {
	e.Helper()
	c, err := e.Client(id)
	e.check(err)
	return c
}

// told waits until the status of node id is as wanted, and returns it.
func (e securedE2E) told(id proto.NodeID, wanted func(httpapi.Status) bool) httpapi.Status {
	e.Helper()
	return e.statusOf(e.client(id), wanted)
}

// statusOf waits until the status that a client gets is as wanted, and returns it.
func (e e2e) statusOf(c httpapi.Client, wanted func(httpapi.Status) bool) (s httpapi.Status) {
	e.Helper()
	e.eventually(func() string {
		var err error
		if s, err = c.Status(e.ctx); err == nil && wanted(s) {
			return ""
		}
		return fmt.Sprintf("the node at %s is never as wanted: %+v, %v", c.Addr, s, err)
	})
	return s
}

// keys runs ringleader keys, asking node id.
func (e securedE2E) keys(id proto.NodeID, words ...string) keyTable {
	e.Helper()
	table, err := e.keysOr(id, words...)
	e.check(err)
	return table
}

// oneApp is held while a test of this file runs a command: such tests run at once, and the library for command lines
// has variables of its own.
var oneApp sync.Mutex

// keysOr does the same with a command that may fail.
func (e securedE2E) keysOr(id proto.NodeID, words ...string) (table keyTable, err error) {
	e.Helper()
	var out, stderr bytes.Buffer
	line := append([]string{
		"ringleader", "keys", words[0], "--addr", e.Node(id).HTTP, "--credentials",
		e.Operator(), "-o", "json",
	}, words[1:]...)
	oneApp.Lock()
	defer oneApp.Unlock()
	err = newApp(&out, &stderr).RunContext(e.Context(), line)
	e.check(json.Unmarshal(out.Bytes(), &table))
	return table, err
}

// rotate replaces the one key of all nodes that node id believes alive. It returns the new one.
func (e securedE2E) rotate(id proto.NodeID, old string) (fresh string) {
	e.Helper()
	table := e.keys(id, "add")
	for _, row := range table.Keys {
		if len(row.Seal) == 0 {
			fresh = row.Fingerprint
		}
	}
	e.keys(id, "use", fresh)
	table = e.keys(id, "remove", old)
	if len(table.Keys) != 1 || table.Keys[0].Fingerprint != fresh || len(table.Keys[0].Seal) != len(table.Nodes) {
		e.Fatalf("after a rotation from %s to %s: %+v", old, fresh, table)
	}
	return fresh
}

// sealing returns the one key with which all nodes seal.
func (e securedE2E) sealing(id proto.NodeID) string {
	e.Helper()
	table := e.keys(id, "list")
	if len(table.Keys) != 1 {
		e.Fatalf("keys %+v", table)
	}
	return table.Keys[0].Fingerprint
}

// lends borrows the lease of a leader, and gives it back, again and again, until the function that it returns is
// called. That returns how often.
func (e e2e) lends(leader httpapi.Client) (stop func() int) {
	ctx, cancel := context.WithCancel(e.Context())
	times := make(chan int)
	go func() {
		n := 0
		for ; ctx.Err() == nil; n++ {
			lease, err := leader.Lend(ctx, 0)
			if err == nil {
				err = leader.Return(ctx, lease.ID)
			}
			if err != nil && ctx.Err() == nil {
				e.Errorf("after %d leases: %v", n, err)
				break
			}
		}
		times <- n
	}()
	return func() int { cancel(); return <-times }
}

// The keys of gossip are rotated again and again under nodes that lose nobody and keep their leader and its term.
func TestLongKeys(t *testing.T) {
	e := newSecuredE2E(t, "bully", 3, append([]string{"--voters", "1-3"}, calm...)...)
	ctx, cancel := context.WithTimeout(t.Context(), patience+time.Duration(*flagRotations)*10*time.Second)
	defer cancel()
	e.ctx = ctx
	e.check(e.StartAll())
	before := e.agreed()
	gone := map[proto.NodeID]int{}
	for id := range proto.NodeID(3) {
		gone[id+1] = len(e.told(id+1, func(s httpapi.Status) bool { return len(s.Alive) == 3 }).Gone)
	}
	lent := e.lends(e.client(before.Leader))
	key := e.sealing(1)
	for i := range *flagRotations {
		key = e.rotate(proto.NodeID(1+i%3), key)
	}
	if n := lent(); n == 0 {
		t.Error("no lease was lent meanwhile")
	}
	for id := range proto.NodeID(3) {
		s := e.told(id+1, func(s httpapi.Status) bool { return true })
		if s.Leader != before.Leader || s.Term != before.Term || len(s.Alive) != 3 || len(s.Gone) != gone[id+1] {
			t.Errorf("node %v says %v leads term %d, %v are alive, %v are gone; before, %v led term %d", id+1, s.Leader,
				s.Term, s.Alive, s.Gone, before.Leader, before.Term)
		}
		for counter, n := range s.Counters {
			if strings.HasPrefix(counter, "gossip_dropped") {
				t.Errorf("node %v: %s %d", id+1, counter, n)
			}
		}
	}
	// a node that starts again has the keys that it had
	follower := without(before.Leader, 1, 2, 3)[0]
	_, err := e.Kill(follower)
	e.check(err)
	e.check(e.Start(follower))
	e.leads(before.Leader)
	e.told(before.Leader, func(s httpapi.Status) bool { return len(s.Alive) == 3 })
}

// docs/OPERATING.md: "A node was down, and is back before remove: it is let in at once, over its links. It gets no key
// by that. remove is refused while it seals with the old key, and keys list names what mends it".
func TestBackBeforeRemove(t *testing.T) {
	e := newSecuredE2E(t, "bully", 3, append([]string{"--voters", "1-3", "--preempt=false"}, calm...)...)
	e.check(e.StartAll())
	first := e.agreed()
	late := without(first.Leader, 1, 2, 3)[0]
	old := e.sealing(first.Leader)
	_, err := e.Kill(late)
	e.check(err)
	e.told(first.Leader, func(s httpapi.Status) bool { return len(s.Alive) == 2 })
	fresh := e.keys(first.Leader, "add").Keys[1].Fingerprint
	e.keys(first.Leader, "use", fresh)
	e.check(e.Start(late))
	e.told(first.Leader, func(s httpapi.Status) bool { return len(s.Alive) == 3 })
	e.told(late, func(s httpapi.Status) bool { return len(s.Alive) == 3 && s.Leader == first.Leader })
	e.logs(late, "is sealed with a key that this node has not (an older key?)")
	for _, step := range [][]string{{"list"}, {"remove", old}, {"use", fresh}} {
		_, err := e.keysOr(first.Leader, step...)
		for _, says := range []string{
			fmt.Sprintf("node %v has not key %s", late, fresh), "this mends it: ringleader keys use " + old,
		} {
			if err == nil || !strings.Contains(err.Error(), says) {
				t.Errorf("%q: %v, want %q", step, err, says)
			}
		}
	}
	e.keys(first.Leader, "use", old)
	e.keys(first.Leader, "remove", fresh)
	if key := e.sealing(late); key != old {
		t.Errorf("node %v seals with %s, want %s", late, key, old)
	}
}

// A node that was down during a rotation is not let in: both sides say so, and the status names it. It comes in,
// without a restart, once it has the new keys.
func TestOldKey(t *testing.T) {
	e := newSecuredE2E(t, "bully", 3, append([]string{"--voters", "1-3", "--preempt=false"}, calm...)...)
	e.check(e.StartAll())
	first := e.agreed()
	late := without(first.Leader, 1, 2, 3)[0]
	_, err := e.Kill(late)
	e.check(err)
	e.told(first.Leader, func(s httpapi.Status) bool { return len(s.Alive) == 2 })
	e.rotate(first.Leader, e.sealing(first.Leader))
	if table := e.keys(first.Leader, "list"); len(table.Absent) != 1 || table.Absent[0] != late {
		t.Errorf("absent are %v", table.Absent)
	}
	e.check(e.Start(late))
	const words = "is sealed with a key that this node has not (an older key?)"
	e.logs(late, words)
	e.logs(first.Leader, words)
	e.told(first.Leader, func(s httpapi.Status) bool { // which may know it by its links
		return len(s.Unmet) == 1 && slices.Contains(s.Unmet[0].Nodes, late) && strings.Contains(s.Unmet[0].Why, words)
	})
	keys, err := os.ReadFile(filepath.Join(e.Credentials(), "node-"+first.Leader.String(), "gossip.key"))
	e.check(err)
	e.check(os.WriteFile(filepath.Join(e.Credentials(), "node-"+late.String(), "gossip.key"), keys, 0o600))
	e.told(first.Leader, func(s httpapi.Status) bool { return len(s.Alive) == 3 })
	e.told(late, func(s httpapi.Status) bool { return len(s.Alive) == 3 && s.Leader == first.Leader })
}
