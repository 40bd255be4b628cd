package rounds

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
)

// callsFor returns the cause, if the reason calls an election of the round's term. Where voters
// decide, the term of the nomination may be lower than the term of the votes.
func (r *Round) callsFor(why *reason) (cause reason, ok bool) {
	opens, ok := decided[algorithms.Opens](why)
	term := why.term(opens.Term)
	if !ok || term != r.Term && (!leased(r.Guarantee) || term > r.Term) {
		return cause, false
	}
	return why.cause(opens.Cause), true
}

// stoodFor returns the cause, if the reason makes the node a candidate in the term.
func (why *reason) stoodFor(term uint64) (cause reason, ok bool) {
	stands, ok := decided[algorithms.Stands](why)
	if !ok || why.term(stands.Term) != term {
		return cause, false
	}
	return why.cause(stands.Cause), true
}

// addCandidates makes the candidates for votes the initiators, if no node called an election before somebody
// won, or whoever did followed the leader of an earlier term then: while nobody leads, voters may elect a leader
// without a call. If nodes called an election because the leader was gone, but still in that leader's own term, these
// nodes are the initiators instead. A node that called after the win is no initiator: it began another election, of
// this term or a later one.
func (r *Round) addCandidates(g *group) {
	if !leased(r.Guarantee) {
		return
	}
	called := g.called
	g.called = nil
	if won := r.decidedAt(); won >= 0 {
		r.Initiators = slices.DeleteFunc(r.Initiators, func(in Initiator) bool {
			later := r.stepOf(in.Ref) > won
			if later && in.cause.loses() == r.Winner.Node {
				g.called = append(g.called, in)
			}
			return later
		})
	}
	calls := r.Initiators
	if len(calls) > 0 && len(r.stayed(g)) > 0 {
		return
	}
	r.Initiators = nil
	for i := range r.Steps {
		st := &r.Steps[i]
		for j := range st.reasons {
			if cause, ok := st.reasons[j].stoodFor(r.Term); ok {
				r.Initiators = append(r.Initiators, initiator(st, cause))
				break
			}
		}
	}
	if stayed := r.stayed(g); len(stayed) > 0 {
		r.Initiators = stayed
	}
	if len(r.Initiators) == 0 {
		r.Initiators = calls
		return
	}
	stood := r.Initiators[0].At
	called = slices.DeleteFunc(called, func(in Initiator) bool { return !g.stillGone(&in, stood) })
	if len(called) > 0 {
		r.Initiators = called
	}
}

// stayed returns the initiators without those that followed a leader of an earlier term again before anybody won, or
// until that died: what they began brought no leader.
func (r *Round) stayed(g *group) []Initiator {
	if r.Winner == nil || r.Winner.At.IsZero() {
		return r.Initiators
	}
	return slices.DeleteFunc(slices.Clone(r.Initiators), func(in Initiator) bool {
		l := g.nodes[in.Node].byIncarnation[in.Ref.Incarnation]
		return l != nil && slices.ContainsFunc(l.allBeliefs(), func(b belief) bool {
			return b.leader != 0 && b.term < r.Term && b.first.seq > in.Ref.Seq &&
				g.fix.at(in.Node, b.first.wall).Before(r.Winner.At)
		}) || g.followedToDeath(&in)
	})
}

// followedToDeath reports whether a node that began to take over from a leader followed it until it had evidence that
// the leader's process had ended.
func (g *group) followedToDeath(in *Initiator) bool {
	because, ok := decided[algorithms.Because](&in.cause)
	if !ok || because.Kind != HigherRank {
		return false
	}
	return slices.ContainsFunc(g.dropsBy[[2]uint64{in.Node, in.cause.number(0)}], func(d *drop) bool {
		return d.Ref.Incarnation == in.Ref.Incarnation && d.Ref.Seq > in.Ref.Seq && EndedProcess(d.Evidence, d.about) &&
			g.believed(in.Ref, func(b *belief) bool { return b.first.seq == d.Ref.Seq && b.turn.was == d.about }) &&
			!g.believed(in.Ref, func(b *belief) bool {
				return b.first.seq > in.Ref.Seq && b.first.seq < d.Ref.Seq && b.leader != d.about
			})
	})
}

// stillGone reports whether the initiator called because a leader was gone, and had no sign of life of that
// leader before the time t.
func (g *group) stillGone(in *Initiator, t time.Time) bool {
	d := g.dropAt(in.Node, in.cause.loses(), in.At)
	return !in.At.After(t) && d != nil && !d.takenBack(t)
}

// loses returns the leader whose loss the cause is, or 0 if the cause is another one.
func (why *reason) loses() uint64 {
	because, ok := decided[algorithms.Because](why)
	if !ok || because.Kind != LeaderLost && because.Kind != LeaderSilent {
		return 0
	}
	return why.number(because.About)
}

// addInitiator makes the node of a step an initiator, if the step called the election.
func (r *Round) addInitiator(s *Step) {
	for i := range s.reasons {
		if cause, ok := r.callsFor(&s.reasons[i]); ok {
			r.Initiators = append(r.Initiators, initiator(s, cause))
			return
		}
	}
}

func initiator(s *Step, cause reason) Initiator {
	return Initiator{
		Node: s.Ref.Node, Why: cause.why, Ref: s.Ref, At: s.At, cause: cause, operator: s.Event == "campaign",
	}
}

// findCause finds why the election was held, from its first initiator.
func (r *Round) findCause(g *group) {
	r.addCandidates(g)
	if len(r.Initiators) == 0 {
		r.Cause = r.noElection()
		return
	}
	first := r.Initiators[0]
	c := g.causeOf(&first)
	switch st := r.step(first.Ref); {
	case first.operator:
		c.Kind = Operator
	case c.Kind == FirstLeader && st != nil && st.Leader != 0 && st.Change == "": // the algorithm inside knew none
		c.Kind, c.Text = Renominated, fmt.Sprintf("%s, though it followed node %d", c.Text, st.Leader)
	case c.Kind == FirstLeader && g.knewLeader(first.Ref):
		c.Kind = Vacant
	case c.Kind == HigherRank && leased(r.Guarantee) && st != nil && st.Leader == c.Node:
		c.Kind = Renominated
		c.Text = fmt.Sprintf("node %d, which was nominated, ranks below it", first.cause.number(0))
	}
	r.notLost(&c, g)
	r.handedOver(&c, g)
	r.entryLost(&c, g)
	r.provenGone(&c, g)
	if c.Lost != 0 {
		c.Detections = r.detections(c.Lost, g)
	}
	if len(c.Detections) > 0 {
		if w := c.Detections[0]; !w.At.After(first.At) { // else the initiator knew without evidence
			c.Node, c.Evidence, c.Ref, c.At = w.Node, w.Evidence, w.Ref, w.At
		}
		led := g.lastLed(c.Lost, r.Term, c.At)
		c.Back, c.BackAt = g.back(c, led)
		c.Slept = led != nil && c.Back == led.Last && led.slept()
	} else if led := g.lastLed(c.Lost, r.Term, c.At); c.Kind == LeaderSilent && led != nil && g.endMissing(led, c.At) {
		c.Lost = 0 // it may have given up the term, and be well
	}
	r.Cause = c
}

// causeOf returns what the initiator says of the cause.
func (g *group) causeOf(in *Initiator) Cause {
	c := Cause{Kind: Unexplained, Text: in.Why, Node: in.Node, Ref: in.Ref, At: in.At, Lost: in.cause.loses()}
	because, ok := decided[algorithms.Because](&in.cause)
	if !ok {
		return c
	}
	switch c.Kind = because.Kind; c.Kind {
	case HigherRank:
		c.below = in.cause.number(0)
	case HandOver:
		c.handing = in.cause.number(because.About)
		c.asked = g.request(c.handing, in.At)
		c.Request = c.asked.why
	}
	return c
}

// knewLeader reports whether the process of a record named a leader in one before.
func (g *group) knewLeader(by Ref) bool {
	return g.believed(by, func(b *belief) bool { return b.leader != 0 && b.first.seq < by.Seq })
}

// knewOf reports whether the process of a record named a leader of its term in it, or in one before.
func (g *group) knewOf(led *Leadership, by Ref) bool {
	return g.believed(by, func(b *belief) bool {
		return b.leader == led.Leader && b.term == led.Term && b.first.seq <= by.Seq
	})
}

// believed reports whether one of the beliefs of the process of a record is such.
func (g *group) believed(by Ref, such func(b *belief) bool) bool {
	m := g.nodes[by.Node]
	if m == nil || m.byIncarnation[by.Incarnation] == nil {
		return false
	}
	return slices.ContainsFunc(m.byIncarnation[by.Incarnation].allBeliefs(), func(b belief) bool { return such(&b) })
}

// ledLast returns the last leadership before the term that had begun by then, nil for none.
func (g *group) ledLast(term uint64, then time.Time) (last *Leadership) {
	for _, l := range g.list {
		if l.Term < term && !l.From.After(then) && (last == nil || l.Term > last.Term) {
			last = l
		}
	}
	return last
}

// lastLed returns the last leadership of the node up to the term that had begun by then, nil for none.
func (g *group) lastLed(id, term uint64, then time.Time) *Leadership {
	for _, l := range slices.Backward(g.byLeader[id]) {
		if l.Term <= term && !l.From.After(then) {
			return l
		}
	}
	return nil
}

// notLost corrects the cause under a lease, where "leader 3 is gone" is the word of the algorithm inside: it says so of
// a node that it had nominated and that never led, or led before the leader that it follows, and of a leader that gave
// up the term by itself, or whose lease had ended by its own word.
func (r *Round) notLost(c *Cause, g *group) {
	if c.Lost == 0 || !leased(r.Guarantee) {
		return
	}
	led, last, st := g.lastLed(c.Lost, r.Term, c.At), g.ledLast(r.Term, c.At), r.step(c.Ref)
	follows := st != nil && st.LeaderTerm != 0 && st.Leader != c.Lost ||
		last != nil && last.Leader != c.Lost && g.knewOf(last, c.Ref)
	switch {
	case led == nil, follows:
		c.Text, c.Kind, c.Lost = fmt.Sprintf("node %d, which was nominated, is gone", c.Lost), NomineeLost, 0
	case led.Ended.Kind == EndedByWord && !led.End.After(c.At):
		c.Text, c.Kind, c.Lost = fmt.Sprintf("leader %d gave up term %d", c.Lost, led.Term), Released, 0
	case led.Ended.Kind == EndedByLease && led.Ended.Known == OwnWord && !led.End.After(c.At) &&
		(!g.suspected(c.Lost, led.From, c.At) || g.endedLater(led, c)):
		c.Text, c.Kind, c.Lost = fmt.Sprintf("the lease of leader %d had ended", c.Lost), Vacant, 0
	case led.releasedBefore(c.At) && !g.suspected(c.Lost, led.From, c.At): // its own record of it is missing
		c.Text, c.Kind, c.Lost = fmt.Sprintf("leader %d gave up term %d", c.Lost, led.Term), Released, 0
	case c.Kind == LeaderLost && g.endMissing(led, c.At) && !g.suspected(c.Lost, led.From, c.At):
		c.Lost = 0 // it may have given it up
	}
}

// handedOver corrects the cause under a lease, where who stood says only that nobody leads: the leader before gave
// up its term since somebody asked it to, by its own word. It handed over to who stood only if it says so.
func (r *Round) handedOver(c *Cause, g *group) {
	if !leased(r.Guarantee) || c.Kind != Vacant && c.Kind != Released {
		return
	}
	led := g.ledBefore(r.Term, c)
	if led == nil || !led.endedBy.handed {
		return
	}
	asked := g.requestBefore(led)
	if asked.why == "" {
		if led.endedBy.to == 0 {
			return
		}
		asked = request{fmt.Sprintf("node %d would take over", led.endedBy.to), led.End, led.Last} // as with --preempt
	}
	c.Kind, c.Lost, c.handing, c.Request, c.asked = HandOver, 0, led.Leader, asked.why, asked
	if led.endedBy.to != c.Node {
		c.Kind, c.Text = Released, fmt.Sprintf("node %d %s: %s", led.Leader, led.endedBy.left(), asked.why)
	}
}

// entryLost corrects the cause on a store, where the successor says only that nobody leads: the leader before had lost
// its entry, by its own word.
func (r *Round) entryLost(c *Cause, g *group) {
	if !leased(r.Guarantee) || c.Kind != Vacant && c.Kind != Released && c.Kind != RoundFailed {
		return
	}
	if led := g.ledBefore(r.Term, c); led != nil && led.entryLost() != "" {
		c.Text, c.Kind, c.Lost = led.entryLost(), EntryLost, 0
	}
}

// entryLost says that the leader lost its entry in the store; "" if it did not.
func (led *Leadership) entryLost() string {
	switch led.endedBy.taken {
	case "":
		return ""
	case "nobody":
		return fmt.Sprintf("the entry of node %d was gone from the store: somebody removed it, or it ended early",
			led.Leader)
	default:
		return fmt.Sprintf("the entry of node %d was no longer the first in the store", led.Leader)
	}
}

// provenGone corrects the cause under a lease, where a nominee stands as "nobody leads" because it has just seen the
// end of the leader's process.
func (r *Round) provenGone(c *Cause, g *group) {
	if !leased(r.Guarantee) || c.Kind != Vacant {
		return
	}
	led := g.ledLast(r.Term, c.At)
	if led == nil || led.Ended.Kind != EndedByProcess {
		return
	}
	d := g.dropAt(c.Node, led.Leader, c.At)
	if d != nil && EndedProcess(d.Evidence, led.Leader) && !d.At.Before(led.From) && c.At.Sub(d.At) <= together {
		c.Text, c.Kind, c.Lost = fmt.Sprintf("leader %d is gone", led.Leader), LeaderLost, led.Leader
	}
}

// Handing returns the node that handed over to the one that called the election, if Kind is HandOver, 0 else. It led,
// or had been nominated.
func (c *Cause) Handing() uint64 {
	if c.Kind != HandOver {
		return 0
	}
	return c.handing
}

// Outranks returns the leader that Node outranked when it called the election, if Kind is HigherRank; 0 if that is not
// known. Another one may have led before Node did.
func (c *Cause) Outranks() uint64 {
	if c.Kind != HigherRank {
		return 0
	}
	return c.below
}

// Asked is the record by which Handing was asked to hand over, or why it did so without being asked; Seq 0 if none.
func (c *Cause) Asked() Ref {
	if c.Request == "" {
		return Ref{}
	}
	return c.asked.ref
}

// requestBefore says why the leader was asked to give up its term before it did by its own word.
func (g *group) requestBefore(led *Leadership) request {
	asked := led.life.request(led.Last.Seq+1, g.fix)
	if asked.at.Before(led.From) || led.End.Sub(asked.at) > maxHandOver {
		return request{}
	}
	return asked.quoted()
}

// maxHandOver bounds how long after a request the leader hands over: it asks one node after the other.
const maxHandOver = 10 * time.Second

// ledBefore returns the leadership before the term that its leader ended by its own word before the cause, nil for
// none.
func (g *group) ledBefore(term uint64, c *Cause) *Leadership {
	led := g.ledLast(term, c.At)
	if led == nil || led.life == nil || led.Ended.Kind != EndedByWord || led.Last.IsZero() {
		return nil
	}
	if off := g.apart(c.Node, led.Leader); off == unbounded || led.End.After(c.At.Add(off)) {
		return nil
	}
	return led
}

// endMissing reports whether records of the leader are missing that may tell that it stopped leading before t.
func (g *group) endMissing(led *Leadership, t time.Time) bool {
	if led.life == nil {
		return true
	}
	return led.gap && !led.End.After(t) || led.Last.IsZero() && g.fix.at(led.Leader, led.life.until).Before(t)
}

// suspected reports whether a node had evidence against another one between two times.
func (g *group) suspected(id uint64, since, until time.Time) bool {
	return slices.ContainsFunc(g.dropsSince(id, since), func(d *drop) bool { return !d.At.After(until) })
}

// endedLater reports whether all that the node of the cause had against the leader is that its process ended, after its
// lease had.
func (g *group) endedLater(led *Leadership, c *Cause) bool {
	d, off := g.dropAt(c.Node, led.Leader, c.At), g.apart(c.Node, led.Leader)
	return d != nil && EndedProcess(d.Evidence, led.Leader) && off != unbounded && d.At.After(led.End.Add(off)) &&
		!g.suspected(led.Leader, led.From, led.End.Add(off))
}

// noElection returns the cause of a term that nobody called. A voter that lost its saved vote takes
// a new term, to be above all terms in which it may have voted. Otherwise the records do not show
// the cause: Ref is the first record of the round then.
func (r *Round) noElection() Cause {
	for i := range r.Steps {
		s := &r.Steps[i]
		for j := range s.reasons {
			if _, ok := decided[algorithms.Readmits](&s.reasons[j]); ok {
				text := s.reasons[j].cause(algorithms.Self).why
				return Cause{Kind: Readmitted, Text: text, Node: s.Ref.Node, Ref: s.Ref, At: s.At}
			}
		}
	}
	c := Cause{Kind: Unexplained}
	if len(r.Steps) > 0 {
		c.Ref = r.Steps[0].Ref
	}
	return c
}

// request says why the leader gave up leadership before t, as far as its last process says: what asked it to since it
// last began to lead.
func (g *group) request(leader uint64, t time.Time) request {
	m := g.nodes[leader]
	if m == nil {
		return request{}
	}
	l := m.at(t, g.fix)
	if l == nil {
		return request{}
	}
	seq := l.last() + 1
	if after, more := l.after(t, g.fix); more {
		seq = after.seq
	}
	asked := l.request(seq, g.fix)
	if led := g.lastLed(leader, math.MaxUint64, t); led != nil && asked.at.Before(led.From) {
		return request{} // it ended an earlier leadership, or came to nothing
	}
	return asked.quoted()
}

// back returns the first record, and its time, that the process of the lost leader wrote after the first evidence
// against it. Both are zero if there is none, or if another process of its node had led.
func (g *group) back(c Cause, led *Leadership) (Ref, time.Time) {
	m := g.nodes[c.Lost]
	if m == nil {
		return Ref{}, time.Time{}
	}
	off := g.bound(c.Node, c.Lost)
	if off == unbounded || !g.compared(c.Node, c.Lost) && len(m.lives) > 1 {
		return Ref{}, time.Time{} // another process may be meant
	}
	since := off
	if !g.compared(c.Node, c.Lost) { // their clocks may differ by as much as nobody notices
		since = max(off, maxTransit)
		if EndedProcess(c.Evidence, c.Lost) {
			off = since
		}
	}
	l := m.at(c.At.Add(-off), g.fix)
	another := led != nil && led.life != nil && led.life != l
	if l != nil && l == m.at(c.At.Add(off), g.fix) && !another {
		if first, ok := l.after(c.At.Add(since), g.fix); ok {
			return l.ref(first.seq), g.fix.at(l.node, first.wall)
		}
	}
	return Ref{}, time.Time{}
}

// detections returns each node's evidence that the leader with the id lost is gone, the earliest first. It
// returns one piece of evidence per node: the last one before the election was called, or else the first one
// after the call. It ignores evidence from before that leader began to lead, evidence that caused an earlier
// round, evidence that the node took back before the call, and the lost leader's own evidence.
func (r *Round) detections(lost uint64, g *group) []Detection {
	var found []Detection
	called, since := r.Initiators[0].At, latest(g.ledSince(lost, r.Term), g.blamed[lost])
	until := g.last // evidence of a later process of the leader is about another loss
	if m := g.nodes[lost]; m != nil {
		if l := m.at(called, g.fix); l != nil && l.next != nil && g.fix.at(lost, l.next.from).Before(until) {
			until = g.fix.at(lost, l.next.from)
		}
	}
	won := time.Time{}
	if r.Winner != nil {
		won = r.Winner.At
	}
	if next := g.begunAfter(called); won.IsZero() && len(next) > 0 {
		won = next[0].From
	}
	if won.After(called) && won.Before(until) {
		until = won
	}
	if d := g.dropAt(r.Initiators[0].Node, lost, called); d != nil && d.back.After(called) {
		until = earliest(until, d.back) // who called saw it again: what others notice later is another loss
	}
	for _, d := range g.dropsSince(lost, since) {
		if d.At.After(called) && d.At.After(until) {
			break
		}
		i := slices.IndexFunc(found, func(other Detection) bool { return other.Node == d.Node })
		switch {
		case d.takenBack(called), d.At.After(called) && i >= 0:
		case i >= 0:
			found[i] = d.Detection
		default:
			found = append(found, d.Detection)
		}
	}
	g.blamed[lost] = called
	slices.SortFunc(found, func(a, b Detection) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Node, b.Node))
	})
	return found
}
