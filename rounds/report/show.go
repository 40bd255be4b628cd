package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/internal/words"
	"github.com/ringleader-dev/ringleader/rounds"
)

// Show writes all of a round of a group. Times count from its beginning. With theory it also writes the rules that
// decided, what the messages mean, and what the round costs by the book.
func Show(w io.Writer, g *rounds.Group, r *rounds.Round, theory bool) error {
	p := page{names: g.Names, theory: theory}
	p.line("Term %d of %s (%s): %s", r.Term, clusterName(r.Cluster, r.Algorithm, r.Run, r.Era), r.Guarantee, outcome(r))
	p.WriteByte('\n')
	p.cause(r)
	p.participants(g, r)
	p.verdicts(r)
	p.steps(r)
	p.cost(r)
	for _, b := range r.LeftBehind {
		p.field("Left behind", "node %d: %s%s", b.Node, b.Reason, cite(p.names, b.Last))
	}
	label := "Findings"
	for _, f := range r.Findings {
		p.field(label, "%s: %s%s", f.Name, f.Text, cite(p.names, f.Records...))
		label = ""
	}
	label = "Not known"
	for _, u := range r.Unknown {
		p.field(label, "%s", u)
		label = ""
	}
	return p.to(w)
}

// outcome says how the round ended, in half a line.
func outcome(r *rounds.Round) string {
	switch r.State {
	case rounds.Superseded:
		if r.PerhapsLed {
			return "nobody led it, as far as the records tell; " + r.Superseding()
		}
		return "nobody led it; " + r.Superseding()
	case rounds.Undecided:
		return "nobody leads it, as far as the records go"
	}
	return r.Lead()
}

func (p *page) cause(r *rounds.Round) {
	c := r.Cause
	since, refs := "; no record says why", causeRefs(r)
	if why := told(c); why != "" {
		since = ", since " + why
	} else if asked, ok := r.FirstAsked(); ok && asked.Why != "" {
		since = fmt.Sprintf(", by the word of node %d: %s", asked.Candidate, asked.Why)
		refs = append(slices.Clone(refs), asked.By)
	}
	p.field("Began", "%s UTC%s%s", clock(began(r)), since, cite(p.names, refs...))
	for i, w := range c.Detections {
		label := ""
		if i == 0 {
			label = "Noticed by"
		}
		p.field(label, "node %d %s: %s%s", w.Node, after(w.At, c.At), w.Evidence, cite(p.names, w.Refs()...))
	}
	if !c.Back.IsZero() {
		p.field("", "but node %d was not dead: the same process wrote %s%s", c.Lost, after(c.BackAt, c.At),
			cite(p.names, c.Back))
	}
	for i, in := range r.Initiators {
		label := ""
		if i == 0 {
			label = "Called by"
		}
		p.field(label, "node %d %s: %s%s", in.Node, after(in.At, began(r)), in.Why, cite(p.names, in.Ref))
	}
	if w := r.Winner; w != nil && w.Why != "" {
		p.field("Won by", "node %d %s: %s%s", w.Node, after(w.At, began(r)), w.Why, cite(p.names, w.Ref))
		if w.Rule != "" && p.theory {
			p.field("", "“%s”", w.Rule)
		}
	}
	p.ballot(r)
	p.WriteByte('\n')
}

// ballot writes how each voter answered.
func (p *page) ballot(r *rounds.Round) {
	if r.Ballot == nil {
		return
	}
	p.field("Voters", "asked by node %d, %d of %d needed%s", r.Ballot.Candidate, r.Ballot.Majority(),
		len(r.Ballot.Voters), cite(p.names, r.Ballot.Ref))
	for _, v := range r.Ballot.Voices {
		p.field("", "node %d: %s%s", v.Voter, voice(v, r.Ballot.Candidate), cite(p.names, v.Vote, v.Ref))
	}
}

// voice says what a voter answered, in half a line.
func voice(v rounds.Voice, candidate uint64) string {
	text := "no answer in the records"
	switch {
	case v.Voter == candidate && v.Counted:
		return "granted, to itself"
	case v.Voter == candidate:
		return "yes, to itself"
	case v.Counted:
		text = "granted"
	case v.Granted:
		text = "granted, after it had won"
	case v.Yes:
		text = "yes"
	case v.No != "":
		text = "no"
	}
	if v.Late {
		text = "no, after it had won"
	}
	if v.No != "" {
		if text != "no" && !v.Late {
			text += "; no at first"
		}
		text += ": it " + denied(refusal{denial: v.Denial, to: v.To, why: v.No})
	}
	return text
}

// after says how long the time t was after the time zero.
func after(t, zero time.Time) string {
	if t.IsZero() || zero.IsZero() {
		return "at an unknown time"
	}
	d := t.Sub(zero)
	switch {
	case d == 0:
		return "first"
	case d < 0:
		return rounds.Span(-d) + " before"
	}
	return rounds.Span(d) + " later"
}

func (p *page) participants(g *rounds.Group, r *rounds.Round) {
	p.line("%12s  %-12s  %-9s  %10s  %5s  %8s %s", "NODE", "RANK", "PART", "FOLLOWED", "SENT", "RECEIVED", "[RECORD]")
	silent, more := 0, 0
	for _, m := range r.Participants {
		if m.Part == rounds.PartUnlogged && m.Sent+m.Received == 0 {
			if silent++; silent > namedIDs && len(r.Participants) > mostIDs {
				more++
				continue
			}
		}
		rank := "?"
		if m.Attr != nil {
			rank = fmt.Sprintf("%d, id %d", *m.Attr, m.Node)
		}
		followed := "-"
		if !m.BelievedAt.IsZero() && !began(r).IsZero() {
			if followed = rounds.Span(m.BelievedAt.Sub(began(r))); m.Late {
				followed = "≤" + followed
			}
		}
		p.line("%12d  %-12s  %-9s  %10s  %5d  %8d%s", m.Node, rank, m.Part, followed, m.Sent, m.Received,
			p.part(g, r, &m))
	}
	if more > 0 {
		p.line("%12s  and %d more that %s no log here", "…", more, words.Either(more, "has", "have"))
	}
	p.WriteByte('\n')
}

// part names the record that shows the part that a node had in the round.
func (p *page) part(g *rounds.Group, r *rounds.Round, m *rounds.Participant) string {
	switch m.Part {
	case rounds.PartWinner:
		won, known := winnerRefs(r)
		return proof(p.names, known, won[:min(len(won), 1)]...)
	case rounds.PartLost:
		return proof(p.names, rounds.PeersSaw, r.Cause.Ref)
	case rounds.PartDead:
		e := howEnded(g, r, m.Node)
		return proof(p.names, e.Known, e.Ref)
	}
	for _, list := range [][]rounds.Straggler{r.LeftBehind, r.Untold} {
		for _, b := range list {
			if b.Node == m.Node {
				return cite(p.names, b.Last)
			}
		}
	}
	if m.Believed.IsZero() {
		i := slices.IndexFunc(r.Steps, func(s rounds.Step) bool { return s.Ref.Node == m.Node })
		if i >= 0 {
			return cite(p.names, r.Steps[i].Ref)
		}
	}
	return cite(p.names, m.Believed)
}

func (p *page) verdicts(r *rounds.Round) {
	quoted := map[string]bool{}
	for i, v := range r.Verdicts {
		label := ""
		if i == 0 {
			label = "Decided"
		}
		p.field(label, "%s, by node %d: %s%s", decision(v), v.By, v.Why, cite(p.names, v.Ref))
		if v.Rule != "" && !quoted[v.Rule] && p.theory {
			quoted[v.Rule] = true
			p.field("", "“%s”", v.Rule)
		}
	}
	if len(r.Verdicts) > 0 {
		p.WriteByte('\n')
	}
}

// decision says which node lost to which.
func decision(v rounds.Verdict) string {
	if v.Kind == rounds.Refused {
		return fmt.Sprintf("%d is refused", v.Loser)
	}
	return fmt.Sprintf("%d loses to %d (%s)", v.Loser, v.Over, v.Kind)
}

// steps writes what each node did, in causal order.
func (p *page) steps(r *rounds.Round) {
	for i := range r.Steps {
		if i == r.Aftermath && i > 0 {
			p.line("   afterwards:")
		}
		p.step(r, &r.Steps[i])
	}
	p.WriteByte('\n')
}

func (p *page) step(r *rounds.Round, s *rounds.Step) {
	const indent = 22
	at := rounds.Span(s.At.Sub(began(r)))
	head := fmt.Sprintf("%11s  %6d  ", at, s.Ref.Node)
	first := headline(r, s) + cite(p.names, s.Ref)
	for _, text := range slices.Concat([]string{first}, s.Why, bursts(r, s), belief(s)) {
		for i, line := range Wrap(rounds.Printable(text), width-indent) {
			if i > 0 {
				line = "  " + line
			}
			fmt.Fprintf(p, "%-*s %s\n", indent-1, head, line)
			head = ""
		}
	}
}

// headline returns the event of a step as text.
func headline(r *rounds.Round, s *rounds.Step) string {
	switch s.Event {
	case "receive":
		text := "< " + s.Detail
		if s.Received >= 0 {
			text += fmt.Sprintf(" from %d", r.Messages[s.Received].From)
		}
		return text
	case "peers":
		text := "sees " + spaced(s.Alive)
		if s.Evidence != "" {
			text += " (" + s.Evidence + ")"
		}
		return text
	}
	if s.Detail != "" {
		return s.Event + ": " + s.Detail
	}
	return s.Event
}

// Of more ids than mostIDs only the first few are named.
const mostIDs, namedIDs = 128, 16

func spaced(ids []uint64) string {
	more := ""
	if len(ids) > mostIDs {
		more = fmt.Sprintf(" and %d more", len(ids)-namedIDs)
		ids = ids[:namedIDs]
	}
	texts := make([]string, len(ids))
	for i, id := range ids {
		texts[i] = fmt.Sprint(id)
	}
	return strings.Join(texts, " ") + more
}

// bursts writes the messages that a step sent. It joins messages of one kind that follow each
// other: "ELECTION > 4 5". It marks messages without a receipt.
func bursts(r *rounds.Round, s *rounds.Step) (lines []string) {
	last := ""
	for _, i := range s.Sent {
		m := r.Messages[i]
		if len(lines) == 0 || m.Kind != last {
			lines, last = append(lines, m.Kind+" >"), m.Kind
		}
		lines[len(lines)-1] += fmt.Sprintf(" %d%s", m.To, deliveryMarks[m.Delivery])
	}
	return lines
}

// deliveryMarks stand behind the receiver of a message.
var deliveryMarks = map[rounds.Delivery]string{
	rounds.Lost: " (lost)", rounds.ToGone: " (gone)", rounds.Unseen: " (no receipt)",
}

func belief(s *rounds.Step) []string {
	switch {
	case s.Change == "":
		return nil
	case s.Leader == s.Ref.Node:
		return []string{"= leads (" + s.Change + ")"}
	case s.Leader == 0:
		return []string{"= nobody leads (" + s.Change + ")"}
	}
	return []string{fmt.Sprintf("= follows %d (%s)", s.Leader, s.Change)}
}

// cost writes the messages beside the theory, and the time.
func (p *page) cost(r *rounds.Round) {
	p.field("Messages", "%s", messages(r))
	if p.theory {
		for _, said := range meanings(r) {
			p.field("", "%s", said)
		}
	}
	if t := r.Theory; t != nil && p.theory {
		p.field("Theory", "%s", theory(t, r.AtLeast))
	}
	if t := votesTheory(r); t != nil && p.theory {
		p.field("The votes", "besides, %s", theory(t, r.AtLeast))
	}
	p.field("Time", "%s", split(r))
}

// messages returns a text like "ELECTION 10, OK 7, COORDINATOR 3: 20 in all".
func messages(r *rounds.Round) string {
	if len(r.Counts) == 0 {
		return "none"
	}
	if r.AtLeast {
		return fmt.Sprintf("%s: %d in all, at least", kinds(r), sent(r))
	}
	return fmt.Sprintf("%s: %d in all", kinds(r), sent(r))
}

// kinds returns a text like "COORDINATOR 3, ELECTION 10, OK 7".
func kinds(r *rounds.Round) string {
	texts := make([]string, len(r.Counts))
	for i, c := range r.Counts {
		texts[i] = fmt.Sprintf("%s %d", c.Kind, c.Sent)
	}
	return strings.Join(texts, ", ")
}

// votesTheory returns the cost of the votes and their theory, or nil if there is none.
func votesTheory(r *rounds.Round) *rounds.Theory {
	if r.Ballot == nil {
		return nil
	}
	return r.Ballot.Theory
}

// theory says what a round costs at best and at worst, and what this one cost, or at least cost.
func theory(t *rounds.Theory, atLeast bool) string {
	text := fmt.Sprintf("with %d alive and no failure, %d at best (%s) and %d at worst (%s)",
		t.Live, t.Best, t.BestCase, t.Worst, t.WorstCase)
	if where := fell(t, atLeast); where != "" {
		text += ": " + where
	}
	return text
}

// fell says where the round lies between best and worst. It returns "" if the records tell only of too few messages.
func fell(t *rounds.Theory, atLeast bool) string {
	switch {
	case atLeast && t.Sent <= t.Best:
		return ""
	case atLeast && t.Sent <= t.Worst:
		return fmt.Sprintf("at least %d more than the best", t.Sent-t.Best)
	case atLeast:
		return fmt.Sprintf("at least %d more than the worst", t.Sent-t.Worst)
	case t.Sent > t.Worst:
		return fmt.Sprintf("%d more than the worst", t.Sent-t.Worst)
	case t.Sent == t.Worst:
		return "the worst case"
	case t.Sent == t.Best:
		return "the best case"
	case t.Sent < t.Best:
		return fmt.Sprintf("%d fewer than the best", t.Best-t.Sent)
	}
	return fmt.Sprintf("%d more than the best, %d fewer than the worst", t.Sent-t.Best, t.Worst-t.Sent)
}

// ledOn says for how long the former leader led on when the election had begun. Under a lease it may have been frozen.
func ledOn(r *rounds.Round) string {
	if algorithms.Guarantee(r.Guarantee).Leases() {
		return "the leader's lease held for " + rounds.Span(r.Split.LedOn)
	}
	return "the leader led on for " + rounds.Span(r.Split.LedOn)
}

// split says where the time went.
func split(r *rounds.Round) string {
	s := r.Split
	var parts []string
	if r.Cause.Lost != 0 {
		parts = append(parts, "detect "+detectWords(r))
	}
	if s.LedOn > 0 {
		parts = append(parts, ledOn(r))
	}
	if s.ElectKnown {
		parts = append(parts, "elect "+rounds.Span(s.Elect))
	}
	if s.AnnounceKnown {
		parts = append(parts, "announce "+rounds.Span(s.Announce))
	}
	text := cmp.Or(strings.Join(parts, ", "), "not known")
	switch {
	case !s.ElectKnown && !s.AnnounceKnown && !s.DetectKnown && s.LedOn+s.DetectBound == 0: // no time is told
	case s.Estimated && s.Error == 0:
		text += "; clocks differ, so these are estimates, and no messages tell how far off they are"
	case s.Estimated:
		text += fmt.Sprintf("; clocks differ, so these are estimates, right within %s", rounds.Span(s.Error))
	}
	return text
}

func detectWords(r *rounds.Round) string {
	switch s := r.Split; {
	case s.DetectKnown:
		return rounds.Span(s.Detect)
	case s.DetectBound > 0:
		return fmt.Sprintf("not measured, %s at most (since the last record of node %d)", rounds.Span(s.DetectBound),
			r.Cause.Lost)
	}
	return "not known"
}
