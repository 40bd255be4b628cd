package bench

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/ringleader-dev/ringleader/internal/figures"
)

// FencingReport is what Fencing did and found.
type FencingReport struct {
	Machine Machine `json:"machine"`
	Nodes   int     `json:"nodes"`
	Profile string  `json:"profile"`
	Promise float64 `json:"promise_seconds"`
	Seed    uint64  `json:"seed"`
	Seconds float64 `json:"seconds"`
	Planned int     `json:"planned"`
	// Cuts is whether networks could be cut, too.
	Cuts   bool    `json:"cuts"`
	Proofs []Proof `json:"proofs"`
}

// Count is how many clusters were judged, and how many were to be.
func (r FencingReport) Count() (done, of int) { return len(r.Proofs), r.Planned }

// OK reports whether nothing is wrong with any of them.
func (r FencingReport) OK() bool {
	for _, f := range r.Proofs {
		if !f.OK() {
			return false
		}
	}
	return len(r.Proofs) > 0
}

// Text writes the report.
func (r FencingReport) Text(w io.Writer) error {
	p := printer{figures.To(w)}
	p.Line("")
	p.Line("prove: the votes of all %d, profile %s, promise %g s, for %.0f s, seed %d",
		r.Nodes, r.Profile, r.Promise, r.Seconds, r.Seed)
	p.Line("%s", r.Machine)
	if done, of := r.Count(); done < of {
		p.Partial(done, of, "clusters")
	}
	if !r.Cuts {
		p.Line("networks were NOT cut: that needs root on Linux and the ip command")
	}
	p.Line("")
	r.faults(p)
	r.table(p)
	r.idle(p)
	r.wrong(p)
	return p.Err()
}

// faults is how often what was done, in all.
func (r FencingReport) faults(p printer) {
	sum := map[string]int{}
	for _, f := range r.Proofs {
		for kind, count := range f.Faults {
			sum[kind] += count
		}
	}
	p.Line("what was done")
	kinds := slices.SortedFunc(maps.Keys(sum), func(a, b string) int {
		return cmp.Or(cmp.Compare(sum[b], sum[a]), cmp.Compare(a, b))
	})
	for _, kind := range kinds {
		p.Line("  %-38s %9d", kind, sum[kind])
	}
}

// table is a line for each cluster.
func (r FencingReport) table(p printer) {
	const row = "  %-12s %7s %9s %8s %7s %8s %7s %12s %10s %12s"
	p.Line("what came of it")
	p.Line(row, "", "faults", "functions", "leases", "writes", "refused", "stale", "linearizable", "violations",
		"nobody, s")
	for _, f := range r.Proofs {
		faults := 0
		for _, count := range f.Faults {
			faults += count
		}
		p.Line(row, f.Algorithm, fmt.Sprint(faults), fmt.Sprint(f.Functions), fmt.Sprint(f.Leases),
			fmt.Sprint(f.Writes), fmt.Sprint(f.Refused), fmt.Sprint(f.Verdict.Stale), f.Verdict.Linearizable,
			fmt.Sprint(len(f.wrong())),
			fmt.Sprintf("%.1f of %.1f", f.Idle.Seconds, f.IdleS))
	}
	p.Line("functions: begun, each on its own; leases: lent to the worker beside a node")
	p.Line("nobody: the longest time without a function at work while some node reached a majority, and all of them")
	p.Line("control: had the storage looked at no token, %d stale writes would have been accepted", r.control())
	p.Line("")
}

func (r FencingReport) control() (stale int) {
	for _, f := range r.Proofs {
		stale += f.Control.Stale
	}
	return stale
}

// idle explains the longest time without a leader.
func (r FencingReport) idle(p printer) {
	if len(r.Proofs) == 0 {
		return
	}
	f := slices.MaxFunc(r.Proofs, func(a, b Proof) int { return cmp.Compare(a.Idle.Seconds, b.Idle.Seconds) })
	p.Line("the longest time without a leader while a majority was connected: %.2f s, with %s, seed %d, from %.3f s on",
		f.Idle.Seconds, f.Algorithm, f.Seed, f.Idle.From)
	for _, line := range f.Idle.Faults {
		p.Line("  %s", line)
	}
	for _, line := range slices.Concat(f.Idle.Changes, f.Idle.Tried) {
		p.Line("    %.200s", line)
	}
	if f.Kept != "" {
		p.Line("  logs: %s", f.Kept)
	}
	p.Line("")
}

// wrong is each violation, and how to see it again.
func (r FencingReport) wrong(p printer) {
	if r.OK() {
		p.Line("no violation")
		return
	}
	for _, f := range r.Proofs {
		if f.OK() {
			continue
		}
		p.Line("VIOLATED with %s; again: make prove ALGORITHM=%s NODES=%d PROVE=%.0fs SEED=%d; logs: %s",
			f.Algorithm, f.Algorithm, r.Nodes, f.Seconds, f.Seed, f.Kept)
		for _, line := range f.wrong() {
			p.Line("  %s", line)
		}
	}
}
