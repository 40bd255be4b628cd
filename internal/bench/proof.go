package bench

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ringleader-dev/ringleader/internal/bench/history"
	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/proto"
)

// Proof is what was done to one cluster, and what came of it.
type Proof struct {
	Algorithm string         `json:"algorithm"`
	Seed      uint64         `json:"seed"`
	Seconds   float64        `json:"seconds"`
	Faults    map[string]int `json:"faults"` // by kind
	Script    []string       `json:"script"` // a line each

	Functions int     `json:"functions"`           // that were at work
	Leases    int     `json:"leases"`              // that nodes lent
	Terms     int     `json:"terms"`               // that wrote
	Writes    int     `json:"writes"`              // accepted
	Seals     int     `json:"seals"`               // accepted
	Reads     int     `json:"reads"`               // as the leader
	Glances   int     `json:"glances"`             // reads as anybody
	Refused   int     `json:"refused"`             // of an old token
	Unknown   int     `json:"unknown"`             // without an answer
	LongestS  float64 `json:"longest_gap_seconds"` // without an accepted write

	// Violations are what must not be, in words, but for what Verdict says.
	Violations []string `json:"violations,omitempty"`
	// Idle is the longest time in which no function was at work although a node could
	// reach a majority, and IdleS all such times together.
	Idle  Idle    `json:"longest_idle"`
	IdleS float64 `json:"idle_seconds"`

	Verdict history.Verdict `json:"verdict"`
	// Control is the verdict on the same calls when what the storage refused is
	// taken for done. It must not be good.
	Control  history.Verdict `json:"control_unfenced"`
	Searched float64         `json:"search_seconds"`
	// Kept is the directory with the nodes' logs, where they are kept.
	Kept string `json:"kept,omitempty"`
}

// Idle is a time without a leader, and what explains it.
type Idle struct {
	From    float64  `json:"from_seconds"` // since the beginning
	Seconds float64  `json:"seconds"`
	Faults  []string `json:"faults,omitempty"`  // that were on, or had just ended
	Changes []string `json:"changes,omitempty"` // of the nodes' beliefs meanwhile
	Tried   []string `json:"tried,omitempty"`   // what they sent and refused meanwhile
}

// OK reports whether nothing is wrong, and the judge can tell a history that is.
func (f Proof) OK() bool {
	return len(f.Violations) == 0 && f.Verdict.OK() && f.Refused > 0 &&
		f.Control.Linearizable == "no" && f.Control.Stale > 0
}

// judge is what is to be said of what was done and seen.
func (p *prover) judge(calls []history.Call) (Proof, error) {
	f := Proof{
		Algorithm: p.Entry.Name, Seed: p.Seed, Seconds: p.Time.Seconds(), Faults: p.done, Violations: p.strange,
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
			f.Idle = Idle{From: (g.from - p.zero).Seconds(), Seconds: g.length().Seconds()}
		}
	}
	p.explain(&f.Idle)
	f.judgeCalls(calls)
	return f, nil
}

// shownClashes is how many of the pairs that were at once are shown.
const shownClashes = 5

// overlaps are the pairs that were at once and may not, in words, with the faults around.
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

// misled are the functions of nodes that were started with flags with which they must not
// lead.
func (p *prover) misled(functions []act) (lines []string) {
	for _, b := range p.barred {
		for _, a := range functions {
			if a.node == b.node && a.from > b.from && a.from < b.until {
				lines = append(lines, fmt.Sprintf("it was started with %s: %s", b.with, a.text(p.zero)))
			}
		}
	}
	return lines
}

const (
	// shownChanges is how many changes of belief explain a time without a leader.
	shownChanges = 12
	// aroundIdle is how much earlier and later they are looked for: a record is written
	// a little after what it tells of.
	aroundIdle = 20 * time.Millisecond
)

// explain says what was done, and what the nodes decided, around a time without a leader.
func (p *prover) explain(i *Idle) {
	if i.Seconds == 0 {
		return
	}
	from := p.zero + time.Duration(i.From*float64(time.Second))
	until := from + time.Duration(i.Seconds*float64(time.Second))
	i.Faults = p.during(from-p.Promise, until)
	wall := time.Now().Add(p.zero - now())
	sent, why := map[string]int{}, map[string]int{}
	for _, rec := range p.nodes.Records() {
		at := rec.Time.Sub(wall) + p.zero
		if at < from-aroundIdle || at > until+aroundIdle {
			continue
		}
		count(rec, sent, why)
		if rec.LeaderChange != "" || rec.Ineligible != "" {
			var b strings.Builder
			if trace.Text(&b, wall, rec) == nil {
				i.Changes = append(i.Changes, strings.Join(strings.Fields(b.String()), " "))
			}
		}
	}
	if n := len(i.Changes); n > shownChanges {
		i.Changes = slices.Insert(i.Changes[:shownChanges], shownChanges/2, fmt.Sprintf("… %d more", n-shownChanges))
	}
	i.Tried = append(most(sent), most(why)...)
}

// count counts what a record's step sent, and refused or was refused.
func count(rec trace.Record, sent, why map[string]int) {
	for _, m := range rec.Sent {
		kind, _, _ := strings.Cut(m, ">")
		sent[fmt.Sprintf("node %d sent %s", rec.Node, kind)]++
	}
	for _, line := range rec.Why {
		if strings.Contains(line, "asked for a lease") {
			continue // the workers ask everybody, again and again
		}
		if strings.Contains(line, "no,") || strings.Contains(line, "deny") || strings.Contains(line, "refuse") {
			why[fmt.Sprintf("node %d: %s", rec.Node, line)]++
		}
	}
}

// most are the most frequent lines, with how often each came.
func most(counts map[string]int) (lines []string) {
	all := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	for _, line := range all[:min(len(all), shownChanges/2)] {
		lines = append(lines, fmt.Sprintf("%d × %s", counts[line], line))
	}
	return lines
}

// judgeCalls counts the calls and has them judged, with and without the fence.
func (f *Proof) judgeCalls(calls []history.Call) {
	terms := map[proto.Term]bool{}
	var accepted []int64
	for _, c := range calls {
		done := c.Outcome == history.Done
		switch {
		case c.Outcome == history.Unknown:
			f.Unknown++
		case c.Outcome == history.Stale:
			f.Refused++
		case c.Kind == history.Get && c.Token.IsZero():
			f.Glances++
		case c.Kind == history.Get:
			f.Reads++
		case c.Kind == history.Seal:
			f.Seals++
		case done:
			f.Writes++
			terms[c.Token.Term] = true
			accepted = append(accepted, c.Ended)
		}
	}
	f.Terms = len(terms)
	slices.Sort(accepted)
	for i := 1; i < len(accepted); i++ {
		f.LongestS = max(f.LongestS, time.Duration(accepted[i]-accepted[i-1]).Seconds())
	}
	began := time.Now()
	f.Verdict = history.Check(calls, searchTime)
	f.Searched = time.Since(began).Seconds()
	f.Control = history.CheckUnfenced(calls, searchTime)
}

// wrong is everything that is wrong, in words.
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

// evidence is all that was done, and is wrong.
func (f Proof) evidence() []string {
	lines := []string{fmt.Sprintf("%s, seed %d, %.0f s", f.Algorithm, f.Seed, f.Seconds)}
	return slices.Concat(lines, f.Script, f.wrong())
}

// errNoWrite: no leader's write was accepted.
var errNoWrite = errors.New("no leader's write is accepted")
