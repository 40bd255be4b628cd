package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ringleader-dev/ringleader/internal/words"
	"github.com/ringleader-dev/ringleader/rounds"
)

// What is told of lives at most, so that a list stays a page: of so many nodes, and so many clauses of each.
const (
	mostNodes   = 16
	mostClauses = 5
)

// clause is something that happened to a node, at that time, or until then and since the time from, if that is set.
type clause struct {
	at   time.Time
	text string
	from time.Time
}

// began returns since when it happened.
func (c clause) began() time.Time {
	if c.from.IsZero() {
		return c.at
	}
	return c.from
}

// lives writes a line for each node to which something happened since the time from, of what the selection chooses:
// when it ended, was silent, or was started again, as far as it and its peers tell.
func (p *page) lives(g *rounds.Group, s Selection, from time.Time) {
	type row struct {
		id      uint64
		clauses []clause
		earlier bool
		later   bool
	}
	var rows []row
	cut := false
	lost, still := departures(g), lostStill(g)
	for i := range g.Nodes {
		all := happenings(g, &g.Nodes[i], lost[g.Nodes[i].ID], still[g.Nodes[i].ID])
		before := func(c clause) bool { return c.at.Before(from) || c.at.Before(s.Since) }
		after := func(c clause) bool { return !s.Until.IsZero() && c.began().After(s.Until) }
		one := row{id: g.Nodes[i].ID, clauses: slices.DeleteFunc(slices.Clone(all), func(c clause) bool {
			return before(c) || after(c)
		})}
		left := max(0, len(one.clauses)-mostClauses)
		one.clauses = one.clauses[left:]
		one.earlier, one.later = left > 0 || slices.ContainsFunc(all, before), slices.ContainsFunc(all, after)
		if len(one.clauses) > 0 {
			rows = append(rows, one)
		}
	}
	if len(rows) == 0 {
		return
	}
	left := len(rows) - mostNodes
	if left > 0 { // those to which something happened last are told
		slices.SortFunc(rows, func(a, b row) int {
			return b.clauses[len(b.clauses)-1].at.Compare(a.clauses[len(a.clauses)-1].at)
		})
		rows = rows[:mostNodes]
		slices.SortFunc(rows, func(a, b row) int { return cmp.Compare(a.id, b.id) })
	}
	p.WriteByte('\n')
	p.line("%6s  %s", "NODE", "WHAT HAPPENED TO IT, AS FAR AS THE RECORDS TELL")
	for _, r := range rows {
		var parts []string
		if r.earlier {
			parts = append(parts, "…")
		}
		for _, c := range r.clauses {
			parts = append(parts, c.text)
		}
		if r.later {
			parts = append(parts, "…")
		}
		cut = cut || r.earlier || r.later
		p.line("%6d  %s", r.id, strings.Join(parts, "; "))
	}
	if left > 0 {
		p.line("%6s  %s to which something happened before", "…", words.Plural(left, "more node"))
	}
	if cut {
		p.line("%6s  is what happened before or after; another --until TIME shows the last %d until then", "…",
			mostClauses)
	}
}

// happenings returns what happened to a node, in the order of time. lost is how others lost it, and still how those did
// that are not known to have seen it since.
func happenings(g *rounds.Group, n *rounds.Node, lost, still []rounds.Dropped) (list []clause) {
	add := func(at time.Time, format string, args ...any) {
		list = append(list, clause{at: at, text: fmt.Sprintf(format, args...)})
	}
	for i, l := range n.Lives {
		if i > 0 {
			add(l.From, "%s", startedAgain(g, &l))
		}
		for j := 0; j < len(l.Events); j++ {
			switch e := l.Events[j]; {
			case e.Kind == rounds.Ended && e.Known == rounds.Inferred:
				add(e.At, "ended, unseen")
			case e.Kind == rounds.Ended && e.Why != "":
				add(e.At, "ended with an error at %s", seen(g, e))
			case e.Kind == rounds.Ended:
				add(e.At, "%s", endOf(g, &e))
			case e.Kind == rounds.Suspected:
				add(e.At, "%s", lostFor(g, l.Events[j:]))
			case fellSilent(e):
				text, until := absence(g, l.Events[j:])
				list = append(list, clause{l.Events[j+until-1].At, text, e.At})
				j += until - 1
			}
		}
	}
	if n.Records == 0 {
		is, _ := withoutLog(g, n, still)
		return withRefusals(g, n, lossesSeen(g, n.ID, lost, is != unlogged))
	}
	return withRefusals(g, n, withLog(g, n, list))
}

// insert adds what happened at that time to the list, which is in the order of time.
func insert(list []clause, at time.Time, format string, args ...any) []clause {
	later := slices.IndexFunc(list, func(c clause) bool { return c.at.After(at) })
	if later < 0 {
		later = len(list)
	}
	return slices.Insert(list, later, clause{at: at, text: fmt.Sprintf(format, args...)})
}

// withRefusals adds to what happened to a node the processes that refused to run.
func withRefusals(g *rounds.Group, n *rounds.Node, list []clause) []clause {
	for _, r := range n.Refusals {
		started := "started at " + when(g, r.At)
		if r.More > 0 {
			started = fmt.Sprintf("started %d times from %s to %s", r.More+1, when(g, r.At), when(g, r.Until))
		}
		list = insert(list, r.At, "%s, it refused to run, by its own word: %s", started, r.Why)
	}
	return list
}

// withLog adds to what happened to a node what happened to its clock and to its log.
func withLog(g *rounds.Group, n *rounds.Node, list []clause) []clause {
	var led []time.Time
	for i := range g.Leaderships {
		if r := &g.Leaderships[i]; r.Leader == n.ID && r.First.IsZero() {
			led = append(led, r.From)
		}
	}
	for _, l := range n.Lives {
		for _, s := range l.ClockSets {
			list = insert(list, s.At, "its clock was set %s by %s%s", setBy(s.By), when(g, s.At), cite(g.Names, s.Ref))
		}
		for _, s := range l.Stood {
			what := "stood again at " + when(g, s.At)
			if s.Why != "" {
				what = "stood aside at " + when(g, s.At) + ", " + s.Why
			}
			list = insert(list, s.At, "%s%s", what, cite(g.Names, s.Ref))
		}
		if gap := hole(&l); gap != nil {
			next := rounds.Ref{Node: n.ID, Incarnation: gap.After.Incarnation, Seq: gap.After.Seq + gap.Lost + 1}
			list = insert(list, gap.Until, "%d of its records %s missing from %s to %s%s", gap.Lost,
				words.Either(int(gap.Lost), "is", "are"), when(g, gap.From), when(g, gap.Until),
				cite(g.Names, gap.After, next))
		}
		if endsEarly(&l, led, g.Until) {
			list = insert(list, l.Until, "its records end at %s%s", when(g, l.Until), cite(g.Names, l.Last))
		}
	}
	return list
}

// endsEarly reports whether a process lived on after its last record here: others followed it later in a term that it
// wrote nothing of, or it wrote records of level debug, of which there are some each second, until it ended or was
// silent, or the records of the others end. led is when it began to lead terms of which it wrote nothing.
func endsEarly(l *rounds.Life, led []time.Time, logsEnd time.Time) bool {
	const long = 5 * time.Second
	at, next := l.Until, logsEnd
	for _, e := range l.Events {
		if e.At.After(at) {
			next = e.At
			if e.Kind == rounds.Ended && e.Known != rounds.PeersSaw {
				next = at
			}
			break
		}
	}
	later := slices.ContainsFunc(led, func(from time.Time) bool { return from.After(at) && !from.After(next) })
	return later || l.Debug && next.Sub(at) > long
}

// hole returns the gap in the records of a process, nil if there is none of a second and more, or if there are several:
// then records of some kinds are left out all the time.
func hole(l *rounds.Life) (gap *rounds.Gap) {
	for i := range l.Gaps {
		if one := &l.Gaps[i]; !one.After.IsZero() && gap != nil {
			return nil
		} else if !one.From.IsZero() && !one.Until.IsZero() {
			gap = one
		}
	}
	if gap == nil || gap.Until.Sub(gap.From) < time.Second {
		return nil
	}
	return gap
}

// endOf says when a process ended, and whether it was told to or, as far as anything tells, was not.
func endOf(g *rounds.Group, e *rounds.LifeEvent) string {
	at := "at " + seen(g, *e)
	if e.Late {
		at = "by " + seen(g, *e)
	}
	switch {
	case e.Told != "" && e.ToldRef == e.Ref:
		return fmt.Sprintf("was %s, and ended %s", e.Told, at)
	case e.Told != "":
		return fmt.Sprintf("was %s%s, and ended %s", e.Told, cite(g.Names, e.ToldRef), at)
	case e.Unannounced():
		return "ended without a good-bye " + at
	}
	return "ended " + at
}

// setBy says in which direction and by how much somebody set a clock.
func setBy(by time.Duration) string {
	if by < 0 {
		return "back by " + rounds.Span(-by)
	}
	return "forward by " + rounds.Span(by)
}

// startedAgain says when a process of a node began that had one before: by its first record, where it says nowhere that
// it began.
func startedAgain(g *rounds.Group, l *rounds.Life) string {
	by, at, ref := "by", l.From, l.First
	if len(l.Events) > 0 && l.Events[0].Kind == rounds.Started {
		by, at, ref = "at", l.Events[0].At, l.Events[0].Ref
	}
	refs, with := []rounds.Ref{ref}, ""
	if len(l.Changed) > 0 {
		with = ", with " + words.And(l.Changed...)
		if up := (rounds.Ref{Node: ref.Node, Incarnation: l.Incarnation}); up != ref {
			refs = append(refs, up)
		}
	}
	if l.Unsaved != nil {
		with += ", " + unsaved(l)
		refs = append(refs, l.Unsaved.Ref, l.Unsaved.Before)
	}
	return fmt.Sprintf("started again %s %s%s%s", by, when(g, at), with, cite(g.Names, refs...))
}

// unsaved says what a process lost that one before it had saved.
func unsaved(l *rounds.Life) string {
	what := "of its term"
	if l.Unsaved.What == rounds.Votes {
		what = "of what it voted"
	}
	return "with nothing saved " + what + ": it may have lost its disk"
}

// sighting is how others lost a node: they saw it end, or heard nothing of it.
type sighting struct {
	at    time.Time
	ended bool
	back  bool // it was there again later
	by    []uint64
	refs  []rounds.Ref
}

// tell says who saw it, and when the first of them did. is says that the node is gone still.
func (s *sighting) tell(g *rounds.Group, is bool) string {
	how, at := "was lost to %s %s%s", "at "+when(g, s.at)
	switch {
	case s.ended:
		how = "ended, as %s saw %s%s"
	case is && !s.back:
		how = "is silent, as %s noticed %s%s"
	}
	if len(s.by) > 1 {
		at = "from " + when(g, s.at) + " on"
	}
	slices.Sort(s.by)
	text := fmt.Sprintf(how, words.Nodes(s.by), at, proof(g.Names, rounds.PeersSaw, s.refs...))
	if s.back {
		text += ", and was there again later"
	}
	return text
}

// atOnce is within which time others see one end of a process: longer after each other, it may be that of the next one.
const atOnce = 2 * time.Second

// lossesSeen returns what happened to a node whose log is missing: how others lost it, also before they saw it again if
// that began a round. is says that it is gone still.
func lossesSeen(g *rounds.Group, id uint64, lost []rounds.Dropped, is bool) (list []clause) {
	seen := map[rounds.Ref]bool{}
	var all []sighting
	add := func(d *rounds.Detection) {
		still := func(l rounds.Dropped) bool { return !l.Again && !l.At.Before(d.At) }
		if !seen[d.Ref] {
			ended, back := rounds.EndedProcess(d.Evidence, id), !slices.ContainsFunc(lost, still)
			all = append(all, sighting{d.At, ended, back, []uint64{d.Node}, d.Refs()})
		}
		seen[d.Ref] = true
	}
	for _, r := range g.Rounds {
		if first := r.Cause.Detections; r.Cause.Lost == id && len(first) > 0 {
			for i := range first {
				seen[first[i].Ref] = i > 0
			}
			add(&first[0])
		}
	}
	for i := range lost {
		add(&lost[i].Detection)
	}
	slices.SortStableFunc(all, func(a, b sighting) int { return a.at.Compare(b.at) })
	for i := 0; i < len(all); i++ {
		one := &all[i]
		for i+1 < len(all) && all[i+1].ended == one.ended && all[i+1].back == one.back &&
			all[i+1].at.Sub(all[i].at) <= atOnce && !slices.Contains(one.by, all[i+1].by[0]) {
			i++
			one.by, one.refs = append(one.by, all[i].by...), append(one.refs, all[i].refs...)
		}
		list = append(list, clause{at: one.at, text: one.tell(g, is && i+1 == len(all))})
	}
	return list
}

// seen says when an event was, and who tells it.
func seen(g *rounds.Group, e rounds.LifeEvent) string {
	return when(g, e.At) + proof(g.Names, e.Known, e.Ref)
}

// seenLate says when a process fell silent, or went on, and who tells it. Peers notice that late.
func seenLate(g *rounds.Group, e rounds.LifeEvent) string {
	if e.Known != rounds.PeersSaw {
		return seen(g, e)
	}
	return when(g, e.At) + " at the latest" + proof(g.Names, e.Known, e.Ref)
}

// lostFor tells that a peer lost sight of a process that wrote soon after, with which the events begin, and until when.
func lostFor(g *rounds.Group, events []rounds.LifeEvent) string {
	text := fmt.Sprintf("was lost to node %d", events[0].Ref.Node)
	switch {
	case len(events) < 2 || events[1].Kind != rounds.Resumed:
		return fmt.Sprintf("%s at %s, but wrote on", text, seen(g, events[0]))
	case events[1].Known == rounds.PeersSaw:
		return fmt.Sprintf("%s from %s to %s, but wrote on", text, seen(g, events[0]), seen(g, events[1]))
	default:
		return fmt.Sprintf("%s at %s, and wrote at %s", text, seen(g, events[0]), seen(g, events[1]))
	}
}

// fellSilent reports whether with the event a process was there no more for others, or slept.
func fellSilent(e rounds.LifeEvent) bool { return e.Kind == rounds.Silent || e.Kind == rounds.Paused }

// absence tells of an absence, with which the events begin, and how many of them are about it.
func absence(g *rounds.Group, events []rounds.LifeEvent) (text string, about int) {
	slept, from, to := false, seenLate(g, events[0]), ""
	for about < len(events) && fellSilent(events[about]) {
		slept = slept || events[about].Kind == rounds.Paused
		about++
	}
	if first := events[0]; first.Known == rounds.PeersSaw && !slept { // the others may have heard it
		to = fmt.Sprintf(" to node %d", first.Ref.Node)
	}
	switch {
	case about == len(events):
		return fmt.Sprintf("is silent%s since %s", to, from), about
	case events[about].Kind != rounds.Resumed:
		return fmt.Sprintf("was silent%s from %s on", to, from), about
	}
	text = fmt.Sprintf("was silent%s from %s to %s", to, from, seenLate(g, events[about]))
	if slept {
		text += ", hung or paused by its own word"
	}
	return text, about + 1
}
