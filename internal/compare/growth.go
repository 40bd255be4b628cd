package compare

import (
	"context"
	"fmt"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/internal/bench"
)

// Cost is what an election without failures took in the simulator.
type Cost struct {
	Messages int `json:"messages"`
	Times    int `json:"transmission_times"`
}

// GrowthOptions say what to simulate.
type GrowthOptions struct {
	Entries []catalog.Entry
	Sizes   []int // how many nodes live
	// Simulate makes one election. It is called from another goroutine than Grow,
	// once at a time, and left alone when ctx is done.
	Simulate func(e catalog.Entry, r algorithms.Run, nodes int) (Cost, error)
	// MemoryMiB is how much there is; 0 when nobody knows.
	MemoryMiB int
	// TooLarge is told, before anything is simulated, what will not be and why. Nil
	// for nobody.
	TooLarge func(what string)
	// Progress is told of each election that is done. Nil for nobody.
	Progress func(done, of int)
}

// What a simulation needs, generously, with what the garbage collector leaves lying:
// every node knows every other, and each message under way is planned.
const (
	bytesPerPair    = 130
	bytesPerMessage = 420
)

// need is the memory of one election, in MiB.
func need(nodes, messages int) int {
	n, m := float64(nodes), float64(messages)
	return int((n*n*bytesPerPair + m*bytesPerMessage) / (1 << 20))
}

// plan is every election that was asked for, with theory's figures, and what is too
// large marked. Errors wrap ErrOptions, or bench.ErrCapacity when nothing is left.
func (o GrowthOptions) plan() (GrowthReport, error) {
	r := GrowthReport{Machine: bench.ThisMachine(), Sizes: o.Sizes}
	if len(o.Sizes) == 0 {
		return r, fmt.Errorf("%w: no sizes", ErrOptions)
	}
	for i, n := range o.Sizes {
		if n < 1 || i > 0 && n <= o.Sizes[i-1] {
			return r, fmt.Errorf("%w: sizes %v: give whole numbers from 1 on, the smaller ones first",
				ErrOptions, o.Sizes)
		}
	}
	for _, e := range o.Entries {
		for _, c := range []struct {
			name string
			run  algorithms.Run
			of   func(n int) int
		}{{Best, e.Theory.BestRun, e.Theory.Best}, {Worst, e.Theory.WorstRun, e.Theory.Worst}} {
			line := Line{
				Algorithm: e.Name, Case: c.name, Formula: c.run.Messages, Bound: c.run.AtMost, entry: e, run: c.run,
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

// Grow simulates elections without failures of each algorithm, in its best and worst
// case, by the number of nodes. When ctx is done it returns what it has with the
// error. Figures that are not theory's are marked: an algorithm may have its limits.
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

// simulate makes one election, or returns why ctx is done: a simulation cannot be
// told to stop.
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
				line.Algorithm, line.Case, count(nodes, "node"), got.err)
		}
		return got.cost, nil
	case <-ctx.Done():
		return Cost{}, context.Cause(ctx)
	}
}
