package report

import (
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/internal/words"
	"github.com/ringleader-dev/ringleader/rounds"
)

// Explain writes a round of a group in sentences: how long nobody led, what happened, why it ended so, what it cost,
// what is wrong with it. Each ends in the records that prove it. With theory it also writes the rules that decided,
// what the messages say, and what the round costs by the book.
func Explain(w io.Writer, g *rounds.Group, r *rounds.Round, theory bool) error {
	var p page
	p.paragraph(incident(g.Names, r.Incident)...)
	p.paragraph(beginning(g.Names, r)...)
	p.paragraph(middle(g, r, theory)...)
	said := meanings(r)
	p.paragraph(cost(r, theory, len(said) > 0)...)
	if theory && len(said) > 0 {
		p.items("The messages, in the words of who sends them:", said)
	}
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
		return slices.Concat(sentences, losers(names, r), noQuorum(names, r), refusedBeside(names, r))
	}
	sentences = append(sentences, losers(names, r)...)
	won := fmt.Sprintf("Node %d won", w.Node)
	switch {
	case wonAtOnce(r):
		won += " at once"
	case r.Split.ElectKnown && r.Split.LedOn > 0:
		won += afterSign(r.Split.LedOn+r.Split.Elect) + fmt.Sprintf(" (%s of that)", ledOn(r))
	case r.Split.ElectKnown:
		won += afterSign(r.Split.Elect)
	case r.Split.Won > 0:
		won += afterSign(r.Split.Won)
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
	sentences = append(sentences, refusedBeside(names, r)...)
	return append(sentences, followers(g, r)...)
}

// firstSign is the time at which a round began, from which what is told of it counts.
const firstSign = "the first sign"

// afterSign says how long after the first sign something was.
func afterSign(took time.Duration) string {
	return fmt.Sprintf(" %s after %s", rounds.Span(took), firstSign)
}

// wonAtOnce reports whether the winner won with the first sign, or with the end of the leadership before.
func wonAtOnce(r *rounds.Round) bool { return r.Split.ElectKnown && r.Split.Elect == 0 }

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
		say("%s%s.", wroteAgain(c.Lost, c.BackAt.Sub(c.At), firstSign, c.Slept), cite(names, c.Ref, c.Back))
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

// meanings says what the messages that are counted say, each kind once.
func meanings(r *rounds.Round) (list []string) {
	for _, c := range r.Counts {
		if says := rounds.Says(r.Algorithm, c.Kind); says != "" {
			list = append(list, fmt.Sprintf("%s: “%s”", c.Kind, says))
		}
	}
	return list
}

// cost says how many messages and how much time the round took, and what the theory says, or that it says more. known
// says that it is known what messages say.
func cost(r *rounds.Round, theory, known bool) []string {
	var sentences []string
	switch n := sent(r); {
	case n == 0:
		sentences = append(sentences, fmt.Sprintf("No message of term %d is in the records.", r.Term))
	case r.AtLeast:
		why := "at level info not every message is in the records"
		switch {
		case r.Quiet && !r.Terse:
			why = "records that decided nothing sent others"
		case !r.Terse:
			why = "records are missing that may have sent others"
		}
		sentences = append(sentences, fmt.Sprintf("Term %d took at least %s (%s): %s.", r.Term,
			words.Plural(n, "message"), kinds(r), why))
	default:
		took := fmt.Sprintf("Term %d took %s (%s).", r.Term, words.Plural(n, "message"), kinds(r))
		sentences = append(sentences, took)
	}
	if known && !theory {
		sentences = append(sentences, "What each message says is told with --theory.")
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
