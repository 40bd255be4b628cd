package compare

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/internal/bench"
)

// square costs n messages in the best case and n² in the worst.
func square() catalog.Entry {
	e := entry("square", algorithms.BestEffort)
	one := func(int) int { return 1 }
	e.Theory = algorithms.Theory{
		Best: func(n int) int { return n }, Worst: func(n int) int { return n * n },
		BestRun: algorithms.Run{
			Caller: algorithms.Highest, Messages: "n", Times: one,
		},
		WorstRun: algorithms.Run{AtMost: true, Messages: "n²", Times: one},
	}
	return e
}

// asTheory simulates what theory says.
func asTheory(e catalog.Entry, r algorithms.Run, n int) (Cost, error) {
	if r.Caller == nil {
		return Cost{e.Theory.Worst(n) - 1, 1}, nil
	}
	return Cost{e.Theory.Best(n), 1}, nil
}

func growthOptions() GrowthOptions {
	return GrowthOptions{
		Entries: []catalog.Entry{square()}, Sizes: []int{10, 100, 10_000}, Simulate: asTheory, MemoryMiB: 20_000,
	}
}

// Promise: "a simulation too large for memory is said before it starts"; the others
// are made, and theory stands in its place.
func TestTooLarge(t *testing.T) {
	o := growthOptions()
	var said []string
	o.TooLarge = func(what string) { said = append(said, what) }
	o.Simulate = func(e catalog.Entry, r algorithms.Run, n int) (Cost, error) {
		if len(said) != 1 {
			t.Errorf("simulated before it said what is too large: %q", said)
		}
		return asTheory(e, r, n)
	}
	r, err := Grow(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	const want = "square, worst case: 52452 MiB for 10000 nodes and 100000000 messages, but 20000 MiB are available"
	if len(said) != 1 || said[0] != want {
		t.Errorf("said %q, want %q", said, want)
	}
	if done, of := r.Count(); done != 5 || of != 5 || r.Partial {
		t.Errorf("%d of %d are done", done, of)
	}
	var text, page bytes.Buffer
	r.Machine = somewhere
	if err := errors.Join(r.Report().Text(&text), r.Report().HTML(&page)); err != nil {
		t.Fatal(err)
	}
	golden(t, "growth.txt", text.Bytes())
	golden(t, "growth.html", unstyled(t, page.Bytes()))
}

func TestGrowthRefuses(t *testing.T) {
	for _, c := range []struct {
		sizes  []int
		memory int
		is     error
		says   string
	}{
		{nil, 0, bench.ErrOptions, "no sizes"},
		{[]int{0}, 0, bench.ErrOptions, "from 1 on"},
		{[]int{10, 10}, 0, bench.ErrOptions, "the smaller ones first"},
		{[]int{100_000}, 100, bench.ErrCapacity, "every simulation is too large: square, best case: "},
	} {
		o := growthOptions()
		o.Sizes, o.MemoryMiB = c.sizes, c.memory
		if _, err := Grow(t.Context(), o); !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v: %v", c, err)
		}
	}
}

// Promise: interrupted half-way, there is a "partial table, marked so", though a
// simulation cannot be told to stop.
func TestGrowthInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	release := make(chan struct{})
	defer close(release)
	o := growthOptions()
	simulated := 0
	o.Simulate = func(e catalog.Entry, r algorithms.Run, n int) (Cost, error) {
		if simulated++; simulated == 3 {
			cancel()
			<-release
		}
		return asTheory(e, r, n)
	}
	r, err := Grow(ctx, o)
	if done, of := r.Count(); !errors.Is(err, context.Canceled) || done != 2 || of != 5 || !r.Partial {
		t.Errorf("%d of %d, %v", done, of, err)
	}
	var text, page bytes.Buffer
	if err := errors.Join(r.Report().Text(&text), r.Report().HTML(&page)); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(text.String(), "PARTIAL: ended after 2 of 5 elections") {
		t.Errorf("not marked:\n%s", text.String())
	}
	selfContained(t, page.String())
}

// Figures that are not theory's are marked, beside theory's.
func TestNotAsTheory(t *testing.T) {
	o := growthOptions()
	o.Sizes = []int{10}
	o.Simulate = func(catalog.Entry, algorithms.Run, int) (Cost, error) { return Cost{11, 1}, nil }
	r, err := Grow(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if got := r.Lines[0].Points[0].Text(); got != "11 in 1, NOT 10 in 1" {
		t.Errorf("%q", got)
	}
	if got := r.Lines[1].Points[0].Text(); got != "11 in 1" { // theory's is a bound
		t.Errorf("%q", got)
	}
}
