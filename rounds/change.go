package rounds

import (
	"cmp"
	"slices"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
)

// change is the time between two leaderships, with the elections that were held in it. former is nil before the first
// leadership, and next after the last.
type change struct {
	former, next *Leadership
	before       *Round // of the term of former; nil if it is not kept
	rounds       []*Round
	inVain       []moment // of each of them that brought no leader, the first call that had a part in it
}

// replaced reports whether a leader of the same term or of a lower one surely came after the former leader, and led on
// when that had stopped; or perhaps, where no messages compare the clocks that would tell it. Without a lease, nothing
// keeps a node from a term that it cannot know of.
func (g *group) replaced(former, next *Leadership) (surely, perhaps bool) {
	if leased(g.guarantee) || former.End.IsZero() || next.First.IsZero() {
		return false, false
	}
	by := next.first().Node
	began, ended := g.apart(former.first().Node, by), g.apart(former.Ended.Ref.Node, by)
	if ended != unbounded && former.End.Add(ended).Before(next.From) { // whatever the clock of the former leader shows
		return true, false
	}
	perhaps = began == unbounded || ended == unbounded
	return !perhaps && former.From.Add(began).Before(next.From), perhaps
}

// allot gives each round to the change in which it was called. That is the first one to a leadership of its term, or of
// a later one if nobody led its term, unless the leader before began to lead after all calls: nodes may have called for
// later terms before. What brought a leader is part of no change but the one to that leader.
func (g *group) allot(changes []change, rounds []*Round) {
	next, led := 0, map[uint64]int{} // by term: the first change to a leader of it
	for i := range changes {
		if c := &changes[i]; c.next != nil {
			if _, several := led[c.next.Term]; several || c.former != nil && c.next.Term == c.former.Term {
				c.rounds = append(c.rounds, g.again(roundOf(rounds, c.next.Term), c.next))
				continue
			}
			led[c.next.Term] = i
		}
	}
	for _, r := range rounds {
		r.Further, r.Meanwhile = nil, nil
		if r.State == Decided {
			if i, ok := led[r.Term]; ok {
				changes[i].rounds = append(changes[i].rounds, r)
			}
			continue
		}
		for next < len(changes) && changes[next].next != nil && changes[next].next.Term < r.Term {
			next++
		}
		i := next
		if i == len(changes) && i > 0 && g.calledBefore(r, changes[i-1].next) {
			i--
		}
		for i >= 0 && i < len(changes) && g.calledBefore(r, changes[i].former) {
			i--
		}
		if i == len(changes) && i > 0 {
			g.calledBeside(r, changes[i-1].next)
		}
		if i < 0 || i == len(changes) || changes[i].former != nil && r.Term <= changes[i].former.Term {
			continue
		}
		if c := &changes[i]; !g.inVain(r, c) {
			c.rounds, c.inVain = append(c.rounds, r), append(c.inVain, g.firstWithPart(r, c))
		} else {
			g.calledBeside(r, c.former)
		}
	}
	for i := range changes {
		c := &changes[i]
		slices.SortStableFunc(c.rounds, func(a, b *Round) int { return cmp.Compare(a.Term, b.Term) })
		if c.former != nil {
			c.before = roundOf(rounds, c.former.Term)
		}
	}
}

// again returns what a round tells of a further leader of its term: why that called. r is nil if it is not new.
func (g *group) again(r *Round, next *Leadership) *Round {
	if r == nil && g.past != nil {
		r = g.past.round(next.Term)
	}
	own := &Round{Term: next.Term, State: Decided, further: true, of: r}
	if r == nil {
		return own
	}
	for _, in := range r.Initiators {
		if in.Node != next.Leader || in.At.After(next.From) {
			continue
		}
		c := g.causeOf(&in)
		if d := g.dropAt(in.Node, c.Lost, in.At); d != nil && c.Lost != 0 {
			c.Evidence = d.Evidence
		}
		own.Initiators, own.Cause = []Initiator{in}, c
	}
	return own
}

// roundOf returns the round of a term, nil if there is none. The rounds are in the order of their terms.
func roundOf(rounds []*Round, term uint64) *Round {
	i, ok := slices.BinarySearchFunc(rounds, term, func(r *Round, term uint64) int { return cmp.Compare(r.Term, term) })
	if !ok {
		return nil
	}
	return rounds[i]
}

// lastCall returns the last call of the round, or else what it began with.
func (r *Round) lastCall() (at time.Time, by Ref) {
	at, by = r.Cause.At, r.Cause.Ref
	if at.IsZero() {
		at = r.From
		if by.IsZero() && len(r.Steps) > 0 {
			by = r.Steps[0].Ref
		}
	}
	for _, in := range r.Initiators {
		if in.At.After(at) {
			at, by = in.At, in.Ref
		}
	}
	return at, by
}

// lastSign returns when the leadership ended, or the last sign of it if no record tells an end.
func (r *Leadership) lastSign() moment {
	if r.End.IsZero() {
		return moment{r.sign, r.signRef}
	}
	return moment{r.End, r.Ended.Ref}
}

// calledBefore reports whether the round brought no leader, and was called before that leadership began.
func (g *group) calledBefore(r *Round, led *Leadership) bool {
	if r.State == Decided || led == nil || r.Term <= led.Term {
		return false
	}
	at, by := r.lastCall()
	off := g.apart(by.Node, led.first().Node)
	return off != unbounded && at.Add(off).Before(led.From)
}

// calledBeside notes that somebody led when the round was called, by its own later word, and that the round brought no
// leader.
func (g *group) calledBeside(r *Round, led *Leadership) {
	if led == nil || led.life == nil || len(r.Initiators) == 0 {
		return
	}
	in := r.Initiators[0]
	off := g.apart(in.Node, led.Leader)
	if off != unbounded && in.At.Add(-off).After(led.From) && !in.At.Add(off).After(g.fix.at(led.Leader, led.wrote)) {
		r.Meanwhile = &Reign{led.Leader, led.Term, []Ref{led.First, led.wroteRef}}
	}
}

// inVain reports whether the round was over before the leader of the change had ceased to lead, or that leader had
// called it, and it had no part in that: nobody had lost the leader for good, and the leader did not stop since it was
// asked to.
func (g *group) inVain(r *Round, c *change) bool {
	if r.State == Decided || c.former == nil {
		return false
	}
	last := c.former.lastSign()
	end, by := last.at, last.by
	if len(r.Initiators) == 0 {
		over := r.until.Add(leaderlessTime) // the record of the call is missing
		if r.Cause.Kind == Readmitted {
			over = r.Cause.At // nobody called
		}
		off := g.apart(r.Cause.Ref.Node, by.Node)
		return leased(g.guarantee) && off != unbounded && over.Add(off).Before(end)
	}
	off := g.apart(r.Initiators[0].Node, by.Node)
	calls := g.callsUntil(r.Initiators, c.next)
	over := calls[len(calls)-1].At
	followsOn := func(in Initiator) bool {
		return in.Node == c.former.Leader || g.followedAgain(&in, c.former, end)
	}
	if slices.ContainsFunc(calls, func(in Initiator) bool { return !followsOn(in) }) {
		over = earliest(r.until, over.Add(leaderlessTime)) // what comes later was long on its way
	}
	return off != unbounded && over.Add(off).Before(end) &&
		!slices.ContainsFunc(calls, func(in Initiator) bool { return g.hadPart(&in, c, end) })
}

// callsUntil returns the calls but for those that surely came after the next leadership had begun; all if each did.
func (g *group) callsUntil(calls []Initiator, next *Leadership) []Initiator {
	if next == nil {
		return calls
	}
	n := len(calls)
	for n > 0 {
		off := g.apart(calls[n-1].Node, next.first().Node)
		if off == unbounded || !calls[n-1].At.Add(-off).After(next.From) {
			return calls[:n]
		}
		n--
	}
	return calls
}

// hadPart reports whether the call of an election may have had a part in the end of the leadership before the change. A
// leader hands over long after a call only since who made it, and leads next, is the better choice.
func (g *group) hadPart(in *Initiator, c *change, end time.Time) bool {
	because, ok := decided[algorithms.Because](&in.cause)
	until := end
	soon := end.Sub(in.At) <= leaderlessTime
	byWord := c.former.Ended.Kind == EndedByWord && end.Sub(in.At) <= maxHandOver
	asked := g.askedFor(c.former) != ""
	next := in.Node == c.former.endedBy.to || c.next != nil && in.Node == c.next.Leader && !asked
	if c.next != nil {
		until = earliest(until, c.next.From) // the leader before may have been frozen, and back by its end
	}
	switch {
	case g.followedAgain(in, c.former, until):
		return false
	case in.operator || because.Kind == Operator:
		ends := !leased(g.guarantee) || byWord && in.Node != c.former.Leader && !asked
		return ends && (soon || byWord && next)
	case !ok:
		return true
	case in.cause.loses() == c.former.Leader:
		d := g.dropAt(in.Node, c.former.Leader, in.At)
		return d == nil || !d.takenBack(until)
	}
	switch because.Kind {
	case FirstLeader, LeaderLost, LeaderSilent: // of another leader
		return false
	case HandOver:
		return soon || in.cause.number(because.About) == c.former.Leader
	case HigherRank:
		return byWord && next && in.Node != c.former.Leader
	case RoundFailed:
		return (soon || byWord && next) && slices.ContainsFunc(c.inVain, func(first moment) bool {
			off := g.apart(in.Node, first.by.Node) // it may be the one that failed
			return off == unbounded || !in.At.Add(off).Before(first.at)
		})
	}
	return true
}

// firstWithPart returns the first call of the round that had a part in the change: the last one if none is known to.
func (g *group) firstWithPart(r *Round, c *change) (first moment) {
	first.at, first.by = r.lastCall()
	if c.former == nil {
		return first
	}
	end := c.former.lastSign().at
	for i := range r.Initiators {
		if in := &r.Initiators[i]; in.At.Before(first.at) && g.hadPart(in, c, end) {
			first = moment{in.At, in.Ref}
		}
	}
	return first
}

// followedAgain reports whether the process that called an election began to follow the leader again later, before the
// time t: what it had called for did not end that leadership.
func (g *group) followedAgain(in *Initiator, led *Leadership, t time.Time) bool {
	return g.believed(in.Ref, func(b *belief) bool {
		return b.leader == led.Leader && b.term == led.Term && b.first.seq > in.Ref.Seq &&
			g.fix.at(in.Node, b.first.wall).Before(t)
	})
}
