package rounds

import (
	"slices"
	"time"
)

// Period is a part of the time of a group: the longest one in which the same nodes led, or nobody did, or of which the
// records do not tell who led.
type Period struct {
	From, Until time.Time
	State       PeriodState
	// Leaders led, the one that began first is first. If it is not known who led, it has the one that perhaps led on.
	Leaders []*Leadership
	perhaps []*Leadership // which perhaps led on
	Change  *Incident     // in which nobody led, or of which it is not known who led in it; nil for none
}

// PeriodState says what is known of a Period.
type PeriodState string

// The states of a period: one led; several led at once, as a finding says, or until the earlier one heard of the later
// one; nobody led; or the records do not tell who led.
const (
	PeriodLed      PeriodState = "led"
	PeriodOverlap  PeriodState = "overlap"
	PeriodHandOver PeriodState = "hand-over"
	PeriodNobody   PeriodState = "nobody"
	PeriodUnknown  PeriodState = "unknown"
)

// stretch is a time in which a node led, or perhaps did, or in which nobody led, or perhaps did, in a change.
type stretch struct {
	from, until time.Time
	led         *Leadership
	change      *Incident
	perhaps     bool
}

// Periods divides the time between from and until, of one clock (see Group.Limits): it returns who led when, in the
// order of time and without a hole. Any goroutine may call it.
func (g *Group) Periods(from, until time.Time) (list []Period) {
	all := g.stretches(from, until)
	cuts := []time.Time{from, until}
	for _, s := range all {
		cuts = append(cuts, s.from, s.until)
	}
	cuts = slices.DeleteFunc(cuts, func(t time.Time) bool { return t.Before(from) || t.After(until) })
	slices.SortFunc(cuts, time.Time.Compare)
	cuts = slices.CompactFunc(cuts, time.Time.Equal)
	var open []stretch
	for i := 1; i < len(cuts); i++ {
		for len(all) > 0 && !all[0].from.After(cuts[i-1]) {
			open, all = append(open, all[0]), all[1:]
		}
		open = slices.DeleteFunc(open, func(s stretch) bool { return !s.until.After(cuts[i-1]) })
		p := g.period(open)
		p.From, p.Until = cuts[i-1], cuts[i]
		if last := len(list) - 1; last >= 0 && list[last].same(&p) {
			list[last].Until = p.Until
			continue
		}
		list = append(list, p)
	}
	return list
}

// stretches returns the stretches of the leaderships and of the changes, in the order in which they begin.
func (g *Group) stretches(from, until time.Time) (all []stretch) {
	add := func(s stretch) {
		if s.until.After(s.from) {
			all = append(all, s)
		}
	}
	for i := range g.Leaderships {
		r := &g.Leaderships[i]
		over := g.LedUntil(i, until)
		add(stretch{from: r.From, until: over, led: r})
		if r.Ended.Kind == EndedUnseen { // it is over by then
			add(stretch{from: latest(r.From, r.sign), until: over, led: r, perhaps: true})
		}
		if r.untold(until) { // it may have ceased to before
			followed, _ := r.followed()
			add(stretch{from: latest(r.surely, followed), until: over, led: r, perhaps: true})
		}
	}
	for i := range g.Incidents {
		in := &g.Incidents[i]
		began, ended := in.leaderless()
		if in.Anew {
			began = from
		}
		add(stretch{from: began, until: ended, change: in, perhaps: in.PerhapsLed})
		add(stretch{from: in.Began(), until: in.Until, change: in, perhaps: true})
		if !in.Perhaps.IsZero() && !in.Ceased() {
			add(stretch{from: in.Perhaps, until: in.From, led: g.Led(in.Former, in.FormerTerm), perhaps: true})
		}
	}
	slices.SortStableFunc(all, func(a, b stretch) int { return a.from.Compare(b.from) })
	return all
}

// untold reports whether no record of the leader tells until when it led: its log is not here, or has a gap, or only
// others tell of the end, or its log ends before those that followed it on have ceased to, or nobody tells that it led
// for long before the records end, at the time last.
func (r *Leadership) untold(last time.Time) bool {
	followed, left := r.followed()
	switch {
	case r.gap:
		return true
	case !r.Last.IsZero():
		return false
	case r.End.IsZero() && latest(r.surely, followed).Add(maxTransit).Before(last):
		return true
	case r.End.IsZero() && left && followed.After(r.surely):
		return true
	}
	return r.First.IsZero() || r.Ended.Kind == EndedByProcess || r.Ended.Known == PeersSaw
}

// followed returns until when somebody followed the leader, as far as the records surely tell. left says that the last
// one wrote that it follows no more.
func (r *Leadership) followed() (until time.Time, left bool) {
	for i := range r.Followers {
		if f := &r.Followers[i]; f.surely.After(until) {
			until, left = f.surely, f.left
		}
	}
	return until, left
}

// LedUntil returns until when the leadership lasted, as far as the records tell, which end at last: until its End, or
// until its leader led a later term. i is its place in Leaderships.
func (g *Group) LedUntil(i int, last time.Time) time.Time {
	r, until := &g.Leaderships[i], last
	if !r.End.IsZero() {
		until = r.End
	}
	again := slices.IndexFunc(g.Leaderships[i+1:], func(next Leadership) bool {
		return next.Leader == r.Leader && next.Term > r.Term
	})
	if again >= 0 {
		until = earliest(until, g.Leaderships[i+1+again].From)
	}
	return latest(r.From, until)
}

// leaderless returns since when and until when nobody led at least.
func (in *Incident) leaderless() (from, until time.Time) {
	if in.Sooner.IsZero() {
		return in.Until.Add(-in.Leaderless), in.Until
	}
	return in.From, in.From.Add(in.Leaderless)
}

// period returns what is known of the time in which these stretches are.
func (g *Group) period(open []stretch) (p Period) {
	var over []*Leadership // perhaps
	sure := false
	for _, s := range open {
		switch {
		case s.change != nil:
			if sure = sure || !s.perhaps; p.Change == nil || !s.perhaps {
				p.Change = s.change
			}
		case s.perhaps:
			over = append(over, s.led)
		case s.led != nil:
			p.Leaders = append(p.Leaders, s.led)
		}
	}
	lead := slices.DeleteFunc(slices.Clone(p.Leaders), func(r *Leadership) bool { return slices.Contains(over, r) })
	p.perhaps = over
	if sure && !slices.ContainsFunc(lead, func(r *Leadership) bool { // others have lost it, whatever it believes
		return r.Leader != p.Change.Former || r.Term != p.Change.FormerTerm
	}) {
		p.Leaders, lead = nil, nil
	}
	switch {
	case len(p.Leaders) == 0 && sure:
		p.State = PeriodNobody
	case len(lead) == 0:
		p.State, p.Leaders = PeriodUnknown, p.Leaders[:min(len(p.Leaders), 1)]
	case len(lead) == 1:
		p.State, p.Leaders, p.Change = PeriodLed, lead, nil
	case slices.ContainsFunc(g.Findings, func(f Finding) bool { return f.proves(lead) }):
		p.State, p.Leaders, p.Change = PeriodOverlap, lead, nil
	default:
		p.State, p.Leaders, p.Change = PeriodHandOver, lead, nil
	}
	return p
}

// PerhapsLed reports whether it is not known of the period whether the leader still led the term.
func (p *Period) PerhapsLed(leader, term uint64) bool {
	return slices.ContainsFunc(p.perhaps, func(r *Leadership) bool { return r.Leader == leader && r.Term == term })
}

// same reports whether nothing differs between two periods but their times.
func (p *Period) same(other *Period) bool {
	return p.State == other.State && p.Change == other.Change && slices.Equal(p.Leaders, other.Leaders)
}

// proves reports whether the finding says that two of the leaderships overlapped. Then it names the record in which the
// later leader began to lead, and a record of the earlier leader.
func (f *Finding) proves(lead []*Leadership) bool {
	if f.Name != TwoLeaders && f.Name != Overlap {
		return false
	}
	return slices.ContainsFunc(lead, func(later *Leadership) bool {
		return !later.First.IsZero() && slices.Contains(f.Records, later.First) &&
			slices.ContainsFunc(lead, func(earlier *Leadership) bool {
				return earlier.From.Before(later.From) && slices.ContainsFunc(f.Records, func(ref Ref) bool {
					return ref.Node == earlier.Leader
				})
			})
	})
}

// Limits returns the times of the first record of the group and of the last one, or of a later line of its logs until
// which nobody led. Both are zero without records.
func (g *Group) Limits() (first, last time.Time) {
	for _, n := range g.Nodes {
		for _, l := range n.Lives {
			first, last = earliest(first, l.From), latest(last, l.Until)
			for _, e := range l.Events {
				last = latest(last, e.At)
			}
		}
	}
	for _, r := range g.Leaderships {
		first, last = earliest(first, r.From), latest(last, latest(r.Until, r.End))
		for _, f := range r.Followers {
			last = latest(last, f.Until)
		}
	}
	for i := range g.Incidents {
		last = latest(last, g.Incidents[i].Until)
	}
	return first, last
}
