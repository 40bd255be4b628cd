package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/ringleader-dev/ringleader/node/clock"
	"github.com/ringleader-dev/ringleader/proto"
)

// prover is a cluster under faults. Each node is a `ringleader exec` whose command is a function.
// Beside each node a worker writes to a storage.
type prover struct {
	FencingOptions
	*Workers
	nodes    *Cluster
	zero     time.Duration  // when it began, counted from the machine's start
	ended    time.Duration  // when the last fault had ended, counted from the machine's start
	done     map[string]int // how often each kind of fault happened
	state    state
	wiped    map[proto.NodeID]time.Time // when each node last lost its disk
	wrong    []wrongRun
	moments  []moment
	requests sync.WaitGroup // operators' commands that still run

	mu         sync.Mutex
	faults     []*fault // in the order in which they began
	violations []string // what is wrong, in words
}

// wrongRun is a time during which a node ran with flags with which it must not lead.
type wrongRun struct {
	node        proto.NodeID
	from, until time.Duration
	with        string
}

// thinking is how long a worker waits after it looked whether it may write, and before it writes.
const thinking = 10 * time.Millisecond

// startProver starts the nodes, the workers and the storage.
func startProver(o FencingOptions) (p *prover, err error) {
	p = &prover{
		FencingOptions: o, zero: now(), done: map[string]int{}, wiped: map[proto.NodeID]time.Time{},
		state: newState(o.Nodes),
	}
	if err := p.start(); err != nil {
		return nil, errors.Join(err, p.close())
	}
	return p, nil
}

func (p *prover) start() (err error) {
	if err := os.MkdirAll(p.functions(), 0o700); err != nil {
		return fmt.Errorf("make a directory for the functions: %w", err)
	}
	nodes := p.Options
	nodes.Voters = false // each process is told its own, see right
	if nodes.command, err = (part{Function: &function{Dir: p.functions()}}).line(); err != nil {
		return err
	}
	if p.nodes, err = nodes.build(mayCut(p.Nodes) == nil); err != nil {
		return err
	}
	for _, n := range p.nodes.Nodes() {
		if err := p.nodes.Start(n.ID, p.right()...); err != nil {
			return err
		}
	}
	p.Workers, err = StartWorkers(WorkersConfig{
		Cluster: p.nodes.Cluster, Binary: p.FencingOptions.Binary, Dir: p.dir, Think: thinking,
	})
	return err
}

// right returns the flags that all voters should have.
func (p *prover) right() []string {
	return []string{"--voters", fmt.Sprintf("1-%d", p.Nodes), "--lease", p.Promise.String()}
}

// functions returns the directory in which functions record that they run.
func (p *prover) functions() string { return filepath.Join(p.dir, "functions") }

// close ends all processes.
func (p *prover) close() error {
	p.requests.Wait()
	var errs []error
	if p.Workers != nil {
		errs = append(errs, p.Close())
	}
	if p.nodes != nil {
		errs = append(errs, p.nodes.Close())
	}
	return errors.Join(errs...)
}

// now returns the time since the machine's start, by a clock that goes on while the machine is
// suspended.
func now() time.Duration { return clock.SinceBoot(clock.Now()) }

// violated records a violation, and reports it at once.
func (p *prover) violated(format string, args ...any) {
	p.mu.Lock()
	p.violations = append(p.violations, fmt.Sprintf(format, args...))
	p.mu.Unlock()
	p.say("  %8.3f s  VIOLATION: "+format, append([]any{(now() - p.zero).Seconds()}, args...)...)
}

func (p *prover) say(format string, args ...any) {
	if p.Say != nil {
		p.Say(fmt.Sprintf(format, args...))
	}
}

// leads returns the latest act of a function: its node led last.
func (p *prover) leads() (last act) {
	acts, _ := functionsIn(p.functions()) // read again at the end, with its error
	for _, a := range acts {
		if a.until > last.until {
			last = a
		}
	}
	return last
}

// errIdle says that no node leads although one could.
var errIdle = errors.New("no function is at work")

// awaitWork waits until a function has run after the time since. The error wraps errIdle if that
// takes longer than patience.
func (p *prover) awaitWork(ctx context.Context, since time.Duration) error {
	for end := time.Now().Add(patience); ; {
		if p.leads().until > since {
			return nil
		}
		if time.Now().After(end) {
			return fmt.Errorf("%w for %v: all nodes run and reach each other", errIdle, patience)
		}
		if err := p.watch(ctx, 10*time.Millisecond); err != nil {
			return err
		}
	}
}

// watch waits for d. Meanwhile it restarts each node that ended by itself, as a supervisor does.
func (p *prover) watch(ctx context.Context, d time.Duration) error {
	for end := time.Now().Add(d); ; {
		if err := p.supervise(); err != nil {
			return err
		}
		left := time.Until(end)
		if left <= 0 {
			return nil
		}
		if err := Pause(ctx, min(left, 50*time.Millisecond)); err != nil {
			return err
		}
	}
}

// supervise restarts each node that ended by itself. That a node ended is a violation, unless the
// node has just lost its disk.
func (p *prover) supervise() error {
	for _, id := range p.state.ids {
		code, words, ended := p.nodes.Ended(id)
		if !ended || p.state.away[id] > 0 {
			continue
		}
		if lost, ok := p.wiped[id]; ok && time.Since(lost) < recovery*p.Promise {
			p.say("  %8.3f s  node %v, which lost its disk %.1f s ago, ended with %d (%s): it starts again",
				(now() - p.zero).Seconds(), id, time.Since(lost).Seconds(), code, words)
		} else {
			p.violated("node %v ended by itself with %d: %s", id, code, words)
		}
		if err := p.nodes.Start(id, p.right()...); err != nil {
			return err
		}
	}
	return nil
}
