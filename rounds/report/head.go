package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/internal/words"
	"github.com/ringleader-dev/ringleader/rounds"
)

// summary writes the head of the list, and an empty line.
func (p *page) summary(g *rounds.Group) {
	lines := Head(g)
	if line := nextCommand(g); line != "" {
		lines = append(lines, line)
	}
	for _, line := range lines {
		p.line("%s", line)
	}
	if len(lines) > 0 {
		p.WriteByte('\n')
	}
}

// Head says in sentences who leads at the end of the records, which nodes run, and how long nobody led. Of a simulated
// run it says nothing. The sentences may contain any text from the logs.
func Head(g *rounds.Group) []string {
	switch {
	case len(g.Mixed) > 0:
		return []string{fmt.Sprintf("These are two clusters under one label: %s were two processes each at once. "+
			"It is mixed up below.", shortIDs(g.Mixed))}
	case g.Run > 0:
		return nil
	case len(g.Leaderships) == 0:
		return neverLed(g)
	}
	now := append([]string{present(g), upAndDown(g), aside(g), withoutLeader(g)}, mismatched(g)...)
	if !g.Replaced.IsZero() {
		now = []string{fmt.Sprintf("All of its processes had ended by %s, when the cluster was made anew.",
			dated(g.Replaced)), withoutLeader(g)}
	}
	return slices.DeleteFunc(now, func(line string) bool { return line == "" })
}

// neverLed says which nodes run, and which voters cannot make a leader, where nobody ever led.
func neverLed(g *rounds.Group) []string {
	var all, voteless []uint64
	var last, by []rounds.Ref
	for _, n := range g.Nodes {
		if n.Records > 0 {
			all, last = append(all, n.ID), append(last, n.Last)
		}
		if !n.Voteless.IsZero() {
			voteless, by = append(voteless, n.ID), append(by, n.Voteless)
		}
	}
	lines := []string{fmt.Sprintf("Nobody led, by the records of %s%s.", shortIDs(all), cite(g.Names, last...))}
	if len(voteless) > 0 {
		lines = append(lines, fmt.Sprintf("%s %s for nobody, since nothing is saved of earlier votes%s.",
			words.Upper(shortIDs(voteless)), words.Either(len(voteless), "votes", "vote"), cite(g.Names, by...)))
	}
	if line := upAndDown(g); line != "" {
		lines = append(lines, line)
	}
	return append(lines, mismatched(g)...)
}

// present says who leads at the end of the records, or why nobody does.
func present(g *rounds.Group) string {
	if in := vacancy(g); in != nil {
		if in.Unsure() {
			led := g.Led(in.Former, in.FormerTerm)
			return fmt.Sprintf("Perhaps nobody leads since %s: %s%s. Or node %d leads term %d still, since %s%s.",
				when(g, in.Perhaps), in.Why, proofOf(g.Names, in, in.PerhapsRef), in.Former, in.FormerTerm,
				when(g, led.From), firstProof(g.Names, led))
		}
		return fmt.Sprintf("Nobody leads since %s: %s%s.", since(in, func(t time.Time) string { return when(g, t) }),
			in.Why, proofOf(g.Names, in, in.PerhapsRef))
	}
	last, others := leading(g)
	if last == nil {
		return "The records do not tell who leads."
	}
	if next := ledAfter(g, last); next != nil {
		return fmt.Sprintf("Perhaps node %d leads term %d still, since %s%s: %s%s.", last.Leader, last.Term,
			when(g, last.From), firstProof(g.Names, last), stopsUnseen(next),
			proof(g.Names, next.Ended.Known, next.Ended.Ref))
	}
	text := fmt.Sprintf("Node %d leads term %d since %s, as far as the records go%s", last.Leader, last.Term,
		when(g, last.From), firstProof(g.Names, last))
	if without, by := follow(g, 0, last.From); len(without) > 0 {
		text = fmt.Sprintf("%s; but to %s nobody leads, by %s last %s%s", text, words.Nodes(without),
			words.Either(len(without), "its", "their"), words.Either(len(without), "record", "records"),
			cite(g.Names, by...))
	}
	return text + "." + otherLeaders(g, others)
}

// vacancy returns the time in which nobody leads at the end of the records, or perhaps nobody does. It returns nil if
// somebody leads.
func vacancy(g *rounds.Group) *rounds.Incident {
	if n := len(g.Incidents); n > 0 && g.Incidents[n-1].Leader == 0 {
		return &g.Incidents[n-1]
	}
	return nil
}

// leading returns the leadership that goes on as far as the records tell: that of the highest term, and of that the one
// which began last. Without a lease, others may go on beside it.
func leading(g *rounds.Group) (last *rounds.Leadership, others []*rounds.Leadership) {
	leased := algorithms.Guarantee(g.Guarantee).Leases()
	for i := range g.Leaderships { // by term, and then by their beginnings
		r := &g.Leaderships[i]
		if !r.End.IsZero() {
			continue
		}
		if !leased && last != nil && last.Leader != r.Leader && !last.First.IsZero() {
			others = append(others, last)
		}
		last = r
	}
	return last, others
}

// ledAfter returns the last leadership that began after this one, by the order of terms, and that ended when the leader
// of this one wrote no more. It returns nil if there is none.
func ledAfter(g *rounds.Group, led *rounds.Leadership) (next *rounds.Leadership) {
	for i := range g.Leaderships {
		r := &g.Leaderships[i]
		after := r.From.After(led.From) && r.From.After(led.Until)
		if after && r.Leader != led.Leader && r.Term >= led.Term && !r.First.IsZero() {
			next = r
		}
	}
	return next
}

// stopsUnseen says why a leader may lead no more that no record says to have stopped: the next one after it did.
func stopsUnseen(next *rounds.Leadership) string {
	return fmt.Sprintf("no record says that it stopped, and node %d, which led term %d after it, leads no more",
		next.Leader, next.Term)
}

// otherLeaders says of which other leaders no record says that they stopped. It is "" if there is none.
func otherLeaders(g *rounds.Group, others []*rounds.Leadership) string {
	const most = 3
	var parts []string
	for _, r := range others[max(0, len(others)-most):] {
		parts = append(parts, fmt.Sprintf("node %d stopped leading term %d, which it began to lead at %s%s", r.Leader,
			r.Term, when(g, r.From), firstProof(g.Names, r)))
	}
	if n := len(others) - len(parts); n > 0 {
		parts = append(parts, fmt.Sprintf("%d more %s did", n, words.Either(n, "leader", "leaders")))
	}
	if len(parts) == 0 {
		return ""
	}
	return fmt.Sprintf(" No record says that %s.", strings.Join(parts, ", nor that "))
}

// since says since when nobody leads: since the end of the last leadership, or since then at the latest.
func since(in *rounds.Incident, when func(time.Time) string) string {
	switch {
	case !in.Perhaps.IsZero():
		return fmt.Sprintf("%s at the latest, perhaps since %s", when(in.From), when(in.Perhaps))
	case in.Ended.Kind == rounds.EndedUnseen || in.Ended.Kind == rounds.EndedByLoss:
		return when(in.From) + " at the latest"
	}
	return when(in.From)
}

// firstProof names the record by which a leadership began.
func firstProof(names *rounds.Names, led *rounds.Leadership) string {
	first, known := firstRef(led)
	return proof(names, known, first)
}

// firstRef returns the record by which a leadership began, and whose word that is.
func firstRef(led *rounds.Leadership) (rounds.Ref, rounds.Confidence) {
	if by := led.Followers; led.First.IsZero() || len(by) > 0 && by[0].From.Equal(led.From) {
		return by[0].First, rounds.PeersSaw
	}
	return led.First, rounds.OwnWord
}

// follow returns the nodes that name the leader in their last records, 0 for nobody, and that are not known to have
// ended, and those records. It leaves out records from before the given time.
func follow(g *rounds.Group, leader uint64, since time.Time) (ids []uint64, by []rounds.Ref) {
	for _, n := range g.Nodes {
		early := n.Records > 0 && lastLife(&n).Until.Before(since)
		if n.Records > 0 && n.Leader == leader && lastEvent(&n).Kind != rounds.Ended && !early {
			ids, by = append(ids, n.ID), append(by, n.Last)
		}
	}
	return ids, by
}

// when returns the time of day, with the date if the records are of several days.
func when(g *rounds.Group, t time.Time) string {
	if spansDays(g) {
		return t.UTC().Format("2006-01-02 15:04:05.000")
	}
	return clock(t)
}

// spansDays reports whether the records of the group are of several days.
func spansDays(g *rounds.Group) bool {
	return g.From.UTC().Format(time.DateOnly) != g.Until.UTC().Format(time.DateOnly)
}

// aside says which of the nodes that run do not stand for election when the records end, and why: those with the same
// reason together. It is "" if there is none.
func aside(g *rounds.Group) string {
	ids, by := map[string][]uint64{}, map[string][]rounds.Ref{}
	var order []string
	lost := departures(g)
	for i := range g.Nodes {
		n := &g.Nodes[i]
		if n.Aside.IsZero() || awayBy(g, n, lost[n.ID]) {
			continue
		}
		why := cmp.Or(n.Ineligible, "asked to resign")
		if ids[why] == nil {
			order = append(order, why)
		}
		ids[why], by[why] = append(ids[why], n.ID), append(by[why], n.Aside)
	}
	const most = 3
	var parts []string
	for _, why := range order[:min(most, len(order))] {
		parts = append(parts, fmt.Sprintf("%s, %s%s", shortIDs(ids[why]), why, cite(g.Names, by[why]...)))
	}
	switch n := len(order) - most; {
	case len(order) == 0:
		return ""
	case n > 0:
		parts = append(parts, fmt.Sprintf("others for %s", words.Plural(n, "more reason")))
	}
	return fmt.Sprintf("Not standing for election: %s.", strings.Join(parts, "; "))
}

// shortIDs names the first nodes of a list, and says how many more there are.
func shortIDs(ids []uint64) string {
	const most = 8
	if len(ids) <= most {
		return words.Nodes(ids)
	}
	return fmt.Sprintf("%s and %d more", words.Nodes(ids[:most]), len(ids)-most)
}
