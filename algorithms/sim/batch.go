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

// maxFailed is how many failed runs end a Batch: they are enough to look at.
const maxFailed = 5

// Summary is how many runs, of consecutive seeds, went.
type Summary struct {
	Algorithm string `json:"algorithm"`
	Nodes     int    `json:"nodes"` // 0: drawn for each run
	Seed      uint64 `json:"seed"`  // of the first run
	Runs      int    `json:"runs"`
	// Leaders counts the runs in which all agreed in the end, by leader.
	Leaders map[proto.NodeID]int `json:"leaders"`
	Term    Spread               `json:"term"`
	// Messages are by kind, and "total".
	Messages          map[string]Spread `json:"messages"`
	TransmissionTimes Spread            `json:"transmission_times"`
	AgreedSeconds     Spread            `json:"agreed_seconds"`
	LeaderlessSeconds Spread            `json:"leaderless_seconds"`
	ContestedSeconds  Spread            `json:"contested_seconds"`
	Violations        []SeedViolation   `json:"violations"`
}

// SeedViolation is a violation with what it takes to see it again.
type SeedViolation struct {
	Seed uint64 `json:"seed"`
	Violation
	Repro string `json:"repro"`
}

// Spread is the mean, least and greatest of a figure.
type Spread struct {
	Mean float64 `json:"mean"`
	Min  float64 `json:"min"`
	Max  float64 `json:"max"`
}

// Batch makes runs of consecutive seeds, the first of them o.Seed, in so many
// goroutines at a time. It ends early, without an error, after a few runs with
// violations, and with ctx's error when ctx ends. After each run it calls
// progress, if that is not nil, from one goroutine at a time, with the number
// of runs made. Options must not have a Trace.
//
// For a Batch that ends by itself without violations, the Summary does not
// depend on parallelism.
func Batch(
	ctx context.Context, o Options, runs, parallelism int, progress func(done int),
) (Summary, error) {
	if err := validateBatch(o, runs, parallelism); err != nil {
		return Summary{}, err
	}
	b := batch{o: o, progress: progress, results: make([]*Result, runs)}
	var workers sync.WaitGroup
	for range min(parallelism, runs) {
		workers.Go(func() { b.work(ctx) })
	}
	workers.Wait()
	if b.err != nil {
		return Summary{}, b.err
	}
	return b.sum(), ctx.Err()
}

func validateBatch(o Options, runs, parallelism int) error {
	switch {
	case runs < 1 || parallelism < 1:
		return fmt.Errorf("%w: %d runs, %d at a time", ErrOptions, runs, parallelism)
	case o.Trace != nil:
		return fmt.Errorf("%w: only a single run can be traced", ErrOptions)
	}
	return o.validate()
}

// batch is a Batch in progress.
type batch struct {
	o        Options
	progress func(int)

	mu      sync.Mutex
	next    int // the first run that nobody has taken
	done    int
	failed  int
	err     error
	results []*Result // by run
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
	r.Drawn = nil // a hundred thousand of them are not worth keeping
	b.results[i] = &r
	b.done++
	if len(r.Violations) > 0 {
		b.failed++
	}
	if b.progress != nil {
		b.progress(b.done)
	}
}

// sum is the Summary of the runs that were made, in the order of seeds.
func (b *batch) sum() Summary {
	s := Summary{
		Algorithm: b.o.Algorithm.Name, Nodes: b.o.Nodes, Seed: b.o.Seed,
		Leaders: map[proto.NodeID]int{}, Messages: map[string]Spread{},
		Violations: []SeedViolation{},
	}
	made := slices.DeleteFunc(b.results, func(r *Result) bool { return r == nil })
	s.Runs = len(made)
	kinds := map[string]bool{}
	for _, r := range made {
		s.Leaders[r.Leader]++
		for kind := range r.Messages {
			kinds[kind] = true
		}
		for _, v := range r.Violations {
			s.Violations = append(s.Violations, SeedViolation{r.Seed, v, r.Repro})
		}
	}
	for kind := range kinds {
		s.Messages[kind] = spread(made, func(r *Result) float64 { return float64(r.Messages[kind]) })
	}
	s.Term = spread(made, func(r *Result) float64 { return float64(r.Term) })
	s.TransmissionTimes = spread(made, func(r *Result) float64 { return float64(r.TransmissionTimes) })
	s.AgreedSeconds = spread(made, func(r *Result) float64 { return r.AgreedSeconds })
	s.LeaderlessSeconds = spread(made, func(r *Result) float64 { return r.LeaderlessSeconds })
	s.ContestedSeconds = spread(made, func(r *Result) float64 { return r.ContestedSeconds })
	return s
}

func spread(results []*Result, figure func(*Result) float64) Spread {
	if len(results) == 0 {
		return Spread{}
	}
	first := figure(results[0])
	s := Spread{Min: first, Max: first}
	sum := 0.0
	for _, r := range results {
		x := figure(r)
		sum += x
		s.Min, s.Max = min(s.Min, x), max(s.Max, x)
	}
	// Of more digits, most would be the rounding errors of the sum.
	const digits = 1e6
	s.Mean = math.Round(sum/float64(len(results))*digits) / digits
	return s
}

// JSON is the summary in one line.
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

// String is "mean 12.3, from 5 to 40".
func (s Spread) String() string {
	return fmt.Sprintf("mean %.2f, from %s to %s", s.Mean, number(s.Min), number(s.Max))
}

func number(x float64) string {
	return cmp.Or(strings.TrimRight(strings.TrimRight(fmt.Sprintf("%.3f", x), "0"), "."), "0")
}
