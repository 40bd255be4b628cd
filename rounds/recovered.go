package rounds

import (
	"fmt"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/internal/trace"
)

// recovered has one report of each split brain that the cluster recovered from.
type recovered []trace.Split

// note keeps the reports in a record.
func (m *recovered) note(rec *trace.Record) {
	for _, s := range rec.Splits {
		// Until 2026-11 a split was said to be mended.
		if done := s.Stage == string(algorithms.Recovered) || s.Stage == "mended"; done && !m.find(s) {
			*m = append(*m, s)
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
		return fmt.Sprintf(" Node %d recovered from it: all who led stopped, %s, and node %d leads term %d since.",
			s.By, how, s.Leader, s.Term)
	}
	return ""
}
