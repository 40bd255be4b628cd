package rounds

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/internal/words"
)

// overlaps finds leaders of different terms that led at once. atEnd says that no more records come. Only then
// does a leadership without an end in the records count as one that goes on (see unended).
func (g *group) overlaps(incidents []Incident, atEnd bool) (found []Finding) {
	for i, a := range g.list {
		unended := atEnd && g.unended(a, incidents)
		for _, b := range g.list[i+1:] {
			_, _, goesOn := g.ledUntil(a, b.From)
			if !goesOn && !unended {
				break // and so it ended before all that began later
			}
			if a.Leader == b.Leader || a.Term == b.Term || a.First.IsZero() || b.First.IsZero() {
				continue
			}
			if f, ok := g.overlap(a, b); ok {
				found = append(found, f)
				continue
			}
			if unended && !goesOn && g.beganBefore(a, b) && g.unlinked(a, b) == "" {
				found = append(found, g.beside(a, b, g.stillWith(a, incidents)))
				break // a later one is compared with b
			}
		}
	}
	return found
}

// beganBefore reports whether a surely began before b, as it seems to by the clocks: if b is of the lower term, it may
// have ended before a began.
func (g *group) beganBefore(a, b *Leadership) bool {
	off := g.bound(a.Leader, b.Leader)
	return off != unbounded && (a.Term < b.Term || b.From.Sub(a.From) > off)
}

// overlap returns the finding that two leaderships overlapped, if they did. a began first.
func (g *group) overlap(a, b *Leadership) (Finding, bool) {
	until, proof, ok := g.ledUntil(a, b.From)
	if !ok {
		return Finding{}, false
	}
	ends, _, known := g.ledUntil(b, b.From)
	unknown := ends.Before(until) && !known && !b.stops() // how long b led on
	least := a.gap || a.Last.IsZero()
	if ends.Before(until) && !unknown {
		until, least = ends, b.gap || b.Last.IsZero()
	}
	both := until.Sub(b.From)
	if both <= g.bound(a.Leader, b.Leader) || both <= inFlight && b.deposed(a) {
		return Finding{}, false
	}
	long := fmt.Sprintf(", for %v", Span(both))
	quiet := g.silentFor(a.Leader, b.From, until)
	switch {
	case !leased(g.guarantee) && quiet > inFlight && !unknown && !least:
		part := fmt.Sprintf("for %v of that", Span(quiet))
		if Span(quiet) == Span(both) {
			part = "all that time"
		}
		long += fmt.Sprintf("; node %d was silent to the others %s, and may have been paused", a.Leader, part)
	case unknown && (a.gap || a.Last.IsZero()):
		long = "; no record tells for how long"
	case unknown:
		long += fmt.Sprintf(" at most: no record tells how long node %d led", b.Leader)
	case least:
		long = fmt.Sprintf(", for at least %v", Span(both))
	}
	return Finding{
		Name: Overlap, Term: max(a.Term, b.Term), Records: []Ref{b.first(), proof},
		Text: fmt.Sprintf("Node %d led term %d and node %d led term %d at once%s.%s%s",
			a.Leader, a.Term, b.Leader, b.Term, long, g.recovered.of(a, b), g.unlinked(a, b)),
	}, true
}

// stops reports whether what the leader wrote last is known to be the last sign that it led: it writes down all that
// it does, or its process ended.
func (r *Leadership) stops() bool {
	return !r.gap && (!r.Last.IsZero() || r.life.debug) || r.Ended.Kind == EndedByProcess || r.Ended.Kind == EndedUnseen
}

// deposed reports whether a ended when its leader received what the leader of r sent as it began to lead.
func (r *Leadership) deposed(a *Leadership) bool {
	return a.endedBy.from == r.Leader && slices.ContainsFunc(r.announced, func(sent string) bool {
		return strings.HasSuffix(sent, "#"+a.endedBy.msgID)
	})
}

// unlinked says that no messages compare the clocks of the two leaders. It returns "" if messages do.
func (g *group) unlinked(a, b *Leadership) string {
	if g.key.run > 0 || g.paths.linked(a.Leader, b.Leader) {
		return ""
	}
	return " No messages compare their clocks: this is so if those do not differ by as much."
}

// unended reports whether a leadership under a lease seems to go on, although its leader writes
// down only changes. No record of the leader or of a follower says that the leadership is over,
// more than half of these nodes name the leader in their last records, and nobody proved the leader
// dead. The other nodes have restarted. If a majority of the same voters had elected another
// leader, one of the nodes that name this leader would have followed the other one, and written so.
// The log of one that voted in a later term, or told a candidate of one that it would, ends before.
func (g *group) unended(a *Leadership, incidents []Incident) bool {
	if a.Lease.IsZero() || !g.undenied(a) || g.turnedAfter(incidents, a.Leader, a) {
		return false
	}
	still := 1 + len(g.stillWith(a, incidents))
	proven := slices.ContainsFunc(g.dropsSince(a.Leader, a.From), func(d *drop) bool {
		off := g.apart(d.Node, a.Leader)
		ended := EndedProcess(d.Evidence, a.Leader) && d.isOf(a.life) && off != unbounded && !g.ofFormer(d, a.life, off)
		return ended || strings.HasPrefix(d.Evidence, provenDead)
	})
	return 2*still > 1+len(a.Followers) && still > 1 && !proven
}

// undenied reports whether the leader writes down only changes, and no record of it or of a follower says that it leads
// no more: where nodes disagree on who votes, it may lead on beside another one.
func (g *group) undenied(a *Leadership) bool {
	left := func(f Follower) bool { return f.left }
	return !a.First.IsZero() && a.Last.IsZero() && !a.life.debug && g.believes(a.Leader, a) &&
		!slices.ContainsFunc(a.Followers, left)
}

// stillWith returns the followers that name the leader in their last records, and did not turn from it since.
func (g *group) stillWith(a *Leadership, incidents []Incident) (with []uint64) {
	for _, f := range a.Followers {
		if g.believes(f.Node, a) && !g.turnedAfter(incidents, f.Node, a) {
			with = append(with, f.Node)
		}
	}
	return with
}

// turnedAfter reports whether the node voted in a term after that of leadership a, or told a candidate of one after its
// last record that it would, or that it is bound to another node. A leader says that it is bound to itself.
func (g *group) turnedAfter(incidents []Incident, node uint64, a *Leadership) bool {
	last := g.fix.at(node, g.lastBelief(node).last.wall).Add(maxTransit)
	granted := func(v Voice) bool { return v.Voter == node && v.Granted }
	told := func(st Step) bool {
		off := g.apart(st.Ref.Node, node)
		return off != unbounded && st.At.After(last.Add(off)) && st.tellsOther(node, a.Leader)
	}
	return slices.ContainsFunc(incidents, func(in Incident) bool {
		return slices.ContainsFunc(in.rounds, func(r *Round) bool {
			return r.Term > a.Term && (r.Ballot != nil && slices.ContainsFunc(r.Ballot.Voices, granted) ||
				slices.ContainsFunc(r.Steps, told))
		})
	})
}

// tellsOther reports whether the voter answered a candidate, by this step, that it would vote for it, or that it is
// bound to another node than the leader.
func (s *Step) tellsOther(voter, leader uint64) bool {
	return slices.ContainsFunc(s.reasons, func(why reason) bool {
		answers, ok := decided[algorithms.Answers](&why)
		to := why.number(answers.To)
		return ok && why.node(answers.Voter, s.Ref.Node) == voter && (answers.Yes || to != 0 && to != leader)
	})
}

// believes reports whether a node's last record names this leader and term.
func (g *group) believes(node uint64, a *Leadership) bool {
	b := g.lastBelief(node)
	return b.leader == a.Leader && b.term == a.Term
}

// lastBelief returns whom the node's last process believed to lead in the end.
func (g *group) lastBelief(node uint64) (b belief) {
	if l := g.current(node); l != nil {
		all := l.allBeliefs()
		b = all[len(all)-1]
	}
	return b
}

// beside returns the finding that two leaders led at once, if the records do not say when
// leadership a ended: these followers still believe in it.
func (g *group) beside(a, b *Leadership, still []uint64) Finding {
	proof := []Ref{b.First, a.life.ref(a.life.last())}
	for _, id := range still {
		l := g.current(id)
		proof = append(proof, l.ref(l.last()))
	}
	nor := ""
	if len(still) > 0 {
		nor = fmt.Sprintf(", nor that %s turned from it", words.Nodes(still))
	}
	return Finding{
		Name: Overlap, Term: max(a.Term, b.Term), Records: proof,
		Text: fmt.Sprintf("Node %d led term %d and node %d led term %d at once, as far as the records tell: none "+
			"says that node %d stopped%s. It is not so if these processes were dead by then; records of level debug "+
			"would tell.%s",
			a.Leader, a.Term, b.Leader, b.Term, a.Leader, nor, g.unlinked(a, b)),
	}
}

// ledUntil returns the time when leadership r ended, the record that shows it, and whether that time is after
// t. A leadership ends at the latest when its lease ends, even if its process slept then and still believed
// that it led. There is one exception: if the process does not record renewals, and stopped for another
// reason than the end of its lease, ledUntil ignores the last recorded lease, since later renewals are not in
// the records.
func (g *group) ledUntil(r *Leadership, t time.Time) (time.Time, Ref, bool) {
	until, proof := r.Until, r.Last
	switch {
	case r.gap: // it may have ended at once
		until, proof = g.fix.at(r.Leader, r.wrote), r.wroteRef
	case !r.Last.IsZero():
	case r.life != nil:
		until, proof = g.fix.at(r.Leader, r.life.until), r.life.ref(r.life.last())
	default:
		proof = r.First
	}
	if !r.Lease.IsZero() && r.Lease.Before(until) && !r.renewedUnseen() {
		until = r.Lease
	}
	return until, proof, until.After(t)
}

// renewedUnseen reports whether the leader renewed its lease until it stopped, although no record
// shows that. This is so if its process writes down only changes, and wrote that it stopped, but
// not that its lease ran out.
func (r *Leadership) renewedUnseen() bool {
	return !r.Last.IsZero() && !r.endedBy.expired && r.life != nil && !r.life.debug
}
