package report

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/ringleader-dev/ringleader/rounds"
)

// lastElection says why the node did not win the election that made the leader.
func (c *Case) lastElection(g *rounds.Group, n *rounds.Node, now Belief) {
	for _, r := range slices.Backward(g.Rounds) {
		if r.Winner != nil && r.Winner.Node == now.Leader && r.Term == now.Term {
			c.lost(g, r, n)
			return
		}
	}
	if leader := find(g, now.Leader); leader != nil {
		c.Rank, c.LeaderRank = &Rank{n.Attr, n.ID}, &Rank{leader.Attr, leader.ID}
	}
}

// lost says why the node did not win the round that another node won. It quotes the verdict against the node
// that names the winner, in the words of the winner if it gave one, or the only verdict against the node. Without such
// a verdict, it says that the node did not run, or voted for the winner, or else how the winner won. It compares the
// ranks.
func (c *Case) lost(g *rounds.Group, r *rounds.Round, n *rounds.Node) {
	say := func(format string, args ...any) { c.Election = append(c.Election, fmt.Sprintf(format, args...)) }
	w := r.Winner
	own := slices.DeleteFunc(slices.Clone(r.Verdicts), func(v rounds.Verdict) bool { return v.Loser != n.ID })
	names := func(v rounds.Verdict) bool { return v.Over == w.Node }
	at := slices.IndexFunc(own, func(v rounds.Verdict) bool { return names(v) && v.Ref.Node == w.Node })
	if at < 0 {
		at = slices.IndexFunc(own, func(v rounds.Verdict) bool { return names(v) || len(own) == 1 })
	}
	if at >= 0 {
		v := own[at]
		say("In term %d %s: \"%s\", wrote node %d%s.", r.Term, verdict(v), v.Why, v.Ref.Node, cite(c.names, v.Ref))
		if v.Rule != "" {
			say("The rule: “%s”", v.Rule)
		}
		return
	}
	refs, known := winnerRefs(r)
	away, next := absentAt(n, w.At)
	its := func(v rounds.Voice) bool { return v.Voter == n.ID && v.Counted }
	voted := votes(cmp.Or(r.Ballot, &rounds.Ballot{}), its)
	switch {
	case away != nil && away.Kind != rounds.Ended:
		say("When node %d won term %d, node %d was %s%s.", w.Node, r.Term, n.ID, away.Kind,
			proof(c.names, weaker(known, away.Known), append(refs, away.Ref)...))
	case next != nil:
		say("When node %d won term %d, node %d did not run%s.", w.Node, r.Term, n.ID,
			proof(c.names, weaker(known, away.Known), append(refs, away.Ref)...))
		if again := fmt.Sprintf("It was %s.", startedAgain(g, next)); !slices.Contains(c.Election, again) {
			say("%s", again)
		}
	case away != nil: // how it ended is told
	case w.Viewed() && !slices.Contains(w.Live, n.ID):
		say("When node %d won term %d, it did not believe node %d alive%s.", w.Node, r.Term, n.ID,
			proof(c.names, known, refs...))
	case len(voted) > 0 && r.Ballot.Candidate == w.Node:
		say("Node %d voted for node %d in term %d%s.", n.ID, w.Node, r.Term,
			proof(c.names, known, append(refs, voted...)...))
	case r.Ballot != nil && !w.Ref.IsZero():
		refs = append(refs, votes(r.Ballot, counted)...)
		say("Node %d won term %d because of this: %s%s.", w.Node, r.Term, granted(r), proof(c.names, known, refs...))
	case w.Why != "":
		say("Node %d won term %d because of this: %s%s.", w.Node, r.Term, w.Why, proof(c.names, known, refs...))
	default:
		say("How node %d won term %d is not in the records.", w.Node, r.Term)
	}
	c.Rank, c.LeaderRank = &Rank{n.Attr, n.ID}, &Rank{w.Attr, w.Node}
	if order, _ := c.Rank.compare(*c.LeaderRank); order > 0 && len(r.Findings) > 0 {
		c.Rank = nil // the findings may tell why a lower node leads
	}
}

// absentAt returns how a node was away at the time t: its process had ended, or was silent or paused. next is the next
// process after one that had ended, nil if none began. It returns nil if the node was there, as far as the records
// tell.
func absentAt(n *rounds.Node, t time.Time) (away *rounds.LifeEvent, next *rounds.Life) {
	for i := range n.Lives {
		l := &n.Lives[i]
		if l.From.After(t) {
			next = l
			break
		}
		away = nil
		for k := range l.Events {
			if e := &l.Events[k]; e.At.Before(t) {
				away = e
			}
		}
	}
	switch {
	case away == nil:
	case away.Kind == rounds.Ended:
		return away, next
	case away.Kind == rounds.Silent, away.Kind == rounds.Paused:
		return away, nil
	}
	return nil, nil
}

// verdict says in words how a node lost.
func verdict(v rounds.Verdict) string {
	switch v.Kind {
	case rounds.Suppressed:
		return fmt.Sprintf("node %d suppressed the call of node %d", v.Over, v.Loser)
	case rounds.Deposed:
		return fmt.Sprintf("node %d stepped down when it met node %d", v.Loser, v.Over)
	case rounds.Refused:
		return fmt.Sprintf("node %d refused node %d its vote", v.By, v.Loser)
	}
	return fmt.Sprintf("node %d outranked node %d", v.Over, v.Loser)
}
