package report

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/ringleader-dev/ringleader/internal/words"
	"github.com/ringleader-dev/ringleader/rounds"
)

// List writes who leads now, how long nobody led, and one line for each change of leadership, of those that the
// selection chooses.
func List(w io.Writer, g *rounds.Group, s Selection) error {
	p := page{names: g.Names}
	p.line("%s (%s)", words.Upper(clusterName(g.Cluster, g.Algorithm, g.Run, g.Era)), g.Guarantee)
	p.summary(g)
	if s.Limited() {
		p.line("All of that is about all records, from %s to %s; what begins between --since and --until:",
			dated(g.From), dated(g.Until))
	}
	p.columns()
	shown, left := s.on(g).choose(g.Rounds)
	if left += s.retained[clusterName(g.Cluster, g.Algorithm, g.Run, g.Era)]; left > 0 {
		p.line("%6s  %s before; --last %d shows them, too", "…", words.Plural(left, "line"), left+len(shown))
	}
	days := spansDays(g)
	for _, r := range shown {
		if !s.Findings {
			p.row(r, days)
		}
		p.findings(r.Findings)
	}
	p.findings(g.Loose)
	if len(shown)+left == 0 && s.Limited() && !s.Findings {
		p.line("%6s  nothing began then: the records are from %s to %s", "…", dated(g.From), dated(g.Until))
	}
	return p.to(w)
}

// dated returns a time with its date.
func dated(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05") }

// Selection says which rounds are listed.
type Selection struct {
	// Zero for no limit. In the year 0 they are times of the day of the last record.
	Since, Until time.Time
	Last         int  // how many of the rounds; 0 for all
	Findings     bool // only findings

	retained map[string]int             // by group: how many lines Retain left out
	terms    map[string]map[uint64]bool // by group: those that Retain found between Since and Until
}

// Limited reports whether the selection leaves rounds out because of their time.
func (s *Selection) Limited() bool { return !s.Since.IsZero() || !s.Until.IsZero() }

// Retain is for rounds.Bounds: it returns the rounds that the list needs. The list says how many lines it left out.
func (s *Selection) Retain(over []*rounds.Round) []*rounds.Round {
	if len(over) == 0 || s.Since.Year() == 0 || s.Until.Year() == 0 {
		return over // of which day is known at the end
	}
	s.note(over)
	list, left := s.choose(over)
	if s.retained == nil {
		s.retained = map[string]int{}
	}
	r := over[0]
	s.retained[clusterName(r.Cluster, r.Algorithm, r.Run, r.Era)] += left
	return list
}

// RetainWhole is for rounds.Bounds: it returns the rounds that Select chooses.
func (s *Selection) RetainWhole(over []*rounds.Round) []*rounds.Round {
	if len(over) == 0 || s.Since.Year() == 0 || s.Until.Year() == 0 {
		return over
	}
	s.note(over)
	return s.pick(over)
}

// note keeps which of the rounds of one group began between Since and Until.
func (s *Selection) note(over []*rounds.Round) {
	if !s.Limited() {
		return
	}
	name := clusterName(over[0].Cluster, over[0].Algorithm, over[0].Run, over[0].Era)
	if s.terms == nil {
		s.terms = map[string]map[uint64]bool{}
	}
	if s.terms[name] == nil {
		s.terms[name] = map[uint64]bool{}
	}
	for _, r := range over {
		if s.within(began(r)) {
			s.terms[name][r.Term] = true
		}
	}
}

// Found returns the findings of a group that are about a time between Since and Until.
func (s Selection) Found(g *rounds.Group) []rounds.Finding {
	if !s.Limited() {
		return g.Findings
	}
	there := maps.Clone(s.terms[clusterName(g.Cluster, g.Algorithm, g.Run, g.Era)])
	if there == nil {
		there = map[uint64]bool{}
	}
	for _, r := range g.Rounds {
		if s.on(g).within(began(r)) {
			there[r.Term] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(g.Findings), func(f rounds.Finding) bool {
		return f.Term != 0 && !there[f.Term]
	})
}

// pick returns the rounds that Select chooses.
func (s Selection) pick(all []*rounds.Round) []*rounds.Round {
	list := slices.DeleteFunc(slices.Clone(all), func(r *rounds.Round) bool {
		return !s.within(began(r)) || s.Findings && len(r.Findings) == 0
	})
	if s.Last > 0 && len(list) > s.Last {
		list = list[len(list)-s.Last:]
	}
	return list
}

// choose returns the rounds that have a line, and how many more it left out because of Last. A round that brought no
// leader is folded into the one that did, unless it has findings.
func (s Selection) choose(all []*rounds.Round) (list []*rounds.Round, left int) {
	for _, r := range all {
		switch {
		case !s.within(began(r)):
		case s.Findings && len(r.Findings) == 0:
		case r.Incident != nil && r.Term != lastOf(r.Incident) && len(r.Findings) == 0:
		default:
			list = append(list, r)
		}
	}
	if s.Last > 0 && len(list) > s.Last {
		left = len(list) - s.Last
		list = list[left:]
	}
	return list, left
}

// on puts a time of day on the day of the last record. If Since is the later one, they go over midnight.
func (s Selection) on(g *rounds.Group) Selection {
	over := s.Since.Year() == 0 && s.Until.Year() == 0 && s.Until.Before(s.Since)
	for _, t := range []*time.Time{&s.Since, &s.Until} {
		if t.Year() == 0 {
			y, m, d := g.Until.UTC().Date()
			*t = t.AddDate(y, int(m)-1, d-1)
		}
	}
	switch {
	case over && g.Until.Before(s.Since):
		s.Since = s.Since.AddDate(0, 0, -1)
	case over:
		s.Until = s.Until.AddDate(0, 0, 1)
	}
	return s
}

// within reports whether t is between Since and Until.
func (s Selection) within(t time.Time) bool {
	return !t.Before(s.Since) && (s.Until.IsZero() || !t.After(s.Until))
}

// Select returns the part of the history that the selection chooses, with its findings.
func Select(h *rounds.History, s Selection) *rounds.History {
	part := *h
	part.Groups = nil
	for _, g := range h.Groups {
		one := *g
		one.Rounds = s.on(g).pick(g.Rounds)
		has := func(term uint64) bool {
			return slices.ContainsFunc(one.Rounds, func(r *rounds.Round) bool { return r.Term == term })
		}
		one.Incidents = slices.DeleteFunc(slices.Clone(g.Incidents), func(in rounds.Incident) bool {
			return !slices.ContainsFunc(in.Terms, has)
		})
		one.Findings = slices.DeleteFunc(slices.Clone(g.Findings), func(f rounds.Finding) bool {
			return f.Term != 0 && !has(f.Term)
		})
		part.Groups = append(part.Groups, &one)
	}
	return &part
}

// lastOf returns the last term of an incident.
func lastOf(in *rounds.Incident) uint64 { return in.Terms[len(in.Terms)-1] }

// row is the format of a line in the list of rounds.
const row = "%6s  %-12s  %6s  %-8s %5s  %8s  %8s  %8s  %8s  %s%s"

// Header writes the name of a cluster and the titles of the columns.
func Header(w io.Writer, cluster, algorithm, guarantee string, run int) error {
	var p page
	p.line("%s (%s)", words.Upper(clusterName(cluster, algorithm, run, 0)), guarantee)
	p.columns()
	return p.to(w)
}

func (p *page) columns() {
	p.line(row, "TERM", "AT", "LEADER", "FOLLOW", "SENT", "DETECT", "ELECT", "ANNOUNCE", "NOBODY", "BECAUSE",
		" [RECORDS]")
}

// Line writes a round in one line, and below it its findings.
func Line(w io.Writer, names *rounds.Names, r *rounds.Round) error {
	p := page{names: names}
	p.Grow(2 * width)
	p.row(r, false)
	p.findings(r.Findings)
	return p.to(w)
}

func (p *page) row(r *rounds.Round, dated bool) {
	leader, follow := "nobody", "-"
	if r.Winner != nil {
		leader = strconv.FormatUint(r.Winner.Node, 10)
		followers := len(in(r, rounds.PartFollower))
		expected := followers + len(in(r, rounds.PartBehind))
		follow = strconv.Itoa(followers) + " of " + strconv.Itoa(expected)
	}
	from, elect := began(r), known(r.Split.Elect, r.Split.ElectKnown)
	if folds(r) { // it counts from the first of the terms
		from, elect = r.Incident.From, known(r.Incident.Leaderless, r.Incident.Ended.Kind != rounds.EndedUnseen)
	}
	at := clock(from)
	if dated && !from.IsZero() {
		at = from.UTC().Format("01-02 15:04:05")
	}
	p.line(row, terms(r), at, leader, follow, sentAtLeast(r), known(r.Split.Detect, r.Split.DetectKnown),
		elect, known(r.Split.Announce, r.Split.AnnounceKnown), leaderless(r), why(r), rowProof(p.names, r))
}

// rowProof names the records of the line of a round.
func rowProof(names *rounds.Names, r *rounds.Round) string {
	won, known := winnerRefs(r)
	list := slices.Concat(causeRefs(r), won)
	if in := r.Incident; whole(r) {
		list = slices.Concat(in.Records, list)
		if known = weaker(known, in.Ended.Known); in.Absent() {
			known = rounds.Inferred
		}
	}
	return proof(names, known, list...)
}

// terms returns "7", or "5-7" if the terms before brought no leader.
func terms(r *rounds.Round) string {
	if !folds(r) {
		return strconv.FormatUint(r.Term, 10)
	}
	return fmt.Sprintf("%d-%d", r.Incident.Terms[0], r.Term)
}

// folds reports whether the line of the round is also about terms before it that brought no leader.
func folds(r *rounds.Round) bool {
	in := r.Incident
	return in != nil && len(in.Terms) > 1 && r.Term == lastOf(in)
}

// sentAtLeast returns how many messages the round took, or at least took.
func sentAtLeast(r *rounds.Round) string {
	n := strconv.Itoa(sent(r))
	if r.AtLeast {
		return "≥" + n
	}
	return n
}

// leaderless says for how long nobody led before the round's winner did, or since.
func leaderless(r *rounds.Round) string {
	in := r.Incident
	switch {
	case in == nil || r.Term != lastOf(in) || r.Winner != nil && in.Leader != r.Winner.Node:
		return "-"
	case in.Ended.Kind == rounds.EndedUnseen && in.Perhaps.IsZero() && in.Leaderless > 0:
		return "≥" + rounds.Span(in.Leaderless)
	case in.Ended.Kind == rounds.EndedUnseen && in.Perhaps.IsZero():
		return "?"
	case in.Bounded():
		return "≤" + rounds.Span(in.AtMost())
	}
	return rounds.Span(in.Leaderless)
}

// why says why the leadership changed, in half a line: which voters were missing, or what began the round.
func why(r *rounds.Round) string {
	if whole(r) {
		return r.Incident.Why
	}
	return because(r)
}

// whole reports whether the line of the round says why its whole incident came about.
func whole(r *rounds.Round) bool {
	in := r.Incident
	return in != nil && (in.Absent() || folds(r) || r.Term == lastOf(in) && (in.Held() || in.Former != 0 &&
		(r.Cause.Kind == rounds.HigherRank || r.Cause.Kind == rounds.HandOver)))
}

func (p *page) findings(list []rounds.Finding) {
	for _, f := range list {
		p.line("        ! %s: %s%s", f.Name, f.Text, cite(p.names, f.Records...))
	}
}

// summary writes who leads at the end of the records, which nodes run, and how long nobody led.
func (p *page) summary(g *rounds.Group) {
	if len(g.Mixed) > 0 {
		p.line("These are two clusters under one label: %s were two processes each at once. It is mixed up below.",
			shortIDs(g.Mixed))
		p.WriteByte('\n')
		return
	}
	if g.Run > 0 {
		return
	}
	if len(g.Leaderships) == 0 {
		p.neverLed(g)
		return
	}
	now := []string{present(g), upAndDown(g)}
	if !g.Replaced.IsZero() {
		now = []string{fmt.Sprintf("All of its processes had ended by %s, when the cluster was made anew.",
			dated(g.Replaced))}
	}
	for _, line := range append(now, withoutLeader(g)) {
		if line != "" {
			p.line("%s", line)
		}
	}
	p.WriteByte('\n')
}

// neverLed writes which voters cannot make a leader, where nobody ever led.
func (p *page) neverLed(g *rounds.Group) {
	var ids []uint64
	var by []rounds.Ref
	for _, n := range g.Nodes {
		if !n.Voteless.IsZero() {
			ids, by = append(ids, n.ID), append(by, n.Voteless)
		}
	}
	if len(ids) > 0 {
		p.line("Nobody led, as far as the records go: %s %s for nobody, since nothing is saved of earlier votes%s.",
			shortIDs(ids), words.Either(len(ids), "votes", "vote"), cite(g.Names, by...))
		p.WriteByte('\n')
	}
}

// present says who leads at the end of the records, or why nobody does.
func present(g *rounds.Group) string {
	if n := len(g.Incidents); n > 0 && g.Incidents[n-1].Leader == 0 {
		in := &g.Incidents[n-1]
		if in.Unsure() {
			led := g.Led(in.Former, in.FormerTerm)
			return fmt.Sprintf("Perhaps nobody leads since %s: %s%s. Or node %d leads term %d still, since %s%s.",
				when(g, in.Perhaps), in.Why, proofOf(g.Names, in, in.PerhapsRef), in.Former, in.FormerTerm,
				when(g, led.From), firstProof(g.Names, led))
		}
		latest := ""
		if in.Ended.Kind == rounds.EndedUnseen {
			latest = " at the latest"
		}
		return fmt.Sprintf("Nobody leads since %s%s: %s%s.", when(g, in.From), latest, in.Why, proofOf(g.Names, in))
	}
	var last *rounds.Leadership
	for i := range g.Leaderships {
		if r := &g.Leaderships[i]; r.End.IsZero() && (last == nil || r.Term > last.Term) {
			last = r
		}
	}
	if last == nil {
		return "The records do not tell who leads."
	}
	text := fmt.Sprintf("Node %d leads term %d since %s, as far as the records go%s", last.Leader, last.Term,
		when(g, last.From), firstProof(g.Names, last))
	if without, by := follow(g, 0); len(without) > 0 {
		return fmt.Sprintf("%s; but to %s nobody leads, by %s last %s%s.", text, words.Nodes(without),
			words.Either(len(without), "its", "their"), words.Either(len(without), "record", "records"),
			cite(g.Names, by...))
	}
	return text + "."
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
// ended, and those records.
func follow(g *rounds.Group, leader uint64) (ids []uint64, by []rounds.Ref) {
	for _, n := range g.Nodes {
		if n.Records > 0 && n.Leader == leader && lastEvent(&n).Kind != rounds.Ended {
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
	type condition struct {
		what  string
		known rounds.Confidence
	}
	ids, by, rest := map[condition][]uint64{}, map[condition][]rounds.Ref{}, 0
	var refused []uint64
	for _, n := range g.Nodes {
		e := lastEvent(&n)
		is := condition{"ended", e.Known}
		if n.Refused != nil && !n.Refused.Taken && e.Kind == rounds.Ended {
			refused = append(refused, n.ID)
		}
		switch {
		case n.Records == 0:
			is.what = "without a log here"
		case e.Kind == rounds.Silent || e.Kind == rounds.Paused:
			is.what = "silent"
		case e.Kind != rounds.Ended:
			rest++
			continue
		}
		ids[is], by[is] = append(ids[is], n.ID), append(by[is], e.Ref)
	}
	var parts []string
	for _, is := range []condition{
		{"ended", rounds.OwnWord},
		{"ended", rounds.PeersSaw},
		{"silent", rounds.OwnWord},
		{"silent", rounds.PeersSaw},
		{"without a log here", ""},
	} {
		if len(ids[is]) > 0 {
			parts = append(parts, fmt.Sprintf("%s %s%s", shortIDs(ids[is]), is.what,
				proof(g.Names, is.known, by[is]...)))
		}
	}
	if len(refused) > 0 {
		parts = append(parts, fmt.Sprintf("%s refused to run when started again", shortIDs(refused)))
	}
	const untold = "o record tells an end of the last process of "
	switch {
	case len(parts) == 0 && rest == 1:
		return fmt.Sprintf("N%s%s%s.", untold, words.Nodes([]uint64{g.Nodes[0].ID}), restarts(g))
	case len(parts) == 0:
		return fmt.Sprintf("N%sany of the %d nodes%s.", untold, rest, restarts(g))
	case rest > 0:
		parts = append(parts, "n"+untold+words.Either(rest, "the other", fmt.Sprintf("the other %d", rest)))
	}
	return fmt.Sprintf("Of %s, %s%s.", words.Plural(len(g.Nodes), "node"), words.And(parts...), restarts(g))
}

// restarts says when nodes were started again: "; node 3 restarted at 11:57:42.384 [3:1@a41c77f0]". Of many nodes it
// names the first ones.
func restarts(g *rounds.Group) string {
	const most = 3
	var parts []string
	more := 0
	for _, n := range g.Nodes {
		switch {
		case n.Restarts < 1:
			continue
		case len(parts) == most:
			more++
			continue
		}
		last := lastLife(&n)
		how := "at"
		if len(last.Events) == 0 || last.Events[0].Kind != rounds.Started {
			how = "by" // its first record is not of the start
		}
		if n.Restarts > 1 {
			how = fmt.Sprintf("%d times, last %s", n.Restarts, how)
		}
		parts = append(parts, fmt.Sprintf("node %d restarted %s %s%s", n.ID, how, when(g, last.From),
			cite(g.Names, last.First)))
	}
	if more > 0 {
		parts = append(parts, fmt.Sprintf("%d more restarted", more))
	}
	if len(parts) == 0 {
		return ""
	}
	return "; " + words.And(parts...)
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
	if in.Leaderless == 0 {
		text = fmt.Sprintf("%s; the longest at most %s from %s on", text, rounds.Span(in.AtMost()), when(g, in.Began()))
		return text + ": " + cmp.Or(in.Why, "no record says why") + proofOf(g.Names, in, in.PerhapsRef) + "."
	}
	least = ""
	if in.Ended.Kind == rounds.EndedUnseen {
		least = "at least "
	}
	text = fmt.Sprintf("%s; the longest %s%s from %s on", text, least, rounds.Span(in.Leaderless), when(g, in.From))
	if in.Bounded() {
		text += fmt.Sprintf(", or %s from %s on", rounds.Span(in.AtMost()), when(g, in.Began()))
	}
	return text + ": " + cmp.Or(in.Why, "no record says why") + proofOf(g.Names, in, in.PerhapsRef) + "."
}

// Vacant writes that nobody leads a cluster, since when and why.
func Vacant(w io.Writer, names *rounds.Names, v rounds.Vacancy) error {
	var p page
	if v.Unsure() {
		p.line("        * Perhaps nobody leads %s since %s: %s%s.", clusterName(v.Cluster, v.Algorithm, v.Run, 0),
			clock(v.Perhaps), v.Why, proofOf(names, &v.Incident, v.PerhapsRef))
		return p.to(w)
	}
	p.line("        * Nobody leads %s since %s: %s%s.", clusterName(v.Cluster, v.Algorithm, v.Run, 0), clock(v.From),
		v.Why, proofOf(names, &v.Incident))
	return p.to(w)
}
