package report

import (
	"fmt"
	"slices"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/rounds"
)

// fencing says which former leaders the nodes had their fence agents stop, and how each attempt ended.
func fencing(names *rounds.Names, r *rounds.Round) (sentences []string) {
	for _, st := range r.Steps {
		for _, f := range st.Fenced() {
			how, by := rounds.Printable(f.How), cite(names, st.Ref)
			switch f.Result {
			case algorithms.FenceDone:
				sentences = append(sentences, fmt.Sprintf("Before it led, node %d had node %d "+
					"fenced: %s%s.", st.Ref.Node, f.Node, how, by))
			case algorithms.FenceFailed:
				sentences = append(sentences, fmt.Sprintf("Node %d could not have node %d fenced (%s), and did "+
					"not lead%s.", st.Ref.Node, f.Node, how, by))
			case algorithms.FenceNoNeed:
				sentences = append(sentences, fmt.Sprintf("Node %d was seen to stop while the fence agent of "+
					"node %d was at it%s.", f.Node, st.Ref.Node, by))
			}
		}
	}
	return sentences
}

// unfenced says how the last attempt to fence a former leader ended. Nobody leads before every
// former leader has stopped.
func unfenced(g *rounds.Group) []string {
	for _, r := range slices.Backward(g.Rounds) {
		if told := fencing(g.Names, r); len(told) > 0 {
			return told[len(told)-1:]
		}
	}
	return nil
}

// unstopped says that a majority granted the term, and that the candidate waited for a former
// leader to stop. It returns "" if no step says so.
func unstopped(names *rounds.Names, r *rounds.Round) string {
	for _, st := range slices.Backward(r.Steps) {
		if former := st.Unstopped(); former != "" {
			return fmt.Sprintf("A majority granted node %d the term, but %s not seen to stop: it does not lead "+
				"before%s.", st.Ref.Node, rounds.Printable(former), cite(names, st.Ref))
		}
	}
	return ""
}
