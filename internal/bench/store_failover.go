package bench

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/ringleader-dev/ringleader/internal/bench/rival"
	"github.com/ringleader-dev/ringleader/internal/chart"
	"github.com/ringleader-dev/ringleader/internal/storeserver"
	"github.com/ringleader-dev/ringleader/internal/testcluster"
	"github.com/ringleader-dev/ringleader/store/all"
)

// StoreOptions say what to measure of leadership on a store.
type StoreOptions struct {
	Options
	// Store is the URL of an election, or a kind of store of package storeserver. A server of that kind is
	// started and, at the end, ended.
	Store string
	Lease time.Duration
	// Kills is how many leaders are killed, and RivalKills how many of the store's own client: each of the latter
	// costs a lease.
	Kills, RivalKills int
}

// started reports whether the server is to be started.
func (o StoreOptions) started() bool { return slices.Contains(storeserver.Kinds(), o.Store) }

func (o StoreOptions) validate() error {
	switch {
	case o.Kills < 1 || o.RivalKills < 0:
		return fmt.Errorf("%w: %d kills, and %d of the store's own client: give 1 or more, and 0 or more",
			ErrOptions, o.Kills, o.RivalKills)
	case o.Voters:
		return fmt.Errorf("%w: %s decides by itself who leads: take an algorithm that nominates, as bully",
			ErrOptions, o.Entry.Name)
	case o.Lease < time.Second:
		return fmt.Errorf("%w: a lease of %v: give 1s or more", ErrOptions, o.Lease)
	}
	if !o.started() {
		if _, err := all.Parse(o.Store); err != nil {
			return fmt.Errorf("%w: the store: %w; or name the kind of a server to start: %s",
				ErrOptions, err, strings.Join(storeserver.Kinds(), ", "))
		}
	}
	return o.Options.validate()
}

// storeFailover is one run of StoreFailover.
type storeFailover struct {
	StoreOptions
	server *storeserver.Server // nil if it is not ours
	places int                 // how many elections were named on our server
	report StoreReport
}

// StoreFailover measures how long it takes from the kill of a leader on a store to the next leader and, in turn, the
// same with a candidate that is the store's own client. When it ends early it returns what it has with the
// error.
func StoreFailover(ctx context.Context, o StoreOptions) (report StoreReport, err error) {
	// A killed leader that comes back stays a follower: no sample waits for it to take over.
	o.Args = append(o.Args, "--preempt=false", "--lease", o.Lease.String())
	o.Entry.Preempt = false
	f := &storeFailover{StoreOptions: o, report: StoreReport{
		Machine: ThisMachine(), Store: o.Store, Algorithm: o.Entry.Name, Nodes: o.Nodes, Profile: o.Profile,
		Lease: o.Lease.String(), Kills: o.Kills, RivalKills: o.RivalKills,
	}}
	if err := o.validate(); err != nil {
		return f.report, err
	}
	if o.started() {
		f.server, err = storeserver.Start(ctx, o.Store)
		if errors.Is(err, storeserver.ErrMissing) {
			return f.report, fmt.Errorf("%w: %w", ErrOptions, err)
		}
		if err != nil {
			return f.report, err
		}
		defer func() { err = errors.Join(err, f.server.Close()) }()
	}
	place, err := all.Parse(f.place())
	if err != nil {
		return f.report, fmt.Errorf("%w: %w", ErrOptions, err)
	}
	f.report.Store = place.String()
	if f.server != nil {
		f.report.Store = f.server.Kind()
	}
	f.report.Rival = rival.Rival{Store: f.place()}.Name()
	err = f.run(ctx)
	f.report.summarize()
	return f.report, err
}

// run takes all samples: a few of one kind, then one of the other.
func (f *storeFailover) run(ctx context.Context) error {
	r := &f.report
	for len(r.Samples) < f.Kills || len(r.RivalSamples) < f.RivalKills {
		if n := min(killsPerCluster, f.Kills-len(r.Samples)); n > 0 {
			if err := f.nodes(ctx, n); err != nil {
				return fmt.Errorf("kill %d: %w", len(r.Samples)+1, err)
			}
		}
		if len(r.RivalSamples) == f.RivalKills {
			continue
		}
		took, err := f.rivals(ctx)
		if err != nil {
			return fmt.Errorf("kill %d of the store's own client: %w", len(r.RivalSamples)+1, err)
		}
		r.RivalSamples = append(r.RivalSamples, took)
		f.progress(r.Count())
	}
	return nil
}

// place returns the URL of an election: one that nobody else uses, on a server of ours. On another server it is
// always the same, and whoever was killed there before is waited out.
func (f *storeFailover) place() string {
	if f.server == nil {
		return f.Store
	}
	f.places++
	return f.server.URL(fmt.Sprintf("bench%d", f.places))
}

// nodes takes n samples on a new cluster.
func (f *storeFailover) nodes(ctx context.Context, n int) (err error) {
	o := f.Options
	o.Args = append(slices.Clone(o.Args), "--store", f.place())
	c, err := o.Start(false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	if _, _, err := c.Settle(ctx, quiet); err != nil {
		return fmt.Errorf("no first leader: %w", err)
	}
	for range n {
		sample, err := c.failover(ctx, Kill)
		if err != nil {
			return err
		}
		f.report.Samples = append(f.report.Samples, sample)
		f.progress(f.report.Count())
	}
	return nil
}

// rivals starts as many candidates of the store's own client as there are nodes, kills the one that leads at a random
// moment between two renewals, and returns how long it took, in milliseconds, until another led.
func (f *storeFailover) rivals(ctx context.Context) (took float64, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, patience+2*f.Lease, errors.New("nobody leads"))
	defer cancel()
	g := &bareGroup{ports: &testcluster.Ports{}, said: make(chan saying), closed: make(chan struct{})}
	defer func() { err = errors.Join(err, g.close()) }()
	url := f.place()
	for id := 1; id <= f.Nodes; id++ {
		if err := g.add(id, part{Rival: &rival.Rival{Store: url, ID: id, TTL: f.Lease}}); err != nil {
			return 0, err
		}
	}
	first, err := g.await(ctx, "leads")
	if err != nil {
		return 0, err
	}
	if err := Pause(ctx, quiet+rand.N(f.Lease/3)); err != nil {
		return 0, err
	}
	at := time.Now()
	if err := g.members[first.id-1].Signal(syscall.SIGKILL); err != nil {
		return 0, err
	}
	for {
		next, err := g.await(ctx, "leads")
		switch {
		case err == nil && next.id != first.id:
			return chart.Millis(time.Unix(0, next.nanoseconds).Sub(at)), nil
		case err != nil && next.id != first.id:
			return 0, err
		}
	}
}
