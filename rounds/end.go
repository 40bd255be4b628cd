package rounds

import (
	"slices"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms/catalog"
)

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
	} else if at, by := g.releaseRead(r); !at.IsZero() && (r.gap || r.Last.IsZero()) {
		sooner(at, Ending{EndedByWord, PeersSaw, by})
	}
	if again := g.ledAgain(r); again != nil {
		sooner(again.From, Ending{EndedUnseen, Inferred, again.Followers[0].First})
	}
	if at, ref := g.processEnd(r); !at.IsZero() {
		sooner(at, Ending{EndedByProcess, seenBy(ref, r), ref})
	}
	late := r.gap || r.endedBy.expired && !r.life.debug // it may have noticed long after
	if leased(g.guarantee) && (r.Last.IsZero() || late) {
		if at, ref := g.abandoned(r, true); !at.IsZero() {
			if over := g.ranOut(r, at); g.overInLogs(r, at, over) { // else it may still be renewed
				sooner(over, Ending{EndedByLease, seenBy(ref, r), ref})
			}
		}
	}
	if r.Ended.Kind == EndedByProcess && !r.Lease.IsZero() && r.Lease.Before(r.End) {
		g.endedBefore(r)
	}
	if r.End.IsZero() {
		if ref, ok := g.unrenewed(r); ok {
			r.End, r.Ended = r.Lease, Ending{EndedByLease, Inferred, ref}
		}
	}
}

// seenBy says how the end is known that the record shows: peers saw it, or it is inferred from what the node of the
// leader wrote later, as its next process does.
func seenBy(ref Ref, r *Leadership) Confidence {
	if ref.Node == r.Leader {
		return Inferred
	}
	return PeersSaw
}

// overInLogs reports whether a lease, which a majority of the voters held for ended at the time at, had ended by the
// time over when the logs end. Where no messages compare the clocks of those voters with the leader's, it had ended if
// each of them was bound to it no more when the logs end by its own clock. If no record says who votes, that may be the
// leader alone.
func (g *group) overInLogs(r *Leadership, at, over time.Time) bool {
	if !over.After(g.logsEndBy(r.Leader)) {
		return true
	}
	apart := false
	for i := range r.Followers {
		f := &r.Followers[i]
		left, _, ok := g.departed(f)
		if !ok || left.After(at) {
			continue
		}
		if g.boundUntil(f, left).After(g.logsEndBy(f.Node)) {
			return false
		}
		apart = apart || g.apart(f.Node, r.Leader) == unbounded
	}
	return apart && len(g.voters) > 0
}

// logsEndBy returns when the logs end by the clock of the node. It leaves out those that end long after the log of the
// node by clocks that no messages compare.
func (g *group) logsEndBy(node uint64) (end time.Time) {
	own := g.logEnd(node)
	for id := range g.nodes {
		last := g.logEnd(id)
		if last.Sub(own) <= alike || g.apart(id, node) != unbounded {
			end = latest(end, last)
		}
	}
	return end
}

// logEnd returns when the log of the node ends, zero if it has none.
func (g *group) logEnd(node uint64) (end time.Time) {
	m := g.nodes[node]
	if m == nil {
		return end
	}
	if at, known := g.lines[node]; known && !g.elsewhere(node, m) {
		end = g.fix.at(node, at)
	}
	for _, l := range m.lives {
		end = latest(end, g.fix.at(node, l.until))
		if bye := g.goodbye(l); bye != nil && g.key.era > 0 { // else it is in the lines
			end = latest(end, g.fix.at(node, bye.Time))
		}
	}
	return end
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

// releaseRead returns when somebody first read the leader's word that it leads no more, and the record. One that
// followed no more, since it had found that the lease was not renewed, tells only that it was over by then (see
// perhapsSince): the word may have been long on its way. It returns zero if nobody read it.
func (g *group) releaseRead(r *Leadership) (first time.Time, by Ref) {
	for i := range r.Followers {
		for _, l := range g.nodes[r.Followers[i].Node].lives {
			for _, said := range l.releases {
				at := g.fix.at(l.node, said.wall)
				if said.led == (leadershipKey{r.Leader, r.Term}) && (first.IsZero() || at.Before(first)) {
					first, by = at, l.ref(said.seq)
				}
			}
		}
	}
	return first, by
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
// another one began before the first sign of the end: it was over by then, also where nothing else tells that it ended.
// Without a lease, it was over by then where the record of the end is missing. later has the leaderships that began
// later.
func (g *group) endedUnseen(r *Leadership, later []*Leadership) {
	i := slices.IndexFunc(later, func(next *Leadership) bool { return next.Term > r.Term })
	late := r.gap || leased(g.guarantee) && (r.Last.IsZero() || r.endedBy.expired && !r.life.debug)
	if !late || i < 0 {
		return
	}
	next, by, untold := later[i], r.Ended.Ref.Node, r.End.IsZero()
	if untold {
		by = r.first().Node
	}
	if untold && g.undenied(r) || g.apart(by, next.first().Node) == unbounded {
		return
	}
	over := next.From
	if r.life != nil { // it led until then, by its own word
		over = latest(over, g.fix.at(r.Leader, r.wrote))
	}
	if untold || r.End.After(over) {
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
	case r.life.debug && g.wroteUnseen(r): // and may have renewed the lease
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
// the leader among them, believed in it then. For one whose lease ended by itself soon after, or would have, it had
// sent no HEARTBEAT for long; one that slept may have noticed that end late. Where no record says who votes, one
// follower is enough. It leaves out who had only got an earlier HEARTBEAT than one that found the lease over by then:
// that was held up.
func (g *group) heldOn(r *Leadership) bool {
	with, over := map[uint64]bool{r.Leader: true}, uint64(0)
	followers := g.followersAt(r, r.End)
	for i := range followers {
		if f := &followers[i]; f.expired && g.expired(f).Before(r.End) {
			over = max(over, f.number)
		}
	}
	for _, f := range followers {
		if f.number < over {
			continue
		}
		held, until := f.Until, r.End
		if l := g.nodes[f.Node].byIncarnation[f.Last.Incarnation]; f.expired {
			held = g.expired(&f)
		} else if (f.gap || l != nil && l.debug) && !f.lease.IsZero() {
			held = earliest(held, f.lease)
		}
		if f.expired || f.lease.After(r.End) && f.lease.Sub(r.End) < g.leaseTime/4 {
			until = until.Add(g.leaseTime / 2)
		}
		off := g.apart(f.Node, r.Ended.Ref.Node)
		if off != unbounded && !held.Add(off).Before(until) && (len(g.voters) == 0 || g.voters[f.Node]) {
			with[f.Node] = true
		}
	}
	return 2*len(with) > max(len(g.voters), 2)
}

// wroteUnseen reports whether the log of the leader's process was cut: the records are missing with which the next one
// began, or others got messages that it sent after its last record. Where nobody followed it, the next process tells
// it, which knows of a later term.
func (g *group) wroteUnseen(r *Leadership) bool {
	l := r.life
	alone := len(r.Followers) == 0
	if l.next != nil && (l.next.first() > 1 || alone && l.next.began() > g.inRound(l.highest)) {
		return true
	}
	if slices.ContainsFunc(r.Followers, func(f Follower) bool { return f.number > l.numbered }) {
		return true
	}
	return g.sentUnseen(l)
}

// sentUnseen reports whether others got messages that the process sent after its last record, as far as clocks tell.
func (g *group) sentUnseen(l *life) bool {
	last := g.fix.at(l.node, l.until)
	return slices.ContainsFunc(g.orphans[l.node], func(at time.Time) bool {
		return at.After(last) && (l.next == nil || at.Before(g.fix.at(l.node, l.next.from)))
	})
}

// inRound returns the round in which a process begins that knows of no term above this one.
func (g *group) inRound(term uint64) uint64 {
	if entry, err := catalog.Lookup(g.key.algo); err == nil && entry.Ahead {
		return term + 1
	}
	return term
}

// processEnd returns when the leader's process had ended by the first evidence of others, by the start of the next
// process of its node, or by a proof. It returns zero if none is in the records.
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
		late := off == unbounded || d.At.Before(last.Add(off)) || perhapsNext(d.At.Add(off))
		if late && !g.saidByFollower(r, d) {
			continue
		}
		other := r.life == nil && g.ofAnother(r, d) || r.life != nil && g.ofFormer(d, r.life, off)
		if d.isOfLeader(r) && !other && EndedProcess(d.Evidence, r.Leader) {
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
	if at.IsZero() { // the clocks of its peers may be behind
		if _, end := g.seenByPeers(r.life); end != nil {
			at, ref = latest(end.At, last), end.Ref
		}
	}
	if at.IsZero() {
		if d := g.proof(r.life); d != nil {
			at, ref = latest(d.At, last), d.Ref
		}
	}
	if at.IsZero() || ref.Node == r.Leader {
		if d := g.endSeen(r.life); d != nil {
			at, ref = latest(d.At, last), d.Ref
		}
	}
	return at, ref
}

// ofAnother reports whether the evidence proves the end of another process than that of a leader that has no log: who
// gives it follows the leader on, whose lease would be over, or begins to after that, or its next process does.
func (g *group) ofAnother(r *Leadership, d *drop) bool {
	f := r.follower(d.Node)
	return leased(g.guarantee) && d.proven() && f != nil && f.First.Incarnation == d.Ref.Incarnation &&
		(f.Last.Incarnation != d.Ref.Incarnation || d.Ref.Seq <= f.Last.Seq)
}

// saidByFollower reports whether a process gives the evidence that had followed before, by the order of its records, a
// leader that has no log: whose clock that is compared with does not matter then.
func (g *group) saidByFollower(r *Leadership, d *drop) bool {
	f := r.follower(d.Node)
	if r.life != nil || f == nil || f.First.Incarnation != d.Ref.Incarnation || f.First.Seq >= d.Ref.Seq {
		return false
	}
	for id := range g.nodes {
		if id != d.Node && g.apart(id, d.Node) != unbounded {
			return true
		}
	}
	return false
}

// endSeen returns the first evidence that l had ended, of a process whose clock is not compared with that of l, but
// which had followed it before, or exchanged a message with it, by the order of its records, and had not seen the node
// come back since, if another process followed l. It returns nil if there is none, or if the next process of the node
// seems to have begun before.
func (g *group) endSeen(l *life) *drop {
	uncompared := map[uint64]bool{}
	for id := range g.nodes {
		if g.apart(id, l.node) == unbounded {
			uncompared[id] = true
		}
	}
	if len(uncompared) == 0 { // nearly always
		return nil
	}
	first := g.isFirst(l)
	i := slices.IndexFunc(g.drops[l.node], func(d *drop) bool {
		return uncompared[d.Node] && d.isOf(l) && EndedProcess(d.Evidence, l.node) && (first || !d.noticedLate()) &&
			(g.followedBefore(l, d) || g.metBefore(l, d))
	})
	if i < 0 || l.next != nil && !g.drops[l.node][i].At.Before(g.fix.at(l.node, l.next.from)) {
		return nil
	}
	return g.drops[l.node][i]
}

// backBefore returns the number of the last record before the evidence in which its process saw the node of l come
// back, perhaps with the next process of it. It returns zero if there is none, or no next process.
func (g *group) backBefore(l *life, d *drop) (last uint64) {
	if l.next == nil {
		return 0
	}
	for _, lost := range g.drops[l.node] {
		back := lost.backRef
		if back.Node == d.Node && back.Incarnation == d.Ref.Incarnation && back.Seq < d.Ref.Seq {
			last = max(last, back.Seq)
		}
	}
	return last
}

// followedBefore reports whether the process that gives the evidence had followed l before, since it last saw the node
// come back.
func (g *group) followedBefore(l *life, d *drop) bool {
	by, back := g.nodes[d.Node].byIncarnation[d.Ref.Incarnation], g.backBefore(l, d)
	within := func(m mark) bool { return back < m.seq && m.seq < d.Ref.Seq }
	return by != nil && slices.ContainsFunc(by.allBeliefs(), func(b belief) bool {
		led := g.leaderships[leadershipKey{l.node, b.term}]
		return b.leader == l.node && (within(b.first) || within(b.heard.by)) && led != nil && led.life == l
	})
}

// metBefore reports whether the process that gives the evidence had received a message of l before, or had sent one
// that l received, since it last saw the node come back. What it sent to a former process may have come to l, and the
// end of that one be what it saw.
func (g *group) metBefore(l *life, d *drop) bool {
	back := g.backBefore(l, d)
	before := func(e *entry) bool {
		return e.Ref.Node == d.Node && e.Ref.Incarnation == d.Ref.Incarnation && back < e.Ref.Seq &&
			e.Ref.Seq < d.Ref.Seq
	}
	first := g.isFirst(l)
	return slices.ContainsFunc(g.pairing.arrivals, func(got arrival) bool {
		e := got.e
		return e != nil && e.cause != nil && !e.unsure &&
			(first && e.life == l && before(e.cause) || e.cause.life == l && before(e))
	})
}

// isFirst reports whether the process is surely the first one of its node.
func (g *group) isFirst(l *life) bool {
	m := g.nodes[l.node]
	return l.place == 0 && m.surelyWhole() && !g.seenBefore(m)
}

// proof returns the first proof that the process ended, which names it: so it did, whatever the clocks show. It returns
// nil if there is none.
func (g *group) proof(l *life) *drop {
	i := slices.IndexFunc(g.drops[l.node], func(d *drop) bool {
		return d.incarnation != "" && d.incarnation == l.incarnation
	})
	if i < 0 {
		return nil
	}
	return g.drops[l.node][i]
}
