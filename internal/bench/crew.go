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

// CrewConfig says where a Crew works.
type CrewConfig struct {
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

// Crew is a storage, and a worker beside each node of a cluster. Its methods belong
// to one goroutine at a time.
type Crew struct {
	CrewConfig
	Storage *Storage
	workers map[proto.NodeID]*life
	lives   int

	mu      sync.Mutex
	calls   []history.Call
	lent    []act         // the leases that workers had
	first   fence.Token   // that a write was accepted with
	last    fence.Token   // likewise
	written time.Time     // when that was heard
	news    chan struct{} // closed and replaced with each line that a worker says
}

// life is one process of a worker.
type life struct {
	*Companion
	client int
	node   proto.NodeID
	gate   *gate
	// Guarded by the crew's mu: the calls without an answer yet, whether the worker has
	// seen that it may write, and has done nothing since, and its latest lease's place
	// among the crew's.
	pending map[int]history.Call
	looked  bool
	lease   int
}

// StartCrew starts the storage and a worker beside each node. The caller must Close
// the Crew before the cluster.
func StartCrew(cfg CrewConfig) (*Crew, error) {
	c := &Crew{CrewConfig: cfg, workers: map[proto.NodeID]*life{}, news: make(chan struct{})}
	var err error
	if c.Storage, err = StartStorage(cfg.Cluster, cfg.Binary, filepath.Join(cfg.Dir, "storage")); err != nil {
		return nil, err
	}
	for _, n := range cfg.Cluster.Nodes() {
		if err := c.Start(n.ID); err != nil {
			return nil, errors.Join(err, c.Close())
		}
	}
	return c, nil
}

// Start starts the worker beside a node, with a gate of its own.
func (c *Crew) Start(id proto.NodeID) error {
	c.lives++
	path := filepath.Join(c.Dir, fmt.Sprintf("gate%d", c.lives))
	g, err := openGate(path, c.Storage.Addr)
	if err != nil {
		return fmt.Errorf("open a way to the storage: %w", err)
	}
	l := &life{client: c.lives, node: id, gate: g, pending: map[int]history.Call{}}
	line := append(c.Cluster.Enter(id), c.Work(Worker{
		Node: c.Cluster.Node(id).HTTP, Store: path, Name: fmt.Sprintf("w%d", c.lives), Think: c.Think,
	})...)
	if l.Companion, err = StartCompanion(c.Cluster, line, func(s Said) { c.hear(l, s) }); err != nil {
		return errors.Join(err, g.close())
	}
	c.workers[id] = l
	return nil
}

// Kill ends the worker beside a node. What it had begun is unknown, and over by
// now.
func (c *Crew) Kill(id proto.NodeID) error {
	l := c.workers[id]
	delete(c.workers, id)
	return errors.Join(l.Kill(), c.bury(l))
}

// Signal sends a signal to the worker beside a node.
func (c *Crew) Signal(id proto.NodeID, sig syscall.Signal) error { return c.workers[id].Signal(sig) }

// StopMidway stops the worker beside a node that leads between its look at the node
// and its write, where a garbage collector does the most harm.
func (c *Crew) StopMidway(ctx context.Context, id proto.NodeID) error {
	l := c.workers[id]
	looked := func() bool { return l.looked }
	for {
		if err := c.await(ctx, looked); err != nil {
			return fmt.Errorf("wait for the worker beside node %v to look at it: %w", id, err)
		}
		if err := l.Signal(syscall.SIGSTOP); err != nil {
			return err
		}
		c.mu.Lock()
		midway := looked()
		c.mu.Unlock()
		if midway {
			return nil
		}
		if err := l.Signal(syscall.SIGCONT); err != nil { // it was faster: once more
			return err
		}
	}
}

// bury waits until nothing of a worker that has ended is under way.
func (c *Crew) bury(l *life) error {
	err := l.gate.close()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, call := range l.pending {
		call.Outcome, call.Ended = history.Unknown, time.Now().UnixNano()
		c.keep(call)
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
func (c *Crew) hear(l *life, s Said) {
	c.mu.Lock()
	defer c.mu.Unlock()
	defer func() {
		close(c.news)
		c.news = make(chan struct{})
	}()
	l.looked = s.Call == nil && s.Returned == 0
	switch {
	case s.Returned != 0:
		last := &c.lent[l.lease]
		last.until = min(last.until, s.Returned)
		return
	case s.Call == nil:
		l.lease = len(c.lent)
		c.lent = append(c.lent, act{node: l.node, term: s.Leads.Term, from: s.Heard, until: s.Until})
		return
	}
	s.Call.Client = l.client
	if s.Call.Ended == 0 {
		l.pending[s.Number] = *s.Call
		return
	}
	delete(l.pending, s.Number)
	c.keep(*s.Call)
}

// note keeps a call of somebody else's.
func (c *Crew) note(call history.Call) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.keep(call)
}

// keep keeps a call. The caller holds mu.
func (c *Crew) keep(call history.Call) {
	if call.Outcome == history.Undone || call.Kind == history.Get && call.Outcome == history.Unknown {
		return // it says nothing
	}
	c.calls = append(c.calls, call)
	if call.Kind != history.Put || call.Outcome != history.Done {
		return
	}
	if c.first.IsZero() {
		c.first = call.Token
	}
	c.last, c.written = call.Token, time.Now()
}

func (c *Crew) firstToken() fence.Token {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.first
}

func (c *Crew) lastToken() fence.Token {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.last
}

// AwaitWrite waits until a write is accepted after since, and returns its token.
func (c *Crew) AwaitWrite(ctx context.Context, since time.Time) (fence.Token, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := c.await(ctx, func() bool { return c.written.After(since) }); err != nil {
		if errors.Is(err, context.DeadlineExceeded) {
			err = fmt.Errorf("%w for %v", errNoWrite, patience)
		}
		return c.lastToken(), fmt.Errorf("wait for a leader's write: %w", err)
	}
	return c.lastToken(), nil
}

// await waits until done returns true. It calls done with mu held, at once and after
// each line that a worker says.
func (c *Crew) await(ctx context.Context, done func() bool) error {
	for {
		c.mu.Lock()
		ok, news := done(), c.news
		c.mu.Unlock()
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
func (c *Crew) Finish() ([]history.Call, error) {
	var errs []error
	for _, id := range slices.Sorted(maps.Keys(c.workers)) {
		l := c.workers[id]
		delete(c.workers, id)
		errs = append(errs, l.finish(), c.bury(l))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.calls, errors.Join(errs...)
}

// Close ends what is left.
func (c *Crew) Close() error {
	var errs []error
	for _, l := range c.workers {
		errs = append(errs, l.Kill(), l.gate.close())
	}
	clear(c.workers)
	return errors.Join(append(errs, c.Storage.Kill())...)
}
