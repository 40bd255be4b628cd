package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ringleader-dev/ringleader/rounds"
)

// leads returns who leads when the records end: whoever leads the highest term that anybody led, if that has not
// ended. If it has, it says since when nobody leads, and why.
func leads(g *rounds.Group) Belief {
	if in := vacancy(g); in != nil {
		told := Belief{Reason: in.Why, proof: proofOf(g.Names, in, in.PerhapsRef)}
		if told.Perhaps = in.Unsure(); told.Perhaps {
			told.Since = in.Perhaps
		} else {
			told.Since, told.vacancy = in.From, in
		}
		return told
	}
	last, _ := leading(g)
	if last == nil {
		return Belief{}
	}
	told := Belief{Leader: last.Leader, Term: last.Term, Since: last.From, proof: firstProof(g.Names, last)}
	if next := ledAfter(g, last); next != nil {
		first, _ := firstRef(last)
		told.Perhaps, told.Reason = true, stopsUnseen(next)
		told.proof = proof(g.Names, next.Ended.Known, first, next.Ended.Ref)
	}
	return told
}

// dissent returns what those nodes last believed that wrote since then, were not lost, and do not share the belief.
func dissent(g *rounds.Group, now Belief) (list []Belief) {
	for i := range g.Nodes {
		n := &g.Nodes[i]
		b := Belief{Leader: n.Leader, Term: n.Term}
		if n.Leader == 0 {
			b.Term = 0
		}
		if n.Records == 0 || away(g, n) || lastLife(n).Until.Before(now.Since) ||
			b.Leader == now.Leader && b.Term == now.Term {
			continue
		}
		j := slices.IndexFunc(list, func(known Belief) bool { return known.Leader == b.Leader && known.Term == b.Term })
		if j < 0 {
			j = len(list)
			list = append(list, b)
		}
		list[j].By, list[j].Refs = append(list[j].By, n.ID), append(list[j].Refs, n.Last)
	}
	return list
}

// tookOver is why a leadership changed, if a node took over from one that it outranks.
func tookOver(leader, former uint64) string {
	return fmt.Sprintf("node %d outranks node %d and took over", leader, former)
}

// formerly says since when a node that led before leads no more, and why, if that is not told already.
func (c *Case) formerly(g *rounds.Group, n *rounds.Node, now Belief) []string {
	var last *rounds.Leadership
	for i := range g.Leaderships {
		if l := &g.Leaderships[i]; l.Leader == n.ID {
			last = l
		}
	}
	switch {
	case last == nil:
		return nil
	case last.End.IsZero():
		return []string{fmt.Sprintf("Node %d led term %d from %s on, and no record says that it stopped%s.",
			n.ID, last.Term, clock(last.From), firstProof(g.Names, last))}
	}
	how := map[rounds.EndKind]string{
		rounds.EndedByWord: "it stepped down", rounds.EndedByLease: "its lease ended",
		rounds.EndedByProcess: "its process ended", rounds.EndedByLoss: "the others lost it",
	}[last.Ended.Kind]
	refs, known := []rounds.Ref{last.Ended.Ref}, last.Ended.Known
	from, latest := clock(last.End), last.Ended.Kind == rounds.EndedUnseen
	latest = latest || last.Ended.Kind == rounds.EndedByProcess && last.Ended.Known == rounds.Inferred
	for _, in := range g.Incidents {
		its := in.Former == n.ID && in.FormerTerm == last.Term
		switch {
		case its && !in.Perhaps.IsZero() && !in.Ceased():
			from, refs, latest = since(&in, clock), append(refs, in.PerhapsRef), false
		case its && in.Ended.Kind == rounds.EndedByLoss:
			from, latest, how = clock(in.From), true, "the others lost it"
			refs, known = in.Records, in.Ended.Known // another one may tell since when
		case its && in.Leaderless == 0 && in.AtLeast():
			latest = true
		}
		if !its || in.Leader == 0 && now.Leader == 0 {
			continue // that nobody leads now, and why, is told already
		}
		own, itself := strings.CutPrefix(in.Why, fmt.Sprintf("node %d ", n.ID))
		switch {
		case in.Voters():
			how = strings.TrimPrefix(how+"; "+in.Why, "; ")
			refs, known = append(refs, in.Records...), rounds.Inferred
		case itself && strings.HasPrefix(own, "handed over"): // why it stands aside is told where it runs
			how = "it " + strings.TrimSuffix(own, ": "+cmp.Or(c.Own.Ineligible, "?"))
		case last.Ended.Kind == rounds.EndedByWord && in.Why == tookOver(in.Leader, n.ID):
			how = in.Why
			refs = append(refs, in.Records...)
		}
	}
	restarted := n.Records > 0 && last.Incarnation != "" && lastLife(n).Incarnation != last.Incarnation
	sawEnd := func(l Loss) bool { return l.fate(n.ID) == ended }
	if last.Ended.Kind == rounds.EndedByProcess && !restarted && slices.ContainsFunc(c.Losses, sawEnd) {
		how = strings.TrimPrefix(strings.TrimPrefix(how, "its process ended"), "; ")
	}
	if latest {
		from += " at the latest"
	}
	if first, _ := firstRef(last); known == rounds.Inferred || last.Incarnation == "" {
		refs = append(refs, first) // from who leads since then, and who led before
	}
	told := []string{fmt.Sprintf("Node %d has led nobody since %s%s%s.", n.ID, from, colon(how),
		proof(g.Names, known, refs...))}
	if restarted {
		now := lastLife(n)
		told = append(told, fmt.Sprintf("It was %s.", startedAgain(g, &now)))
	}
	return told
}
