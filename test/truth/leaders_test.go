//go:build realtruth

package truth_test

import (
	"slices"
	"time"

	"github.com/ringleader-dev/ringleader/rounds"
)

// leadership returns what is told of who led a term; nil if nothing is.
func (r *reading) leadership(leader, term uint64) *rounds.Leadership {
	for i := range r.group.Leaderships {
		if l := &r.group.Leaderships[i]; l.Leader == leader && l.Term == term {
			return l
		}
	}
	return nil
}

// tellLeadership writes a leadership in true times.
func (r *reading) tellLeadership(l *rounds.Leadership) []any {
	return []any{
		l.Leader, l.Term, clock(r.true(l.From)), clock(r.true(l.Until)),
		clock(r.true(l.End)), l.Ended, clock(r.true(l.Lease)),
	}
}

// leaseTime is how long a lease is at most.
const leaseTime = 1200 * time.Millisecond

const leadershipForm = "node %d in term %d from %s until %s, end %s %+v, lease %s"

// compareLeaderships compares who led, and when, with what the nodes said then, and with when their processes ended.
func (r *reading) compareLeaderships() {
	for _, seen := range r.Sightings {
		if seen.Leads {
			r.compareSighting(seen)
		}
	}
	for i := range r.group.Leaderships {
		l := &r.group.Leaderships[i]
		if p := r.process(l.Incarnation); p != nil && r.timely() {
			r.compareLeaderEnd(l, p)
		}
		if r.Plan.Voters && r.timely() {
			r.compareOverlap(l)
		}
	}
}

// compareSighting compares a leadership with what the leader itself answered.
func (r *reading) compareSighting(seen *sighting) {
	l := r.leadership(seen.Node, seen.Term)
	if l == nil {
		if r.whole() {
			r.fail("leadership: missing", "node %d led term %d from %s to %s",
				seen.Node, seen.Term, clock(seen.First.From), clock(seen.Last.Until))
		}
		return
	}
	if !r.timely() || !r.whole() {
		return
	}
	slack := r.slack()
	if r.true(l.From).After(seen.First.Until.Add(slack)) {
		r.fail("leadership: begins late", "led by %s: "+leadershipForm,
			append([]any{clock(seen.First.Until)}, r.tellLeadership(l)...)...)
	}
	if !l.End.IsZero() && r.true(l.End).Before(seen.Last.From.Add(-slack)) {
		how := string(l.Ended.Kind) + ", " + string(l.Ended.Known)
		r.fail("leadership: ends early ("+how+")", "led at %s: "+leadershipForm,
			append([]any{clock(seen.Last.From)}, r.tellLeadership(l)...)...)
	}
}

// ledLater reports whether the process said that it led a later term.
func (r *reading) ledLater(l *rounds.Leadership, p *process) bool {
	return slices.ContainsFunc(r.Sightings, func(seen *sighting) bool {
		return seen.Leads && seen.Node == p.Node && seen.Term > l.Term && (span{p.From, p.Gone}).has(seen.First.From)
	})
}

// succeeded reports whether a node said before that time that it leads a later term.
func (r *reading) succeeded(l *rounds.Leadership, until time.Time) bool {
	return slices.ContainsFunc(r.Sightings, func(seen *sighting) bool {
		return seen.Leads && seen.Term > l.Term && seen.First.From.Before(until)
	})
}

// lastLed returns when the leader last said that it leads, zero if it never did.
func (r *reading) lastLed(l *rounds.Leadership) (at time.Time) {
	for _, seen := range r.Sightings {
		if seen.Leads && seen.Node == l.Leader && seen.Term == l.Term && seen.Last.From.After(at) {
			at = seen.Last.From
		}
	}
	return at
}

// compareLeaderEnd checks when the leadership of a process is told to have ended that was killed.
func (r *reading) compareLeaderEnd(l *rounds.Leadership, p *process) {
	slack, next := r.slack(), r.next(p)
	if !p.Killed || !l.Last.IsZero() {
		return
	}
	led := span{r.true(l.From), p.Until}
	if end := r.true(l.End).Add(slack); !l.End.IsZero() && end.Before(led.Until) {
		led.Until = end // what was asked later excuses no earlier end
	}
	if !r.whole() && (r.acted(p.Node, led, "resign") || r.acted(0, led, "transfer")) {
		return // the record in which it handed over may be what is missing
	}
	if !r.whole() && r.ledLater(l, p) {
		return // the record of its end is what is missing
	}
	if l.End.IsZero() {
		if r.whole() && (next != nil || r.observed(p)) {
			r.fail("leadership: goes on, but the leader was killed", "at %s: "+leadershipForm,
				append([]any{clock(p.Until)}, r.tellLeadership(l)...)...)
		}
		return
	}
	first := p.Until // or a pause in which its lease ended
	for _, pause := range p.Pauses {
		if pause.Until.IsZero() || r.Plan.Voters && pause.length() > 300*time.Millisecond {
			first = pause.From
			break
		}
	}
	if !r.whole() && r.Plan.Voters && r.succeeded(l, p.Until) { // of its own accord: another one ranked above it
		if at := r.lastLed(l); at.Before(first) {
			first = at
		}
	}
	if l.Ended.Known == rounds.Inferred && !r.whole() {
		first = first.Add(-leaseTime) // the last renewal may be what is missing
	}
	// Its lease ended before it was killed. A voter that is told to end answers no more, a while before it is gone.
	ran := span{r.true(l.End), r.true(l.End).Add(leaseTime)}
	stalled := r.Plan.Voters && r.stalled(span{ran.From.Add(-leaseTime), ran.From})
	lost := stalled || slices.ContainsFunc(r.lostQuorums(), func(s span) bool {
		return s.has(p.Until.Add(-time.Millisecond)) || s.meets(ran) > 0
	})
	if r.true(l.End).Before(first.Add(-slack)) && !lost {
		r.fail("leadership: ends before the leader was killed", "at %s: "+leadershipForm,
			append([]any{clock(p.Until)}, r.tellLeadership(l)...)...)
	}
	if next != nil && r.whole() && r.true(l.End).After(next.From.Add(noticed/2)) {
		r.fail("leadership: ends long after the leader was killed", "at %s: "+leadershipForm,
			append([]any{clock(p.Until)}, r.tellLeadership(l)...)...)
	}
}

// compareOverlap checks that under a lease nobody is told to lead beside another. Of a leader whose clock is told not
// to be compared, nobody can tell when it led, as the others count the time.
func (r *reading) compareOverlap(l *rounds.Leadership) {
	apart := r.uncompared()
	for i := range r.group.Leaderships {
		other := &r.group.Leaderships[i]
		if other.Leader == l.Leader || !other.From.After(l.From) || apart[l.Leader] || apart[other.Leader] {
			continue
		}
		if l.End.IsZero() && r.whole() || l.End.Sub(other.From) > r.slack() {
			kind := "leadership: beside another one, under a lease"
			if !r.whole() {
				kind += ", a log not whole"
			}
			r.fail(kind, leadershipForm+"; then "+leadershipForm,
				append(r.tellLeadership(l), r.tellLeadership(other)...)...)
			return
		}
	}
}

// compareWinners compares who won each term with what the nodes said then.
func (r *reading) compareWinners() {
	for _, one := range r.group.Rounds {
		for _, seen := range r.Sightings {
			if !seen.Leads || seen.Term != one.Term || !r.Plan.Voters {
				continue
			}
			if one.Winner != nil && one.Winner.Node != seen.Node {
				r.fail("round: another winner", "term %d: node %d, not %d", one.Term, seen.Node, one.Winner.Node)
			}
			if one.Winner == nil && r.whole() {
				r.fail("round: no winner", "term %d: node %d won", one.Term, seen.Node)
			}
		}
	}
}
