package report

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ringleader-dev/ringleader/internal/words"
	"github.com/ringleader-dev/ringleader/rounds"
)

// List writes who leads now, how long nobody led, and one line for each change of leadership, of those that the
// selection chooses.
func List(w io.Writer, g *rounds.Group, s Selection) error {
	p := page{names: g.Names}
	p.line("%s (%s)", words.Upper(clusterName(g.Cluster, g.Algorithm, g.Run, g.Era)), g.Guarantee)
	shown, left := s.on(g).choose(g.Rounds)
	left += s.retained[clusterName(g.Cluster, g.Algorithm, g.Run, g.Era)]
	none := len(shown)+left == 0
	if p.summary(g); none && !s.Limited() && !s.Findings && len(g.Leaderships) == 0 {
		p.line("No election in these records, which are from %s to %s.", dated(g.From), dated(g.Until))
		p.findings(g.Loose)
		return p.to(w)
	}
	if s.Limited() {
		p.line("All of that is about all records, from %s to %s; what began, or went on without a leader, "+
			"between --since and --until:", dated(g.From), dated(g.Until))
	}
	if !none {
		p.columns()
	}
	if left > 0 {
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
	switch {
	case !none || s.Findings && len(g.Loose) > 0:
	case s.Findings && s.Limited():
		p.line("%6s  nothing that began then is wrong, as far as the records tell", "…")
	case s.Findings && vacancy(g) != nil:
		p.line("%6s  nothing else is wrong, as far as the records tell", "…")
	case s.Findings:
		p.line("%6s  nothing is wrong, as far as the records tell", "…")
	case s.Limited() && slices.ContainsFunc(g.Incidents, func(in rounds.Incident) bool { return s.on(g).touches(&in) }):
		p.line("%6s  no election began then; for how long nobody led, see above", "…")
	case s.Limited():
		p.line("%6s  nothing began then: the records are from %s to %s", "…", dated(g.From), dated(g.Until))
	}
	if !s.Findings && g.Run == 0 && len(g.Mixed) == 0 {
		var from time.Time
		if left > 0 && len(shown) > 0 {
			from = began(shown[0])
		}
		p.lives(g, s.on(g), from)
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

// OfTheDay reports whether a limit is a time of the day of the last record, which is known at the end.
func (s *Selection) OfTheDay() bool { return s.Since.Year() == 0 || s.Until.Year() == 0 }

// Retain is for rounds.Bounds: it returns the rounds that the list needs. The list says how many lines it left out.
func (s *Selection) Retain(over []*rounds.Round) []*rounds.Round {
	if len(over) == 0 || s.OfTheDay() {
		return over
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
	if len(over) == 0 || s.OfTheDay() {
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
		if s.has(r) {
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
		if s.on(g).has(r) {
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
		return !s.has(r) || s.Findings && len(r.Findings) == 0
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
		case !s.has(r):
		case s.Findings && len(r.Findings) == 0:
		case r.Incident != nil && r.Term != r.Incident.MainTerm() && len(r.Findings) == 0:
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

// has reports whether the round began between Since and Until, or one of those that are folded into its line did, or
// somewhen between them nobody led, until the round brought a leader.
func (s Selection) has(r *rounds.Round) bool {
	first, last := began(r), lineBegan(r)
	if last.Before(first) {
		first, last = last, first
	}
	return !last.Before(s.Since) && (s.Until.IsZero() || !first.After(s.Until)) ||
		r.Incident != nil && s.touches(r.Incident) || slices.ContainsFunc(r.Further, s.touches)
}

// touches reports whether nobody led, or may have led, somewhen between Since and Until.
func (s Selection) touches(in *rounds.Incident) bool {
	from := in.Began()
	return in.Former != 0 && from.Before(in.Until) && in.Until.After(s.Since) &&
		(s.Until.IsZero() || from.Before(s.Until))
}

// Select returns the part of the history that the selection chooses, with its findings. That nobody leads at the end of
// the records is a part of each.
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
			return in.Leader != 0 && !slices.ContainsFunc(in.Terms, has)
		})
		one.Findings = slices.DeleteFunc(slices.Clone(g.Findings), func(f rounds.Finding) bool {
			return f.Term != 0 && !has(f.Term)
		})
		part.Groups = append(part.Groups, &one)
	}
	return &part
}

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
	p.line(row, "TERM", "BEGAN", "LEADER", "FOLLOW", "SENT", "DETECT", "ELECT", "ANNOUNCE", "NOBODY", "BECAUSE",
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

// leaders names the winner of a round or, if several nodes led its term, all of them: "4, 5".
func leaders(r *rounds.Round) string {
	if r.Winner == nil {
		return "nobody"
	}
	ids := r.Leaders()
	names := make([]string, len(ids))
	for i, id := range ids {
		names[i] = strconv.FormatUint(id, 10)
	}
	return strings.Join(names, ", ")
}

func (p *page) row(r *rounds.Round, dated bool) {
	from := lineBegan(r)
	at := clock(from)
	if dated && !from.IsZero() {
		at = from.UTC().Format("01-02 15:04:05")
	}
	split := &r.Split
	p.line(row, terms(r), at, leaders(r), followed(r), sentAtLeast(r), known(split.Detect, split.DetectKnown),
		known(split.Elect, split.ElectKnown), known(split.Announce, split.AnnounceKnown), Leaderless(r), why(r),
		rowProof(p.names, r))
	for _, in := range r.Further {
		p.further(in)
	}
}

// followed says how many nodes followed of those that were there, as "3 of 4": "≥3 of 4" if no record tells whether
// another one did, and "3 of ≥3" if another one followed that may have been there; "-" if no other is known to have
// been there.
func followed(r *rounds.Round) string {
	followers, untold := len(in(r, rounds.PartFollower)), len(in(r, rounds.PartUntold))
	expected := followers + untold + len(in(r, rounds.PartBehind))
	if r.Winner == nil || expected == 0 {
		return "-"
	}
	least, there := "", ""
	if untold > 0 {
		least = "≥"
	}
	if len(in(r, rounds.PartLater)) > 0 {
		there = "≥"
	}
	return fmt.Sprintf("%s%d of %s%d", least, followers, there, expected)
}

func (p *page) further(in *rounds.Incident) {
	p.line("        * %s", strings.Join(further(p.names, in), " "))
}

// Further writes that another node came to lead a term whose round was written before.
func Further(w io.Writer, names *rounds.Names, v rounds.Vacancy) error {
	p := page{names: names}
	p.further(&v.Incident)
	return p.to(w)
}

// rowProof names the records of the line of a round.
func rowProof(names *rounds.Names, r *rounds.Round) string {
	won, known := winnerRefs(r)
	list := slices.Concat(causeRefs(r), won)
	if r.Meanwhile != nil {
		list = append(list, r.Meanwhile.Records...)
	}
	if in := r.Incident; whole(r) {
		list = slices.Concat(in.Records, list)
		if known = weaker(known, in.Ended.Known); in.Absent() {
			known = rounds.Inferred
		}
	}
	return proof(names, known, list...)
}

// terms returns "7", or "5-7" if the terms before brought no leader, or "5-7 (9)" if term 9 was called before that,
// too.
func terms(r *rounds.Round) string {
	if !folds(r) {
		return strconv.FormatUint(r.Term, 10)
	}
	all := r.Incident.Terms
	after := slices.Index(all, r.Term) + 1
	text := span(all[:after], "-")
	if after < len(all) {
		text += " (" + span(all[after:], "-") + ")"
	}
	return text
}

// span names the first and the last of some terms.
func span(terms []uint64, to string) string {
	if first, last := terms[0], terms[len(terms)-1]; first != last {
		return fmt.Sprintf("%d%s%d", first, to, last)
	}
	return strconv.FormatUint(terms[0], 10)
}

// folds reports whether the line of the round is also about other terms, which brought no leader.
func folds(r *rounds.Round) bool {
	in := r.Incident
	return in != nil && len(in.Terms) > 1 && r.Term == in.MainTerm()
}

// lineBegan returns when that began which the line of the round tells.
func lineBegan(r *rounds.Round) time.Time {
	if in := r.Incident; folds(r) && (in.Leaderless > 0 || !in.Sooner.IsZero() && in.AtMost() > 0) {
		return in.From
	}
	return began(r)
}

// sentAtLeast returns how many messages the round took, or at least took; "-" if that is not known at all.
func sentAtLeast(r *rounds.Round) string {
	n := sent(r)
	switch {
	case r.AtLeast && n == 0:
		return "-"
	case r.AtLeast:
		return "≥" + strconv.Itoa(n)
	}
	return strconv.Itoa(n)
}

// Leaderless says for how long nobody led before the round's winner did, or since: "≥16.2 s", "?" where no record
// tells, and "-" if another line says it.
func Leaderless(r *rounds.Round) string {
	in := r.Incident
	switch {
	case in == nil || r.Term != in.MainTerm() || r.Winner != nil && in.Leader != r.Winner.Node:
		return "-"
	case in.AtLeast() && in.Surely() > 0:
		return "≥" + rounds.Span(in.Leaderless)
	case in.Bounded() && (in.Ended.Kind != rounds.EndedUnseen || !in.Perhaps.IsZero()):
		return "≤" + rounds.Span(in.AtMost())
	case in.AtLeast():
		return "?"
	case in.PerhapsLed:
		return "≤" + rounds.Span(in.Leaderless)
	}
	return rounds.Span(in.Leaderless)
}

// why says why the leadership changed, in half a line: which voters were missing, or what began the round.
func why(r *rounds.Round) string {
	if whole(r) {
		return r.Incident.Why
	}
	if led := r.Meanwhile; led != nil {
		return fmt.Sprintf("%s, in vain: node %d led term %d", because(r), led.Leader, led.Term)
	}
	return because(r)
}

// whole reports whether the line of the round says why its whole incident came about.
func whole(r *rounds.Round) bool {
	in := r.Incident
	return in != nil && (in.Absent() || folds(r) ||
		r.Term == in.MainTerm() && (in.Held() || in.Former != 0 && begunBy(r)))
}

// begunBy reports whether what the leader before did began the round, so that its incident tells more of that; or that
// nothing else tells why it began.
func begunBy(r *rounds.Round) bool {
	switch r.Cause.Kind {
	case rounds.HigherRank, rounds.HandOver, rounds.EntryLost, rounds.Vacant, rounds.NomineeLost:
		return true
	case rounds.LeaderLost, rounds.LeaderSilent: // it may have answered again, and been asked to hand over
		return r.Cause.Lost == r.Incident.Former && r.Incident.StoppedFirst()
	case rounds.Unexplained, rounds.RoundFailed, rounds.FirstLeader, rounds.Renominated:
		if unexplained(r.Cause) {
			return !unseen(r.Incident)
		}
		ended := r.Incident.Ended
		return ended.Kind == rounds.EndedByWord || ended.Kind == rounds.EndedByProcess ||
			ended.Kind == rounds.EndedByLease ||
			ended.Kind == rounds.EndedUnseen && ended.Ref.Node == r.Incident.Former
	}
	return false
}

func (p *page) findings(list []rounds.Finding) {
	for _, f := range list {
		p.line("        ! %s: %s%s", f.Name, f.Text, cite(p.names, f.Records...))
	}
}

// Begun writes that a node leads a cluster, of whose round more is to come.
func Begun(w io.Writer, names *rounds.Names, v rounds.Vacancy) error {
	var p page
	p.line("        * Node %d leads %s since %s, in term %d, of which records still come%s.", v.Leader,
		clusterName(v.Cluster, v.Algorithm, v.Run, 0), clock(v.Until), v.Term, cite(names, v.Records...))
	return p.to(w)
}

// Vacant writes that nobody leads a cluster, since when and why.
func Vacant(w io.Writer, names *rounds.Names, v rounds.Vacancy) error {
	var p page
	if v.Unsure() {
		p.line("        * Perhaps nobody leads %s since %s: %s%s.", clusterName(v.Cluster, v.Algorithm, v.Run, 0),
			clock(v.Perhaps), v.Why, proofOf(names, &v.Incident, v.PerhapsRef))
		return p.to(w)
	}
	p.line("        * Nobody leads %s since %s: %s%s.", clusterName(v.Cluster, v.Algorithm, v.Run, 0),
		since(&v.Incident, clock), v.Why, proofOf(names, &v.Incident, v.PerhapsRef))
	return p.to(w)
}
