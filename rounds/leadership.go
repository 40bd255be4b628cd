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
	g.leaderships, g.list = map[leadershipKey]*Leadership{}, nil
	g.leaseTime = g.longestLease()
	nodes := slices.Sorted(maps.Keys(g.nodes))
	for _, id := range nodes {
		for _, l := range g.nodes[id].lives {
			beliefs := l.allBeliefs()
			for i := range beliefs {
				if b := &beliefs[i]; b.leader != 0 {
					g.leadership(b.leader, b.term)
				}
			}
		}
	}
	for _, id := range nodes {
		for _, l := range g.nodes[id].lives {
			beliefs := l.allBeliefs()
			for i := range beliefs {
				b := &beliefs[i]
				if b.leader == 0 {
					continue
				}
				var before, next *belief
				if i > 0 {
					before = &beliefs[i-1]
				}
				if i+1 < len(beliefs) {
					next = &beliefs[i+1]
				}
				g.leadership(b.leader, b.term).believe(l, b, before, next, g)
			}
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

// denied reports whether the leader's own records, which are here, never say that it led: it stopped before it began.
func (g *group) denied(r *Leadership) bool {
	m := g.nodes[r.Leader]
	if !r.First.IsZero() || m == nil {
		return false
	}
	from := r.Followers[0].From
	l := m.at(from, g.fix)
	denied := l != nil && !g.fix.at(l.node, l.until).Before(from) && !l.gapAround(from, g.fix) && !l.text
	for _, l := range m.lives { // whatever the clocks show
		denied = denied || l.passedThrough(r.Term) || slices.Contains(l.spent, r.Term)
	}
	if denied {
		delete(g.leaderships, leadershipKey{r.Leader, r.Term})
	}
	return denied
}

// wins reports whether one of the reasons says that the node wins the term.
func wins(reasons []reason) bool { return decides[algorithms.Wins](reasons) }

// passedThrough reports whether the process took part in the term and in a later one, and none of its records between
// is missing, nor any since it began, or since one of an earlier term.
func (l *life) passedThrough(term uint64) bool {
	marks := l.sorted()
	first := slices.IndexFunc(marks, func(m mark) bool { return m.round == term })
	if first < 0 || l.text {
		return false
	}
	from := l.rangeOf(marks[first].seq)
	if from > 1 && !slices.ContainsFunc(marks[:first], func(m mark) bool { return m.seq >= from && m.round < term }) {
		return false
	}
	later := slices.IndexFunc(marks[first:], func(m mark) bool { return m.round > term })
	return later > 0 && marks[first+later].seq-marks[first].seq == uint64(later)
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
		f := r.follower(l.node)
		if f == nil {
			r.Followers = append(r.Followers, Follower{Node: l.node, From: at(b.first), First: l.ref(b.first.seq)})
			f = &r.Followers[len(r.Followers)-1]
			f.late = b.late(before)
		}
		f.Until, f.left, f.expired, f.release, f.Last = until, next != nil, false, false, l.ref(b.last.seq)
		if next != nil {
			f.expired = next.turn.expired && g.endsIn(b, next)
			earlier := next.turn.over > 0 && next.turn.over < r.Term // the word was long on its way
			f.release = next.turn.release && next.turn.from == r.Leader && !earlier
			f.Last = l.ref(next.first.seq)
		}
		if !b.until.IsZero() {
			f.lease = latest(f.lease, g.fix.at(l.node, b.until))
		}
		return
	}
	if r.First.IsZero() {
		r.First, r.Incarnation, r.From, r.life = l.ref(b.first.seq), l.incarnation, at(b.first), l
		r.announced = b.sent
		r.unseen = b.late(before)
		if r.unseen && before != nil {
			r.before, r.beforeRef = at(before.last), l.ref(before.last.seq)
		}
	}
	r.Until, r.Last, r.endedBy, r.gap = until, Ref{}, turn{}, false
	r.wrote, r.wroteRef = b.last.wall, l.ref(b.last.seq)
	if next != nil {
		r.Last, r.gap = l.ref(next.first.seq), !g.endsIn(b, next)
		r.holed = b.last.seq+1 < next.first.seq
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

// end sets when the leadership was over: at the first of what ends it. Zero if nothing in the records does.
func (g *group) end(r *Leadership) {
	sooner := func(at time.Time, e Ending) {
		if r.End.IsZero() || at.Before(r.End) {
			r.End, r.Ended = at, e
		}
	}
	if r.gap {
		sooner(r.Until, Ending{EndedUnseen, Inferred, r.Last})
	} else if !r.Last.IsZero() {
		kind, at := EndedByWord, r.Until
		if r.endedBy.expired {
			kind, at = EndedByLease, at.Add(-r.endedBy.late)
			if r.life.debug && !r.holed && !r.Lease.IsZero() && r.Lease.Before(at) { // it noticed late: it had slept
				at = r.Lease
			}
		}
		sooner(at, Ending{kind, OwnWord, r.Last})
	}
	if f := r.released(); f != nil && (r.gap || r.Last.IsZero()) {
		sooner(f.Until, Ending{EndedByWord, PeersSaw, f.Last})
	}
	if again := g.ledAgain(r); again != nil {
		sooner(again.From, Ending{EndedUnseen, Inferred, again.Followers[0].First})
	}
	if at, ref := g.processEnd(r); !at.IsZero() {
		known := PeersSaw
		if ref.Node == r.Leader { // its next process
			known = Inferred
		}
		sooner(at, Ending{EndedByProcess, known, ref})
	}
	late := r.gap || r.endedBy.expired && !r.life.debug // it may have noticed long after
	if at, ref := g.abandoned(r, true); !at.IsZero() && leased(g.guarantee) && (r.Last.IsZero() || late) {
		sooner(g.ranOut(r, at), Ending{EndedByLease, PeersSaw, ref})
	}
	if r.Ended.Kind == EndedByProcess && !r.Lease.IsZero() && r.Lease.Before(r.End) {
		g.endedBefore(r)
	}
	if ref, ok := g.unrenewed(r); ok && r.End.IsZero() {
		r.End, r.Ended = r.Lease, Ending{EndedByLease, Inferred, ref}
	}
}

// released returns the follower that first got the leader's word that it leads no more, nil if none did.
func (r *Leadership) released() (first *Follower) {
	for i := range r.Followers {
		if f := &r.Followers[i]; f.release && (first == nil || f.Until.Before(first.Until)) {
			first = f
		}
	}
	return first
}

// releasedBefore reports whether a follower had got the leader's word by the time t that it leads no more.
func (r *Leadership) releasedBefore(t time.Time) bool {
	f := r.released()
	return f != nil && !f.Until.After(t)
}

// unrenewed reports whether nobody can have renewed the lease after the last record of its leader, which wrote down all
// renewals: the processes of so many voters had ended by then that the others are no majority. It returns a record that
// shows it.
func (g *group) unrenewed(r *Leadership) (ref Ref, ok bool) {
	if r.life == nil || !r.life.debug || r.Lease.IsZero() {
		return ref, false
	}
	last, left := g.fix.at(r.Leader, r.life.until), len(g.voters)
	for _, id := range g.everyVoter() {
		if by, ended := g.endedBy(id, last, r.Lease); ended {
			ref, left = by, left-1
		}
	}
	return ref, len(g.voters) > 0 && 2*left <= len(g.voters)
}

// endedBy reports whether the process of the node had ended by then, and the next one began after a later time. It
// returns the record that shows it. Without a next one, the log may be cut.
func (g *group) endedBy(id uint64, then, later time.Time) (ref Ref, ended bool) {
	m := g.nodes[id]
	if m == nil || m.index(later, g.fix) < 0 {
		return ref, false
	}
	l := m.lives[m.index(later, g.fix)]
	if l.next != nil && !g.fix.at(id, l.next.from).After(later) { // it wrote no record, and may have voted
		return ref, false
	}
	for _, e := range g.events(l) {
		if e.Kind == Ended && !e.At.After(then) && l.next != nil {
			return e.Ref, true
		}
	}
	return ref, false
}

// first returns the record by which the leadership begins, as far as the records tell.
func (r *Leadership) first() Ref {
	for i := range r.Followers {
		if f := &r.Followers[i]; r.First.IsZero() || r.unseen && r.From.Equal(f.From) {
			return f.First
		}
	}
	return r.First
}

// endedUnseen corrects the end of a leadership under a lease that its leader did not write down, or perhaps late, if
// another one began before the first sign of the end: it was over by then. So it is without a lease, where the record
// of the end is missing. later has the leaderships that began later.
func (g *group) endedUnseen(r *Leadership, later []*Leadership) {
	i := slices.IndexFunc(later, func(next *Leadership) bool { return next.Term > r.Term })
	late := r.gap || leased(g.guarantee) && (r.Last.IsZero() || r.endedBy.expired && !r.life.debug)
	if !late || r.End.IsZero() || i < 0 {
		return
	}
	next := later[i]
	if g.apart(r.Ended.Ref.Node, next.first().Node) == unbounded {
		return
	}
	over := next.From
	if r.life != nil { // it led until then, by its own word
		over = latest(over, g.fix.at(r.Leader, r.wrote))
	}
	if r.End.After(over) {
		r.End, r.Ended = over, Ending{EndedUnseen, Inferred, next.first()}
	}
}

// ledAgain returns the next leadership of the same node if only its followers tell of it: the log of the leader ends
// before. It returns nil if there is none.
func (g *group) ledAgain(r *Leadership) *Leadership {
	if r.First.IsZero() || !r.Last.IsZero() {
		return nil
	}
	for _, next := range g.begunAfter(r.Until) {
		if next.Leader == r.Leader && next.Term > r.Term {
			if next.First.IsZero() {
				return next
			}
			return nil
		}
	}
	return nil
}

// endedBefore corrects the end of a leadership whose lease may have ended before its process did.
func (g *group) endedBefore(r *Leadership) {
	switch {
	case r.life.debug && g.fix.at(r.Leader, r.life.until).After(r.Lease):
	case r.life.debug && g.wroteUnseen(r.life): // and may have renewed the lease
	case r.life.debug: // it was not renewed since
		r.End, r.Ended.Kind, r.Ended.Known = r.Lease, EndedByLease, Inferred
	case r.Ended.Ref.Node == r.Leader: // only the next process of its node is known
		r.Ended.Kind = EndedUnseen
	}
	if r.Ended.Kind == EndedByProcess && !g.heldOn(r) {
		r.Ended.Kind, r.Ended.Known = EndedUnseen, Inferred
	}
}

// heldOn reports whether the leader seems to have renewed its lease until its process ended: a majority of the voters,
// the leader among them, believed in it then. For one whose lease ended by itself soon after, it had sent no HEARTBEAT
// for long. Where no record says who votes, one follower is enough.
func (g *group) heldOn(r *Leadership) bool {
	with := map[uint64]bool{r.Leader: true}
	for _, f := range r.Followers {
		until := r.End
		if f.expired {
			until = until.Add(g.leaseTime / 2)
		}
		off := g.apart(f.Node, r.Ended.Ref.Node)
		if off != unbounded && !f.Until.Add(off).Before(until) && (len(g.voters) == 0 || g.voters[f.Node]) {
			with[f.Node] = true
		}
	}
	return 2*len(with) > max(len(g.voters), 2)
}

// wroteUnseen reports whether the log of the process was cut: others got messages that it sent after its last record.
func (g *group) wroteUnseen(l *life) bool {
	last := g.fix.at(l.node, l.until)
	return slices.ContainsFunc(g.orphans[l.node], func(at time.Time) bool {
		return at.After(last) && (l.next == nil || at.Before(g.fix.at(l.node, l.next.from)))
	})
}

// processEnd returns when the leader's process had ended by the first evidence of others, or by the start of the
// next process of its node. It returns zero if neither is in the records.
func (g *group) processEnd(r *Leadership) (at time.Time, ref Ref) {
	last := r.From
	if r.life != nil {
		last = g.fix.at(r.Leader, r.life.until)
	}
	perhapsNext := func(t time.Time) bool { // evidence from then on may be about the next process of the node
		return r.life != nil && r.life.next != nil && !t.Before(g.fix.at(r.Leader, r.life.next.from))
	}
	for _, d := range g.dropsSince(r.Leader, last) {
		if perhapsNext(d.At) {
			break
		}
		off := g.apart(d.Node, r.Leader)
		about := r.life == nil || d.isOf(r.life)
		if off == unbounded || d.At.Before(last.Add(off)) || perhapsNext(d.At.Add(off)) || !about {
			continue
		}
		if EndedProcess(d.Evidence, r.Leader) {
			at, ref = d.At, d.Ref
			break
		}
	}
	if r.life == nil {
		return at, ref
	}
	if next := r.life.next; next != nil {
		if began := g.fix.at(r.Leader, next.from); at.IsZero() || began.Before(at) {
			at, ref = began, next.ref(next.first())
		}
	}
	return at, ref
}

// abandoned returns when the leader had lost the majority of the voters, since its lease was not renewed: those that
// still believed in it, those without records, and itself are no majority; surely not either with those that perhaps
// did. The lease was over then. It returns zero if they always were one. Where no record says who votes, every
// follower must have stopped believing.
func (g *group) abandoned(r *Leadership, surely bool) (at time.Time, ref Ref) {
	with := map[uint64]bool{r.Leader: true} // who may still have been bound to it
	var left []Follower
	for _, f := range r.Followers {
		with[f.Node] = true
		if f.expired {
			f.Until = g.expired(&f)
			left = append(left, f)
		}
	}
	most := 0 // how many are no majority
	if len(g.voters) > 0 {
		most = len(g.voters) / 2
		for id := range with {
			if !g.voters[id] {
				delete(with, id)
			}
		}
		for id := range g.voters {
			if g.nodes[id] == nil {
				with[id] = true
			}
		}
	} else {
		delete(with, r.Leader)
	}
	slices.SortFunc(left, func(a, b Follower) int { return a.Until.Compare(b.Until) })
	for _, f := range left {
		delete(with, f.Node)
		if len(with) > most || surely && len(with)+g.mayFollow(r, with, f.Until) > most {
			continue
		}
		if r.life != nil && g.fix.at(r.Leader, r.wrote).After(f.Until) {
			break // it led on, by its own word
		}
		return f.Until, f.Last
	}
	return time.Time{}, Ref{}
}

// mayFollow counts the voters, beside those with the leader, that may have followed it at the time t by none of their
// records: the one in which a voter began to, or came back to it, may be missing.
func (g *group) mayFollow(r *Leadership, with map[uint64]bool, t time.Time) (voters int) {
	for id := range g.voters {
		m, f, since := g.nodes[id], r.follower(id), r.From
		if f != nil {
			since = f.Until.Add(1)
		}
		if m == nil || with[id] || id == r.Leader || since.After(t) {
			continue
		}
		if l := m.at(t, g.fix); l == nil && !g.surelyFirst(m) || l != nil && !g.tells(l, since, t) {
			voters++
		}
	}
	return voters
}

// surelyFirst reports whether no process of the node came before the first one here. Where logs are cut, that may have
// lost its disk.
func (g *group) surelyFirst(m *member) bool {
	if len(m.lives) == 0 || g.pairing.cut {
		return false
	}
	first := m.lives[0]
	seen := earliest(firstAfter(g.joins[first.node], time.Time{}), firstAfter(g.heard[first.node], time.Time{}))
	return seen.IsZero() || seen.After(g.fix.at(first.node, first.from).Add(-maxTransit))
}

// tells reports whether the records of the process tell what it believed from one time to another: none is missing, and
// one came later, or it had ended.
func (g *group) tells(l *life, from, until time.Time) bool {
	before, _ := l.before(from, g.fix)
	if after, wrote := l.after(until, g.fix); wrote {
		return l.rangeOf(after.seq) <= max(before.seq, 1)
	}
	return slices.ContainsFunc(g.events(l), func(e LifeEvent) bool { return e.Kind == Ended && !e.At.After(until) })
}

// expired returns when the lease had ended at the latest whose end the follower noticed, as far as the follower can
// tell: it may have noticed late, since it slept.
func (g *group) expired(f *Follower) time.Time {
	l := g.nodes[f.Node].byIncarnation[f.Last.Incarnation]
	if l == nil {
		return f.Until
	}
	at := g.wokeFrom(l, f.Until)
	if l.debug && !f.lease.IsZero() && at.Sub(f.lease) > maxTransit { // it wrote down all renewals that it heard of
		return f.lease
	}
	return at
}

// ranOut returns when the lease had ended that a majority of the voters held for ended at the time at. A voter knows
// of a lease what the leader knew as it sent its last HEARTBEAT. The answers to that one renewed the lease, and a
// leader begins at most two rounds of them without answers, a quarter of the promise apart. Nobody leads a later term
// before the lease has ended.
func (g *group) ranOut(r *Leadership, at time.Time) time.Time {
	if r.life != nil && r.life.debug && !r.gap && (r.Lease.After(at) || !g.wroteUnseen(r.life)) {
		return r.Lease // the leader wrote its last renewal
	}
	end := latest(at.Add(g.leaseTime/2), r.Lease)
	for _, next := range g.begunAfter(at) {
		if next.Term > r.Term || next.From.After(end) {
			return earliest(next.From, end)
		}
	}
	return end
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
