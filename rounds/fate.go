package rounds

import (
	"slices"
	"time"
)

// heldUp is how long a message may be on its way before it counts as lost or
// held up. Links between living nodes take milliseconds.
const heldUp = time.Second

// fates says what became of the messages without a receipt.
func (r *Round) fates(s *story, g *group, folded map[receipt]bool) {
	latest := map[[2]uint64]int{} // the last step of a pair whose message arrived
	for i, m := range r.Messages {
		if m.Fate == "" && folded[receipt{m.ID, m.To}] {
			r.Messages[i].Fate = Arrived // its receipt changed nothing
		}
		if r.Messages[i].Fate == Arrived {
			latest[[2]uint64{m.From, m.To}] = m.SendStep
		}
	}
	for i := range r.Messages {
		m := &r.Messages[i]
		if m.Fate == "" {
			m.Fate = r.fate(m, s, g, latest[[2]uint64{m.From, m.To}] > m.SendStep)
		}
	}
}

// fate judges one message without a receipt. overtaken: a later one of the same
// pair arrived, and links keep the order.
func (r *Round) fate(m *Message, s *story, g *group, overtaken bool) Fate {
	sent := r.Steps[m.SendStep]
	if w, ok := s.character(m.From).gone[m.To]; ok && !w.At.After(sent.At) || m.To == r.Cause.Lost {
		return ToGone
	}
	to := g.nodes[m.To]
	if to == nil {
		return Unseen
	}
	if l := to.at(sent.At, s.fix); l != nil {
		ends := s.fix.at(l.node, l.until)
		switch {
		case sent.At.After(ends): // its records end before
		case !l.debug || l.gapAround(sent.At, s.fix):
			return Unseen
		case overtaken || ends.Sub(sent.At) > heldUp:
			return Lost
		default:
			return Unseen
		}
	}
	if s.goneForAny(m.To) {
		return ToGone
	}
	return Unseen
}

// goneForAny reports whether some node has evidence that id is gone.
func (s *story) goneForAny(id uint64) bool {
	for _, c := range s.nodes {
		if _, ok := c.gone[id]; ok {
			return true
		}
	}
	return false
}

// gapAround reports whether records are missing soon after t.
func (l *life) gapAround(t time.Time, fix clockFix) bool {
	if len(l.seen) == 1 {
		return false
	}
	before, _ := l.before(t, fix)
	after, ok := l.after(t.Add(heldUp), fix)
	if !ok {
		after = l.top
	}
	return !slices.ContainsFunc(l.seen, func(s span) bool {
		return s.first <= before.seq && after.seq <= s.last
	})
}
