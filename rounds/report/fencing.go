package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ringleader-dev/ringleader/rounds"
)

// fencing says whom nodes had fenced before they took the office, and what came
// of it: each attempt is a step, with its reason in these words.
func fencing(r *rounds.Round) (sentences []string) {
	for _, st := range r.Steps {
		for _, why := range st.Why {
			// What an agent prints may hold an arrow, too.
			arrow := strings.LastIndex(why, " -> ")
			if arrow < 0 {
				continue
			}
			cause, decision := why[:arrow], why[arrow+len(" -> "):]
			if id, how, ok := strings.Cut(cause, " is fenced, "); ok {
				sentences = append(sentences, fmt.Sprintf("Before it took the office node %d had node %s "+
					"fenced: %s.", st.Ref.Node, rounds.Printable(id), rounds.Printable(how)))
			}
			if id, how, ok := strings.Cut(cause, " is not fenced, "); ok {
				sentences = append(sentences, fmt.Sprintf("Node %d could not have node %s fenced (%s), and did "+
					"not take the office.", st.Ref.Node, rounds.Printable(id), rounds.Printable(how)))
			}
			if id, ok := strings.CutSuffix(cause, " was seen to stop"); ok && decision == "call the fence agent back" {
				sentences = append(sentences, fmt.Sprintf("Node %s was seen to stop while the fence agent of "+
					"node %d was at it.", rounds.Printable(id), st.Ref.Node))
			}
		}
	}
	return sentences
}

// unfenced says what the last attempt to fence anybody came to, when nobody has
// led since: the office is not taken before a former leader has stopped.
func unfenced(g *rounds.Group) []string {
	for _, r := range slices.Backward(g.Rounds) {
		if told := fencing(r); len(told) > 0 {
			return told[len(told)-1:]
		}
	}
	return nil
}

// unstopped says that a majority granted the term, and that the office waited for
// a former leader to stop; "" where it did not.
func unstopped(r *rounds.Round) string {
	for _, st := range slices.Backward(r.Steps) {
		for _, why := range st.Why {
			cause, waits := strings.CutSuffix(why, " not seen to stop -> see to that first")
			if _, former, ok := strings.Cut(cause, ", but "); ok && waits {
				return fmt.Sprintf("A majority granted node %d the term, but %s not seen to stop: it does not take "+
					"the office before (%v).", st.Ref.Node, rounds.Printable(former), st.Ref)
			}
		}
	}
	return ""
}
