package report

import (
	"fmt"
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
	case c.Kind == rounds.Unexplained && c.Text == "":
		return "not known"
	case c.Evidence != "":
		return fmt.Sprintf("%s: %s (node %d first)", c.Text, evidence(c.Evidence, c.Lost), c.Node)
	case c.Node != 0:
		return fmt.Sprintf("%s (node %d)", c.Text, c.Node)
	}
	return c.Text
}

// evidence returns the evidence without the id, for sentences that have the id already:
// "link-closed, dial-refused".
func evidence(text string, id uint64) string {
	pieces := strings.Split(text, ", ")
	for i, piece := range pieces {
		pieces[i] = strings.TrimSuffix(piece, fmt.Sprintf(" %d", id))
	}
	return strings.Join(pieces, ", ")
}

// refs returns the records as text, "4:17 5:3", with twelve records at most.
func refs(list []rounds.Ref) string {
	const most = 12
	var words []string
	for _, r := range list[:min(len(list), most)] {
		words = append(words, r.String())
	}
	if len(list) > most {
		words = append(words, "…")
	}
	return strings.Join(words, " ")
}
