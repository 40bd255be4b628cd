package rounds

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
)

type leadershipKey struct{ leader, term uint64 }

// findLeaderships collects who led which term, and who followed, from what each process believed.
func (g *group) findLeaderships() {
	g.leaderships, g.list, g.unbegun = map[leadershipKey]*Leadership{}, nil, map[uint64][]unseenReign{}
	g.leaseTime = g.longestLease()
	nodes := slices.Sorted(maps.Keys(g.nodes))
	for _, id := range nodes {
		for _, l := range g.nodes[id].lives {
			beliefs := l.allBeliefs()
			for i := 0; i < len(beliefs) && leased(g.guarantee); i++ { // endsIn wants to know all of them
				if b := &beliefs[i]; b.leader != 0 {
					g.leadership(b.leader, b.term)
				}
			}
		}
	}
	for _, id := range nodes {
		for _, l := range g.nodes[id].lives {
			l.eachBelief(func(b, before, next *belief) {
				g.noteUnseen(l, b, before)
				if b.leader != 0 {
					g.leadership(b.leader, b.term).believe(l, b, before, next, g)
				}
			})
		}
	}
	g.list = slices.DeleteFunc(g.list, g.denied)
	for _, r := range g.list {
		slices.SortStableFunc(r.Followers, func(a, b Follower) int { return a.From.Compare(b.From) })
		if r.First.IsZero() {
			r.From = r.Followers[0].From // until the leader's own record is seen
			r.unseen = r.unseen || r.Followers[0].late
		} else if f := g.firstBeside(r); r.unseen && f != nil && f.From.Before(r.From) {
			r.From = f.From
		}
	}
	slices.SortStableFunc(g.list, func(a, b *Leadership) int { return a.From.Compare(b.From) })
	g.byLeader, g.byTerm = map[uint64][]*Leadership{}, map[uint64][]*Leadership{}
	for i, r := range g.list {
		g.end(r)
		g.endedUnseen(r, g.list[i+1:])
		g.byLeader[r.Leader], g.byTerm[r.Term] = append(g.byLeader[r.Leader], r), append(g.byTerm[r.Term], r)
	}
}

// firstBeside returns the first of the followers whose clocks can be compared with the leader's, nil if there is none.
func (g *group) firstBeside(r *Leadership) *Follower {
	for i := range r.Followers {
		if f := &r.Followers[i]; g.apart(r.Leader, f.Node) != unbounded {
			return f
		}
	}
	return nil
}

// denied reports whether the leader's own records, which are here, never say that it led: it stopped before it began. A
// process that began later than somebody followed the leader tells nothing of a former one, nor does one that may have.
func (g *group) denied(r *Leadership) bool {
	m := g.nodes[r.Leader]
	if !r.First.IsZero() || m == nil || g.owned(r) {
		return false
	}
	f := *r.earliest()
	f.late = r.followedUnseen(&f)
	then, denied := m.at(f.From, g.fix), false
	for i, l := range m.lives {
		first := i == 0 && g.surelyFirst(m)
		denied = denied || slices.Contains(l.spent, r.Term) || g.ranFor(l, &f, first) &&
			(l.passedThrough(r.Term, first) || l == then && g.silentAsItLed(l, r, &f))
	}
	if denied {
		delete(g.leaderships, leadershipKey{r.Leader, r.Term})
	}
	return denied
}

// owned reports whether the leader says, in the record in which it ceased to, that it led the term.
func (g *group) owned(r *Leadership) bool {
	return slices.ContainsFunc(g.unbegun[r.Leader], func(u unseenReign) bool {
		return u.led == r.Leader && u.term == r.Term
	})
}

// followedUnseen reports whether one may have followed the leader for long before the first of those of which a record
// tells since when: one of the others followed in records that are missing, or told that first one who leads.
func (r *Leadership) followedUnseen(first *Follower) bool {
	return first.teller != 0 && first.teller != r.Leader ||
		slices.ContainsFunc(r.Followers, func(f Follower) bool { return f.late })
}

// silentAsItLed reports whether the process wrote nothing of the leadership when the follower began to follow it, as
// far as clocks tell, and no record of that time is missing. Where no messages compare their clocks, it may have led
// after its log ends.
func (g *group) silentAsItLed(l *life, r *Leadership, f *Follower) bool {
	apart := g.apart(l.node, f.Node) == unbounded
	if f.late || l.text || apart || g.fix.at(l.node, l.until).Before(f.From) || g.gapAsItLed(l, f) {
		return false
	}
	return l.first() == 1 || l.sorted()[0].term < r.Term // else it may have led before
}

// gapAsItLed reports whether records of the process are missing in which it may have led when the follower began to
// follow it, as far as clocks tell. It did not in one that is missing alone, if the next one leaves its belief as it
// was: that one would say that it leads, too.
func (g *group) gapAsItLed(l *life, f *Follower) bool {
	off := g.apart(l.node, f.Node)
	if off == unbounded {
		return len(l.seen) > 1
	}
	off += maxTransit
	from, until := f.From.Add(-off), f.From.Add(off)
	if !l.gapBetween(from, until, g.fix) {
		return false
	}
	before, ok := l.before(from, g.fix)
	after, more := l.after(until, g.fix)
	if !more {
		after = l.top
	}
	return !ok || slices.ContainsFunc(l.holesBetween(before.seq, after.seq), func(hole span) bool {
		return hole.first < hole.last || l.turnsAt(hole.last+1)
	})
}

// ranFor reports whether the process must be the one that the follower began to follow, as far as clocks tell: it is
// the first one of its node, or began so long before that what a former one had sent had come. One that begins in term
// 0 may have lost its disk, and what the former one had sent may have come late. Where no messages compare the clocks,
// nothing tells that it began before.
func (g *group) ranFor(l *life, f *Follower, first bool) bool {
	off, from := g.apart(l.node, f.Node), g.fix.at(l.node, l.from)
	switch {
	case first:
		return !from.After(f.From.Add(off))
	case f.late, off == unbounded, l.sorted()[0].term == 0:
		return false
	}
	return !from.Add(off + maxTransit).After(f.From)
}

// earliest returns the follower that followed first, of those of which a record tells since when, if there are any.
func (r *Leadership) earliest() *Follower {
	first := &r.Followers[0]
	for i := range r.Followers {
		f := &r.Followers[i]
		if first.late && !f.late || first.late == f.late && f.From.Before(first.From) {
			first = f
		}
	}
	return first
}

// wins reports whether one of the reasons says that the node wins the term.
func wins(reasons []reason) bool { return decides[algorithms.Wins](reasons) }

// passedThrough reports whether the process was in the term and then in a later one, and none of its records between
// is missing, nor any since one of an earlier term, or since it began as the first one of its node: a former one may
// have led the term in which a later one begins. What it asks for or nominates may be of a later term than its own.
func (l *life) passedThrough(term uint64, first bool) bool {
	marks := l.sorted()
	at := slices.IndexFunc(marks, func(m mark) bool { return m.term == term })
	if at < 0 || l.text {
		return false
	}
	from := l.rangeOf(marks[at].seq)
	earlier := func(m mark) bool { return m.seq >= from && m.term < term }
	if (!first || from > 1) && !slices.ContainsFunc(marks[:at], earlier) {
		return false
	}
	later := slices.IndexFunc(marks[at:], func(m mark) bool { return m.term > term })
	return later > 0 && marks[at+later].seq-marks[at].seq == uint64(later)
}

func (g *group) leadership(leader, term uint64) *Leadership {
	key := leadershipKey{leader, term}
	r := g.leaderships[key]
	if r == nil {
		r = &Leadership{Leader: leader, Term: term, Followers: make([]Follower, 0, len(g.nodes)-1)}
		g.leaderships[key] = r
		g.list = append(g.list, r)
	}
	return r
}

// followersAt returns who followed in the leadership as it was known at the time t: without what made them follow again
// later, as a message does that was long on its way.
func (g *group) followersAt(r *Leadership, t time.Time) []Follower {
	then := &Leadership{Leader: r.Leader, Term: r.Term}
	for i := range r.Followers {
		l := g.nodes[r.Followers[i].Node].byIncarnation[r.Followers[i].Last.Incarnation]
		if l == nil {
			continue
		}
		l.eachBelief(func(b, before, next *belief) {
			if b.leader == r.Leader && b.term == r.Term && !g.fix.at(l.node, b.first.wall).After(t) {
				then.believe(l, b, before, next, g)
			}
		})
	}
	return then.Followers
}

// believe adds a belief of the process l, which believed before and next around it; each is nil if there is none.
func (r *Leadership) believe(l *life, b, before, next *belief, g *group) {
	at := func(m mark) time.Time { return g.fix.at(l.node, m.wall) }
	until := at(b.last)
	if next != nil {
		until = at(next.first)
	}
	if sign := latest(at(b.last), g.fix.at(l.node, b.until)); sign.After(r.sign) {
		r.sign, r.signRef = sign, l.ref(b.last.seq)
	}
	if l.node != r.Leader {
		if by := b.process(); by != "" && !slices.Contains(r.processes, by) {
			r.processes = append(r.processes, by)
		}
		f := r.follower(l.node)
		if f == nil {
			r.Followers = append(r.Followers, Follower{Node: l.node, From: at(b.first), First: l.ref(b.first.seq)})
			f = &r.Followers[len(r.Followers)-1]
			f.late, f.teller = b.late(before), b.turn.from
		}
		f.Until, f.left, f.expired, f.release, f.Last = until, next != nil, false, false, l.ref(b.last.seq)
		f.gap = next != nil && !g.endsIn(b, next)
		if f.surely = until; next != nil && b.last.seq+1 < next.first.seq {
			f.surely = at(b.last)
		}
		if next != nil {
			f.expired = next.turn.expired && !f.gap
			earlier := next.turn.over > 0 && next.turn.over < r.Term // the word was long on its way
			f.release = next.turn.release && next.turn.from == r.Leader && !earlier
			f.Last = l.ref(next.first.seq)
		}
		f.heard, f.number = time.Time{}, max(f.number, b.heard.number)
		if promised := b.promised(); next != nil && l.debug && l.rangeOf(next.first.seq) <= promised.seq {
			f.heard = at(promised)
		}
		if !b.until.IsZero() {
			f.lease = latest(f.lease, g.fix.at(l.node, b.until))
		}
		return
	}
	if r.First.IsZero() {
		r.First, r.Incarnation, r.From, r.life = l.ref(b.first.seq), l.incarnation, at(b.first), l
		r.announced, r.voted = b.sent, b.turn.vote
		r.unseen = b.late(before)
		if r.unseen && before != nil {
			r.before, r.beforeRef = at(before.last), l.ref(before.last.seq)
		}
	}
	r.Until, r.Last, r.endedBy, r.gap = until, Ref{}, turn{}, false
	r.wrote, r.wroteRef, r.surely = b.last.wall, l.ref(b.last.seq), until
	if next != nil {
		r.Last, r.gap = l.ref(next.first.seq), !g.endsIn(b, next)
		if r.holed = b.last.seq+1 < next.first.seq; r.holed {
			r.surely = at(b.last)
		}
	}
	if next != nil && !r.gap {
		r.endedBy = next.turn
	}
	if !b.until.IsZero() {
		r.Lease = latest(r.Lease, g.fix.at(l.node, b.until))
	}
}

// endsIn reports whether the belief ended in the first record of next: no record is missing between the two, or that
// one says whom the process believed in until then, who led no other term that it can mean. Without a lease, a process
// that leads leads its own term.
func (g *group) endsIn(b, next *belief) bool {
	switch {
	case b.last.seq+1 == next.first.seq:
		return true
	case next.turn.was != b.leader:
		return false
	case !leased(g.guarantee):
		return next.turn.term <= b.term
	}
	return next.turn.term <= b.term || !slices.ContainsFunc(g.list, func(r *Leadership) bool {
		return r.Leader == b.leader && b.term < r.Term && r.Term <= next.turn.term
	})
}

func (r *Leadership) follower(id uint64) *Follower {
	for i := range r.Followers {
		if r.Followers[i].Node == id {
			return &r.Followers[i]
		}
	}
	return nil
}

// begunAfter returns the leaderships that began after the time t, in the order of their beginnings.
func (g *group) begunAfter(t time.Time) []*Leadership {
	i, _ := slices.BinarySearchFunc(g.list, t, func(r *Leadership, t time.Time) int {
		if r.From.After(t) {
			return 1
		}
		return -1
	})
	return g.list[i:]
}

// ledSince returns when a node began to lead its last term below the given one, or zero if it led none.
func (g *group) ledSince(leader, below uint64) (since time.Time) {
	for _, r := range slices.Backward(g.byLeader[leader]) {
		if r.Term < below {
			return r.From
		}
	}
	return since
}

// byTerm sorts leaderships for people.
func byTerm(a, b Leadership) int { return cmp.Or(cmp.Compare(a.Term, b.Term), a.From.Compare(b.From)) }
