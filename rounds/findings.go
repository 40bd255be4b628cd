package rounds

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// The findings that lie between rounds.

const (
	// inFlight is how long a leader may go on after its successor has sent the
	// announcement that makes it step down.
	inFlight = 500 * time.Millisecond
	// flaps is how many rounds within flapTime count as flapping, if no operator asked for them.
	flaps    = 5
	flapTime = time.Minute
)

// overlaps finds leaders of different terms that led at once. atEnd says that no more records come. Only then
// does a leadership without an end in the records count as one that goes on (see unended).
func (s *clusterState) overlaps(g *group, atEnd bool) (found []Finding) {
	leaderships := slices.Clone(s.list)
	slices.SortStableFunc(leaderships, func(a, b *Leadership) int { return a.From.Compare(b.From) })
	for i, a := range leaderships {
		unended := atEnd && s.unended(g, a)
		for _, b := range leaderships[i+1:] {
			_, _, goesOn := s.ledUntil(g, a, b.From)
			if !goesOn && !unended {
				break // and so it ended before all that began later
			}
			if a.Leader == b.Leader || a.Term == b.Term || a.First.IsZero() || b.First.IsZero() {
				continue
			}
			if f, ok := s.overlap(g, a, b); ok {
				found = append(found, f)
				continue
			}
			if unended && !goesOn {
				found = append(found, s.beside(g, a, b))
				break // a later one is compared with b
			}
		}
	}
	return found
}

// overlap returns the finding that two leaderships overlapped, if they did. a began first.
func (s *clusterState) overlap(g *group, a, b *Leadership) (Finding, bool) {
	until, proof, ok := s.ledUntil(g, a, b.From)
	if !ok {
		return Finding{}, false
	}
	if ends, _, known := s.ledUntil(g, b, b.From); known && ends.Before(until) {
		until = ends
	}
	both := until.Sub(b.From)
	if both <= s.fix.error() || a.endedBy == b.First && both <= inFlight {
		return Finding{}, false
	}
	return Finding{
		Name: Overlap, Term: max(a.Term, b.Term), Records: []Ref{b.First, proof},
		Text: fmt.Sprintf("Node %d led term %d and node %d led term %d at once, for %v.%s%s",
			a.Leader, a.Term, b.Leader, b.Term, Span(both), g.recovered.of(a, b), s.unlinked(g, a, b)),
	}, true
}

// unlinked says that no messages compare the clocks of the two leaders. It returns "" if messages do.
func (s *clusterState) unlinked(g *group, a, b *Leadership) string {
	if g.key.run > 0 || s.delays.linked(a.Leader, b.Leader) {
		return ""
	}
	return " No messages compare their clocks: this is so if those do not differ by as much."
}

// unended reports whether a leadership under a lease seems to go on, although its leader writes
// down only changes. No record of the leader or of a follower says that the leadership is over,
// more than half of these nodes name the leader in their last records, and nobody proved the leader
// dead. The other nodes have restarted. If a majority of the same voters had elected another
// leader, one of the nodes that name this leader would have followed the other one, and written so.
func (s *clusterState) unended(g *group, a *Leadership) bool {
	l := g.lifeOf(a)
	if a.Lease.IsZero() || a.First.IsZero() || !a.Last.IsZero() || l == nil || l.debug || !s.believes(a.Leader, a) {
		return false
	}
	still := 1
	for _, f := range a.Followers {
		if f.left {
			return false
		}
		if s.believes(f.Node, a) {
			still++
		}
	}
	proven := slices.ContainsFunc(s.drops[a.Leader], func(d *drop) bool {
		return strings.HasPrefix(d.Evidence, provenDead) && !d.At.Before(a.From)
	})
	return 2*still > 1+len(a.Followers) && still > 1 && !proven
}

// believes reports whether a node's last record names this leader and term.
func (s *clusterState) believes(node uint64, a *Leadership) bool {
	c := s.node(node)
	return c.leader == a.Leader && c.term == a.Term
}

// beside returns the finding that two leaders led at once, if the records do not say when
// leadership a ended.
func (s *clusterState) beside(g *group, a, b *Leadership) Finding {
	with, proof := "", []Ref{b.First, s.node(a.Leader).last}
	for _, f := range a.Followers {
		if s.believes(f.Node, a) {
			with += fmt.Sprintf(", %d", f.Node)
			proof = append(proof, s.node(f.Node).last)
		}
	}
	return Finding{
		Name: Overlap, Term: max(a.Term, b.Term), Records: proof,
		Text: fmt.Sprintf("Node %d led term %d and node %d led term %d at once, as far as the records tell: none "+
			"says that node %d stopped, nor that %s turned from it. It is not so if these processes were dead "+
			"by then; records of level debug would tell.%s",
			a.Leader, a.Term, b.Leader, b.Term, a.Leader, strings.TrimPrefix(with, ", "), s.unlinked(g, a, b)),
	}
}

// ledUntil returns the time when leadership r ended, the record that shows it, and whether that time is after
// t. A leadership ends at the latest when its lease ends, even if its process slept then and still believed
// that it led. There is one exception: if the process does not record renewals, and stopped for another
// reason than the end of its lease, ledUntil ignores the last recorded lease, since later renewals are not in
// the records.
func (s *clusterState) ledUntil(g *group, r *Leadership, t time.Time) (time.Time, Ref, bool) {
	until, proof, _ := s.believedUntil(g, r, t)
	if lease := s.lease(g, r); !lease.IsZero() && lease.Before(until) && !g.renewedUnseen(r) {
		until = lease
	}
	return until, proof, until.After(t)
}

// renewedUnseen reports whether the leader renewed its lease until it stopped, although no record
// shows that. This is so if its process writes down only changes, and wrote that it stopped, but
// not that its lease ran out.
func (g *group) renewedUnseen(r *Leadership) bool {
	l := g.lifeOf(r)
	return !r.Last.IsZero() && !r.ranOut && r.Last.Incarnation == r.Incarnation && l != nil && !l.debug
}

// lifeOf returns the leader's process, or nil if no record is of that process.
func (g *group) lifeOf(r *Leadership) *life {
	if m := g.nodes[r.Leader]; m != nil {
		return m.byIncarnation[r.Incarnation]
	}
	return nil
}

// lease returns the latest end of the lease in the records of the leader's process. Records of
// renewals that changed nothing count, too.
func (s *clusterState) lease(g *group, r *Leadership) time.Time {
	if l := g.lifeOf(r); l != nil && !r.Lease.IsZero() && l.leased == r.Term {
		if at := s.fix.at(l.node, l.lease); at.After(r.Lease) {
			return at
		}
	}
	return r.Lease
}

// believedUntil returns until when the process of r believed that it led, the record that shows it, and
// whether that time is after t.
func (s *clusterState) believedUntil(g *group, r *Leadership, t time.Time) (time.Time, Ref, bool) {
	if !r.Last.IsZero() {
		return r.Until, r.Last, r.Until.After(t)
	}
	if l := g.lifeOf(r); l != nil {
		until := s.fix.at(l.node, l.until)
		return until, l.ref(l.last()), until.After(t)
	}
	return r.Until, r.First, r.Until.After(t)
}

// flapping finds where many rounds follow each other within flapTime that no operator asked for.
// Each finding says what started most of these rounds.
func flapping(rounds []*Round) (found []Finding) {
	var unasked []*Round
	for _, r := range rounds {
		switch r.Cause.Kind {
		case Operator, HandOver, SplitRecovered, Readmitted, Unexplained:
		default:
			unasked = append(unasked, r)
		}
	}
	for first := 0; first+flaps <= len(unasked); first++ {
		next := first
		for next < len(unasked) && unasked[next].Cause.At.Sub(unasked[first].Cause.At) <= flapTime {
			next++
		}
		if next-first >= flaps {
			found = append(found, flap(unasked[first:next]))
			first = next - 1
		}
	}
	return found
}

func flap(rounds []*Round) Finding {
	counts := map[string]int{}
	most := ""
	var proof []Ref
	for _, r := range rounds {
		why := r.Cause.Text
		if r.Cause.Evidence != "" {
			why += " (" + r.Cause.Evidence + ")"
		}
		counts[why]++
		if counts[why] > counts[most] {
			most = why
		}
		proof = append(proof, r.Cause.Ref)
	}
	took := rounds[len(rounds)-1].Cause.At.Sub(rounds[0].Cause.At)
	text := fmt.Sprintf("%d rounds within %v", len(rounds), Span(took))
	if took > 0 {
		text += fmt.Sprintf(", %.0f a minute", float64(len(rounds)-1)/took.Minutes())
	}
	starts := fmt.Sprintf("what starts most of them, %d times: %s", counts[most], most)
	if counts[most] == 1 {
		starts = "each starts for another reason, the first one for this: " + most
	}
	return Finding{
		Name: Flapping, Term: rounds[0].Term, Records: proof, Text: fmt.Sprintf("%s; %s.", text, starts),
	}
}

// sameID finds processes of one node that wrote at the same time, by the node's own clock.
func sameID(m *member) (found []Finding) {
	for i := 1; i < len(m.lives); i++ {
		a, b := m.lives[i-1], m.lives[i]
		if both := a.until.Sub(b.from); both > 0 && a.incarnation != "" && b.incarnation != "" {
			found = append(found, Finding{
				Name: SameID, Records: []Ref{b.ref(b.first()), a.ref(a.last())},
				Text: fmt.Sprintf("Two processes were node %d for %v at least: incarnations %s and %s.",
					a.node, Span(both), a.incarnation, b.incarnation),
			})
		}
	}
	return found
}

// termFell finds processes that sent messages in a lower term than the process of the same node before them.
// A node that restarts may be in a lower term as long as it sends nothing in that term.
func termFell(m *member) (found []Finding) {
	for i := 1; i < len(m.lives); i++ {
		a, b := m.lives[i-1], m.lives[i]
		if !a.until.Before(b.from) {
			continue
		}
		for _, first := range b.sorted() {
			if first.term >= a.top.term {
				break
			}
			if first.sent {
				found = append(found, fell(a.node, a.ref(a.top.seq), a.top.term, b.ref(first.seq), first.term))
				break
			}
		}
	}
	return found
}

func fell(node uint64, from Ref, high uint64, to Ref, low uint64) Finding {
	return Finding{
		Name: TermWentBack, Term: low, Records: []Ref{from, to},
		Text: fmt.Sprintf("Node %d went back from term %d to term %d.", node, high, low),
	}
}
