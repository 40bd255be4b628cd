package rounds

import (
	"fmt"

	"github.com/ringleader-dev/ringleader/internal/trace"
)

// mended are the reports of split brains that were mended, as they came, each once.
type mended []trace.Split

// note keeps what a record reports.
func (m *mended) note(rec *trace.Record) {
	for _, s := range rec.Splits {
		if s.Stage != "mended" || m.find(s) {
			continue
		}
		*m = append(*m, s)
	}
}

// find reports whether the report, of another node perhaps, is kept already.
func (m *mended) find(s trace.Split) bool {
	for _, kept := range *m {
		if kept.By == s.By && kept.Leader == s.Leader && kept.Term == s.Term &&
			len(kept.Leaders) >= len(s.Leaders) {
			return true
		}
	}
	return false
}

// of says what became of two reigns that overlapped, "" when no record tells.
func (m mended) of(a, b *Reign) string {
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
		return fmt.Sprintf(" Node %d mended it: all who led stopped, %s, and node %d leads term %d since.",
			s.By, how, s.Leader, s.Term)
	}
	return ""
}
