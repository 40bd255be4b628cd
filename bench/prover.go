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
	"time"

	"github.com/ringleader-dev/ringleader/bench/history"
	"github.com/ringleader-dev/ringleader/fence"
	"github.com/ringleader-dev/ringleader/proto"
)

// prover is a cluster with a storage, and a worker beside each node.
type prover struct {
	FencingOptions
	rig     *rig
	storage *Storage
	workers map[proto.NodeID]*life
	lives   int
	done    map[string]int // faults by kind

	mu      sync.Mutex
	calls   []history.Call
	first   fence.Token   // that a write was accepted with
	last    fence.Token   // likewise
	written time.Time     // when that was heard
	news    chan struct{} // closed and replaced with each accepted write
}

// life is one process of a worker.
type life struct {
	*Companion
	client  int
	gate    *gate
	pending map[int]history.Call // guarded by the prover's mu
}

// startProver starts everything.
func startProver(o FencingOptions) (*prover, error) {
	r, err := o.start(mayCut(o.Nodes) == nil)
	if err != nil {
		return nil, err
	}
	p := &prover{
		FencingOptions: o, rig: r, workers: map[proto.NodeID]*life{}, done: map[string]int{},
		news: make(chan struct{}),
	}
	p.storage, err = StartStorage(r.Cluster, o.Binary, filepath.Join(o.Dir, "storage"))
	if err != nil {
		return nil, errors.Join(err, r.close())
	}
	for _, id := range r.ids() {
		if err := p.startWorker(id); err != nil {
			return nil, errors.Join(err, p.close())
		}
	}
	return p, nil
}

// startWorker starts the worker beside a node, with a gate of its own.
func (p *prover) startWorker(id proto.NodeID) error {
	p.lives++
	path := filepath.Join(p.Dir, fmt.Sprintf("gate%d", p.lives))
	g, err := openGate(path, p.storage.Addr)
	if err != nil {
		return fmt.Errorf("open a way to the storage: %w", err)
	}
	l := &life{client: p.lives, gate: g, pending: map[int]history.Call{}}
	line := append(p.rig.Enter(id), p.Work(Worker{
		Node: p.rig.Node(id).HTTP, Store: path, Name: fmt.Sprintf("w%d", p.lives),
		Think: 10 * time.Millisecond,
	})...)
	if l.Companion, err = StartCompanion(p.rig.Cluster, line, func(s Said) { p.hear(l, s) }); err != nil {
		return errors.Join(err, g.close())
	}
	p.workers[id] = l
	return nil
}

// endWorker kills a worker. What it had begun is unknown, and over by now.
func (p *prover) endWorker(id proto.NodeID) error {
	l := p.workers[id]
	delete(p.workers, id)
	return errors.Join(l.Kill(), p.bury(l))
}

// bury waits until nothing of a worker that has ended is under way.
func (p *prover) bury(l *life) error {
	err := l.gate.close()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range l.pending {
		c.Outcome, c.Ended = history.Unknown, time.Now().UnixNano()
		p.keep(c)
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
func (p *prover) hear(l *life, s Said) {
	if s.Call == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	s.Call.Client = l.client
	if s.Call.Ended == 0 {
		l.pending[s.Number] = *s.Call
		return
	}
	delete(l.pending, s.Number)
	p.keep(*s.Call)
}

// note keeps a call.
func (p *prover) note(c history.Call) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.keep(c)
}

// keep keeps a call. The caller holds mu.
func (p *prover) keep(c history.Call) {
	if c.Outcome == history.Undone || c.Kind == history.Get && c.Outcome == history.Unknown {
		return // it says nothing
	}
	p.calls = append(p.calls, c)
	if c.Kind != history.Put || c.Outcome != history.Done {
		return
	}
	if p.first.IsZero() {
		p.first = c.Token
	}
	p.last, p.written = c.Token, time.Now()
	close(p.news)
	p.news = make(chan struct{})
}

func (p *prover) firstToken() fence.Token {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.first
}

func (p *prover) lastToken() fence.Token {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.last
}

// awaitWrite waits until a write is accepted after since.
func (p *prover) awaitWrite(ctx context.Context, since time.Time) (fence.Token, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		p.mu.Lock()
		last, written, news := p.last, p.written, p.news
		p.mu.Unlock()
		if written.After(since) {
			return last, nil
		}
		select {
		case <-news:
		case <-ctx.Done():
			return last, fmt.Errorf("wait for a leader's write: %w", context.Cause(ctx))
		}
	}
}

// settleCalls ends all workers, and returns what all of them did.
func (p *prover) settleCalls() ([]history.Call, error) {
	var errs []error
	for _, id := range slices.Sorted(maps.Keys(p.workers)) {
		l := p.workers[id]
		delete(p.workers, id)
		errs = append(errs, l.finish(), p.bury(l))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.calls, errors.Join(errs...)
}

func (p *prover) close() error {
	var errs []error
	for _, l := range p.workers {
		errs = append(errs, l.Kill(), l.gate.close())
	}
	return errors.Join(append(errs, p.storage.Kill(), p.rig.close())...)
}
