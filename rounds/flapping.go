package rounds

import (
	"fmt"
	"slices"
	"time"
)

// call is a sign that an election was held while nobody led.
type call struct {
	at   time.Time
	ref  Ref
	text string
}

// calls returns the first election that was called while nobody led, and then, as its record may be missing, the first
// time that a node stood, or asked another one for its vote.
func (in *Incident) calls() (calls []call) {
	for _, r := range in.rounds {
		if len(r.Initiators) > 0 {
			first := r.Initiators[0]
			text := fmt.Sprintf("Node %d called term %d because \"%s\"", first.Node, r.Term, first.Why)
			calls = append(calls, call{first.At, first.Ref, text})
			break
		}
	}
	first := call{}
	for _, r := range in.rounds {
		if !r.asked.at.IsZero() && (first.at.IsZero() || r.asked.at.Before(first.at)) {
			first = r.asked
		}
	}
	if !first.at.IsZero() {
		calls = append(calls, first)
	}
	return calls
}

// noteAsked notes the first step in which a node stood for the term, or was asked for its vote in it.
func (r *Round) noteAsked() {
	for i := range r.Steps {
		st := &r.Steps[i]
		if !r.asked.at.IsZero() && !st.At.Before(r.asked.at) {
			continue
		}
		if text := r.asks(st); text != "" {
			r.asked = call{st.At, st.Ref, text}
		}
	}
}

// asks says that the node of the step stood for the term, or that one node asked another one for its vote. It returns
// "" if the step tells neither.
func (r *Round) asks(st *Step) string {
	for j := range st.reasons {
		if cause, ok := st.reasons[j].stoodFor(r.Term); ok {
			return fmt.Sprintf("Node %d stood for term %d because \"%s\"", st.Ref.Node, r.Term, cause.why)
		}
	}
	asked := func(m *Message) string {
		if !slices.Contains(askKinds, m.Kind) {
			return ""
		}
		return fmt.Sprintf("Node %d asked node %d to vote for it in term %d", m.From, m.To, r.Term)
	}
	for _, i := range st.Sent {
		if text := asked(&r.Messages[i]); text != "" {
			return text
		}
	}
	if st.Received >= 0 {
		return asked(&r.Messages[st.Received])
	}
	return ""
}

// unasked returns the changes of leadership of which no cause from outside is known: no operator asked for it, no
// process ended, and that of the new leader had not started less than flapTime before. Those before the incidents that
// may still count come first.
func (g *group) unasked(incidents []Incident) (unasked []Incident) {
	if g.past != nil {
		unasked = slices.Clone(g.past.unasked)
	}
	for _, in := range incidents {
		if in.Former != 0 && in.Leader != 0 && len(in.rounds) > 0 && !g.fromOutside(&in) {
			unasked = append(unasked, in)
		}
	}
	return unasked
}

// flapping finds where leadership changed many times within flapTime. Each finding says what started most of the
// changes. open has those changes that may count together with later ones; if all is true, no later ones are awaited.
func flapping(unasked []Incident, all bool) (found []Finding, open []Incident) {
	for first := 0; first < len(unasked); first++ {
		next := first
		for next < len(unasked) && unasked[next].Until.Sub(unasked[first].Until) <= flapTime {
			next++
		}
		if next == len(unasked) && open == nil {
			open = unasked[first:]
		}
		if next-first >= flaps && (all || next < len(unasked)) {
			found = append(found, flap(unasked[first:next]))
			first = next - 1
		}
	}
	return found, open
}

// fromOutside reports whether an operator caused the change, or the end or the start of a process did. It may be so too
// if the record of the node that called the election is missing.
func (g *group) fromOutside(in *Incident) bool {
	if in.Ended.Kind == EndedByProcess ||
		!slices.ContainsFunc(in.rounds, func(r *Round) bool { return len(r.Initiators) > 0 }) {
		return true
	}
	for _, r := range in.rounds {
		switch r.Cause.Kind {
		case Operator, HandOver, SplitRecovered, Readmitted, FirstLeader, Released, EntryLost:
			return true
		}
		if EndedProcess(r.Cause.Evidence, r.Cause.Lost) {
			return true
		}
	}
	m := g.nodes[in.Leader]
	if m == nil {
		return false
	}
	l := m.at(in.Until, g.fix)
	return l != nil && l.first() == 1 && in.Until.Sub(g.fix.at(l.node, l.from)) < flapTime
}

func flap(incidents []Incident) Finding {
	counts := map[string]int{}
	most := ""
	var proof []Ref
	for _, in := range incidents {
		counts[in.Why]++
		if counts[in.Why] > counts[most] {
			most = in.Why
		}
		proof = append(proof, in.Records...)
	}
	took := incidents[len(incidents)-1].Until.Sub(incidents[0].Until)
	text := fmt.Sprintf("The leader changed %d times within %v", len(incidents), Span(took))
	if took > 0 {
		text += fmt.Sprintf(", %.0f times a minute", float64(len(incidents)-1)/took.Minutes())
	}
	starts := fmt.Sprintf("what starts most of the changes, %d times: %s", counts[most], most)
	if counts[most] == 1 {
		starts = "each starts for another reason, the first one for this: " + most
	}
	return Finding{
		Name: Flapping, Term: incidents[0].Term, Records: proof, Text: fmt.Sprintf("%s; %s.", text, starts),
	}
}
