package rounds

import "time"

// perhaps sets since when nobody may have led, if no record says exactly when the leadership before ended.
func (in *Incident) perhaps(g *group, former *Leadership) {
	if former == nil {
		return
	}
	in.Perhaps, in.PerhapsRef, in.woken = g.perhapsSince(former, in.From, in.Ended)
}

// perhapsSince returns since when a leadership may have been over that was over by the time end, and the record that
// shows it; zero if it is not known to have ended before. woken says that who noticed the end may have slept, and that
// nobody noticed it before: the time is that of the last sign of the leadership.
func (g *group) perhapsSince(r *Leadership, end time.Time, ended Ending) (at time.Time, by Ref, woken bool) {
	long := end.Add(-maxTransit)
	switch {
	case ended == (Ending{EndedByLease, PeersSaw, ended.Ref}):
		if f := r.foundBy(ended.Ref); f == nil {
			return at, by, false
		} else if g.sleptUntil(f) {
			return g.sinceAwake(r, end)
		} else if found := g.expired(f); found.Before(end) {
			return found, ended.Ref, false
		}
	case r.life == nil:
	case ended.Kind == EndedByLease && !r.life.debug:
		if ended.Known == OwnWord && g.mayHaveSlept(r.life, r.Until) {
			return g.sinceAwake(r, end)
		}
		at, by = r.missed(long)
	case ended == (Ending{EndedByProcess, Inferred, ended.Ref}):
		if last := g.fix.at(r.Leader, r.life.until); last.Before(long) {
			return last, r.life.ref(r.life.last()), false
		}
	}
	return at, by, false
}

// sinceAwake returns when a follower that was awake first found that the lease was not renewed. If none did, it returns
// the last sign of the leadership.
func (g *group) sinceAwake(r *Leadership, end time.Time) (at time.Time, by Ref, woken bool) {
	for i := range r.Followers {
		f := &r.Followers[i]
		if f.expired && f.Until.Before(end) && !g.sleptUntil(f) && (at.IsZero() || f.Until.Before(at)) {
			at, by = f.Until, f.Last
		}
	}
	if at.IsZero() && r.sign.Before(end) {
		return r.sign, r.signRef, true
	}
	return at, by, false
}

// sleptUntil reports whether the follower may have slept when it found that the lease was not renewed.
func (g *group) sleptUntil(f *Follower) bool {
	m := g.nodes[f.Node]
	return m != nil && g.mayHaveSlept(m.byIncarnation[f.Last.Incarnation], f.Until)
}

// missed returns when a follower first found that the lease was not renewed, and its record, if that was before t.
func (r *Leadership) missed(t time.Time) (first time.Time, by Ref) {
	for _, f := range r.Followers {
		if f.expired && f.Until.Before(t) && (first.IsZero() || f.Until.Before(first)) {
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
