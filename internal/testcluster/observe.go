package testcluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/proto"
)

// Records returns the records of every process so far, in causal order: by hybrid logical clock,
// then by node, then by the number of the record.
func (c *Cluster) Records() []trace.Record {
	c.mu.Lock()
	var all []entry
	for _, p := range c.lives {
		all = append(all, p.output.entries...)
	}
	c.mu.Unlock()

	slices.SortStableFunc(all, func(a, b entry) int {
		return cmp.Or(a.clock.Compare(b.clock),
			cmp.Compare(a.record.Node, b.record.Node), cmp.Compare(a.record.Seq, b.record.Seq))
	})
	records := make([]trace.Record, 0, len(all))
	for _, e := range all {
		records = append(records, e.record)
	}
	return records
}

// Log returns everything that the latest process of node id wrote.
func (c *Cluster) Log(id proto.NodeID) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if p := c.running[id]; p != nil {
		return strings.Join(p.output.lines, "\n")
	}
	return ""
}

// SaveLogs writes what each process wrote into a file of its own in dir. The file of node 3's
// second process is n3-life2.log.
func (c *Cluster) SaveLogs(dir string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	lives := map[proto.NodeID]int{}
	var errs []error
	for _, p := range c.lives {
		lives[p.id]++
		name := filepath.Join(dir, fmt.Sprintf("n%v-life%d.log", p.id, lives[p.id]))
		errs = append(errs, os.WriteFile(name, []byte(strings.Join(p.output.lines, "\n")+"\n"), 0o600))
	}
	return errors.Join(errs...)
}

// Ended reports whether the latest process of node id has ended. The result code is the exit code
// that a shell would show, and words is what the process wrote last.
func (c *Cluster) Ended(id proto.NodeID) (code int, words string, ended bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := c.running[id]
	if p == nil || !p.ended() {
		return 0, "", false
	}
	return p.exitCode(), p.output.lastWords(), true
}

// Belief is the leader that a node names.
type Belief struct {
	Leader proto.NodeID
	Term   proto.Term
}

// WaitAgreed waits until all nodes in ids believe in the same leader of the same term, and the
// leader is one of these nodes. Without ids it waits for all nodes. It fails with ErrEnded when a
// node ends by itself.
func (c *Cluster) WaitAgreed(ctx context.Context, ids ...proto.NodeID) (Belief, error) {
	ids = c.orAll(ids)
	return c.waitAgreed(ctx, ids, func(b Belief) bool { return slices.Contains(ids, b.Leader) })
}

// WaitLeader waits until all nodes in ids believe in the given leader, and in the same term. Without
// ids it waits for all nodes. It fails as WaitAgreed does.
func (c *Cluster) WaitLeader(
	ctx context.Context, leader proto.NodeID, ids ...proto.NodeID,
) (Belief, error) {
	return c.waitAgreed(ctx, c.orAll(ids), func(b Belief) bool { return b.Leader == leader })
}

func (c *Cluster) orAll(ids []proto.NodeID) []proto.NodeID {
	if len(ids) > 0 {
		return ids
	}
	return c.IDs()
}

func (c *Cluster) waitAgreed(
	ctx context.Context, ids []proto.NodeID, wanted func(Belief) bool,
) (Belief, error) {
	var agreed Belief
	err := c.Wait(ctx, func() bool {
		beliefs := c.Beliefs(ids...)
		agreed = beliefs[ids[0]]
		for _, id := range ids {
			if beliefs[id] != agreed {
				return false
			}
		}
		return wanted(agreed)
	})
	if err != nil {
		return Belief{}, fmt.Errorf("wait for %d nodes to agree on a leader (%s): %w",
			len(ids), c.describe(ids), err)
	}
	return agreed, nil
}

// Wait waits until done returns true. It calls done at once and after every change: a line was
// written, or a process ended. It fails with ErrEnded when a node ends by itself.
func (c *Cluster) Wait(ctx context.Context, done func() bool) error {
	for {
		c.mu.Lock()
		changed := c.changed
		err := c.unexpectedEnd()
		c.mu.Unlock()
		if done() {
			return nil
		}
		if err != nil {
			return err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// Beliefs returns the latest belief of each node in ids. A node that has written no record yet, or
// is not running, has none.
func (c *Cluster) Beliefs(ids ...proto.NodeID) map[proto.NodeID]Belief {
	c.mu.Lock()
	defer c.mu.Unlock()
	beliefs := make(map[proto.NodeID]Belief, len(ids))
	for _, id := range ids {
		p := c.running[id]
		if p == nil || p.ended() {
			continue
		}
		if written := p.output.entries; len(written) > 0 {
			rec := written[len(written)-1].record
			beliefs[id] = Belief{proto.NodeID(rec.Leader), proto.Term(rec.LeaderTerm())}
		}
	}
	return beliefs
}

// describe says what each node believes. If there are many nodes, it says how many nodes have each
// belief.
func (c *Cluster) describe(ids []proto.NodeID) string {
	const named = 10
	beliefs := c.Beliefs(ids...)
	words := make([]string, 0, len(ids))
	for _, id := range ids {
		b, ok := beliefs[id]
		who := fmt.Sprintf("node %v ", id)
		if len(ids) > named {
			who = ""
		}
		switch {
		case !ok:
			words = append(words, who+"says nothing")
		case b.Leader == 0:
			words = append(words, who+"knows no leader")
		default:
			words = append(words, fmt.Sprintf("%sfollows %v in term %d", who, b.Leader, b.Term))
		}
	}
	if len(ids) <= named {
		return strings.Join(words, ", ")
	}
	counts := map[string]int{}
	for _, word := range words {
		counts[word]++
	}
	var counted []string
	for _, word := range slices.Sorted(maps.Keys(counts)) {
		counted = append(counted, fmt.Sprintf("%d × %s", counts[word], word))
	}
	return strings.Join(counted, ", ")
}

// unexpectedEnd returns an error that wraps ErrEnded if a node ended although nobody asked it to.
// The caller holds mu.
func (c *Cluster) unexpectedEnd() error {
	for _, n := range c.nodes {
		p := c.running[n.ID]
		if p != nil && p.ended() && !p.stopped {
			return fmt.Errorf("node %v, exit code %d: %w; its last words: %s",
				n.ID, p.exitCode(), ErrEnded, p.output.lastWords())
		}
	}
	return nil
}
