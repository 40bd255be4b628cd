package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ringleader-dev/ringleader/rounds"
)

// began returns when the round began: the time of its cause, or else of its first record.
func began(r *rounds.Round) time.Time {
	if r.Cause.At.IsZero() {
		return r.From
	}
	return r.Cause.At
}

// sent counts the messages of the round.
func sent(r *rounds.Round) int {
	sum := 0
	for _, c := range r.Counts {
		sum += c.Sent
	}
	return sum
}

func known(d time.Duration, ok bool) string {
	if !ok {
		return "-"
	}
	return rounds.Span(d)
}

// because says why the round began, in half a line.
func because(r *rounds.Round) string {
	c := r.Cause
	switch {
	case unexplained(c):
		return "not known"
	case c.Evidence != "":
		return fmt.Sprintf("%s: %s (node %d first)", c.Text, rounds.Meaning(c.Evidence, c.Lost), c.Node)
	case c.Node != 0 && told(c) == c.Text:
		return fmt.Sprintf("%s (node %d)", c.Text, c.Node)
	}
	return told(c)
}

// unexplained reports whether no record says why the round began.
func unexplained(c rounds.Cause) bool { return c.Kind == rounds.Unexplained && c.Text == "" }

// told returns the cause in the words of the node that gives it, and names that node where it says "this node".
func told(c rounds.Cause) string {
	return strings.ReplaceAll(c.Text, "this node", fmt.Sprintf("node %d", c.Node))
}

// cite names the records that prove a sentence, behind it: " [4:17 5:3]", with twelve records at most. It returns "" if
// there are none.
func cite(names *rounds.Names, list ...rounds.Ref) string {
	return proof(names, rounds.OwnWord, list...)
}

// proof does what cite does. If the sentence is not the own word of the nodes that it is about, it says how it is
// known: " [peers saw: 4:17]".
func proof(names *rounds.Names, known rounds.Confidence, list ...rounds.Ref) string {
	const most = 12
	var words []string
	for _, ref := range list {
		if word := names.Of(ref); !ref.IsZero() && !slices.Contains(words, word) {
			words = append(words, word)
		}
	}
	switch {
	case len(words) == 0:
		return ""
	case len(words) > most:
		words = append(words[:most], "…")
	}
	return fmt.Sprintf(" [%s%s]", marks[known], strings.Join(words, " "))
}

// marks say how a sentence is known that is not the own word of a node.
var marks = map[rounds.Confidence]string{rounds.PeersSaw: "peers saw: ", rounds.Inferred: "inferred: "}

// weaker returns the weaker one of two confidences. A sentence has the weakest one of all that it says.
func weaker(a, b rounds.Confidence) rounds.Confidence {
	order := []rounds.Confidence{"", rounds.OwnWord, rounds.PeersSaw, rounds.Inferred}
	return order[max(slices.Index(order, a), slices.Index(order, b))]
}

// proofOf names the records that prove an incident, and those besides.
func proofOf(names *rounds.Names, in *rounds.Incident, besides ...rounds.Ref) string {
	known := in.Ended.Known
	if in.Absent() {
		known = rounds.Inferred
	}
	return proof(names, known, slices.Concat(in.Records, besides)...)
}

// causeRefs returns the records that show why the round began.
func causeRefs(r *rounds.Round) []rounds.Ref {
	c := r.Cause
	if len(c.Detections) > 0 && c.Detections[0].Ref == c.Ref {
		return c.Detections[0].Refs()
	}
	return []rounds.Ref{c.Ref}
}

// winnerRefs returns the records that show that the winner led, and how that is known. If its log is missing, followers
// tell.
func winnerRefs(r *rounds.Round) ([]rounds.Ref, rounds.Confidence) {
	if r.Winner == nil || !r.Winner.Ref.IsZero() {
		w := cmp.Or(r.Winner, &rounds.Winner{})
		return []rounds.Ref{w.Ref}, rounds.OwnWord
	}
	return believed(r, rounds.PartFollower, rounds.PartLater, rounds.PartJoined), rounds.PeersSaw
}

// believed returns the records in which the nodes that had one of the parts first follow the winner.
func believed(r *rounds.Round, parts ...rounds.Part) (list []rounds.Ref) {
	for _, p := range r.Participants {
		if slices.Contains(parts, p.Part) {
			list = append(list, p.Believed)
		}
	}
	return list
}
