package rounds

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
)

// callsFor is the cause in the reason if it opens the term.
func (why *reason) callsFor(term uint64) (cause reason, ok bool) {
	opens, ok := decided[algorithms.Opens](why)
	if !ok || why.number(opens.Term) != term {
		return cause, false
	}
	return why.cause(opens.Cause), true
}

// stoodFor is the cause in the reason if it stands for the office in the term.
func (why *reason) stoodFor(term uint64) (cause reason, ok bool) {
	stands, ok := decided[algorithms.Stands](why)
	if !ok || why.number(stands.Term) != term {
		return cause, false
	}
	return why.cause(stands.Cause), true
}

// addCandidates makes those that stood for the office the initiators, where no
// election called them before it was won: that is how a vacant office is filled.
// Who calls an election of a term that is led begins another.
func (r *Round) addCandidates() {
	won := r.place()
	if r.Guarantee != lease {
		return
	}
	if won >= 0 {
		r.Initiators = slices.DeleteFunc(r.Initiators, func(in Initiator) bool {
			at := slices.IndexFunc(r.Steps, func(s Step) bool { return s.Ref == in.Ref })
			return at > won
		})
	}
	if len(r.Initiators) > 0 {
		return
	}
	for i := range r.Steps {
		s := &r.Steps[i]
		for j := range s.reasons {
			if cause, ok := s.reasons[j].stoodFor(r.Term); ok {
				r.Initiators = append(r.Initiators, initiator(s, cause))
				break
			}
		}
	}
}

// addInitiator notes that the step called the election.
func (r *Round) addInitiator(s *Step) {
	for i := range s.reasons {
		if cause, ok := s.reasons[i].callsFor(r.Term); ok {
			r.Initiators = append(r.Initiators, initiator(s, cause))
			return
		}
	}
}

func initiator(s *Step, cause reason) Initiator {
	return Initiator{Node: s.Ref.Node, Why: cause.why, Ref: s.Ref, At: s.At, cause: cause}
}

// findCause says why there was the round, from its first initiator.
func (r *Round) findCause(s *story) {
	r.addCandidates()
	if len(r.Initiators) == 0 {
		r.Cause = r.noElection()
		return
	}
	first := r.Initiators[0]
	c := Cause{Kind: Unexplained, Text: first.Why, Witness: first.Node, Ref: first.Ref, At: first.At}
	if because, ok := decided[algorithms.Because](&first.cause); ok {
		c.Kind = because.Kind
		switch about := first.cause.number(because.About); c.Kind {
		case LeaderLost, LeaderSilent:
			c.Lost = about
		case HandOver:
			giver := s.character(about)
			c.Wish, giver.wish = giver.wish, ""
		}
	}
	if st := r.step(first.Ref); st != nil && st.Event == "campaign" {
		c.Kind = Operator
	}
	if c.Lost != 0 {
		c.Witnesses = r.witnesses(c.Lost, s)
	}
	if len(c.Witnesses) > 0 {
		if w := c.Witnesses[0]; !w.At.After(first.At) { // who called it knew without evidence
			c.Witness, c.Evidence, c.Ref, c.At = w.Node, w.Evidence, w.Ref, w.At
		}
		c.Back, c.BackAt = s.back(c)
	}
	r.Cause = c
}

// noElection is the cause of a term that nobody called: a voter that lost what it
// voted took it, to be above all that it may have voted in; or no record tells.
func (r *Round) noElection() Cause {
	for i := range r.Steps {
		s := &r.Steps[i]
		for j := range s.reasons {
			if _, ok := decided[algorithms.Readmits](&s.reasons[j]); ok {
				text := s.reasons[j].cause(algorithms.Self).why
				return Cause{Kind: Readmitted, Text: text, Witness: s.Ref.Node, Ref: s.Ref, At: s.At}
			}
		}
	}
	return Cause{Kind: Unexplained}
}

// back is the first record that the lost leader's process, the one that had
// led, wrote after the first evidence against it.
func (s *story) back(c Cause) (Ref, time.Time) {
	m := s.members[c.Lost]
	if m == nil {
		return Ref{}, time.Time{}
	}
	if l := m.at(c.At, s.fix); l != nil {
		if first, ok := l.after(c.At, s.fix); ok {
			return l.ref(first.seq), s.fix.at(l.node, first.wall)
		}
	}
	return Ref{}, time.Time{}
}

// witnesses are those with evidence of their own that lost is gone, the first
// first: one each, the last that it had when the election was called, or else
// the first after that. What was held against it before it led is no such.
func (r *Round) witnesses(lost uint64, s *story) []Witness {
	latest := map[uint64]Witness{}
	called, led := r.Initiators[0].At, s.ledSince(lost, r.Term)
	for _, d := range s.drops[lost] {
		takenBack := !d.back.IsZero() && d.back.Before(called)
		if _, known := latest[d.Node]; takenBack || d.At.Before(led) || known && d.At.After(called) {
			continue
		}
		latest[d.Node] = d.Witness
	}
	delete(s.drops, lost)
	delete(latest, lost)
	return slices.SortedFunc(maps.Values(latest), func(a, b Witness) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Node, b.Node))
	})
}

// against are the words of evidence that a process is gone or out of reach.
var against = []string{
	"gossip-dead #", "dial-refused #", "unreachable #", "heartbeat-missed #", "link-closed #",
	"link-reset #", "other-session #", "left #", provenDead + " #",
}

// ledSince is when a node began to lead the last term below one, zero for never.
func (s *story) ledSince(leader, below uint64) time.Time {
	for _, reign := range slices.Backward(s.list) {
		if reign.Leader == leader && reign.Term < below && !reign.First.IsZero() {
			return reign.From
		}
	}
	return time.Time{}
}

// provenDead is the word for what a "gone" step tells: the detectors have proof.
const provenDead = "proven-dead"

// accused are the nodes that the evidence is against.
func accused(evidence string) (ids []uint64) {
	for piece := range strings.SplitSeq(evidence, ", ") {
		for _, word := range against {
			if n, ok := phrase(word, piece); ok && !slices.Contains(ids, n[0]) {
				ids = append(ids, n[0])
			}
		}
	}
	return ids
}
