package rounds

import "github.com/ringleader-dev/ringleader/algorithms"

// decision is the same for verdicts that count once.
type decision struct {
	kind            VerdictKind
	loser, over, by uint64
}

// decide collects the verdicts of the election. A refusal after all have followed the winner, perhaps in a
// later life, decided nothing. Nor did what a node did then that received nothing of the election, as where it has lost
// that leader, except that two leaders met.
func (r *Round) decide(in *scratch) {
	clear(in.verdicts)
	early := map[int]bool{} // the steps that received what was sent before
	for i := range r.Messages {
		if m := &r.Messages[i]; 0 <= m.SendStep && m.SendStep < r.Aftermath {
			early[m.ReceiveStep] = true
		}
	}
	for i := range r.Steps {
		r.addVerdicts(&r.Steps[i], i >= r.Aftermath, i >= r.Aftermath && !early[i], in.verdicts)
	}
}

// addVerdicts adds the verdicts of a step, which came after the election if after is set, and received nothing of it if
// late is set, too. The same verdict on the same two nodes counts once, except that the refusals of different voters
// all count.
func (r *Round) addVerdicts(s *Step, after, late bool, known map[decision]bool) {
	for i := range s.reasons {
		why := &s.reasons[i]
		d, ok := decided[algorithms.Verdict](why)
		if !ok || after && (d.Kind == algorithms.Refused || late && d.Kind != algorithms.Deposed) {
			continue
		}
		answers, ok := decided[algorithms.Answers](why)
		if ok && answers.Term >= 0 && why.term(answers.Term) != r.Term {
			continue // it was asked for another term
		}
		node := s.Ref.Node
		same := decision{kind: d.Kind, loser: why.node(d.Loser, node), over: why.node(d.Over, node)}
		by := node
		if d.Kind == Refused {
			by = why.node(d.By, node)
			same.by = by // each voter answers for itself
		}
		if known[same] || same.loser == same.over { // as where a node proposes itself
			continue
		}
		known[same] = true
		r.Verdicts = append(r.Verdicts, Verdict{
			Kind: same.kind, Loser: same.loser, Over: same.over, By: by,
			Why: why.why, Rule: why.rule(r.Algorithm), Ref: s.Ref, At: s.At, Denial: answers.Denial,
		})
	}
}
