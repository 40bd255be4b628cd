package rounds

import (
	"slices"
	"time"
)

// perhaps sets since when nobody may have led, if no record says exactly when the leadership before ended.
func (in *Incident) perhaps(g *group, former *Leadership) {
	if former == nil {
		return
	}
	in.Perhaps, in.PerhapsRef, in.lastSign = g.perhapsSince(former, in.From, in.Ended)
	if in.Perhaps.After(in.Until) { // it led on when the next one began
		in.Perhaps, in.PerhapsRef, in.lastSign = time.Time{}, Ref{}, false
	}
	if in.Leader != 0 {
		return
	}
	if since, by, lastSign := g.lostQuorum(former); !since.IsZero() {
		in.Perhaps, in.PerhapsRef, in.lastSign = since, by, lastSign
	}
}

// mayBeOver reports whether the last leadership may be over when the records end, although none says so.
func (g *group) mayBeOver(r *Leadership) bool {
	at, _, _ := g.lostQuorum(r)
	return !at.IsZero()
}

// lostQuorum returns since when the lease of a leadership may not have been renewed that has no end in the records: a
// follower found so, or the leader is among those that were asked for their votes in vain; and there is no sign of life
// of so many other voters since that the rest are no majority. They may have renewed it all the same, cut off from
// those that asked them: if they say that they had lost these, they count as there. It returns zero if there is a
// majority. For lastSign see perhapsSince.
func (g *group) lostQuorum(r *Leadership) (since time.Time, by Ref, lastSign bool) {
	since, by, lastSign = g.sinceAwake(r, g.logsEnd)
	if !leased(g.guarantee) || len(g.voters) == 0 || !r.End.IsZero() || since.IsZero() {
		return time.Time{}, Ref{}, false
	}
	if r.life != nil && (g.fix.at(r.Leader, r.wrote).After(since) || r.life.debug && r.Lease.After(since)) {
		return time.Time{}, Ref{}, false
	}
	voters := g.everyVoter()
	seen := slices.DeleteFunc(g.awayIn(voters, since, g.logsEnd), g.cutOff)
	away := absent(nil, seen, g.logsEnd.Add(-maxTransit), g.logsEnd)
	isAway := func(id uint64) bool { return slices.ContainsFunc(away, func(a absence) bool { return a.id == id }) }
	if lastSign && !isAway(r.Leader) {
		return time.Time{}, Ref{}, false
	}
	left := len(voters) - len(away)
	for _, f := range r.Followers {
		if f.expired && g.voters[f.Node] && !isAway(f.Node) {
			left--
		}
	}
	if 2*left > len(voters) {
		return time.Time{}, Ref{}, false
	}
	return since, by, lastSign
}

// cutOff reports whether only nodes tell that the node is away which its last process had lost, and saw no more,
// although their processes had not ended, by its own records: they may be the ones that are cut off.
func (g *group) cutOff(a absence) bool {
	m := g.nodes[a.id]
	lost := func(by uint64) bool {
		return m != nil && slices.ContainsFunc(g.drops[by], func(d *drop) bool {
			own := d.Node == a.id && d.Ref.Incarnation == m.lives[len(m.lives)-1].incarnation
			return own && d.back.IsZero() && !EndedProcess(d.Evidence, by)
		})
	}
	return !a.ended && lost(a.ref.Node) && !slices.ContainsFunc(g.drops[a.id], func(d *drop) bool {
		return d.back.IsZero() && !lost(d.Node)
	})
}

// perhapsSince returns since when a leadership may have been over that was over by the time end, and the record that
// shows it; zero if it is not known to have ended before. lastSign says that the time is that of the last sign of the
// leadership: nobody noticed its end, or who did may have slept.
func (g *group) perhapsSince(r *Leadership, end time.Time, ended Ending) (at time.Time, by Ref, lastSign bool) {
	long := end.Add(-maxTransit)
	switch {
	case ended.Kind == EndedByLease && (ended.Known == PeersSaw || ended.Known == Inferred && !end.Equal(r.Lease)):
		_, found := g.abandoned(r, false)
		if f := r.foundBy(found); f == nil {
			return at, by, false
		} else if g.sleptUntil(f) {
			return g.sinceAwake(r, end)
		} else if since := g.expired(f); since.Before(end) {
			return since, found, false
		}
	case ended.Kind == EndedUnseen && r.succeededBy(ended.Ref):
		if last := g.fix.at(r.Leader, r.life.until); last.Before(long) {
			return last, r.life.ref(r.life.last()), true
		}
	case ended.Kind == EndedUnseen && !ended.Ref.IsZero() && leased(g.guarantee):
		return g.sinceAwake(r, long)
	case ended.Kind == EndedByWord && ended.Known == PeersSaw && r.foundBy(ended.Ref) == nil: // it followed no more
		return g.sinceAwake(r, end)
	case r.life == nil:
	case ended.Kind == EndedByLease && !r.life.debug:
		if ended.Known == OwnWord && g.mayHaveSlept(r.life, r.Until) {
			return g.sinceAwake(r, end)
		}
		at, by = r.missed(long, nil)
	case ended == (Ending{EndedByProcess, Inferred, ended.Ref}):
		if last := g.fix.at(r.Leader, r.life.until); last.Before(long) {
			return last, r.life.ref(r.life.last()), false
		}
	}
	return at, by, false
}

// succeededBy reports whether the record is the first one of the next process of the leader's node. Then the leader's
// process may have ended with its own last record, whatever lease it had.
func (r *Leadership) succeededBy(ref Ref) bool {
	return r.life != nil && r.life.next != nil && ref == r.life.next.ref(r.life.next.first())
}

// perhapsOver returns since when the leadership may have been over, as perhapsSince does by its end. It keeps that,
// since many rounds ask for it.
func (g *group) perhapsOver(r *Leadership) time.Time {
	if !r.perhapsKnown {
		r.perhaps, _, _ = g.perhapsSince(r, r.End, r.Ended)
		r.perhapsKnown = true
	}
	return r.perhaps
}

// sinceAwake returns when a follower that was awake first found that the lease was not renewed. If none did, or another
// one follows for so long after that that it was, it returns the last sign of the leadership.
func (g *group) sinceAwake(r *Leadership, end time.Time) (at time.Time, by Ref, lastSign bool) {
	at, by = r.missed(end, g.sleptUntil)
	renewed := slices.ContainsFunc(r.Followers, func(f Follower) bool {
		return !f.left && g.apart(f.Node, by.Node) != unbounded && f.Until.Sub(at) > g.leaseTime
	})
	switch {
	case !at.IsZero() && !renewed:
		return at, by, false
	case r.sign.Before(end):
		return r.sign, r.signRef, true
	}
	return time.Time{}, Ref{}, false
}

// sleptUntil reports whether the follower may have slept when it found that the lease was not renewed.
func (g *group) sleptUntil(f *Follower) bool {
	m := g.nodes[f.Node]
	return m != nil && g.mayHaveSlept(m.byIncarnation[f.Last.Incarnation], f.Until)
}

// missed returns when a follower first found that the lease was not renewed, and its record, if that was before t. It
// leaves out those for which except is true, if that is not nil.
func (r *Leadership) missed(t time.Time, except func(*Follower) bool) (first time.Time, by Ref) {
	for i := range r.Followers {
		f := &r.Followers[i]
		sooner := f.expired && f.Until.Before(t) && (first.IsZero() || f.Until.Before(first))
		if sooner && (except == nil || !except(f)) {
			first, by = f.Until, f.Last
		}
	}
	return first, by
}

// foundBy returns the follower whose record says that the lease had ended.
func (r *Leadership) foundBy(by Ref) *Follower {
	for i := range r.Followers {
		if r.Followers[i].Last == by {
			return &r.Followers[i]
		}
	}
	return nil
}
