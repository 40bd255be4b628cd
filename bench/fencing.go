package bench

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/ringleader-dev/ringleader/bench/history"
	"github.com/ringleader-dev/ringleader/proto"
)

// FencingOptions say how long to do what to real processes.
type FencingOptions struct {
	Options
	Time time.Duration
	// Seed draws the faults. What comes of them depends on the machine too.
	Seed uint64
	// Work is how a worker's process is started.
	Work func(Worker) []string
	// Dir is for the storage's data, the sockets and nothing else.
	Dir string
}

const (
	leastFencing = time.Second
	// mostFencing bounds the memory that the search for an order needs, which
	// grows with the square of the calls.
	mostFencing = 15 * time.Minute
	// searchTime bounds that search.
	searchTime = 2 * time.Minute
)

func (o FencingOptions) validate() error {
	switch {
	case o.Time < leastFencing || o.Time > mostFencing:
		return fmt.Errorf("%w: %v: give %v to %v", ErrOptions, o.Time, leastFencing, mostFencing)
	case o.Nodes < 3:
		return fmt.Errorf("%w: %d nodes: of fewer than three voters none may fail; give 3 or more",
			ErrOptions, o.Nodes)
	}
	return o.Options.validate()
}

// Fencing lets a worker beside each node write to a real storage with the node's
// token, while nodes, workers and the storage are killed, paused and cut off, and
// judges what the workers saw. The report is zero when there was nothing to judge.
func Fencing(ctx context.Context, o FencingOptions) (report FencingReport, err error) {
	o.Office = true
	if err := o.validate(); err != nil {
		return report, err
	}
	machine := ThisMachine()
	p, err := startProver(o)
	if err != nil {
		return report, err
	}
	calls, err := p.run(ctx)
	if err = errors.Join(err, p.close()); err != nil {
		return report, err
	}
	report = FencingReport{
		Machine: machine, Algorithm: o.Entry.Name, Nodes: o.Nodes, Seed: o.Seed,
		Seconds: o.Time.Seconds(), Cuts: p.rig.network != nil, Faults: p.done,
	}
	report.judge(calls)
	return report, nil
}

// run is what is done to the processes, and what the workers saw of it.
func (p *prover) run(ctx context.Context) ([]history.Call, error) {
	if err := p.torment(ctx); err != nil {
		return nil, err
	}
	if err := p.rest(ctx); err != nil {
		return nil, err
	}
	return p.Finish()
}

// torment does one fault after the other until the time is up. Between two, work
// must be done again: whatever failed before, a leader writes.
func (p *prover) torment(ctx context.Context) error {
	dice := rand.New(rand.NewPCG(p.Seed, 0))
	if _, err := p.AwaitWrite(ctx, time.Now()); err != nil {
		return fmt.Errorf("no first write: %w", err)
	}
	end := time.Now().Add(p.Time)
	for time.Now().Before(end) {
		faults := p.draw(dice)
		span := time.Duration(dice.Int64N(int64(2 * time.Second)))
		p.progress(int(p.Time.Seconds()-time.Until(end).Seconds()), int(p.Time.Seconds()))
		for _, f := range faults {
			if err := f.begin(); err != nil {
				return fmt.Errorf("%s: %w", f.kind, err)
			}
			p.done[f.kind]++
		}
		if err := pause(ctx, span); err != nil {
			return err
		}
		for _, f := range faults {
			if err := f.end(); err != nil {
				return fmt.Errorf("undo %s: %w", f.kind, err)
			}
		}
		if _, err := p.AwaitWrite(ctx, time.Now()); err != nil {
			return fmt.Errorf("no write after %s: %w", faults[0].kind, err)
		}
	}
	return nil
}

// rest makes one more call that must be refused: a write with the first token of
// all, when another is the highest.
func (p *prover) rest(ctx context.Context) error {
	first := p.firstToken()
	leader, err := p.AwaitWrite(ctx, time.Now())
	if err != nil {
		return err
	}
	if leader.Term == first.Term { // nothing befell the first leader
		if err := p.depose(ctx, leader.Leader); err != nil {
			return err
		}
	}
	c := history.Call{
		Client: 0, Kind: history.Put, Key: "key0", Value: "too late", Token: first,
		Began: time.Now().UnixNano(),
	}
	err = do(ctx, storeClient(p.Storage.URL()), &c)
	c.Ended = time.Now().UnixNano()
	if c.Outcome == history.Unknown {
		return fmt.Errorf("write with an old token: %w", err)
	}
	p.note(c)
	return nil
}

// depose kills the leader and waits until another writes.
func (p *prover) depose(ctx context.Context, id proto.NodeID) error {
	f := p.killing(id)
	if err := f.begin(); err != nil {
		return err
	}
	for {
		t, err := p.AwaitWrite(ctx, time.Now())
		if err != nil {
			return err
		}
		if t.Leader != id {
			return f.end()
		}
	}
}
