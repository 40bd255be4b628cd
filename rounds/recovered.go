package rounds

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/internal/words"
)

// recovered has one report of each split brain that the cluster recovered from.
type recovered []report

// report is what a node wrote of a split brain, and where.
type report struct {
	trace.Split
	ref Ref
}

// note keeps the reports in a record.
func (m *recovered) note(rec *trace.Record, ref Ref) {
	for _, s := range rec.Splits {
		// Until 2026-11 a split was said to be mended.
		if done := s.Stage == string(algorithms.Recovered) || s.Stage == "mended"; done && !m.find(s) {
			*m = append(*m, report{s, ref})
		}
	}
}

// find reports whether the report is kept already, perhaps from another node.
func (m *recovered) find(s trace.Split) bool {
	for _, kept := range *m {
		if kept.By == s.By && kept.Leader == s.Leader && kept.Term == s.Term &&
			len(kept.Leaders) >= len(s.Leaders) {
			return true
		}
	}
	return false
}

// reportedSplits finds leaders that led at once, by the word of the nodes that recovered from it, where the records of
// one of them are missing, and overlap does not find it.
func (g *group) reportedSplits() (found []Finding) {
	for _, s := range g.recovered {
		all := !slices.ContainsFunc(s.Leaders, func(l trace.Leadership) bool { return !g.hasRecordsOf(l) })
		if s.OverlapMS <= 0 || all || g.overlapFound(s.Leaders) {
			continue
		}
		f := Finding{Name: TwoLeaders, Records: []Ref{s.ref}}
		var led []string
		for _, l := range s.Leaders {
			led = append(led, fmt.Sprintf("node %d led term %d", l.Leader, l.Term))
			if l.Term != s.Leaders[0].Term {
				f.Name = Overlap
			}
			f.Term = max(f.Term, l.Term)
		}
		who := words.And(led...)
		how := fmt.Sprintf(" at once, for %v in all", Span(time.Duration(s.OverlapMS*float64(time.Millisecond))))
		if len(led) > 2 { // which two of them it does not say
			who, how, f.Name = who+", two of them", strings.TrimSuffix(how, " in all"), Overlap
		}
		f.Text = fmt.Sprintf("N%s%s, by the report of node %d, which recovered from it; the records of one of "+
			"them are not here.", who[1:], how, s.By)
		if !slices.ContainsFunc(found, func(other Finding) bool { return other.Text == f.Text }) {
			found = append(found, f)
		}
	}
	return found
}

// hasRecordsOf reports whether the leader's own records tell of the leadership, from its beginning to its end.
func (g *group) hasRecordsOf(r trace.Leadership) bool {
	own := g.leaderships[leadershipKey{r.Leader, r.Term}]
	return own != nil && !own.First.IsZero() && !own.gap && !own.unseen
}

// overlapFound reports whether overlap finds that two leaders led at once, whose records are not whole.
func (g *group) overlapFound(leaders []trace.Leadership) bool {
	var both []*Leadership
	for _, l := range leaders {
		if r := g.leaderships[leadershipKey{l.Leader, l.Term}]; r != nil && !r.First.IsZero() {
			both = append(both, r)
		}
	}
	if len(leaders) != 2 || len(both) != 2 {
		return false
	}
	slices.SortStableFunc(both, func(a, b *Leadership) int { return a.From.Compare(b.From) })
	_, found := g.overlap(both[0], both[1])
	return found
}

// of returns a sentence that says how the cluster recovered from two leaderships that overlapped.
// It returns "" if no record shows that.
func (m recovered) of(a, b *Leadership) string {
	for _, s := range m {
		found := 0
		for _, r := range s.Leaders {
			if r.Leader == a.Leader && r.Term == a.Term || r.Leader == b.Leader && r.Term == b.Term {
				found++
			}
		}
		if found < 2 {
			continue
		}
		how := "nothing was to be reconciled"
		switch {
		case s.Reconcile == nil:
		case s.Reconcile.Problem != "":
			how = fmt.Sprintf("reconciling failed (%s)", s.Reconcile.Problem)
		default:
			how = "it was reconciled"
		}
		return fmt.Sprintf(" Node %d recovered from it: all who led stopped, %s, and then node %d led term %d.",
			s.By, how, s.Leader, s.Term)
	}
	return ""
}
