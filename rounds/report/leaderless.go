package report

import (
	"cmp"
	"fmt"

	"github.com/ringleader-dev/ringleader/internal/words"
	"github.com/ringleader-dev/ringleader/rounds"
)

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
	after := "after " + words.Plural(g.Leaderless.Changes, "leadership")
	unknown := fmt.Sprintf("For how long nobody led %s is not known", after)
	if g.Leaderless.AtLeast && g.Leaderless.Sum == 0 && in.AtMost() == 0 {
		return unknown + "."
	}
	text := fmt.Sprintf("Nobody led for %s%s in all, %s", least, rounds.Span(g.Leaderless.Sum), after)
	if in.AtMost() == 0 {
		return text + "."
	}
	if g.Leaderless.Sum == 0 && g.Leaderless.AtLeast {
		text = unknown
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
