package rounds

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// The findings that lie between rounds.

const (
	// inFlight is how long an announcement may take to make the leader before
	// it step down: longer, and it was held up.
	inFlight = 500 * time.Millisecond
	// flaps rounds that nobody asked for, within a flapTime, are flapping.
	flaps    = 5
	flapTime = time.Minute
)

// overlaps finds leaders of different terms that led at once. atEnd says that no record is
// still to come: only then does it mean anything that none tells of an end.
func (s *story) overlaps(g *group, atEnd bool) (found []Finding) {
	reigns := slices.Clone(s.list)
	slices.SortStableFunc(reigns, func(a, b *Reign) int { return a.From.Compare(b.From) })
	for i, a := range reigns {
		unended := atEnd && s.unended(g, a)
		for _, b := range reigns[i+1:] {
			_, _, goesOn := s.reignedUntil(g, a, b.From)
			if !goesOn && !unended {
				break // nor does it into any later one
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
				break // what follows b is b's own
			}
		}
	}
	return found
}

// overlap compares two reigns, a the one that began first.
func (s *story) overlap(g *group, a, b *Reign) (Finding, bool) {
	until, proof, ok := s.reignedUntil(g, a, b.From)
	if !ok {
		return Finding{}, false
	}
	if ends, _, known := s.reignedUntil(g, b, b.From); known && ends.Before(until) {
		until = ends
	}
	both := until.Sub(b.From)
	if both <= s.fix.error() || a.endedBy == b.First && both <= inFlight {
		return Finding{}, false
	}
	return Finding{
		Name: Overlap, Term: max(a.Term, b.Term), Records: []Ref{b.First, proof},
		Text: fmt.Sprintf("Node %d led term %d and node %d led term %d at once, for %v.%s%s",
			a.Leader, a.Term, b.Leader, b.Term, Span(both), g.mended.of(a, b), s.unlinked(g, a, b)),
	}, true
}

// unlinked says that the clocks of two leaders were not compared, "" where they were.
func (s *story) unlinked(g *group, a, b *Reign) string {
	if g.key.run > 0 || s.ways.linked(a.Leader, b.Leader) {
		return ""
	}
	return " No messages compare their clocks: this is so if those do not differ by as much."
}

// unended reports whether everything that the records tell of a lease is that it goes on,
// although its leader writes only what changes: neither the leader nor any that followed it
// says that it is over, more than half of them still believe in it, and nobody proved the
// leader dead. The others began anew, as other processes. When another becomes leader by
// votes of a majority of the same voters, one of these turns to it, and says so.
func (s *story) unended(g *group, a *Reign) bool {
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

// believes reports whether the last that a node wrote is that it believes in the leader.
func (s *story) believes(node uint64, a *Reign) bool {
	c := s.character(node)
	return c.leader == a.Leader && c.term == a.Term
}

// beside is what is to be said of a leader beside one whose lease has no end in the records.
func (s *story) beside(g *group, a, b *Reign) Finding {
	with, proof := "", []Ref{b.First, s.character(a.Leader).last}
	for _, f := range a.Followers {
		if s.believes(f.Node, a) {
			with += fmt.Sprintf(", %d", f.Node)
			proof = append(proof, s.character(f.Node).last)
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

// reignedUntil is how far beyond t the records show that the reign went on, and
// the one that does. A lease ends it, whatever a process believes that slept
// through that; but not the last one that is told of, where renewals are not told of
// and the reign ended before its lease did.
func (s *story) reignedUntil(g *group, r *Reign, t time.Time) (time.Time, Ref, bool) {
	until, proof, _ := s.believedUntil(g, r, t)
	if lease := s.lease(g, r); !lease.IsZero() && lease.Before(until) && !g.renewedUnseen(r) {
		until = lease
	}
	return until, proof, until.After(t)
}

// renewedUnseen reports whether the reign had a lease to its end, of which no record tells:
// a process that writes only what changes says when its lease ran out.
func (g *group) renewedUnseen(r *Reign) bool {
	l := g.lifeOf(r)
	return !r.Last.IsZero() && !r.ranOut && r.Last.Session == r.Session && l != nil && !l.debug
}

// lifeOf is the process that reigned, nil where it is not known.
func (g *group) lifeOf(r *Reign) *life {
	if m := g.nodes[r.Leader]; m != nil {
		return m.bySession[r.Session]
	}
	return nil
}

// lease is the latest end of a lease that the records of the process state,
// renewals that changed nothing among them.
func (s *story) lease(g *group, r *Reign) time.Time {
	if l := g.lifeOf(r); l != nil && !r.Lease.IsZero() && l.leased == r.Term {
		if at := s.fix.at(l.node, l.lease); at.After(r.Lease) {
			return at
		}
	}
	return r.Lease
}

// believedUntil is how long the process believed that it led.
func (s *story) believedUntil(g *group, r *Reign, t time.Time) (time.Time, Ref, bool) {
	if !r.Last.IsZero() {
		return r.Until, r.Last, r.Until.After(t)
	}
	if l := g.lifeOf(r); l != nil {
		until := s.fix.at(l.node, l.until)
		return until, l.ref(l.last()), until.After(t)
	}
	return r.Until, r.First, r.Until.After(t)
}

// flapping finds the spells in which rounds nobody asked for follow each other,
// and what keeps starting them.
func flapping(rounds []*Round) (found []Finding) {
	var unasked []*Round
	for _, r := range rounds {
		switch r.Cause.Kind {
		case Operator, HandOver, SplitMended, Readmitted, Unexplained:
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

// sameID finds processes of one node that lived at the same time. Both times
// are of one clock, the node's.
func sameID(m *member) (found []Finding) {
	for i := 1; i < len(m.lives); i++ {
		a, b := m.lives[i-1], m.lives[i]
		if both := a.until.Sub(b.from); both > 0 && a.session != "" && b.session != "" {
			found = append(found, Finding{
				Name: SameID, Records: []Ref{b.ref(b.first()), a.ref(a.last())},
				Text: fmt.Sprintf("Two processes were node %d for %v at least: sessions %s and %s.",
					a.node, Span(both), a.session, b.session),
			})
		}
	}
	return found
}

// termFell finds a term that went back from one process of a node to the next. A
// node that restarts may show a lower term, as long as it says nothing in it.
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
