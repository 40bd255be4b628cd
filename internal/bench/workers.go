package bench

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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

// WorkersConfig says where Workers work.
type WorkersConfig struct {
	Cluster *testcluster.Cluster
	// Binary is the path of the ringleader executable: it is the storage, too.
	Binary string
	// Work is how a worker's process is started.
	Work func(Worker) []string
	// Dir is for the storage's data and the sockets.
	Dir string
	// Think is how long a worker takes between its look at the node and its write.
	Think time.Duration
}

// Workers are a storage, and a worker beside each node of a cluster. Its methods belong
// to one goroutine at a time.
type Workers struct {
	WorkersConfig
	Storage *Storage
	workers map[proto.NodeID]*workerLife
	started int

	mu      sync.Mutex
	calls   []history.Call
	lent    []act         // the leases that workers had
	first   fence.Token   // that a write was accepted with
	last    fence.Token   // likewise
	written time.Time     // when that was heard
	news    chan struct{} // closed and replaced with each line that a worker says
}

// workerLife is one process of a worker.
type workerLife struct {
	*WorkerProcess
	client int
	node   proto.NodeID
	proxy  *proxy
	// Guarded by the mu of Workers: the calls without an answer yet, whether the worker has
	// seen that it may write, and has done nothing since, and its latest lease's place
	// among all.
	pending map[int]history.Call
	looked  bool
	lease   int
}

// StartWorkers starts the storage and a worker beside each node. The caller must Close
// Workers before the cluster.
func StartWorkers(cfg WorkersConfig) (*Workers, error) {
	w := &Workers{WorkersConfig: cfg, workers: map[proto.NodeID]*workerLife{}, news: make(chan struct{})}
	var err error
	if w.Storage, err = StartStorage(cfg.Cluster, cfg.Binary, filepath.Join(cfg.Dir, "storage")); err != nil {
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
	line := append(w.Cluster.Enter(id), w.Work(Worker{
		Node: w.Cluster.Node(id).HTTP, Store: path, Name: fmt.Sprintf("w%d", w.started), Think: w.Think,
	})...)
	if l.WorkerProcess, err = StartWorker(w.Cluster, line, func(s Said) { w.hear(l, s) }); err != nil {
		return errors.Join(err, p.close())
	}
	w.workers[id] = l
	return nil
}

// Kill ends the worker beside a node. What it had begun is unknown, and over by
// now.
func (w *Workers) Kill(id proto.NodeID) error {
	l := w.workers[id]
	delete(w.workers, id)
	return errors.Join(l.Kill(), w.bury(l))
}

// Signal sends a signal to the worker beside a node.
func (w *Workers) Signal(id proto.NodeID, sig syscall.Signal) error { return w.workers[id].Signal(sig) }

// StopMidway stops the worker beside a node that leads between its look at the node
// and its write, where a garbage collector does the most harm.
func (w *Workers) StopMidway(ctx context.Context, id proto.NodeID) error {
	l := w.workers[id]
	looked := func() bool { return l.looked }
	for {
		if err := w.await(ctx, looked); err != nil {
			return fmt.Errorf("wait for the worker beside node %v to look at it: %w", id, err)
		}
		if err := l.Signal(syscall.SIGSTOP); err != nil {
			return err
		}
		w.mu.Lock()
		midway := looked()
		w.mu.Unlock()
		if midway {
			return nil
		}
		if err := l.Signal(syscall.SIGCONT); err != nil { // it was faster: once more
			return err
		}
	}
}

// bury waits until nothing of a worker that has ended is under way.
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

// listenTo reads what a worker says, to its end.
func listenTo(stdout io.Reader, said func(Said)) {
	for lines := bufio.NewScanner(stdout); lines.Scan(); {
		var s Said
		if json.Unmarshal(lines.Bytes(), &s) == nil { // the last line may be cut short
			said(s)
		}
	}
}

// hear takes what a worker says about its calls.
func (w *Workers) hear(l *workerLife, s Said) {
	w.mu.Lock()
	defer w.mu.Unlock()
	defer func() {
		close(w.news)
		w.news = make(chan struct{})
	}()
	l.looked = s.Call == nil && s.Returned == 0
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
	w.keep(*s.Call)
}

// note keeps a call of somebody else's.
func (w *Workers) note(call history.Call) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.keep(call)
}

// keep keeps a call. The caller holds mu.
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

// AwaitWrite waits until a write is accepted after since, and returns its token.
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

// await waits until done returns true. It calls done with mu held, at once and after
// each line that a worker says.
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

// Finish lets all workers end their calls, and returns what all of them did.
func (w *Workers) Finish() ([]history.Call, error) {
	var errs []error
	for _, id := range slices.Sorted(maps.Keys(w.workers)) {
		l := w.workers[id]
		delete(w.workers, id)
		errs = append(errs, l.finish(), w.bury(l))
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.calls, errors.Join(errs...)
}

// Close ends what is left.
func (w *Workers) Close() error {
	var errs []error
	for _, l := range w.workers {
		errs = append(errs, l.Kill(), l.proxy.close())
	}
	clear(w.workers)
	return errors.Join(append(errs, w.Storage.Kill())...)
}
