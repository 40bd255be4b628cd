package rounds

import "github.com/ringleader-dev/ringleader/algorithms"

// decide collects the verdicts of the election. A refusal after all have followed the winner, perhaps in a
// later life, decided nothing.
func (r *Round) decide() {
	known := map[Verdict]bool{}
	for i := range r.Steps {
		r.addVerdicts(&r.Steps[i], i >= r.Aftermath, known)
	}
}

// addVerdicts adds the verdicts of a step, which came after the election if after is set. The same verdict on
// the same two nodes counts once, except that the refusals of different voters all count.
func (r *Round) addVerdicts(s *Step, after bool, known map[Verdict]bool) {
	for i := range s.reasons {
		why := &s.reasons[i]
		d, ok := decided[algorithms.Verdict](why)
		if !ok || after && d.Kind == algorithms.Refused {
			continue
		}
		node := s.Ref.Node
		v := Verdict{Kind: d.Kind, Loser: why.node(d.Loser, node), Over: why.node(d.Over, node)}
		if v.Kind == Refused {
			v.By = why.node(d.By, node) // each voter answers for itself
		}
		if known[v] {
			continue
		}
		known[v] = true
		if v.Kind != Refused {
			v.By = node
		}
		v.Why, v.Rule, v.Ref, v.At = why.why, why.rule(r.Algorithm), s.Ref, s.At
		r.Verdicts = append(r.Verdicts, v)
	}
}
