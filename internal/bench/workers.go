package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/ringleader-dev/ringleader/fence"
	"github.com/ringleader-dev/ringleader/internal/bench/history"
	"github.com/ringleader-dev/ringleader/internal/testcluster"
	"github.com/ringleader-dev/ringleader/proto"
)

// WorkersConfig describes the cluster and the storage of Workers.
type WorkersConfig struct {
	Cluster *testcluster.Cluster
	// Binary is the path of the ringleader executable that runs the storage.
	Binary string
	// Dir is the directory for the storage's data and the sockets.
	Dir string
	// Think is how long a worker waits after it looked at the node and before it writes.
	Think time.Duration
}

// Workers are a storage, and a worker beside each node of a cluster. Only one goroutine at a time
// may call their methods.
type Workers struct {
	WorkersConfig
	Storage *Storage
	workers map[proto.NodeID]*workerLife
	started int

	mu      sync.Mutex
	calls   []history.Call
	lent    []act         // the leases that were lent to workers
	first   fence.Token   // the token of the first write that the storage accepted
	last    fence.Token   // the token of the latest such write
	written time.Time     // when Workers heard of the latest such write
	news    chan struct{} // closed and replaced with each line that a worker writes
}

// workerLife is one process of a worker.
type workerLife struct {
	*testcluster.Process
	client int
	node   proto.NodeID
	proxy  *proxy
	// pending are the calls without an answer yet. sealed is the token with which the worker has
	// sealed the storage. looked says that the worker has seen that it may write with this token,
	// and has begun no call since. heard is when the worker saw that, since the machine's start.
	// lease is the index of its latest lease in Workers.lent. The mu of Workers guards these five.
	pending map[int]history.Call
	sealed  fence.Token
	looked  bool
	heard   time.Duration
	lease   int
}

// StartWorkers starts the storage and a worker beside each node. The caller must Close
// Workers before the cluster.
func StartWorkers(cfg WorkersConfig) (*Workers, error) {
	w := &Workers{WorkersConfig: cfg, workers: map[proto.NodeID]*workerLife{}, news: make(chan struct{})}
	var err error
	if w.Storage, err = startStorage(cfg.Binary, filepath.Join(cfg.Dir, "storage")); err != nil {
		return nil, err
	}
	for _, n := range cfg.Cluster.Nodes() {
		if err := w.Start(n.ID); err != nil {
			return nil, errors.Join(err, w.Close())
		}
	}
	return w, nil
}

// Start starts the worker beside a node, with a proxy of its own.
func (w *Workers) Start(id proto.NodeID) error {
	w.started++
	path := filepath.Join(w.Dir, fmt.Sprintf("proxy%d", w.started))
	p, err := openProxy(path, w.Storage.Addr)
	if err != nil {
		return fmt.Errorf("open a way to the storage: %w", err)
	}
	l := &workerLife{client: w.started, node: id, proxy: p, pending: map[int]history.Call{}}
	l.Process, err = part{Worker: &worker{
		Node: w.Cluster.Node(id).HTTP, Store: path, Name: fmt.Sprintf("w%d", w.started), Think: w.Think,
	}}.start(w.Cluster.Enter(id), func(line []byte) { w.hear(l, line) })
	if err != nil {
		return errors.Join(fmt.Errorf("start a worker: %w", err), p.close())
	}
	w.workers[id] = l
	return nil
}

// Kill kills the worker beside a node, and returns when none of its calls is under way any more.
// The outcomes of its unfinished calls are unknown.
func (w *Workers) Kill(id proto.NodeID) error {
	l := w.workers[id]
	delete(w.workers, id)
	return errors.Join(l.Kill(), w.bury(l))
}

// Signal sends a signal to the worker beside a node.
func (w *Workers) Signal(id proto.NodeID, sig syscall.Signal) error { return w.workers[id].Signal(sig) }

// StopMidway stops (SIGSTOP) the worker beside a node that leads, after the worker looked at the
// node and before it writes. That is where a garbage collection does the most harm. It does not do
// so before the first write of a leadership: the worker would first seal the storage, be refused,
// and not write at all.
func (w *Workers) StopMidway(ctx context.Context, id proto.NodeID) error {
	l := w.workers[id]
	looked := func() bool { return l.looked }
	for {
		if err := w.await(ctx, looked); err != nil {
			return fmt.Errorf("wait for the worker beside node %v to look at it: %w", id, err)
		}
		if err := l.Pause(); err != nil {
			return err
		}
		w.mu.Lock()
		// What it said last may not have been read yet, but it does not write before that.
		midway := looked() && now() < l.heard+w.Think
		w.mu.Unlock()
		if midway {
			return nil
		}
		if err := l.Signal(syscall.SIGCONT); err != nil { // it was faster: once more
			return err
		}
	}
}

// bury waits until no call of a worker that has ended is under way any more. The outcomes of the
// worker's unfinished calls are unknown.
func (w *Workers) bury(l *workerLife) error {
	err := l.proxy.close()
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, call := range l.pending {
		call.Outcome, call.Ended = history.Unknown, time.Now().UnixNano()
		w.keep(call)
	}
	return err
}

// hear handles a line that a worker wrote.
func (w *Workers) hear(l *workerLife, line []byte) {
	var s said
	if json.Unmarshal(line, &s) != nil {
		return // its last line may be cut short
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	defer func() {
		close(w.news)
		w.news = make(chan struct{})
	}()
	if l.looked = s.Call == nil && s.Returned == 0 && s.Leads == l.sealed; l.looked {
		l.heard = s.Heard
	}
	switch {
	case s.Returned != 0:
		last := &w.lent[l.lease]
		last.until = min(last.until, s.Returned)
		return
	case s.Call == nil:
		l.lease = len(w.lent)
		w.lent = append(w.lent, act{node: l.node, term: s.Leads.Term, from: s.Heard, until: s.Until})
		return
	}
	s.Call.Client = l.client
	if s.Call.Ended == 0 {
		l.pending[s.Number] = *s.Call
		return
	}
	delete(l.pending, s.Number)
	if s.Call.Kind == history.Seal && s.Call.Outcome == history.Done {
		l.sealed = s.Call.Token
	}
	w.keep(*s.Call)
}

// note adds a call that another client than the workers made.
func (w *Workers) note(call history.Call) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.keep(call)
}

// keep adds a call. The caller holds mu.
func (w *Workers) keep(call history.Call) {
	if call.Outcome == history.Undone || call.Kind == history.Get && call.Outcome == history.Unknown {
		return // it says nothing
	}
	w.calls = append(w.calls, call)
	if call.Kind != history.Put || call.Outcome != history.Done {
		return
	}
	if w.first.IsZero() {
		w.first = call.Token
	}
	w.last, w.written = call.Token, time.Now()
}

func (w *Workers) firstToken() fence.Token {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.first
}

func (w *Workers) lastToken() fence.Token {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.last
}

// AwaitWrite waits until a write is accepted after the time since, and returns its token.
func (w *Workers) AwaitWrite(ctx context.Context, since time.Time) (fence.Token, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := w.await(ctx, func() bool { return w.written.After(since) }); err != nil {
		if errors.Is(err, context.DeadlineExceeded) {
			err = fmt.Errorf("%w for %v", errNoWrite, patience)
		}
		return w.lastToken(), fmt.Errorf("wait for a leader's write: %w", err)
	}
	return w.lastToken(), nil
}

// AwaitCall waits until the worker beside a node has made a call for which the function is returns
// true, and returns that call. All calls since the worker's start count.
func (w *Workers) AwaitCall(
	ctx context.Context, id proto.NodeID, is func(history.Call) bool,
) (found history.Call, err error) {
	client := w.workers[id].client
	err = w.await(ctx, func() bool {
		i := slices.IndexFunc(w.calls, func(c history.Call) bool { return c.Client == client && is(c) })
		if i >= 0 {
			found = w.calls[i]
		}
		return i >= 0
	})
	return found, err
}

// await waits until done returns true. It calls done with mu held, at once and after each line that
// a worker writes.
func (w *Workers) await(ctx context.Context, done func() bool) error {
	for {
		w.mu.Lock()
		ok, news := done(), w.news
		w.mu.Unlock()
		if ok {
			return nil
		}
		select {
		case <-news:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// Finish lets all workers finish their calls and stop, and returns the calls of all of them.
func (w *Workers) Finish() ([]history.Call, error) {
	var errs []error
	for _, id := range slices.Sorted(maps.Keys(w.workers)) {
		l := w.workers[id]
		delete(w.workers, id)
		errs = append(errs, l.Finish(), w.bury(l))
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.calls, errors.Join(errs...)
}

// Close ends the workers, their proxies and the storage.
func (w *Workers) Close() error {
	var errs []error
	for _, l := range w.workers {
		errs = append(errs, l.Kill(), l.proxy.close())
	}
	clear(w.workers)
	return errors.Join(append(errs, w.Storage.Close())...)
}
