package bench

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/ringleader-dev/ringleader/internal/chart"
)

// FencingReport is the result of Fencing.
type FencingReport struct {
	Machine Machine `json:"machine"`
	Nodes   int     `json:"nodes"`
	Profile string  `json:"profile"`
	Promise float64 `json:"promise_seconds"`
	Seed    uint64  `json:"seed"`
	Seconds float64 `json:"seconds"`
	Planned int     `json:"planned"`
	// Cuts says whether networks could be cut.
	Cuts   bool    `json:"cuts"`
	Proofs []Proof `json:"proofs"`
}

// Count returns how many clusters were judged, and how many were planned.
func (r FencingReport) Count() (done, of int) { return len(r.Proofs), r.Planned }

// OK reports whether no cluster has a violation, and at least one was judged.
func (r FencingReport) OK() bool {
	return len(r.Proofs) > 0 && !slices.ContainsFunc(r.Proofs, func(f Proof) bool { return !f.OK() })
}

// Report shows the faults, the results of each cluster, and each violation.
func (r FencingReport) Report() chart.Report {
	lines := []string{r.Machine.String()}
	if !r.Cuts {
		lines = append(lines, "networks were NOT cut: that needs root on Linux and the ip command")
	}
	done, of := r.Count()
	return chart.Report{
		Title: fmt.Sprintf("prove: the votes of all %d, profile %s, promise %g s, for %.0f s, seed %d",
			r.Nodes, r.Profile, r.Promise, r.Seconds, r.Seed),
		Lines: lines, Partial: chart.Partial(done, of, "clusters"),
		Tables: []chart.Table{r.faults(), r.table(), {After: r.idle()}, {After: r.wrong()}},
	}
}

// faults returns a table of the kinds of faults, with how often each happened.
func (r FencingReport) faults() chart.Table {
	sum := map[string]int{}
	for _, f := range r.Proofs {
		for kind, count := range f.Faults {
			sum[kind] += count
		}
	}
	kinds := slices.SortedFunc(maps.Keys(sum), func(a, b string) int {
		return cmp.Or(cmp.Compare(sum[b], sum[a]), cmp.Compare(a, b))
	})
	t := chart.Table{Columns: []chart.Column{{Name: "what was done", Width: -38}, {Name: "times", Width: 9}}}
	for _, kind := range kinds {
		t.Rows = append(t.Rows, chart.Cells(kind, fmt.Sprint(sum[kind])))
	}
	return t
}

// table returns a table with a row for each cluster.
func (r FencingReport) table() chart.Table {
	t := chart.Table{Columns: []chart.Column{
		{Name: "what came", Width: -12},
		{Name: "faults", Width: 7},
		{Name: "functions", Width: 9},
		{Name: "leases", Width: 8},
		{Name: "writes", Width: 7},
		{Name: "refused", Width: 8},
		{Name: "stale", Width: 7},
		{Name: "linearizable", Width: 12},
		{Name: "violations", Width: 10},
		{Name: "nobody, s", Width: 12},
	}, After: []string{
		"functions: begun, each on its own; leases: lent to the worker beside a node",
		"nobody: the longest time without a function at work while some node reached a majority, and all of them",
		fmt.Sprintf("control: had the storage looked at no token, %d stale writes would have been accepted",
			r.control()),
	}}
	for _, f := range r.Proofs {
		faults := 0
		for _, count := range f.Faults {
			faults += count
		}
		t.Rows = append(t.Rows, chart.Cells(
			f.Algorithm, fmt.Sprint(faults), fmt.Sprint(f.Functions), fmt.Sprint(f.Leases),
			fmt.Sprint(f.Writes), fmt.Sprint(f.Refused), fmt.Sprint(f.Verdict.Stale), f.Verdict.Linearizable,
			fmt.Sprint(len(f.wrong())), fmt.Sprintf("%.1f of %.1f", f.Idle.Seconds, f.IdleS)))
	}
	return t
}

func (r FencingReport) control() (stale int) {
	for _, f := range r.Proofs {
		stale += f.Control.Stale
	}
	return stale
}

// idle describes the longest time without a leader, and the faults around it.
func (r FencingReport) idle() []string {
	if len(r.Proofs) == 0 {
		return nil
	}
	f := slices.MaxFunc(r.Proofs, func(a, b Proof) int { return cmp.Compare(a.Idle.Seconds, b.Idle.Seconds) })
	lines := []string{fmt.Sprintf(
		"the longest time without a leader while a majority was connected: %.2f s, with %s, seed %d, from %.3f s on",
		f.Idle.Seconds, f.Algorithm, f.Seed, f.Idle.From)}
	for _, line := range f.Idle.Faults {
		lines = append(lines, "  "+line)
	}
	if f.Kept == "" {
		return append(lines, "  what the nodes did then: give --logs DIR, and ask ringleader rounds")
	}
	return append(lines, "  what the nodes did then: ringleader rounds "+f.Kept)
}

// wrong lists each violation, and how to repeat it.
func (r FencingReport) wrong() (lines []string) {
	if r.OK() {
		return []string{"no violation"}
	}
	for _, f := range r.Proofs {
		if f.OK() {
			continue
		}
		lines = append(lines, fmt.Sprintf(
			"VIOLATED with %s; again: make prove ALGORITHM=%s NODES=%d PROVE=%.0fs SEED=%d; logs: %s",
			f.Algorithm, f.Algorithm, r.Nodes, f.Seconds, f.Seed, f.Kept))
		for _, line := range f.wrong() {
			lines = append(lines, "  "+line)
		}
	}
	return lines
}
