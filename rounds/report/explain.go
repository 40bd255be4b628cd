package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/ringleader-dev/ringleader/internal/words"
	"github.com/ringleader-dev/ringleader/rounds"
)

// Explain writes a round in sentences: how long nobody led, what happened, why it ended so, what it cost, what is
// wrong with it. With theory it also writes the rules that decided, and what the round costs by the book.
func Explain(w io.Writer, r *rounds.Round, theory bool) error {
	var p page
	p.paragraph(incident(r)...)
	p.paragraph(beginning(r)...)
	p.paragraph(middle(r, theory)...)
	p.paragraph(cost(r, theory)...)
	for _, f := range r.Findings {
		p.paragraph(fmt.Sprintf("What is wrong: %s See %s.", f.Text, refs(f.Records)))
	}
	if len(r.Unknown) > 0 {
		p.paragraph("Not known: " + strings.Join(r.Unknown, " "))
	}
	return p.to(w)
}

// incident says for how long nobody led, and why, if it was for longer than an election takes.
func incident(r *rounds.Round) (sentences []string) {
	in := r.Incident
	if in == nil || in.Former == 0 || in.Ended.Kind == rounds.EndedUnseen {
		return nil
	}
	say := func(format string, args ...any) { sentences = append(sentences, fmt.Sprintf(format, args...)) }
	until := "until the records end"
	if in.Leader != 0 {
		until = fmt.Sprintf("until node %d led term %d", in.Leader, in.Term)
	}
	switch {
	case in.Leaderless == 0 && !in.Perhaps.IsZero():
		say("Nobody led for at most %s, from %s %s: %s.", rounds.Span(in.AtMost()), clock(in.Perhaps), until, in.Why)
	case in.Leaderless == 0 && in.Ended.Kind == rounds.EndedByLoss:
		say("Node %d led as soon as node %d was lost to others (%s%s).", in.Leader, in.Former,
			confidence(in.Ended.Known), reference(in.Ended.Ref))
		return sentences
	case in.Leaderless == 0:
		say("Node %d led, by its own word, until node %d did.", in.Former, in.Leader)
		return sentences
	case in.Leader == in.Former:
		say("Nobody led for %s, from %s %s again: %s.", rounds.Span(in.Leaderless), clock(in.From), until, in.Why)
	default:
		say("Nobody led for %s, from %s %s: %s.", rounds.Span(in.Leaderless), clock(in.From), until, in.Why)
	}
	if !in.Perhaps.IsZero() && in.Leaderless > 0 {
		how := "a follower found then that the lease was not renewed"
		if in.Ended.Kind == rounds.EndedByProcess {
			how = "that was its last record"
		}
		say("It may have been %s, from %s on: %s. Records of level debug would tell.", rounds.Span(in.AtMost()),
			clock(in.Perhaps), how)
	}
	say("%s (%s%s).", ending(in), confidence(in.Ended.Known), reference(in.Ended.Ref))
	if len(in.Terms) > 1 {
		say("It took terms %d to %d.", in.Terms[0], lastOf(in))
	}
	return sentences
}

// ending says how the leadership before the incident ended.
func ending(in *rounds.Incident) string {
	led := fmt.Sprintf("Node %d, which had led term %d,", in.Former, in.FormerTerm)
	switch in.Ended.Kind {
	case rounds.EndedByWord:
		return led + " stopped leading"
	case rounds.EndedByLease:
		return led + " had a lease that ended"
	case rounds.EndedByProcess:
		return led + " ended: its process is gone"
	case rounds.EndedByLoss:
		return led + " was lost to the others"
	}
	return led + " led no more"
}

// confidence says how a statement is known.
func confidence(c rounds.Confidence) string {
	switch c {
	case rounds.OwnWord:
		return "by its own word"
	case rounds.PeersSaw:
		return "as other nodes saw"
	}
	return "as the records suggest"
}

// reference returns ": 4:17", or "" for no record.
func reference(ref rounds.Ref) string {
	if ref.IsZero() {
		return ""
	}
	return ": " + ref.String()
}

// beginning says why the election was held.
func beginning(r *rounds.Round) (sentences []string) {
	c := r.Cause
	say := func(format string, args ...any) { sentences = append(sentences, fmt.Sprintf(format, args...)) }
	at := clock(began(r))
	switch c.Kind {
	case rounds.LeaderLost, rounds.LeaderSilent:
		say("At %s node %d noticed that the leader, node %d, was gone%s.",
			at, c.Node, c.Lost, colon(rounds.Meaning(c.Evidence, c.Lost)))
	case rounds.FirstLeader:
		say("At %s node %d had heard of no leader since it started.", at, c.Node)
	case rounds.Operator:
		say("At %s somebody asked node %d for an election: %s.", at, c.Node, c.Text)
	case rounds.Vacant:
		say("At %s node %d stood, as nobody led: %s.", at, c.Node, c.Text)
	case rounds.HandOver:
		say("At %s the leader handed over%s: node %d was asked to lead the next term.",
			at, bracketed(c.Request), c.Node)
	case rounds.HigherRank:
		say("At %s node %d, which %s, began to take over.", at, c.Node, outranks(r))
	case rounds.SplitRecovered:
		say("At %s a split brain was recovered from: two leaders had met, and all who led had stopped. "+
			"Node %d called for one leader of a new term.", at, c.Node)
	case rounds.Readmitted:
		say("At %s node %d, which had lost what it voted, took term %d to vote above that: %s. "+
			"Nobody called an election.", at, c.Node, r.Term, c.Text)
	case rounds.NomineeLost:
		say("At %s node %d called again: %s.", at, c.Node, c.Text)
	case rounds.Released:
		say("At %s node %d stood: %s.", at, c.Node, c.Text)
	case rounds.RoundFailed:
		say("At %s node %d gave up on the round before: %s.", at, c.Node, c.Text)
	default:
		if c.Text != "" {
			say("At %s node %d began term %d: %s.", at, c.Node, r.Term, c.Text)
			break
		}
		say("Why term %d began is not known.", r.Term)
	}
	if more := otherDetectors(r); len(more) > 0 {
		say("%s had evidence of %s own within %s.", words.Upper(words.Nodes(more)),
			words.Either(len(more), "its", "their"), rounds.Span(lastDetection(r)))
	}
	if callers := initiators(r); len(callers) > 0 && c.Kind != rounds.Vacant {
		say("%s called the election of term %d.", words.Upper(words.Nodes(callers)), r.Term)
	}
	return sentences
}

// outranks says whom the first initiator outranks.
func outranks(r *rounds.Round) string {
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

func otherDetectors(r *rounds.Round) (ids []uint64) {
	for _, w := range r.Cause.Detections {
		if w.Node != r.Cause.Node {
			ids = append(ids, w.Node)
		}
	}
	slices.Sort(ids)
	return ids
}

func initiators(r *rounds.Round) (ids []uint64) {
	for _, in := range r.Initiators {
		if !slices.Contains(ids, in.Node) {
			ids = append(ids, in.Node)
		}
	}
	slices.Sort(ids)
	return ids
}

func lastDetection(r *rounds.Round) (late time.Duration) {
	for _, w := range r.Cause.Detections {
		late = max(late, w.At.Sub(r.Cause.At))
	}
	return late
}

// middle says who won and why, who lost to whom, who followed.
func middle(r *rounds.Round, theory bool) (sentences []string) {
	say := func(format string, args ...any) { sentences = append(sentences, fmt.Sprintf(format, args...)) }
	sentences = fencing(r)
	w := r.Winner
	if w == nil {
		say("Nobody led the term.")
		if r.State == rounds.Superseded {
			say("Term %d came after it.", r.Next)
		}
		return slices.Concat(sentences, losers(r), noQuorum(r))
	}
	sentences = append(sentences, losers(r)...)
	won := fmt.Sprintf("Node %d won", w.Node)
	switch {
	case r.Split.ElectKnown && r.Split.Elect == 0:
		won += " at once"
	case r.Split.ElectKnown && r.Split.LedOn > 0:
		won += fmt.Sprintf(" %s later (the leader led on for %s of that)", rounds.Span(r.Split.LedOn+r.Split.Elect),
			rounds.Span(r.Split.LedOn))
	case r.Split.ElectKnown:
		won += fmt.Sprintf(" %s after the first sign", rounds.Span(r.Split.Elect))
	}
	because := w.Why
	if r.Ballot != nil && !w.Ref.IsZero() {
		because = granted(r)
	}
	switch {
	case w.Why != "" && w.Rule != "" && theory:
		say("%s: %s. The rule: “%s”", won, because, w.Rule)
	case w.Why != "":
		say("%s: %s.", won, because)
	default:
		say("%s.", won)
	}
	if r.Ballot != nil {
		sentences = append(sentences, firstRefused(r)...)
	}
	return append(sentences, followers(r)...)
}

// losers says who was outranked or suppressed, by whom.
func losers(r *rounds.Round) (sentences []string) {
	var outranked []uint64
	for _, v := range r.Verdicts {
		switch v.Kind {
		case rounds.Outranked:
			if r.Winner == nil || v.Over == r.Winner.Node {
				if !slices.Contains(outranked, v.Loser) {
					outranked = append(outranked, v.Loser)
				}
			}
		case rounds.Suppressed:
			sentences = append(sentences, fmt.Sprintf("The call of node %d was suppressed, since node %d, "+
				"a higher initiator, had called too.", v.Loser, v.Over))
		}
	}
	slices.Sort(outranked)
	if len(outranked) > 0 && r.Winner != nil {
		sentences = append([]string{fmt.Sprintf("Node %d outranks %s, and said so.",
			r.Winner.Node, words.Nodes(outranked))}, sentences...)
	}
	return sentences
}

// followers says who follows, since when, and who does not.
func followers(r *rounds.Round) (sentences []string) {
	say := func(format string, args ...any) { sentences = append(sentences, fmt.Sprintf(format, args...)) }
	follow := in(r, rounds.PartFollower)
	behind := in(r, rounds.PartBehind, rounds.PartSilent)
	within := "followed; the records do not tell how soon"
	if r.Split.AnnounceKnown {
		within = "followed within " + rounds.Span(r.Split.Announce)
	}
	switch {
	case len(follow) == 0 && len(behind) == 0:
		say("It believed nobody else alive.")
	case len(behind) == 0 && len(follow) == 1:
		say("Node %d, the only other one that it believed alive, %s.", follow[0], within)
	case len(behind) == 0:
		say("All %d others that it believed alive (%s) %s.", len(follow), words.List(follow), within)
	case len(follow) > 0:
		say("%s %s.", words.Upper(words.Nodes(follow)), within)
	}
	for _, v := range r.Verdicts {
		if v.Kind == rounds.Deposed && r.Guarantee != "lease" { // else two nominees met
			say("Node %d stepped down when it met node %d, which led the same term.", v.Loser, v.Over)
		}
	}
	for _, b := range r.LeftBehind {
		say("Node %d was left behind: %s.", b.Node, b.Reason)
	}
	if c := r.Cause; !c.Back.IsZero() {
		say("Node %d had not died: the same process wrote again %s after the first evidence, so it "+
			"hung, was paused or was cut off.", c.Lost, rounds.Span(c.BackAt.Sub(c.At)))
	}
	if dead := in(r, rounds.PartDead); len(dead) > 0 {
		say("%s, which it believed alive, had ended.", words.Upper(words.Nodes(dead)))
	}
	if late := in(r, rounds.PartJoined); len(late) > 0 {
		say("%s came later and %s told.", words.Upper(words.Nodes(late)), words.Either(len(late), "was", "were"))
	}
	return sentences
}

// cost says how many messages and how much time the round took, and what the theory says.
func cost(r *rounds.Round, theory bool) []string {
	var sentences []string
	switch n := sent(r); {
	case n == 0:
		sentences = append(sentences, "No message of it is in the records.")
	case r.AtLeast:
		sentences = append(sentences, fmt.Sprintf("It took at least %s (%s): at level info not every message is in "+
			"the records.", words.Plural(n, "message"), kinds(r)))
	default:
		sentences = append(sentences, fmt.Sprintf("It took %s (%s).", words.Plural(n, "message"), kinds(r)))
	}
	if t := r.Theory; t != nil && theory {
		sentences = append(sentences, fmt.Sprintf("With %d alive and no failure, the %s algorithm takes "+
			"%d at best and %d at worst: this was %s.", t.Live, r.Algorithm, t.Best, t.Worst, fell(t)))
	}
	if t := votesTheory(r); t != nil && theory {
		sentences = append(sentences, fmt.Sprintf("The votes take %d besides at best and %d at worst: this was %s.",
			t.Best, t.Worst, fell(t)))
	}
	return append(sentences, "The time: "+split(r)+".")
}
