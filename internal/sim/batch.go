package sim

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/ringleader-dev/ringleader/proto"
)

// maxFailed is the number of failed runs after which a Batch ends: nobody would look at more.
const maxFailed = 5

// Summary is the result of several runs with consecutive seeds.
type Summary struct {
	Algorithm string `json:"algorithm"`
	Nodes     int    `json:"nodes"` // 0 if it was drawn for each run
	Seed      uint64 `json:"seed"`  // the seed of the first run
	Runs      int    `json:"runs"`
	// Leaders counts, for each leader, the runs in which all nodes agreed on it in the end.
	Leaders map[proto.NodeID]int `json:"leaders"`
	Term    Spread               `json:"term"`
	// Messages has an entry for each kind, and one for "total".
	Messages          map[string]Spread `json:"messages"`
	TransmissionTimes Spread            `json:"transmission_times"`
	AgreedSeconds     Spread            `json:"agreed_seconds"`
	LeaderlessSeconds Spread            `json:"leaderless_seconds"`
	ContestedSeconds  Spread            `json:"contested_seconds"`
	Violations        []SeedViolation   `json:"violations"`
}

// SeedViolation is a violation, with the seed and the command line that repeat it.
type SeedViolation struct {
	Seed uint64 `json:"seed"`
	Violation
	Repro string `json:"repro"`
}

// Spread is the mean, the least and the greatest value of a figure.
type Spread struct {
	Mean float64 `json:"mean"`
	Min  float64 `json:"min"`
	Max  float64 `json:"max"`
}

// Batch makes runs with consecutive seeds, beginning with o.Seed, in up to parallelism goroutines.
// After a few runs with violations it ends early, without an error. When ctx ends it returns the
// error of ctx. After each run it calls progress, unless that is nil, with the number of runs made,
// from one goroutine at a time. o must have neither a Trace nor a Truth.
//
// If the Batch ends by itself without violations, the Summary does not depend on parallelism.
func Batch(
	ctx context.Context, o Options, runs, parallelism int, progress func(done int),
) (Summary, error) {
	if err := validateBatch(o, runs, parallelism); err != nil {
		return Summary{}, err
	}
	b := batch{
		o: o, progress: progress, results: make([]*Result, runs),
		leaders: map[proto.NodeID]int{}, messages: map[string]*figure{},
		violations: []SeedViolation{},
	}
	var workers sync.WaitGroup
	for range min(parallelism, runs) {
		workers.Go(func() { b.work(ctx) })
	}
	workers.Wait()
	if b.err != nil {
		return Summary{}, b.err
	}
	return b.summary(), ctx.Err()
}

func validateBatch(o Options, runs, parallelism int) error {
	switch {
	case runs < 1 || parallelism < 1:
		return fmt.Errorf("%w: %d runs, %d at a time", ErrOptions, runs, parallelism)
	case o.Truth != nil:
		return fmt.Errorf("%w: only a single run has a Truth", ErrOptions)
	case o.Trace != nil:
		return fmt.Errorf("%w: --trace: only a single run can be traced, so leave --runs out", ErrOptions)
	}
	return o.validate()
}

// batch is the state of a Batch.
type batch struct {
	o        Options
	progress func(int)

	mu      sync.Mutex
	next    int // the first run that nobody has taken
	done    int
	failed  int
	err     error
	results []*Result // by run, while they wait to be summed up

	summed     int // how many runs were looked at, from the first on
	runs       int // how many of those were made
	leaders    map[proto.NodeID]int
	messages   map[string]*figure
	term       figure
	times      figure
	agreed     figure
	leaderless figure
	contested  figure
	violations []SeedViolation
}

// work makes runs until there are no more to make.
func (b *batch) work(ctx context.Context) {
	for ctx.Err() == nil {
		i, ok := b.take()
		if !ok {
			return
		}
		o := b.o
		o.Seed += uint64(i)
		r, err := Run(o)
		b.put(i, r, err)
	}
}

func (b *batch) take() (i int, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.next == len(b.results) || b.failed >= maxFailed || b.err != nil {
		return 0, false
	}
	b.next++
	return b.next - 1, true
}

func (b *batch) put(i int, r Result, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err != nil {
		b.err = err
		return
	}
	b.results[i] = &r
	b.sum(false)
	b.done++
	if len(r.Violations) > 0 {
		b.failed++
	}
	if b.progress != nil {
		b.progress(b.done)
	}
}

// sum adds finished runs to the figures, in the order of their seeds. It stops at the first run
// that is not finished or, if all is true, leaves such runs out.
func (b *batch) sum(all bool) {
	for ; b.summed < len(b.results); b.summed++ {
		r := b.results[b.summed]
		if r == nil && !all {
			return
		}
		if r != nil {
			b.add(r)
		}
		b.results[b.summed] = nil // a million of them are not worth keeping
	}
}

// add adds a run to the figures.
func (b *batch) add(r *Result) {
	b.runs++
	b.leaders[r.Leader]++
	for kind, n := range r.Messages {
		if b.messages[kind] == nil {
			b.messages[kind] = &figure{}
		}
		b.messages[kind].add(float64(n))
	}
	for _, v := range r.Violations {
		b.violations = append(b.violations, SeedViolation{r.Seed, v, r.Repro})
	}
	b.term.add(float64(r.Term))
	b.times.add(float64(r.TransmissionTimes))
	b.agreed.add(r.AgreedSeconds)
	b.leaderless.add(r.LeaderlessSeconds)
	b.contested.add(r.ContestedSeconds)
}

// summary returns the result of the runs.
func (b *batch) summary() Summary {
	b.sum(true)
	s := Summary{
		Algorithm: b.o.Algorithm.Name, Nodes: b.o.Nodes, Seed: b.o.Seed, Runs: b.runs,
		Leaders: b.leaders, Messages: map[string]Spread{}, Violations: b.violations,
		Term: b.term.spread(b.runs), TransmissionTimes: b.times.spread(b.runs),
		AgreedSeconds:     b.agreed.spread(b.runs),
		LeaderlessSeconds: b.leaderless.spread(b.runs),
		ContestedSeconds:  b.contested.spread(b.runs),
	}
	for kind, f := range b.messages {
		s.Messages[kind] = f.spread(b.runs)
	}
	return s
}

// figure sums a value over the runs in which it occurred.
type figure struct {
	runs int
	sum  float64
	min  float64
	max  float64
}

func (f *figure) add(x float64) {
	if f.runs == 0 {
		f.min, f.max = x, x
	}
	f.runs++
	f.sum += x
	f.min, f.max = min(f.min, x), max(f.max, x)
}

// spread returns the Spread over all runs. A run in which the figure did not occur counts as zero.
func (f *figure) spread(runs int) Spread {
	if runs == 0 {
		return Spread{}
	}
	// Of more digits, most would be the rounding errors of the sum.
	const digits = 1e6
	s := Spread{Mean: math.Round(f.sum/float64(runs)*digits) / digits, Min: f.min, Max: f.max}
	if f.runs < runs {
		s.Min, s.Max = min(s.Min, 0), max(s.Max, 0)
	}
	return s
}

// JSON returns the summary as one line.
func (s Summary) JSON() ([]byte, error) { return json.Marshal(s) }

// Text writes the summary for people.
func (s Summary) Text(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "algorithm           %s\n", s.Algorithm)
	fmt.Fprintf(&b, "runs                %d, seeds %d to %d\n",
		s.Runs, s.Seed, s.Seed+uint64(max(s.Runs, 1))-1)
	for _, kind := range slices.Sorted(maps.Keys(s.Messages)) {
		fmt.Fprintf(&b, "%-19s %v\n", kind, s.Messages[kind])
	}
	fmt.Fprintf(&b, "transmission times  %v\n", s.TransmissionTimes)
	fmt.Fprintf(&b, "terms               %v\n", s.Term)
	fmt.Fprintf(&b, "agreed, seconds     %v\n", s.AgreedSeconds)
	fmt.Fprintf(&b, "nobody led, seconds %v\n", s.LeaderlessSeconds)
	fmt.Fprintf(&b, "two led, seconds    %v\n", s.ContestedSeconds)
	fmt.Fprintf(&b, "violations          %d\n", len(s.Violations))
	for _, v := range s.Violations {
		fmt.Fprintf(&b, "  %v\n    %s\n", v.Violation, v.Repro)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// String returns a text such as "mean 12.30, from 5 to 40".
func (s Spread) String() string {
	return fmt.Sprintf("mean %.2f, from %s to %s", s.Mean, number(s.Min), number(s.Max))
}

func number(x float64) string {
	return cmp.Or(strings.TrimRight(strings.TrimRight(fmt.Sprintf("%.3f", x), "0"), "."), "0")
}
