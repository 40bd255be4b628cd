package report

import (
	"fmt"
	"strings"
	"time"

	"github.com/ringleader-dev/ringleader/rounds"
)

// began is when the round began, as far as the records tell.
func began(r *rounds.Round) time.Time {
	if r.Cause.At.IsZero() && len(r.Steps) > 0 {
		return r.Steps[0].At
	}
	return r.Cause.At
}

// sent is how many messages the round took.
func sent(r *rounds.Round) int {
	sum := 0
	for _, c := range r.Counts {
		sum += c.Sent
	}
	return sum
}

// detect is how long detection took: the time, a bound of it, or nothing.
func detect(s rounds.Split) string {
	if !s.DetectKnown && s.DetectBound > 0 {
		return "<" + rounds.Span(s.DetectBound)
	}
	return known(s.Detect, s.DetectKnown)
}

func known(d time.Duration, ok bool) string {
	if !ok {
		return "-"
	}
	return rounds.Span(d)
}

// because is why there was a round, in half a line.
func because(r *rounds.Round) string {
	c := r.Cause
	switch {
	case c.Kind == rounds.Unexplained && c.Text == "":
		return "not in these records"
	case c.Evidence != "":
		return fmt.Sprintf("%s: %s (node %d first)", c.Text, evidence(c.Evidence, c.Lost), c.Witness)
	case c.Witness != 0:
		return fmt.Sprintf("%s (node %d)", c.Text, c.Witness)
	}
	return c.Text
}

// evidence leaves the id out of the evidence where it is said already:
// "link-closed, dial-refused".
func evidence(text string, id uint64) string {
	pieces := strings.Split(text, ", ")
	for i, piece := range pieces {
		pieces[i] = strings.TrimSuffix(piece, fmt.Sprintf(" %d", id))
	}
	return strings.Join(pieces, ", ")
}

// refs is "4:17 5:3", at most a few of them.
func refs(list []rounds.Ref) string {
	const most = 6
	var words []string
	for _, r := range list[:min(len(list), most)] {
		words = append(words, r.String())
	}
	if len(list) > most {
		words = append(words, "…")
	}
	return strings.Join(words, " ")
}
