package rounds

import (
	"fmt"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/internal/trace"
)

// lent is the record by which a voter keeps its promise to a dead node, since that had lent its lease.
type lent struct {
	mark
	to    uint64
	bound time.Duration // from the record on
}

// noteLent keeps for how long the voter keeps its promise for a lent lease, if the record tells that.
func (l *life) noteLent(rec *trace.Record, reasons []reason, m mark) {
	for i := range reasons {
		keeps, ok := decided[algorithms.KeepsLent](&reasons[i])
		if !ok {
			continue
		}
		to, _ := formerFields(rec)
		if bound, err := time.ParseDuration(reasons[i].words(keeps.For)); err == nil && to != 0 {
			l.lent = append(l.lent, lent{m, to, bound})
		}
	}
}

// lent says which voters of the winner kept their promises late, since the leader before had lent its lease, if the
// winner had no majority without them. It returns "" if there are none.
func (in *Incident) lent(g *group, b *Ballot, late func(time.Time) bool) string {
	if b == nil {
		return ""
	}
	last := time.Time{}
	bound := in.needed(b, func(v *Voice) []Ref {
		kept, until := g.keptLent(v.Voter, in)
		if !late(until) {
			return nil
		}
		last = latest(last, until)
		return []Ref{kept}
	}, "")
	if bound == "" {
		return ""
	}
	return fmt.Sprintf("a lease that node %d had lent bound %sfor %s of the %s", in.Former, bound,
		Span(last.Sub(in.From)), Span(in.Until.Sub(in.From)))
}

// keptLent returns the record by which a voter kept its promise in the change for a lease that the leader before had
// lent, and until when. Both are zero if there is none.
func (g *group) keptLent(voter uint64, in *Incident) (by Ref, until time.Time) {
	m := g.nodes[voter]
	if m == nil {
		return by, until
	}
	for _, l := range m.lives {
		for _, kept := range l.lent {
			at := g.fix.at(voter, kept.wall)
			if kept.to == in.Former && !at.Before(in.From.Add(-together)) && !at.After(in.Until) {
				by, until = l.ref(kept.seq), at.Add(kept.bound)
			}
		}
	}
	return by, until
}
