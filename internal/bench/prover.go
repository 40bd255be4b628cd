package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/ringleader-dev/ringleader/internal/testcluster"
	"github.com/ringleader-dev/ringleader/node/clock"
	"github.com/ringleader-dev/ringleader/proto"
)

// prover is a cluster under faults: each node is an exec, whose command is a Function, and
// beside each is a worker that writes to a storage.
type prover struct {
	FencingOptions
	*Workers
	nodes   *testcluster.Cluster
	network *testcluster.Network // nil: loopback
	zero    time.Duration        // since the machine's start, when it began
	ended   time.Duration        // likewise, when the last fault had
	done    map[string]int       // faults by kind
	state   state
	wiped   map[proto.NodeID]time.Time // when its disk was lost last
	barred  []bar
	moments []moment
	wishes  sync.WaitGroup // commands of operators under way

	mu      sync.Mutex
	faults  []*fault // in the order of their beginnings
	strange []string // what must not be
}

// bar is a time during which a node was started with flags with which it must not lead.
type bar struct {
	node        proto.NodeID
	from, until time.Duration
	with        string
}

// thinking is how long a prover's workers take between a look and a write.
const thinking = 10 * time.Millisecond

// startProver starts everything.
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
	config := testcluster.Config{
		Binary: p.FencingOptions.Binary, Nodes: p.Nodes, Algorithm: p.Entry.Name, Command: p.Function(p.functions()),
		Args: []string{"--profile", p.Profile},
	}
	if err := os.MkdirAll(p.functions(), 0o700); err != nil {
		return fmt.Errorf("make a directory for the functions: %w", err)
	}
	if mayCut(p.Nodes) == nil {
		if p.network, err = testcluster.NewNetwork(p.Nodes); err != nil {
			return err
		}
		config.Hosts = p.network.Hosts()
	}
	if p.nodes, err = testcluster.New(config); err != nil {
		return err
	}
	for _, n := range p.nodes.Nodes() {
		if err := p.nodes.Start(n.ID, p.right()...); err != nil {
			return err
		}
	}
	p.Workers, err = StartWorkers(WorkersConfig{
		Cluster: p.nodes, Binary: p.FencingOptions.Binary, Work: p.Work, Dir: p.Dir, Think: thinking,
	})
	return err
}

// right are the flags that all voters should have.
func (p *prover) right() []string {
	return []string{"--voters", fmt.Sprintf("1-%d", p.Nodes), "--promise", p.Promise.String()}
}

// functions is where functions write down that they are at work.
func (p *prover) functions() string { return filepath.Join(p.Dir, "functions") }

// close ends all that was started.
func (p *prover) close() error {
	p.wishes.Wait()
	var errs []error
	if p.Workers != nil {
		errs = append(errs, p.Close())
	}
	if p.nodes != nil {
		errs = append(errs, p.nodes.Close())
	}
	return errors.Join(append(errs, p.network.Close())...)
}

// now is the time since the machine's start.
func now() time.Duration { return clock.SinceBoot(clock.Now()) }

// strangely notes what must not be.
func (p *prover) strangely(format string, args ...any) {
	p.mu.Lock()
	p.strange = append(p.strange, fmt.Sprintf(format, args...))
	p.mu.Unlock()
	p.say("  %8.3f s  VIOLATION: "+format, append([]any{(now() - p.zero).Seconds()}, args...)...)
}

func (p *prover) say(format string, args ...any) {
	if p.Say != nil {
		p.Say(fmt.Sprintf(format, args...))
	}
}

// leads is who was at work last.
func (p *prover) leads() (last act) {
	acts, _ := functionsIn(p.functions()) // read again at the end, with its error
	for _, a := range acts {
		if a.until > last.until {
			last = a
		}
	}
	return last
}

// errIdle: nobody leads although one could.
var errIdle = errors.New("no function is at work")

// awaitWork waits until a function is at work that was so after an instant.
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

// watch waits for d, and starts again what ended by itself, as a supervisor does.
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

// supervise starts each node again that ended by itself. Only one that has just lost its
// disk may.
func (p *prover) supervise() error {
	for id := range p.state.ids() {
		code, words, ended := p.nodes.Ended(id)
		if !ended || p.state.away[id] > 0 {
			continue
		}
		if lost, ok := p.wiped[id]; ok && time.Since(lost) < recovery*p.Promise {
			p.say("  %8.3f s  node %v, which lost its disk %.1f s ago, ended with %d (%s): it starts again",
				(now() - p.zero).Seconds(), id, time.Since(lost).Seconds(), code, words)
		} else {
			p.strangely("node %v ended by itself with %d: %s", id, code, words)
		}
		if err := p.nodes.Start(id, p.right()...); err != nil {
			return err
		}
	}
	return nil
}
