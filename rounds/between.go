package rounds

import (
	"slices"
	"time"
)

// unseenReign is a leadership whose beginning is in records that are missing: a process says in the record by whom it
// followed it until then, and did not yet at the time after, of its last record before. It is its own if it led.
type unseenReign struct {
	led   uint64 // the leader
	term  uint64 // of the process until then, or a later one
	exact bool   // the leader led that term
	after time.Time
	until time.Time
	by    Ref
}

// noteUnseen notes whom the process of the node followed until the belief began, if that is in none of its records.
// before is the belief before, nil for none.
func (g *group) noteUnseen(l *life, b, before *belief) {
	if b.turn.was == 0 || before != nil && g.endsIn(before, b) {
		return
	}
	u := unseenReign{
		led: b.turn.was, term: b.turn.term, exact: b.turn.exact, by: l.ref(b.first.seq),
		until: g.fix.at(l.node, b.first.wall).Add(-b.turn.late),
	}
	if before != nil {
		u.after = g.fix.at(l.node, before.last.wall)
	}
	g.unbegun[l.node] = append(g.unbegun[l.node], u)
}

// unseenIn returns the leaderships of others than Leader in no record that may be between From and Until.
func (in *Incident) unseenIn(g *group) (all []*unseenReign) {
	for id, list := range g.unbegun { // each in the order of time
		i, _ := slices.BinarySearchFunc(list, in.From, func(u unseenReign, t time.Time) int {
			if u.until.After(t) {
				return 1
			}
			return -1
		})
		until := in.Until
		if in.Leader != 0 {
			until = until.Add(g.apart(id, in.by))
		}
		for ; i < len(list) && (in.Leader == 0 || !list[i].after.After(until)); i++ {
			if u := &list[i]; in.Leader == 0 || u.led != in.Leader || !u.until.After(until) {
				all = append(all, u)
			}
		}
	}
	return all
}

// ledBetween notes who led after Former had ceased to lead, and before Leader did, by its own word, if no record tells
// of its leadership before Leader led. The time in which nobody led is then known only since that.
func (in *Incident) ledBetween(g *group, former *Leadership) {
	var last *unseenReign
	for _, u := range in.unseenIn(g) {
		ofFormer := u.by.Incarnation == former.Incarnation && u.by.Seq <= former.Last.Seq
		told := func(r *Leadership) bool {
			over := !r.End.IsZero() && !r.End.After(former.From) || // before Former led
				r.Leader == former.Leader && r.Term < former.Term
			return !over && u.told(r) && (in.Leader == 0 || !r.From.After(in.Until))
		}
		own := u.led == u.by.Node && !ofFormer && !slices.ContainsFunc(g.byLeader[u.led], told)
		if own && (last == nil || u.until.After(last.until)) {
			last = u
		}
	}
	if last != nil {
		in.Between, in.BetweenRef, in.betweenUntil = last.led, last.by, last.until
	}
}

// told reports whether the leadership may be one of which records tell: those of its leader, or of its followers, which
// may have begun to follow when it was over.
func (u *unseenReign) told(r *Leadership) bool {
	if r.First.IsZero() {
		return r.Term == u.term || !u.exact && r.Term < u.term
	}
	return r.Term == u.term && !r.From.After(u.until)
}

// sinceBetween lets the time in which nobody led begin when Between ceased to lead. Where Former is known to have
// ceased to lead, it is no longer than since then. Where another one led beside as well, it is not known.
func (in *Incident) sinceBetween(g *group, beside bool) {
	if in.Between == 0 {
		return
	}
	in.prove(in.BetweenRef)
	if beside || in.Leader != 0 && g.apart(in.Between, in.by) == unbounded {
		in.From, in.Leaderless, in.sooner = in.Until, 0, true
		in.Perhaps, in.PerhapsRef, in.Sooner, in.SoonerRef = time.Time{}, Ref{}, time.Time{}, Ref{}
		return
	}
	if in.Perhaps.IsZero() && (!in.AtLeast() || !in.Sooner.IsZero()) {
		in.Perhaps, in.PerhapsRef, in.ceased = in.From, in.Ended.Ref, true
	}
	until := in.From.Add(in.Leaderless)
	in.From = earliest(in.betweenUntil, in.Until)
	in.Leaderless = max(until.Sub(in.From), 0)
}
