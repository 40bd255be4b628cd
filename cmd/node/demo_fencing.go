package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/ringleader-dev/ringleader/fence"
	"github.com/ringleader-dev/ringleader/fence/kv"
	"github.com/ringleader-dev/ringleader/internal/bench"
	"github.com/ringleader-dev/ringleader/internal/bench/history"
	"github.com/ringleader-dev/ringleader/internal/testcluster"
	"github.com/ringleader-dev/ringleader/proto"
)

// demoThink is how long a worker of the demo takes between its look at the node
// and its write: long enough to stop it there.
const demoThink = 500 * time.Millisecond

// fencingDemo is one run of the story of the lecture notes: "A enters GC pause.
// Lease expires, B becomes leader. A wakes up, thinks it's still leader. A writes
// data (stale leader!)".
type fencingDemo struct {
	demo
	storage *bench.Storage
	workers map[proto.NodeID]*demoWorker
}

// tellFencing tells it.
func (d demo) tellFencing(ctx context.Context, self, dir string) (err error) {
	f := fencingDemo{demo: d, workers: map[proto.NodeID]*demoWorker{}}
	defer func() { err = errors.Join(err, f.close()) }()
	if f.storage, err = bench.StartStorage(d.cluster, self, filepath.Join(dir, "storage")); err != nil {
		return err
	}
	d.title(d.entry, len(d.nodes))
	first, err := d.assemble(ctx)
	if err != nil {
		return fmt.Errorf("no first leader: %w", err)
	}
	for _, n := range d.nodes {
		if f.workers[n], err = startDemoWorker(d.cluster, self, n, f.storage.URL()); err != nil {
			return err
		}
	}
	old, err := f.writes(ctx, first.Leader)
	if err != nil {
		return fmt.Errorf("node %v does not write: %w", first.Leader, err)
	}
	if err := f.pauses(ctx, old.Token); err != nil {
		return err
	}
	next, err := f.takesOver(ctx, old.Token)
	if err != nil {
		return fmt.Errorf("nobody took over from node %v: %w", first.Leader, err)
	}
	return f.wakes(ctx, old.Token, next)
}

// writes waits for the first write of the leader's worker.
func (f fencingDemo) writes(ctx context.Context, leader proto.NodeID) (history.Call, error) {
	f.chapter(2, "A worker beside each node writes while its node leads")
	f.begin("The storage is ringleader fence, at %s.", f.storage.URL())
	c, err := f.workers[leader].await(ctx, func(c history.Call) bool {
		return c.Kind == history.Put && c.Outcome == history.Done
	})
	if err != nil {
		return c, err
	}
	f.say("%s", inOneLine(leader, c))
	return c, nil
}

// pauses stops the leader and its worker when the worker has looked, and not
// written yet.
func (f fencingDemo) pauses(ctx context.Context, old fence.Token) error {
	f.chapter(3, "The leader pauses, as in a garbage collection: SIGSTOP to node %v and its worker", old.Leader)
	w := f.workers[old.Leader]
	for {
		if err := w.awaitLook(ctx); err != nil {
			return err
		}
		if err := w.Signal(syscall.SIGSTOP); err != nil {
			return err
		}
		if w.midway() {
			break
		}
		if err := w.Signal(syscall.SIGCONT); err != nil { // it was faster: once more
			return err
		}
	}
	f.begin("The worker has just seen that node %v leads, and is about to write.", old.Leader)
	return f.cluster.Pause(old.Leader)
}

// takesOver tells how another is elected and writes.
func (f fencingDemo) takesOver(ctx context.Context, old fence.Token) (history.Call, error) {
	stopped := time.Now()
	living := slices.DeleteFunc(slices.Clone(f.nodes), func(id proto.NodeID) bool { return id == old.Leader })
	next, err := f.cluster.WaitAgreed(ctx, living...)
	if err != nil {
		return history.Call{}, err
	}
	f.chapter(4, "Its lease runs out, and another is elected")
	r, err := f.round(ctx, next.Term, death{node: old.Leader, at: stopped}, living...)
	if err != nil {
		return history.Call{}, err
	}
	f.draw(r)
	f.say("After %s node %v leads term %d.", millis(r.Winner.At.Sub(stopped)), next.Leader, next.Term)
	c, err := f.workers[next.Leader].await(ctx, func(c history.Call) bool {
		return c.Kind == history.Put && c.Outcome == history.Done
	})
	if err == nil {
		f.say("%s", inOneLine(next.Leader, c))
	}
	return c, err
}

// wakes lets the old leader go on where it stopped.
func (f fencingDemo) wakes(ctx context.Context, old fence.Token, next history.Call) error {
	f.chapter(5, "The old leader wakes: SIGCONT to node %v and its worker", old.Leader)
	w := f.workers[old.Leader]
	if err := errors.Join(w.Signal(syscall.SIGCONT), f.cluster.Resume(old.Leader)); err != nil {
		return err
	}
	c, err := w.await(ctx, func(c history.Call) bool {
		return c.Kind == history.Put && c.Token == old && (c.Outcome == history.Stale || c.Began > next.Ended)
	})
	if err != nil {
		return fmt.Errorf("the old worker did not write: %w", err)
	}
	f.begin("It goes on where it stopped, and writes.\n%s", inOneLine(old.Leader, c))
	if c.Outcome != history.Stale {
		return errors.New("the storage took a stale write")
	}
	b, err := f.cluster.WaitAgreed(ctx)
	if err != nil {
		return fmt.Errorf("the nodes do not agree again: %w", err)
	}
	status, err := kv.NewClient(f.storage.URL()).Status(ctx)
	if err != nil {
		return err
	}
	f.say("All follow node %v, term %d. The storage's meter: %d calls accepted, %d refused as stale; "+
		"its highest token is %v.", b.Leader, b.Term, status.Calls.Accepted, status.Calls.Stale, status.Token)
	if status.Calls.Stale == 0 {
		return errors.New("the storage's meter does not show the stale write")
	}
	return nil
}

func (f fencingDemo) close() error {
	var errs []error
	for _, w := range f.workers {
		errs = append(errs, w.Kill())
	}
	if f.storage != nil {
		errs = append(errs, f.storage.Kill())
	}
	return errors.Join(errs...)
}

// inOneLine is a call and what the storage answered.
func inOneLine(worker proto.NodeID, c history.Call) string {
	answer := "204, accepted"
	if c.Outcome == history.Stale {
		answer = fmt.Sprintf("412, the current token is %v", c.Current)
	}
	return fmt.Sprintf("worker %v: PUT %s = %s, token %v: %s.", worker, c.Key, c.Value, c.Token, answer)
}

// demoWorker is a worker's process, and what it said.
type demoWorker struct {
	*bench.WorkerProcess

	mu      sync.Mutex
	looked  bool // since its last call of any kind
	calls   []history.Call
	changed chan struct{} // closed and replaced with each line
}

func startDemoWorker(
	c *testcluster.Cluster, self string, id proto.NodeID, store string,
) (w *demoWorker, err error) {
	w = &demoWorker{changed: make(chan struct{})}
	line := workerLine(self, bench.Worker{
		Node: c.Node(id).HTTP, Store: store, Name: "by-node-" + id.String(), Think: demoThink,
	})
	w.WorkerProcess, err = bench.StartWorker(c, line, w.hear)
	return w, err
}

func (w *demoWorker) hear(s bench.Said) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.looked = s.Call == nil && s.Returned == 0
	if s.Call != nil && s.Call.Ended != 0 {
		w.calls = append(w.calls, *s.Call)
	}
	close(w.changed)
	w.changed = make(chan struct{})
}

// midway reports whether it has looked and done nothing since.
func (w *demoWorker) midway() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.looked
}

// awaitLook waits until it has looked, and done nothing since.
func (w *demoWorker) awaitLook(ctx context.Context) error {
	return w.until(ctx, func() bool { return w.looked })
}

// await waits for a call that is as wanted, from the next one on.
func (w *demoWorker) await(ctx context.Context, is func(history.Call) bool) (c history.Call, err error) {
	err = w.until(ctx, func() bool {
		i := slices.IndexFunc(w.calls, is)
		if i >= 0 {
			c = w.calls[i]
		}
		return i >= 0
	})
	return c, err
}

// until waits until done returns true; that is called with mu held.
func (w *demoWorker) until(ctx context.Context, done func() bool) error {
	for {
		w.mu.Lock()
		ok, changed := done(), w.changed
		w.mu.Unlock()
		if ok {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
