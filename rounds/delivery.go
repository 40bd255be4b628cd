package rounds

import (
	"slices"
	"time"
)

// maxTransit is how long a message may be on its way before it counts as lost or
// held up. Links between living nodes take milliseconds.
const maxTransit = time.Second

// deliveries judges what became of the messages without a receipt.
func (r *Round) deliveries(s *clusterState, g *group, folded map[receipt]bool) {
	latest := map[[2]uint64]int{} // by sender and receiver: the last step whose message arrived
	for i, m := range r.Messages {
		if m.Delivery == "" && folded[receipt{m.ID, m.To}] {
			r.Messages[i].Delivery = Arrived // its receipt changed nothing
		}
		if r.Messages[i].Delivery == Arrived {
			latest[[2]uint64{m.From, m.To}] = m.SendStep
		}
	}
	for i := range r.Messages {
		m := &r.Messages[i]
		if m.Delivery == "" {
			m.Delivery = r.delivery(m, s, g, latest[[2]uint64{m.From, m.To}] > m.SendStep)
		}
	}
}

// delivery returns what became of one message without a receipt. overtaken says that a later
// message from the same sender to the same receiver arrived: links keep the order.
func (r *Round) delivery(m *Message, s *clusterState, g *group, overtaken bool) Delivery {
	sent := r.Steps[m.SendStep]
	var l *life
	var began time.Time // of the process that it was sent to, zero if that is not known
	to := g.nodes[m.To]
	if to != nil {
		if l = to.at(sent.At, s.fix); l != nil {
			began = s.fix.at(l.node, l.from)
		}
	}
	w, gone := s.node(m.From).gone[m.To]
	since := w.At
	if m.To == r.Cause.Lost {
		gone, since = true, r.Cause.At
	}
	// At level info not every return is in the records. So evidence against one process
	// does not count for the next one.
	if gone && !since.After(sent.At) && !began.After(since) {
		return ToGone
	}
	if to == nil {
		return Unseen
	}
	if l != nil {
		ends := s.fix.at(l.node, l.until)
		switch {
		case sent.At.After(ends): // its records end before
		case !l.debug || l.gapAround(sent.At, s.fix):
			return Unseen
		case overtaken || ends.Sub(sent.At) > maxTransit:
			return Lost
		default:
			return Unseen
		}
	}
	if s.goneForAny(m.To, began) {
		return ToGone
	}
	return Unseen
}

// goneForAny reports whether any node has evidence against the process of the node id that began at
// the time began.
func (s *clusterState) goneForAny(id uint64, began time.Time) bool {
	for _, c := range s.nodes {
		if w, ok := c.gone[id]; ok && !began.After(w.At) {
			return true
		}
	}
	return false
}

// gapAround reports whether records of the process are missing around the time t, or up to maxTransit later.
func (l *life) gapAround(t time.Time, fix clockFix) bool {
	if len(l.seen) == 1 {
		return false
	}
	before, _ := l.before(t, fix)
	after, ok := l.after(t.Add(maxTransit), fix)
	if !ok {
		after = l.top
	}
	return !slices.ContainsFunc(l.seen, func(s span) bool {
		return s.first <= before.seq && after.seq <= s.last
	})
}
