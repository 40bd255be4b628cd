package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/internal/words"
	"github.com/ringleader-dev/ringleader/rounds"
)

// Explain writes a round of a group in sentences: how long nobody led, what happened, why it ended so, what it cost,
// what is wrong with it. Each ends in the records that prove it. With theory it also writes the rules that decided, and
// what the round costs by the book.
func Explain(w io.Writer, g *rounds.Group, r *rounds.Round, theory bool) error {
	var p page
	p.paragraph(incident(g.Names, r.Incident)...)
	p.paragraph(beginning(g.Names, r)...)
	p.paragraph(middle(g, r, theory)...)
	p.paragraph(cost(r, theory)...)
	for _, in := range r.Further {
		p.paragraph(further(g.Names, in)...)
	}
	for _, f := range r.Findings {
		p.paragraph(fmt.Sprintf("What is wrong: %s%s", f.Text, cite(g.Names, f.Records...)))
	}
	if len(r.Unknown) > 0 {
		p.items("Not known:", r.Unknown)
	}
	return p.to(w)
}

// incident says for how long nobody led, and why, if it was for longer than an election takes.
func incident(names *rounds.Names, in *rounds.Incident) (sentences []string) {
	if in == nil || in.Former == 0 {
		return nil
	}
	untold := fmt.Sprintf("o record tells until when node %d led term %d.", in.Former, in.FormerTerm)
	if unseen(in) && in.Leaderless == 0 {
		return []string{"For how long nobody led before is not known: n" + untold}
	}
	if in.Between != 0 && in.Leaderless == 0 && !in.Bounded() {
		return []string{"For how long nobody led before is not known: " + between(names, in) + "."}
	}
	say := func(format string, args ...any) { sentences = append(sentences, fmt.Sprintf(format, args...)) }
	until := "until the logs end at " + clock(in.Until)
	if in.Leader != 0 {
		until = fmt.Sprintf("until node %d led term %d", in.Leader, in.Term)
	}
	switch {
	case in.Leaderless == 0 && in.Bounded():
		say("Nobody led for at most %s, from %s %s: %s%s.", rounds.Span(in.AtMost()), clock(in.Began()), until, in.Why,
			proofOf(names, in, in.PerhapsRef))
	case in.Leaderless == 0:
		say("%s%s.", replaced(in), proofOf(names, in))
		return sentences
	default:
		if in.Leader == in.Former {
			until = fmt.Sprintf("until node %d led again, in term %d", in.Leader, in.Term)
		}
		say("%s for %s, from %s %s: %s%s.", words.Upper(in.Nobody()), in.Length(), clock(in.From), until, in.Why,
			proofOf(names, in))
	}
	if in.Between != 0 {
		say("%s.", words.Upper(between(names, in)))
	}
	if in.Bounded() && in.Leaderless > 0 {
		say("%s", longest(names, in))
	}
	if unseen(in) {
		say("N%s", untold)
	} else if in.Ended.Kind != rounds.EndedUnseen {
		say("%s%s.", ending(in), proof(names, in.Ended.Known, in.Ended.Ref))
	}
	sentences = append(sentences, noticed(names, in)...)
	if len(in.Terms) > 1 {
		say("The change took terms %s.", span(in.Terms, " to "))
	}
	return sentences
}

// noticed says what others noticed of a leader, where the cause of no round tells that.
func noticed(names *rounds.Names, in *rounds.Incident) (sentences []string) {
	s := in.Loss()
	if len(s.Noticed) == 0 {
		return nil
	}
	var ids []uint64
	var seen []rounds.Ref
	for i := range s.Noticed {
		ids, seen = append(ids, s.Noticed[i].Node), append(seen, s.Noticed[i].Refs()...)
	}
	slices.Sort(ids)
	first := s.Noticed[0].At
	what := fmt.Sprintf("node %d did not answer", in.Former)
	if in.Ended.Kind == rounds.EndedByProcess {
		what = fmt.Sprintf("the process of node %d had ended", in.Former)
	}
	sentences = []string{fmt.Sprintf("%s had noticed from %s on that %s%s.",
		words.Upper(words.Nodes(ids)), clock(first), what, cite(names, seen...))}
	if s.Back.IsZero() {
		return sentences
	}
	return append(sentences, wroteAgain(in.Former, s.BackAt.Sub(first), "that", s.Slept)+cite(names, s.Back)+".")
}

// wroteAgain says that the process of a node had not died, since it wrote again so long after something, and what may
// have happened to it. slept says that it did not run, by its own word.
func wroteAgain(id uint64, took time.Duration, since string, slept bool) string {
	how := "hung, was paused or was cut off"
	if slept {
		how = "hung or was paused"
	}
	return fmt.Sprintf("Node %d had not died: the same process wrote again %s after %s, so it %s",
		id, rounds.Span(took), since, how)
}

// further says that another node came to lead the term later, and what incident says of that.
func further(names *rounds.Names, in *rounds.Incident) []string {
	text := fmt.Sprintf("Later node %d began to lead term %d", in.Leader, in.Term)
	if in.Leaderless == 0 && !in.Bounded() {
		text += colon(in.Why)
	}
	return append([]string{text + proofOf(names, in) + "."}, incident(names, in)...)
}

// between says who led after the leader before, by its own word.
func between(names *rounds.Names, in *rounds.Incident) string {
	return fmt.Sprintf("node %d led after term %d, by its own word, and no record tells when it began to%s", in.Between,
		in.FormerTerm, cite(names, in.BetweenRef))
}

// longest says for how long nobody led at most, and what bounds it.
func longest(names *rounds.Names, in *rounds.Incident) string {
	text := "It was at most " + rounds.Span(in.AtMost())
	missing, by := "", []rounds.Ref{in.PerhapsRef, in.SoonerRef}
	if !in.Sooner.IsZero() {
		by = append(by, in.Records[:min(1, len(in.Records))]...) // which tells that it led
		missing = fmt.Sprintf("no record of node %d tells when it began to lead, which may have been from %s on",
			in.Leader, clock(in.Sooner))
	}
	if in.Perhaps.IsZero() {
		return text + colon(missing) + cite(names, by...) + "."
	}
	how, tell := "the lease had ended then, as far as a follower knew", ". Records of level debug would tell."
	if in.Ceased() {
		how, tell = fmt.Sprintf("node %d ceased to lead then", in.Former), "."
	} else if in.Ended.Kind == rounds.EndedByProcess {
		how = fmt.Sprintf("that was the last record of node %d", in.Former)
	} else if in.LastSign() {
		how = fmt.Sprintf("that is the last sign that node %d led", in.Former)
		if in.Ended.Kind == rounds.EndedByLease {
			how += ", and who found that its lease had ended may have slept until that was found"
		}
	}
	text += fmt.Sprintf(", if from %s on: %s%s", clock(in.Perhaps), how, cite(names, in.PerhapsRef))
	if missing != "" {
		text += "; " + missing + cite(names, by[1:]...)
	}
	return text + tell
}

// unseen reports whether no record tells until when the leader before led, not even when that may have been.
func unseen(in *rounds.Incident) bool {
	return in.Ended.Kind == rounds.EndedUnseen && in.Perhaps.IsZero()
}

// replaced says until when a leader led at the latest, if the first record of its end is not before the next one led.
// It may have been dead or frozen for long by then.
func replaced(in *rounds.Incident) string {
	next := fmt.Sprintf("node %d had begun to lead by %s", in.Leader, clock(in.Until))
	switch {
	case in.Leader == 0:
		next = "nobody led when the logs ended"
	case in.Leader == in.Former:
		next = fmt.Sprintf("it had begun to lead again, in term %d, by %s", in.Term, clock(in.Until))
	case in.Ended.Kind == rounds.EndedByLoss:
		return fmt.Sprintf("Node %d led as soon as node %d was lost to others", in.Leader, in.Former)
	}
	led := fmt.Sprintf("Node %d led until %s at the latest", in.Former, clock(in.From))
	switch {
	case in.Ended.Kind == rounds.EndedByLoss:
		led += ", when it was lost to others"
	case in.Ended.Kind == rounds.EndedByProcess:
		led += ", since its process had ended by then"
	case in.Ended.Kind == rounds.EndedByLease:
		led += ", since its lease had ended by then"
	case in.Ended.Kind == rounds.EndedByWord && in.Ended.Known == rounds.OwnWord:
		led += ", by its own word"
	case in.Ended.Kind == rounds.EndedByWord:
		led += ", by its word to others"
	}
	return led + "; " + next
}

// ending says how the leadership before the incident ended.
func ending(in *rounds.Incident) string {
	led := fmt.Sprintf("Node %d had led term %d until ", in.Former, in.FormerTerm)
	switch in.Ended.Kind {
	case rounds.EndedByWord:
		return led + "it stopped leading"
	case rounds.EndedByLease:
		return led + "its lease ended"
	case rounds.EndedByProcess:
		return led + "its process ended"
	}
	return led + "it was lost to the others"
}

// beginning says why the election was held.
func beginning(names *rounds.Names, r *rounds.Round) (sentences []string) {
	c := r.Cause
	say := func(format string, args ...any) { sentences = append(sentences, fmt.Sprintf(format, args...)) }
	at, by := clock(began(r)), cite(names, causeRefs(r)...)
	switch c.Kind {
	case rounds.LeaderLost, rounds.LeaderSilent:
		if c.Lost == 0 { // it may have given up the term, and be well
			say("At %s node %d gave this as its reason: %s%s.", at, c.Node, c.Text, by)
			break
		}
		if c.Kind == rounds.LeaderSilent && c.Evidence == "" {
			say("At %s node %d found that nobody had heard the leader, node %d, of late%s.", at, c.Node, c.Lost, by)
			break
		}
		noticed := "node %d noticed that the leader, node %d, was gone"
		if !c.Back.IsZero() {
			noticed = "node %d took the leader, node %d, for gone"
		}
		say("At %s "+noticed+"%s%s.", at, c.Node, c.Lost, colon(rounds.Meaning(c.Evidence, c.Lost)), by)
	case rounds.FirstLeader:
		say("At %s node %d had heard of no leader since it started%s.", at, c.Node, by)
	case rounds.Operator:
		say("At %s somebody asked node %d for an election: %s%s.", at, c.Node, c.Text, by)
	case rounds.Vacant:
		say("At %s node %d %s, as nobody led%s%s.", at, c.Node, stood(r), colon(besides(c)), by)
	case rounds.HandOver:
		if beside := askedBeside(names, r, at); beside != "" {
			return append(sentences, beside)
		}
		say("At %s the leader handed over%s: node %d was asked to lead the next term%s.",
			at, bracketed(c.Request), c.Node, cite(names, c.Asked(), c.Ref))
	case rounds.HigherRank:
		say("At %s node %d, which %s, began to take over%s.", at, c.Node, outranks(r), by)
	case rounds.SplitRecovered:
		say("At %s a split brain was recovered from: two leaders had met, and all who led had stopped%s.", at, by)
	case rounds.Readmitted:
		say("At %s node %d, which had lost what it voted, took term %d without an election, to vote above that: %s%s.",
			at, c.Node, r.Term, c.Text, by)
	case rounds.NomineeLost:
		say("At %s node %d called again: %s%s.", at, c.Node, c.Text, by)
	case rounds.Renominated:
		say("At %s node %d asked for another nominee: %s%s.", at, c.Node, c.Text, by)
	case rounds.Released, rounds.EntryLost:
		say("At %s node %d stood: %s%s.", at, c.Node, c.Text, cite(names, append(causeRefs(r), c.Asked())...))
	case rounds.RoundFailed:
		say("At %s node %d gave up on the round before: %s%s.", at, c.Node, c.Text, by)
	default:
		if c.Text != "" {
			say("At %s node %d began term %d: %s%s.", at, c.Node, r.Term, c.Text, by)
			break
		}
		say("%s", untold(names, r))
	}
	if more, seen := otherDetectors(r); len(more) > 0 {
		say("%s had evidence of %s own within %s%s.", words.Upper(words.Nodes(more)),
			words.Either(len(more), "its", "their"), rounds.Span(lastDetection(r)), cite(names, seen...))
	}
	if c.Kind == rounds.Vacant || c.Kind == rounds.EntryLost {
		return sentences
	}
	if callers, calls := initiators(r, false); len(callers) > 0 {
		say("%s called the election of term %d%s.", words.Upper(words.Nodes(callers)), r.Term, cite(names, calls...))
	}
	if callers, calls := initiators(r, true); len(callers) > 0 {
		say("%s called it when it was decided already%s.", words.Upper(words.Nodes(callers)), cite(names, calls...))
	}
	return sentences
}

// askedBeside says that another node than the former leader asked for the election; "" if that one did.
func askedBeside(names *rounds.Names, r *rounds.Round, at string) string {
	c, beside := r.Cause, ""
	from := c.Handing()
	switch {
	case from == 0, r.Incident != nil && from == r.Incident.Former:
		return ""
	case r.Incident != nil:
		beside = ", which did not lead,"
	}
	return fmt.Sprintf("At %s node %d%s%s asked node %d to call the next election%s.",
		at, from, bracketed(c.Request), beside, c.Node, cite(names, c.Asked(), c.Ref))
}

// untold says who asked for the term, as far as voters tell, where no record says who called the election.
func untold(names *rounds.Names, r *rounds.Round) string {
	asked, ok := r.FirstAsked()
	if !ok {
		return fmt.Sprintf("Who called the election of term %d, and why, is not known.", r.Term)
	}
	why := "; why is not known"
	if r.Incident != nil && len(r.Incident.Loss().Noticed) > 0 { // which is told above
		why = ""
	}
	return fmt.Sprintf("Node %d had asked for term %d by %s%s%s.", asked.Candidate, r.Term, clock(asked.At), why,
		cite(names, asked.Ref))
}

// stood says that a node stood, and whether it did so as soon as what had kept it from that was over.
func stood(r *rounds.Round) string {
	if slices.ContainsFunc(r.Steps, func(s rounds.Step) bool {
		return s.Ref == r.Cause.Ref && s.Event == "eligible"
	}) {
		return "was eligible again, and stood"
	}
	return "stood"
}

// besides returns what the cause tells besides that nobody leads.
func besides(c rounds.Cause) string {
	return strings.TrimSuffix(strings.TrimSuffix(told(c), "nobody leads"), " and ")
}

// outranks says whom the first initiator outranks.
func outranks(r *rounds.Round) string {
	if below := r.Cause.Outranks(); below != 0 {
		return fmt.Sprintf("outranks node %d", below)
	}
	if in := r.Incident; in != nil && in.Former != 0 && in.Former != r.Cause.Node {
		return fmt.Sprintf("outranks node %d", in.Former)
	}
	return "outranks the leader"
}

func bracketed(text string) string {
	if text == "" {
		return ""
	}
	return " (" + text + ")"
}

func colon(text string) string {
	if text == "" {
		return ""
	}
	return ": " + text
}

// otherDetectors returns the nodes that had evidence besides the first one, and their records.
func otherDetectors(r *rounds.Round) (ids []uint64, seen []rounds.Ref) {
	for _, w := range r.Cause.Detections {
		if w.Node != r.Cause.Node {
			ids, seen = append(ids, w.Node), append(seen, w.Refs()...)
		}
	}
	slices.Sort(ids)
	return ids, seen
}

// initiators returns the nodes that first called the election before all who should follow the winner did so, or
// after that, and the records of these calls.
func initiators(r *rounds.Round, after bool) (ids []uint64, calls []rounds.Ref) {
	known := map[uint64]bool{}
	for _, in := range r.Initiators {
		at := slices.IndexFunc(r.Steps, func(s rounds.Step) bool { return s.Ref == in.Ref })
		if late := r.Aftermath > 0 && at >= r.Aftermath; late == after && !known[in.Node] {
			ids, calls = append(ids, in.Node), append(calls, in.Ref)
		}
		known[in.Node] = true
	}
	slices.Sort(ids)
	return ids, calls
}

func lastDetection(r *rounds.Round) (late time.Duration) {
	for _, w := range r.Cause.Detections {
		late = max(late, w.At.Sub(r.Cause.At))
	}
	return late
}

// middle says who won and why, who lost to whom, who followed.
func middle(g *rounds.Group, r *rounds.Round, theory bool) (sentences []string) {
	names := g.Names
	say := func(format string, args ...any) { sentences = append(sentences, fmt.Sprintf(format, args...)) }
	sentences = fencing(names, r)
	w := r.Winner
	if w == nil {
		if r.PerhapsLed {
			say("No record tells that a node led the term.")
		} else {
			say("Nobody led the term.")
		}
		if led := r.Meanwhile; led != nil {
			say("Node %d led term %d when it was called%s.", led.Leader, led.Term, cite(names, led.Records...))
		}
		if r.State == rounds.Superseded {
			say("%s.", words.Upper(r.Superseding()))
		}
		return slices.Concat(sentences, losers(names, r), noQuorum(names, r))
	}
	sentences = append(sentences, losers(names, r)...)
	won := fmt.Sprintf("Node %d won", w.Node)
	switch {
	case r.Split.ElectKnown && r.Split.Elect == 0:
		won += " at once"
	case r.Split.ElectKnown && r.Split.LedOn > 0:
		won += fmt.Sprintf(" %s later (%s of that)", rounds.Span(r.Split.LedOn+r.Split.Elect), ledOn(r))
	case !r.Split.ElectKnown && r.Split.Won > 0:
		won += fmt.Sprintf(" %s after the first sign of this round", rounds.Span(r.Split.Won))
	case r.Split.ElectKnown:
		won += fmt.Sprintf(" %s after the first sign", rounds.Span(r.Split.Elect))
	}
	because := w.Why
	by, known := winnerRefs(r)
	if r.Ballot != nil && !w.Ref.IsZero() {
		because = granted(r)
		by = append(by, votes(r.Ballot, counted)...)
	}
	if w.Why != "" {
		won += ": " + because
	}
	won += proof(names, known, by...) + "."
	if w.Why != "" && w.Rule != "" && theory {
		won += fmt.Sprintf(" The rule: “%s”", w.Rule)
	}
	say("%s", won)
	if r.Ballot != nil {
		sentences = append(sentences, firstRefused(names, r)...)
	}
	return append(sentences, followers(g, r)...)
}

// losers says who was outranked or suppressed, by whom.
func losers(names *rounds.Names, r *rounds.Round) (sentences []string) {
	var outranked []uint64
	var said []rounds.Ref
	for _, v := range r.Verdicts {
		switch v.Kind {
		case rounds.Outranked:
			if r.Winner != nil && v.Over == r.Winner.Node && !slices.Contains(outranked, v.Loser) {
				outranked, said = append(outranked, v.Loser), append(said, v.Ref)
			}
		case rounds.Suppressed:
			sentences = append(sentences, fmt.Sprintf("The call of node %d was suppressed, since node %d, "+
				"a higher initiator, had called too%s.", v.Loser, v.Over, cite(names, v.Ref)))
		}
	}
	slices.Sort(outranked)
	if len(outranked) > 0 {
		sentences = append([]string{fmt.Sprintf("Node %d outranks %s%s.", r.Winner.Node, words.Nodes(outranked),
			cite(names, said...))}, sentences...)
	}
	return sentences
}

// followers says who follows, since when, and who does not.
func followers(g *rounds.Group, r *rounds.Round) (sentences []string) {
	names := g.Names
	say := func(format string, args ...any) { sentences = append(sentences, fmt.Sprintf(format, args...)) }
	follow := in(r, rounds.PartFollower)
	within := "followed; the records do not tell how soon"
	if r.Split.AnnounceKnown {
		within = "followed within " + rounds.Span(r.Split.Announce)
	}
	within += cite(names, believed(r, rounds.PartFollower)...)
	others := slices.DeleteFunc(slices.Clone(r.Winner.Live), func(id uint64) bool { return id == r.Winner.Node })
	all := r.Winner.Viewed() &&
		!slices.ContainsFunc(others, func(id uint64) bool { return !slices.Contains(follow, id) })
	switch {
	case all && len(others) == 0:
		won, known := winnerRefs(r)
		say("The winner believed nobody else alive%s.", proof(names, known, won...))
	case all && len(follow) == 1:
		say("Node %d, the only other one that the winner believed alive, %s.", follow[0], within)
	case all:
		say("%s that the winner believed alive (%s) %s.", words.Upper(words.All(len(follow), "other")),
			words.List(follow), within)
	case len(follow) > 0:
		say("%s %s.", words.Upper(words.Nodes(follow)), within)
	}
	sentences = append(sentences, followedLater(names, r)...)
	for _, v := range r.Verdicts {
		if v.Kind == rounds.Deposed && !algorithms.Guarantee(r.Guarantee).Leases() { // else two nominees met
			say("Node %d stepped down when it met node %d, which led the same term%s.", v.Loser, v.Over,
				cite(names, v.Ref))
		}
	}
	for _, b := range r.LeftBehind {
		say("Node %d was left behind: %s%s.", b.Node, b.Reason, cite(names, b.Last))
	}
	if c := r.Cause; !c.Back.IsZero() {
		say("%s%s.", wroteAgain(c.Lost, c.BackAt.Sub(c.At), "the first evidence", c.Slept), cite(names, c.Ref, c.Back))
	}
	if dead := in(r, rounds.PartDead); len(dead) > 0 {
		var by []rounds.Ref
		known, had := rounds.OwnWord, "had "
		for _, id := range dead {
			e := howEnded(g, r, id)
			by, known = append(by, e.Ref), weaker(known, e.Known)
			if e.At.After(r.Winner.At) {
				had = ""
			}
		}
		seen := " "
		if r.Winner.Viewed() { // else nothing tells that it did
			seen = ", which the winner believed alive, "
		}
		say("%s%s%sended%s.", words.Upper(words.Nodes(dead)), seen, had, proof(names, known, by...))
	}
	return append(sentences, latecomers(names, r)...)
}

// latecomers says who came after the winner had won, and who took part but is not known to have followed.
func latecomers(names *rounds.Names, r *rounds.Round) (sentences []string) {
	say := func(format string, args ...any) { sentences = append(sentences, fmt.Sprintf(format, args...)) }
	var told, untold []uint64
	for _, p := range r.Participants {
		switch {
		case p.Part != rounds.PartJoined:
		case p.Believed.IsZero():
			untold = append(untold, p.Node)
		default:
			told = append(told, p.Node)
		}
	}
	if len(told) > 0 {
		say("%s came later and %s told%s.", words.Upper(words.Nodes(told)), words.Either(len(told), "was", "were"),
			cite(names, believed(r, rounds.PartJoined)...))
	}
	if len(untold) > 0 {
		say("%s took part, and no record tells that %s followed.", words.Upper(words.Nodes(untold)),
			words.Either(len(untold), "it", "they"))
	}
	return sentences
}

// followedLater says who followed of whom no record tells whether it was there when the winner won.
func followedLater(names *rounds.Names, r *rounds.Round) []string {
	later := in(r, rounds.PartLater)
	if len(later) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%s followed, perhaps later; whether %s there when the winner won is not known%s.",
		words.Upper(words.Nodes(later)), words.Either(len(later), "it was", "they were"),
		cite(names, believed(r, rounds.PartLater)...))}
}

// howEnded returns how the process of a node ended that ran when the round was won.
func howEnded(g *rounds.Group, r *rounds.Round, id uint64) (last rounds.LifeEvent) {
	n := find(g, id)
	if n == nil {
		return last
	}
	for _, l := range n.Lives {
		for _, e := range l.Events {
			if e.Kind == rounds.Ended && !l.From.After(r.Winner.At) {
				last = e
			}
		}
	}
	return last
}

// cost says how many messages and how much time the round took, and what the theory says.
func cost(r *rounds.Round, theory bool) []string {
	var sentences []string
	switch n := sent(r); {
	case n == 0:
		sentences = append(sentences, fmt.Sprintf("No message of term %d is in the records.", r.Term))
	case r.AtLeast:
		why := "at level info not every message is in the records"
		if !r.Terse {
			why = "records are missing that may have sent others"
		}
		sentences = append(sentences, fmt.Sprintf("Term %d took at least %s (%s): %s.", r.Term,
			words.Plural(n, "message"), kinds(r), why))
	default:
		took := fmt.Sprintf("Term %d took %s (%s).", r.Term, words.Plural(n, "message"), kinds(r))
		sentences = append(sentences, took)
	}
	if t := r.Theory; t != nil && theory {
		sentences = append(sentences, fmt.Sprintf("With %d alive and no failure, the %s algorithm takes "+
			"%d at best and %d at worst%s.", t.Live, r.Algorithm, t.Best, t.Worst, this(t, r)))
	}
	if t := votesTheory(r); t != nil && theory {
		sentences = append(sentences, fmt.Sprintf("The votes take %d besides at best and %d at worst%s.",
			t.Best, t.Worst, this(t, r)))
	}
	return append(sentences, "The time: "+split(r)+".")
}

// this says where the round lies between best and worst, as far as that is known.
func this(t *rounds.Theory, r *rounds.Round) string {
	if where := fell(t, r.AtLeast); where != "" {
		return ": this was " + where
	}
	return ""
}
