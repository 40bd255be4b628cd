package report

import (
	"fmt"
	"slices"
	"time"

	"github.com/ringleader-dev/ringleader/internal/words"
	"github.com/ringleader-dev/ringleader/rounds"
)

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
