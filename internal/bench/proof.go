package bench

import (
	"errors"
	"fmt"
	"slices"

	"github.com/ringleader-dev/ringleader/internal/bench/history"
)

// Proof lists the faults of one cluster and their results.
type Proof struct {
	Algorithm string         `json:"algorithm"`
	Seed      uint64         `json:"seed"`
	Seconds   float64        `json:"seconds"`
	Faults    map[string]int `json:"faults"` // how often each kind of fault happened
	Script    []string       `json:"script"` // each fault in a line

	Functions int `json:"functions"` // how many functions ran
	Leases    int `json:"leases"`    // how many leases nodes lent
	Writes    int `json:"writes"`    // how many writes the storage accepted
	Refused   int `json:"refused"`   // how many calls the storage refused because of an old token

	// Violations describes what is wrong, apart from what Verdict says.
	Violations []string `json:"violations,omitempty"`
	// Idle is the longest time in which no function ran although a node could reach a majority.
	// IdleS is the sum of all such times, in seconds.
	Idle  Idle    `json:"longest_idle"`
	IdleS float64 `json:"idle_seconds"`

	Verdict history.Verdict `json:"verdict"`
	// Control is the verdict on the same calls if the storage had accepted those that it refused.
	// It must be bad: otherwise the faults did not test the fencing.
	Control history.Verdict `json:"control_unfenced"`
	// Kept is the directory in which the nodes' logs were kept; empty if they were not.
	Kept string `json:"kept,omitempty"`
}

// Idle is a time without a leader.
type Idle struct {
	From    float64  `json:"from_seconds"` // since the cluster began
	Seconds float64  `json:"seconds"`
	Faults  []string `json:"faults,omitempty"` // the faults during that time, or just before
}

// OK reports whether nothing is wrong, and whether the calls would have been wrong without fencing.
func (f Proof) OK() bool {
	return len(f.Violations) == 0 && f.Verdict.OK() && f.Refused > 0 &&
		f.Control.Linearizable == "no" && f.Control.Stale > 0
}

// judge judges what functions, workers and the storage saw during the faults.
func (p *prover) judge(calls []history.Call) (Proof, error) {
	f := Proof{
		Algorithm: p.Entry.Name, Seed: p.Seed, Seconds: p.Time.Seconds(), Faults: p.done, Violations: p.violations,
	}
	for _, done := range p.faults {
		f.Script = append(f.Script, done.text(p.zero))
	}
	functions, err := functionsIn(p.functions())
	if err != nil {
		return f, err
	}
	f.Functions, f.Leases = len(functions), len(p.lent)
	f.Violations = append(f.Violations, p.overlaps(functions)...)
	f.Violations = append(f.Violations, p.misled(functions)...)
	for _, g := range gaps(functions, p.moments, p.ended) {
		f.IdleS += g.length().Seconds()
		if g.length().Seconds() > f.Idle.Seconds {
			f.Idle = Idle{(g.from - p.zero).Seconds(), g.length().Seconds(), p.during(g.from-p.Promise, g.until)}
		}
	}
	f.judgeCalls(calls)
	return f, nil
}

// shownClashes is how many pairs of overlapping acts are shown.
const shownClashes = 5

// overlaps describes the acts that overlap although they must not, with the faults around them.
func (p *prover) overlaps(functions []act) (lines []string) {
	found := clashes(slices.Concat(functions, joined(p.lent)))
	for i, c := range found {
		if i == shownClashes {
			return append(lines, fmt.Sprintf("and %d more pairs that were at once", len(found)-i))
		}
		line := c.text(p.zero)
		for _, fault := range p.during(c.from()-p.Promise, c.until()) {
			line += "\n      " + fault
		}
		lines = append(lines, line)
	}
	return lines
}

// misled describes the functions that ran while their nodes had flags with which they must not
// lead.
func (p *prover) misled(functions []act) (lines []string) {
	for _, b := range p.wrong {
		for _, a := range functions {
			if a.node == b.node && a.from > b.from && a.from < b.until {
				lines = append(lines, fmt.Sprintf("it was started with %s: %s", b.with, a.text(p.zero)))
			}
		}
	}
	return lines
}

// judgeCalls counts the calls and judges them, with fencing and as if there were none.
func (f *Proof) judgeCalls(calls []history.Call) {
	for _, c := range calls {
		switch {
		case c.Outcome == history.Stale:
			f.Refused++
		case c.Kind == history.Put && c.Outcome == history.Done:
			f.Writes++
		}
	}
	f.Verdict = history.Check(calls, searchTime)
	f.Control = history.CheckUnfenced(calls, searchTime)
}

// wrong describes everything that is wrong.
func (f Proof) wrong() []string {
	all := slices.Clone(f.Violations)
	if f.Verdict.Linearizable != "yes" {
		all = append(all, "linearizable (porcupine): "+f.Verdict.Linearizable)
	}
	if f.Verdict.Stale > 0 {
		all = append(all, fmt.Sprintf("%d stale writes accepted, the first: %s", f.Verdict.Stale, f.Verdict.First))
	}
	if f.Verdict.Shared > 0 {
		all = append(all, fmt.Sprintf("terms with two holders: %d", f.Verdict.Shared))
	}
	if f.Refused == 0 || f.Control.Linearizable != "no" || f.Control.Stale == 0 {
		all = append(all, fmt.Sprintf("the control proves nothing: %d calls refused; had the storage looked at no "+
			"token: linearizable: %s, stale writes: %d", f.Refused, f.Control.Linearizable, f.Control.Stale))
	}
	return all
}

// evidence lists all faults and all that is wrong, a line each.
func (f Proof) evidence() []string {
	lines := []string{fmt.Sprintf("%s, seed %d, %.0f s", f.Algorithm, f.Seed, f.Seconds)}
	return slices.Concat(lines, f.Script, f.wrong())
}

// errNoWrite says that no leader's write was accepted in time.
var errNoWrite = errors.New("no leader's write is accepted")
