package compare

import (
	"context"
	"fmt"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/internal/bench"
	"github.com/ringleader-dev/ringleader/internal/words"
)

// Cost is the cost of an election without failures in the simulator.
type Cost struct {
	Messages int `json:"messages"`
	Times    int `json:"transmission_times"`
}

// GrowthOptions say what to simulate.
type GrowthOptions struct {
	Entries []catalog.Entry
	Sizes   []int // the numbers of living nodes
	// Simulate makes one election. It is called from another goroutine than Grow, one call at a
	// time. When ctx is done, Grow does not wait for it.
	Simulate func(e catalog.Entry, r algorithms.Run, nodes int) (Cost, error)
	// MemoryMiB is the memory that may be used, in MiB; 0 if that is not known.
	MemoryMiB int
	// TooLarge is called before the first simulation for each election that would need too much
	// memory. It may be nil.
	TooLarge func(what string)
	// Progress is called after each election with the number of elections done and planned. It may
	// be nil.
	Progress func(done, of int)
}

// The memory that a simulation needs at most, garbage included: every node knows every other node,
// and each message on its way is stored.
const (
	bytesPerPair    = 130
	bytesPerMessage = 420
)

// need returns the memory of one election, in MiB.
func need(nodes, messages int) int {
	n, m := float64(nodes), float64(messages)
	return int((n*n*bytesPerPair + m*bytesPerMessage) / (1 << 20))
}

// plan lists every election that was asked for, with the figures of theory, and marks those that
// are too large. Errors wrap bench.ErrOptions, or bench.ErrCapacity if nothing is left.
func (o GrowthOptions) plan() (GrowthReport, error) {
	r := GrowthReport{Machine: bench.ThisMachine(), Sizes: o.Sizes}
	if len(o.Sizes) == 0 {
		return r, fmt.Errorf("%w: no sizes", bench.ErrOptions)
	}
	for i, n := range o.Sizes {
		if n < 1 || i > 0 && n <= o.Sizes[i-1] {
			return r, fmt.Errorf("%w: sizes %v: give whole numbers from 1 on, the smaller ones first",
				bench.ErrOptions, o.Sizes)
		}
	}
	for _, e := range o.Entries {
		for _, c := range []struct {
			name string
			run  algorithms.Run
			of   func(n int) int
		}{{Best, e.Theory.BestRun, e.Theory.Best}, {Worst, e.Theory.WorstRun, e.Theory.Worst}} {
			line := Line{
				Algorithm: e.Name, Case: c.name, Formula: c.run.Messages, Times: c.run.Transmissions,
				Bound: c.run.AtMost, entry: e, run: c.run,
			}
			for _, n := range o.Sizes {
				p := Point{Nodes: n, Theory: Cost{c.of(n), c.run.Times(n)}}
				if mib := need(n, p.Theory.Messages); o.MemoryMiB > 0 && mib > o.MemoryMiB {
					p.TooLarge = fmt.Sprintf("%d MiB for %d nodes and %d messages, but %d MiB are available",
						mib, n, p.Theory.Messages, o.MemoryMiB)
					r.TooLarge = append(r.TooLarge, fmt.Sprintf("%s, %s case: %s", e.Name, c.name, p.TooLarge))
				}
				line.Points = append(line.Points, p)
			}
			r.Lines = append(r.Lines, line)
		}
	}
	if _, of := r.Count(); of == 0 {
		return r, fmt.Errorf("%w: every simulation is too large: %s", bench.ErrCapacity, r.TooLarge[0])
	}
	return r, nil
}

// Grow simulates elections without failures, in the best and in the worst case of each algorithm,
// for each number of nodes. It marks figures that differ from theory. When ctx is done it returns
// what it has with the error.
func Grow(ctx context.Context, o GrowthOptions) (GrowthReport, error) {
	r, err := o.plan()
	if err != nil {
		return GrowthReport{}, err
	}
	for _, what := range r.TooLarge {
		if o.TooLarge != nil {
			o.TooLarge(what)
		}
	}
	for i := range o.Sizes { // the small ones first: an interrupt leaves a page that can be read
		for j := range r.Lines {
			line := &r.Lines[j]
			p := &line.Points[i]
			if p.TooLarge != "" {
				continue
			}
			cost, err := o.simulate(ctx, *line, p.Nodes)
			if err != nil {
				r.Partial = true
				return r, err
			}
			p.Done, p.Cost = true, cost
			p.Wrong = !line.agrees(*p)
			if o.Progress != nil {
				o.Progress(r.Count())
			}
		}
	}
	return r, nil
}

// simulate makes one election. If ctx is done before the election is over, simulate returns the
// cause, and does not wait for the simulation, which cannot be stopped.
func (o GrowthOptions) simulate(ctx context.Context, line Line, nodes int) (Cost, error) {
	type outcome struct {
		cost Cost
		err  error
	}
	done := make(chan outcome, 1)
	go func() {
		cost, err := o.Simulate(line.entry, line.run, nodes)
		done <- outcome{cost, err}
	}()
	select {
	case got := <-done:
		if got.err != nil {
			return Cost{}, fmt.Errorf("simulate %s, %s case, %s: %w",
				line.Algorithm, line.Case, words.Plural(nodes, "node"), got.err)
		}
		return got.cost, nil
	case <-ctx.Done():
		return Cost{}, context.Cause(ctx)
	}
}
