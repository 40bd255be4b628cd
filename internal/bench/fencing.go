package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/internal/bench/history"
	"github.com/ringleader-dev/ringleader/proto"
)

// FencingOptions say what Fencing does to real processes, and for how long.
type FencingOptions struct {
	Options
	// Entries are the algorithms; they share the time.
	Entries []catalog.Entry
	Time    time.Duration
	// Seed draws the faults. Their results depend on the machine too.
	Seed uint64
	// Promise is the nodes' --lease.
	Promise time.Duration
	// dir is the directory for what the processes write.
	dir string
	// Keep is the directory in which the nodes' logs are kept. If it is empty, they are kept only
	// after a violation, in the system's directory for temporary files.
	Keep string
	// Say is called with a line for each fault that has ended, and for each violation. It may be
	// nil.
	Say func(line string)
}

const (
	leastFencing = time.Second
	// mostSlice is the longest time for one cluster. It bounds the memory that the search for an
	// order of the calls needs, which grows with the square of their number.
	mostSlice = 2 * time.Minute
	// searchTime is the longest time for the search for an order of the calls.
	searchTime = 2 * time.Minute
)

// makeKeep makes the directory for the logs before anything runs: so an error comes before there
// are logs.
func (o FencingOptions) makeKeep() error {
	if o.Keep == "" {
		return nil
	}
	if err := os.MkdirAll(o.Keep, 0o777); err != nil {
		return fmt.Errorf("make a directory for the logs: %w: name another one", err)
	}
	return nil
}

func (o FencingOptions) validate() error {
	switch {
	case o.Time < leastFencing*time.Duration(len(o.Entries)):
		return fmt.Errorf("%w: a time of %v: give %v or more, %v for each algorithm",
			ErrOptions, o.Time, leastFencing*time.Duration(len(o.Entries)), leastFencing)
	case o.Nodes < 3:
		return fmt.Errorf("%w: %d nodes: of fewer than three voters none may fail; give 3 or more",
			ErrOptions, o.Nodes)
	}
	return o.Options.validate()
}

// slices returns the number of clusters, which run one after the other. The algorithms take turns.
func (o FencingOptions) slices() int {
	all := len(o.Entries)
	rounds := (o.Time + mostSlice*time.Duration(all) - 1) / (mostSlice * time.Duration(all))
	return int(rounds) * all
}

// Fencing runs clusters under faults. Each node runs a function while it leads; beside each node a
// worker writes to a real storage with the node's token. Meanwhile nodes, workers, the storage and
// links fail in many ways, disks are lost, and operators err. Then Fencing judges what functions,
// workers and storage saw. It does so for each algorithm. When it ends early, it returns what it
// has with the error.
func Fencing(ctx context.Context, o FencingOptions) (report FencingReport, err error) {
	o.Voters = true
	if err := o.validate(); err != nil {
		return FencingReport{}, err
	}
	if err := o.makeKeep(); err != nil {
		return FencingReport{}, err
	}
	dir, err := os.MkdirTemp("", "ringleader-fencing-")
	if err != nil {
		return FencingReport{}, fmt.Errorf("make a directory for the storages: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	report = FencingReport{
		Machine: ThisMachine(), Nodes: o.Nodes, Profile: o.Profile, Promise: o.Promise.Seconds(),
		Seed: o.Seed, Seconds: o.Time.Seconds(), Planned: o.slices(), Cuts: mayCut(o.Nodes) == nil,
	}
	for i := range report.Planned {
		one := o
		one.Entry, one.Seed = o.Entries[i%len(o.Entries)], o.Seed+uint64(i)
		one.Time, one.dir = o.Time/time.Duration(report.Planned), filepath.Join(dir, fmt.Sprint(i))
		proof, err := one.prove(ctx)
		if err != nil {
			return report, fmt.Errorf("%s, seed %d: %w", one.Entry.Name, one.Seed, err)
		}
		report.Proofs = append(report.Proofs, proof)
	}
	return report, nil
}

// prove runs and judges one cluster, with one algorithm.
func (o FencingOptions) prove(ctx context.Context) (proof Proof, err error) {
	if err := os.Mkdir(o.dir, 0o700); err != nil {
		return proof, fmt.Errorf("make a directory for the storage: %w", err)
	}
	p, err := startProver(o)
	if err != nil {
		return proof, err
	}
	defer func() { err = errors.Join(err, p.close()) }()
	p.say("%s, seed %d, for %.0f s", o.Entry.Name, o.Seed, o.Time.Seconds())
	calls, err := p.run(ctx)
	if err != nil {
		return proof, err
	}
	if proof, err = p.judge(calls); err != nil {
		return proof, err
	}
	for _, line := range proof.wrong() {
		p.say("  VIOLATED: %s", line)
	}
	if proof.OK() && o.Keep == "" {
		return proof, nil
	}
	proof.Kept, err = p.keep(proof)
	return proof, err
}

// run plays the faults, and returns the calls that the workers made meanwhile.
func (p *prover) run(ctx context.Context) ([]history.Call, error) {
	err := p.torment(ctx)
	if err == nil {
		p.requests.Wait()
		err = p.rest(ctx)
	}
	if errors.Is(err, errIdle) || errors.Is(err, errNoWrite) {
		p.violated("%v", err)
		err = nil
	}
	if err != nil {
		return nil, err
	}
	p.ended = now()
	return p.Finish()
}

// rest makes one more call, which the storage must refuse: a write with the first token of all,
// after later ones were used.
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

// depose kills the leader and waits until another leader's worker writes.
func (p *prover) depose(ctx context.Context, id proto.NodeID) error {
	if err := p.takeAway(id); err != nil {
		return err
	}
	for {
		t, err := p.AwaitWrite(ctx, time.Now())
		if err != nil {
			return err
		}
		if t.Leader != id {
			return p.bringBack(id)
		}
	}
}

// keep writes the logs and other evidence of a violation into a directory of its own.
func (p *prover) keep(proof Proof) (dir string, err error) {
	if dir, err = os.MkdirTemp(p.Keep, "ringleader-prove-"+p.Entry.Name+"-"+fmt.Sprint(p.Seed)+"-"); err != nil {
		return "", fmt.Errorf("make a directory for the logs: %w", err)
	}
	var text []byte
	for _, line := range proof.evidence() {
		text = append(append(text, line...), '\n')
	}
	return dir, errors.Join(p.nodes.SaveLogs(dir), os.WriteFile(filepath.Join(dir, "faults.txt"), text, 0o600))
}
