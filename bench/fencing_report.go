package bench

import (
	"cmp"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/ringleader-dev/ringleader/bench/history"
	"github.com/ringleader-dev/ringleader/internal/figures"
	"github.com/ringleader-dev/ringleader/proto"
)

// FencingReport is what Fencing did and found.
type FencingReport struct {
	Machine   Machine `json:"machine"`
	Algorithm string  `json:"algorithm"`
	Nodes     int     `json:"nodes"`
	Seed      uint64  `json:"seed"`
	Seconds   float64 `json:"seconds"`
	// Cuts is whether networks could be cut, too.
	Cuts   bool           `json:"cuts"`
	Faults map[string]int `json:"faults"`

	Terms    int     `json:"terms"`               // that wrote
	Writes   int     `json:"writes"`              // accepted
	Seals    int     `json:"seals"`               // accepted
	Reads    int     `json:"reads"`               // as the leader
	Glances  int     `json:"glances"`             // reads as anybody
	Refused  int     `json:"refused"`             // of an old token
	Unknown  int     `json:"unknown"`             // without an answer
	LongestS float64 `json:"longest_gap_seconds"` // without an accepted write

	Verdict history.Verdict `json:"verdict"`
	// Control is the verdict on the same calls when what the storage refused is
	// taken for done. It must not be good.
	Control  history.Verdict `json:"control_unfenced"`
	Searched float64         `json:"search_seconds"`
}

// Count is 1 of 1 once there is something to print.
func (r FencingReport) Count() (done, of int) {
	if r.Verdict.Calls == 0 {
		return 0, 1
	}
	return 1, 1
}

// OK reports whether the history is as it should be, and the judge can tell one
// that is not.
func (r FencingReport) OK() bool {
	return r.Verdict.OK() && r.Refused > 0 && r.Control.Linearizable == "no" && r.Control.Stale > 0
}

// judge counts the calls and has them judged, with and without the fence.
func (r *FencingReport) judge(calls []history.Call) {
	terms := map[proto.Term]bool{}
	var accepted []int64
	for _, c := range calls {
		done := c.Outcome == history.Done
		switch {
		case c.Outcome == history.Unknown:
			r.Unknown++
		case c.Outcome == history.Stale:
			r.Refused++
		case c.Kind == history.Get && c.Token.IsZero():
			r.Glances++
		case c.Kind == history.Get:
			r.Reads++
		case c.Kind == history.Seal:
			r.Seals++
		case done:
			r.Writes++
			terms[c.Token.Term] = true
			accepted = append(accepted, c.Ended)
		}
	}
	r.Terms = len(terms)
	slices.Sort(accepted)
	for i := 1; i < len(accepted); i++ {
		r.LongestS = max(r.LongestS, time.Duration(accepted[i]-accepted[i-1]).Seconds())
	}
	began := time.Now()
	r.Verdict = history.Check(calls, searchTime)
	r.Searched = time.Since(began).Seconds()
	r.Control = history.CheckUnfenced(calls, searchTime)
}

// Text writes the report.
func (r FencingReport) Text(w io.Writer) error {
	p := printer{figures.To(w)}
	p.Line("fencing: %s and the votes of all %d, for %.0f s, seed %d", r.Algorithm, r.Nodes, r.Seconds, r.Seed)
	p.Line("%s", r.Machine)
	p.Line("")
	if !r.Cuts {
		p.Line("networks were NOT cut: that needs root on Linux and the ip command")
	}
	p.Line("what was done")
	kinds := slices.SortedFunc(maps.Keys(r.Faults), func(a, b string) int {
		return cmp.Or(cmp.Compare(r.Faults[b], r.Faults[a]), cmp.Compare(a, b))
	})
	for _, kind := range kinds {
		p.Line("  %-38s %9d", kind, r.Faults[kind])
	}
	p.Line("what came of it")
	for _, row := range []struct {
		name  string
		count int
	}{
		{"terms whose leaders wrote", r.Terms},
		{"writes accepted", r.Writes},
		{"seals accepted", r.Seals},
		{"reads as the leader", r.Reads},
		{"reads as anybody", r.Glances},
		{"calls refused: an old token", r.Refused},
		{"writes without an answer", r.Unknown},
	} {
		p.Line("  %-38s %9d", row.name, row.count)
	}
	p.Line("  %-38s %9s", "longest time without a write, s", figures.Number(r.LongestS))
	p.Line("")
	p.Line("linearizable (porcupine): %s, %d calls, in %.1f s", r.Verdict.Linearizable, r.Verdict.Calls, r.Searched)
	p.Line("stale writes accepted: %d", r.Verdict.Stale)
	if r.Verdict.First != "" {
		p.Line("  the first: %s", r.Verdict.First)
	}
	p.Line("terms with two holders: %d", r.Verdict.Shared)
	p.Line("control: had the storage looked at no token, the same calls would be")
	p.Line("  linearizable: %s, stale writes accepted: %d", r.Control.Linearizable, r.Control.Stale)
	return p.Err()
}
