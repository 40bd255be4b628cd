package rounds_test

import (
	"time"

	"github.com/ringleader-dev/ringleader/internal/sim"
	"github.com/ringleader-dev/ringleader/rounds"
)

// comparePeriods compares who led when, as the timeline shows it, with the truth: "A leadership ends with its lease,
// its process, or its word, whichever is first known", and "a column and a bar of nobody led".
func (r *reading) comparePeriods() {
	from, until := r.group.Limits()
	periods := r.group.Periods(from, until)
	at := from
	for i := range periods {
		p := &periods[i]
		if !p.From.Equal(at) || !p.Until.After(p.From) {
			r.fail("period: a hole, or one without length", 0, "%+v after %v", p, at)
		}
		at = p.Until
		switch p.State {
		case rounds.PeriodNobody:
			r.compareNobody(p)
		case rounds.PeriodUnknown:
		default:
			r.compareLed(p)
		}
	}
	if len(periods) > 0 && !at.Equal(until) {
		r.fail("period: a hole at the end", 0, "until %v, not %v", at, until)
	}
}

// compareNobody checks that nobody led in the period whom others followed, or who had a lease.
func (r *reading) compareNobody(p *rounds.Period) {
	if p.Change == nil {
		r.fail("period: nobody led, and no change tells why", 0, "%+v", p)
		return
	}
	by, told := r.toldBy(p.Change)
	if !told {
		return
	}
	r.judge("periods in which nobody led")
	r.compareUnledIn(p.Change, r.trueTime(by, p.From), r.trueTime(by, p.Until))
}

// compareLed checks that each of those that are said to have led in a period led then.
func (r *reading) compareLed(p *rounds.Period) {
	for _, led := range p.Leaders {
		if r.uncompared(led.Leader) || r.shifted() {
			continue
		}
		slack := rounding + r.blur()
		from, until := r.trueTime(led.Leader, p.From).Add(slack), r.trueTime(led.Leader, p.Until).Add(-slack)
		if !from.Before(until) {
			continue
		}
		r.judge("periods in which one led")
		truth := r.reignOf(led.Leader, led.Term)
		if truth == nil {
			if !r.followed(led.Leader, led.Term) {
				r.fail("period: led by one that never led", led.Term, "%+v: %+v", p, led)
			}
			continue
		}
		if truth.From.After(from) {
			r.fail("period: before it led", led.Term, "%+v: %+v: %+v", p, led, truth)
		}
		if r.believedUntil(truth).Before(until) && truth.Ended != sim.ByCrash { // that is known when peers saw it
			r.fail("period: after it led", led.Term, "%+v: %+v: %+v", p, led, truth)
		}
	}
}

// believedUntil returns until when anybody believed that the leader led the term, by all records: it or its followers.
func (r *reading) believedUntil(one *sim.Reign) (until time.Time) {
	leads := map[string]bool{} // to whom
	for i := range r.run.records {
		rec := &r.run.records[i]
		so := rec.Leader == uint64(one.Node) && rec.LeaderTerm() == uint64(one.Term)
		if so || leads[rec.Incarnation] {
			until = rec.Time
		}
		leads[rec.Incarnation] = so
	}
	for incarnation, so := range leads {
		p := r.lives[incarnation]
		switch {
		case !so || p == nil:
		case p.Until.IsZero():
			return r.run.truth.End
		case p.Until.After(until):
			until = p.Until
		}
	}
	return until
}
