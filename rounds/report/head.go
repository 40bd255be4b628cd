package report

import (
	"cmp"
	"fmt"
	"maps"
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

// upAndDown says which nodes had ended or were silent when the records end, as far as they tell.
func upAndDown(g *rounds.Group) string {
	ids, by, rest := map[condition][]uint64{}, map[condition][]rounds.Ref{}, 0
	var refused []uint64
	var quiet []string
	lost := lostStill(g)
	for _, n := range g.Nodes {
		e := lastEvent(&n)
		is, refs := condition{"ended", "ended", e.Known}, []rounds.Ref{e.Ref}
		if n.Refused != nil && !n.Refused.Taken && e.Kind == rounds.Ended {
			refused = append(refused, n.ID)
		}
		switch {
		case n.Records == 0:
			is, refs = withoutLog(g, &n, lost[n.ID])
		case e.Kind == rounds.Ended && e.Why != "":
			is = failed
		case e.Kind == rounds.Silent || e.Kind == rounds.Paused:
			is = condition{"is silent", "are silent", e.Known}
			if to, by := silentTo(g, n.ID, lost[n.ID], e.Ref); to != "" && e.Known == rounds.PeersSaw {
				is.is, is.are, refs = is.is+to, is.are+to, by
			}
		case e.Kind != rounds.Ended && unheardOf(g, &n):
			l := lastLife(&n)
			quiet = append(quiet, fmt.Sprintf("node %d has no record here since %s%s", n.ID, when(g, l.Until),
				cite(g.Names, l.Last)))
			continue
		case e.Kind != rounds.Ended:
			rest++
			continue
		}
		ids[is], by[is] = append(ids[is], n.ID), append(by[is], refs...)
	}
	parts, all := conditions(g, ids, by)
	const most = 3
	if n := len(quiet) - most; n > 0 {
		quiet = append(quiet[:most], fmt.Sprintf("%d more %s none since the leader began to lead", n,
			words.Either(n, "has", "have")))
	}
	parts = append(parts, quiet...)
	if len(refused) > 0 {
		parts = append(parts, fmt.Sprintf("%s refused to run when started again", shortIDs(refused)))
	}
	tell := fmt.Sprintf("as far as the records tell, which end at %s%s", when(g, lastLine(g)), laterLines(g))
	switch {
	case len(parts) == 0:
		return fmt.Sprintf("%s %s, %s.", words.Upper(everyNode(g)), words.Either(rest, "runs", "run"), tell)
	case all:
		return words.Upper(words.And(parts...)) + "."
	case rest > 0:
		others := words.Either(rest, "the other runs", fmt.Sprintf("the other %d run", rest))
		parts = append(parts, others+", "+tell)
	}
	return fmt.Sprintf("Of %s, %s.", words.Plural(len(g.Nodes), "node"), words.And(parts...))
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

// silentTo says to whom a node is silent, and by which records, where others did not miss it that are not known to have
// ended: it or they may be cut off. lost is how those lost it that are not known to have seen it since, first is the
// record that tells of it.
func silentTo(g *rounds.Group, id uint64, lost []rounds.Dropped, first rounds.Ref) (to string, refs []rounds.Ref) {
	var by []uint64
	others := 0
	for i := range g.Nodes {
		n := &g.Nodes[i]
		if n.ID == id || n.Records == 0 || lastEvent(n).Kind == rounds.Ended {
			continue
		}
		others++
		if d := slices.IndexFunc(lost, func(d rounds.Dropped) bool { return d.Node == n.ID }); d >= 0 {
			by, refs = append(by, n.ID), append(refs, lost[d].Ref)
		}
	}
	if len(by) == 0 { // one of the others believed it alive later
		by, refs = []uint64{first.Node}, []rounds.Ref{first}
	}
	if len(by) == others {
		return "", nil
	}
	return " to " + words.Nodes(by), refs
}

// conditions says which nodes are in each condition, and by which records, and whether all nodes of the group are in
// one.
func conditions(
	g *rounds.Group, ids map[condition][]uint64, by map[condition][]rounds.Ref,
) (parts []string, all bool) {
	order := []condition{
		{"ended", "ended", rounds.OwnWord},
		failed,
		{"ended", "ended", rounds.PeersSaw},
		{"is silent", "are silent", rounds.OwnWord},
		{"is silent", "are silent", rounds.PeersSaw},
	}
	for _, is := range slices.SortedFunc(maps.Keys(ids), func(a, b condition) int { return cmp.Compare(a.is, b.is) }) {
		if strings.HasPrefix(is.is, "is silent to ") {
			order = append(order, is)
		}
	}
	for _, is := range append(order, endedUnlogged, silentUnlogged, unlogged) {
		if len(ids[is]) > 0 {
			who := shortIDs(ids[is])
			if all = len(ids[is]) == len(g.Nodes); all {
				who = everyNode(g)
			}
			parts = append(parts, fmt.Sprintf("%s %s%s", who, words.Either(len(ids[is]), is.is, is.are),
				proof(g.Names, is.known, by[is]...)))
		}
	}
	return parts, all
}

// everyNode names all nodes of the group together: "all 5 nodes".
func everyNode(g *rounds.Group) string {
	switch n := len(g.Nodes); n {
	case 1:
		return shortIDs([]uint64{g.Nodes[0].ID})
	case 2:
		return "both nodes"
	default:
		return fmt.Sprintf("all %d nodes", n)
	}
}

// lastLine returns the time of the last record, or of a later line with which a process ended.
func lastLine(g *rounds.Group) time.Time {
	last := g.Until
	for i := range g.Nodes {
		if e := lastEvent(&g.Nodes[i]); e.At.After(last) {
			last = e.At
		}
	}
	return last
}

// laterLines says until when the logs go on behind the last record, if nobody leads: for so long nobody led.
func laterLines(g *rounds.Group) string {
	in := vacancy(g)
	if in == nil || in.Until.Sub(lastLine(g)) < time.Millisecond {
		return ""
	}
	return ", and other lines at " + when(g, in.Until)
}

// condition says how nodes are, and whose word that is.
type condition struct {
	is, are string
	known   rounds.Confidence
}

// The conditions of nodes of which no record is here.
var (
	failed         = condition{"ended with an error", "ended with an error", rounds.OwnWord}
	endedUnlogged  = condition{"ended and has no log here", "ended and have no log here", rounds.PeersSaw}
	silentUnlogged = condition{"is silent and has no log here", "are silent and have no log here", rounds.PeersSaw}
	unlogged       = condition{"has no log here", "have no log here", ""}
)

// withoutLog says how a node of which no record is here is, by how its peers lost it, and by which records.
func withoutLog(g *rounds.Group, n *rounds.Node, lost []rounds.Dropped) (is condition, by []rounds.Ref) {
	is = unlogged
	losses, _ := lossesOf(g, n, lost)
	for _, l := range losses {
		switch {
		case rounds.EndedProcess(l.Evidence, n.ID):
			return endedUnlogged, l.Refs[:1]
		case is == unlogged:
			is, by = silentUnlogged, l.Refs[:1]
		}
	}
	return is, by
}

// lostStill returns how nodes lost other ones that nobody is known to have believed alive since.
func lostStill(g *rounds.Group) map[uint64][]rounds.Dropped {
	lost := departures(g)
	for id, at := range believedAlive(g) {
		lost[id] = slices.DeleteFunc(lost[id], func(d rounds.Dropped) bool { return !d.At.After(at) })
	}
	return lost
}

// believedAlive returns whom a node that is not known to have ended believes alive, and until when by its last record:
// who was lost before is back.
func believedAlive(g *rounds.Group) map[uint64]time.Time {
	alive := map[uint64]time.Time{}
	for _, n := range g.Nodes {
		if lastEvent(&n).Kind == rounds.Ended || len(n.Lives) == 0 {
			continue
		}
		until := lastLife(&n).Until
		for _, id := range n.Alive {
			if until.After(alive[id]) {
				alive[id] = until
			}
		}
	}
	return alive
}

// unheardOf reports whether the node wrote nothing since somebody else began to lead: who follows a leader writes that.
// Or it wrote nothing since nobody leads, and the reason for that is that there is no sign of life of it.
func unheardOf(g *rounds.Group, n *rounds.Node) bool {
	last, _ := leading(g)
	if last == nil {
		last = ledLast(g)
	}
	wrote := lastLife(n).Until
	if last != nil && last.Leader != n.ID && wrote.Before(last.From) {
		return true
	}
	in := vacancy(g)
	return in != nil && wrote.Before(in.From) && in.Unheard(n.ID)
}

// ledLast returns the last leadership that another node followed, nil if there is none.
func ledLast(g *rounds.Group) *rounds.Leadership {
	for i := len(g.Leaderships) - 1; i >= 0; i-- {
		if r := &g.Leaderships[i]; len(r.Followers) > 0 {
			return r
		}
	}
	return nil
}

// lastEvent returns the last thing that happened to the node's last process, the zero event if nothing did.
func lastEvent(n *rounds.Node) (last rounds.LifeEvent) {
	if len(n.Lives) == 0 {
		return last
	}
	events := n.Lives[len(n.Lives)-1].Events
	if len(events) == 0 {
		return last
	}
	return events[len(events)-1]
}

// shortIDs names the first nodes of a list, and says how many more there are.
func shortIDs(ids []uint64) string {
	const most = 8
	if len(ids) <= most {
		return words.Nodes(ids)
	}
	return fmt.Sprintf("%s and %d more", words.Nodes(ids[:most]), len(ids)-most)
}

// withoutLeader says for how long nobody led in all, and when that was worst.
func withoutLeader(g *rounds.Group) string {
	in := g.Leaderless.Worst
	if in == nil {
		return ""
	}
	least := ""
	if g.Leaderless.AtLeast {
		least = "at least "
	}
	if g.Leaderless.AtLeast && g.Leaderless.Sum == 0 && in.AtMost() == 0 {
		return fmt.Sprintf("For how long nobody led, in %s, is not known.",
			words.Plural(g.Leaderless.Changes, "change"))
	}
	text := fmt.Sprintf("Nobody led for %s%s in all, in %s", least, rounds.Span(g.Leaderless.Sum),
		words.Plural(g.Leaderless.Changes, "change"))
	if in.AtMost() == 0 {
		return text + "."
	}
	if g.Leaderless.Sum == 0 && g.Leaderless.AtLeast {
		text = fmt.Sprintf("For how long nobody led, in %s, is not known",
			words.Plural(g.Leaderless.Changes, "change"))
	}
	if in.PerhapsLed && in.AtLeast() && !in.Bounded() {
		text = fmt.Sprintf("%s; %s for at least %s from %s on", text, in.Nobody(), rounds.Span(in.Leaderless),
			when(g, in.From))
		return text + whyWorst(g, in)
	}
	if in.Surely() == 0 {
		text = fmt.Sprintf("%s; the longest at most %s from %s on", text, rounds.Span(in.AtMost()), when(g, in.Began()))
		return text + whyWorst(g, in)
	}
	switch least = ""; {
	case in.AtLeast():
		least = "at least "
	case g.Leaderless.AtLeast:
		least = "known "
	}
	text = fmt.Sprintf("%s; the longest %s%s from %s on", text, least, rounds.Span(in.Leaderless), when(g, in.From))
	if in.Bounded() {
		text += ", and at most " + rounds.Span(in.AtMost())
	}
	if !in.Perhaps.IsZero() {
		text += fmt.Sprintf(", if from %s on", when(g, in.Perhaps))
	}
	return text + whyWorst(g, in)
}

// whyWorst says why nobody led for longest, and when it may have been for longer.
func whyWorst(g *rounds.Group, in *rounds.Incident) string {
	text := ": " + cmp.Or(in.Why, "no record says why") + proofOf(g.Names, in, in.PerhapsRef) + "."
	if longer := g.Leaderless.Longer(); longer != nil {
		text += fmt.Sprintf(" That before node %d led term %d, at %s, may have been longer%s: since when is not known.",
			longer.Leader, longer.Term, when(g, longer.Until), proofOf(g.Names, longer))
	}
	return text
}
