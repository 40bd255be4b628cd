package rounds

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"
)

// causePhrases are the reasons for which nodes call elections. The number, if
// any, is the leader that is lost where lost is set.
var causePhrases = []struct {
	pattern string
	kind    CauseKind
	lost    bool
}{
	{"leader # is gone", LeaderLost, true},
	{"nobody has heard leader # of late", LeaderSilent, true},
	{"this node ranks above leader #", HigherRank, false},
	{"no leader was heard of", FirstLeader, false},
	{"no better node called an election", FirstLeader, false},
	{"# asks for a leader of the next term", HandOver, false},
	{"# hands over", HandOver, false},
	{"the successor did not take over", RoundFailed, false},
	{"#, the best of the round, does not stand", RoundFailed, false},
	{"a split is mended", SplitMended, false},
	{"a split is mended, and an operator chose this node", SplitMended, false},
	{"the round brought no leader", RoundFailed, false},
	{"no COORDINATOR came in time", RoundFailed, false},
	{"no HALT came in time", RoundFailed, false},
	{"no LEADER came in time", RoundFailed, false},
	{"no READY came in time", RoundFailed, false},
	{"no COORDINATOR came in two trips round", RoundFailed, false},
	{"no ELECTED came in two trips round", RoundFailed, false},
	{"no ELECTED came in a round's time", RoundFailed, false},
	{"no COMMIT came in time", RoundFailed, false},
	{"no quorum of ACK came in time", RoundFailed, false},
	{"no majority promised in time", RoundFailed, false},
	{"no majority accepted in time", RoundFailed, false},
	{"no CHOSEN came in time", RoundFailed, false},
	{"nobody is above this node, and this term is spent", RoundFailed, false},
	{"nobody proposes itself, and this term is spent", RoundFailed, false},
	{"a former life may have proposed, and this term is spent", RoundFailed, false},
	{"a former life of this node was chosen, and this term is spent", RoundFailed, false},
	{"this node was chosen, and this term is spent", RoundFailed, false},
	{"# was elected but is dead", RoundFailed, false},
	{"#, the best of the round, is dead", RoundFailed, false},
	{"this term is spent", RoundFailed, false},
	{"no office was heard of for long", Vacant, false},
	{"this node was chosen and nobody holds the office", Vacant, false},
	{"this node is nominated and nobody holds the office", Vacant, false},
	{"this node may be nominated and nobody holds the office", Vacant, false},
	{"a majority would grant term #", Vacant, false},
	{"nobody leads", Vacant, false},
	{"the last candidacy failed", RoundFailed, false},
	{"asked to call an election", Operator, false},
}

// callsFor is the cause in the reason if it opens the term.
func callsFor(why string, term uint64) (cause string, ok bool) {
	cause, decision := reason(why)
	for _, pattern := range []string{"call an election of term #", "take term #"} {
		if n, fits := phrase(pattern, decision); fits && n[0] == term {
			return cause, true
		}
	}
	return "", false
}

// stoodFor is the cause in the reason if it stands for the office in the term.
func stoodFor(why string, term uint64) (cause string, ok bool) {
	cause, decision := reason(why)
	n, fits := phrase("ask the voters for term #", decision)
	if !fits && decision == "claim it" {
		n, fits = phrase("a majority would grant term #", cause)
	}
	return cause, fits && n[0] == term
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
		for _, why := range s.Why {
			if cause, ok := stoodFor(why, r.Term); ok {
				r.Initiators = append(r.Initiators, Initiator{Node: s.Ref.Node, Why: cause, Ref: s.Ref, At: s.At})
				break
			}
		}
	}
}

// addInitiator notes that the step called the election.
func (r *Round) addInitiator(s *Step) {
	for _, why := range s.Why {
		cause, ok := callsFor(why, r.Term)
		if !ok {
			continue
		}
		r.Initiators = append(r.Initiators, Initiator{Node: s.Ref.Node, Why: cause, Ref: s.Ref, At: s.At})
		return
	}
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
	for _, p := range causePhrases {
		if n, ok := phrase(p.pattern, first.Why); ok {
			c.Kind = p.kind
			if p.lost {
				c.Lost = n[0]
			}
			if p.kind == HandOver {
				giver := s.character(n[0])
				c.Wish, giver.wish = giver.wish, ""
			}
			break
		}
	}
	if strings.HasSuffix(first.Why, ", and this term is spent") ||
		strings.HasSuffix(first.Why, " with nobody who stands") {
		c.Kind = RoundFailed
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
		for _, why := range r.Steps[i].Why {
			if cause, decision := reason(why); decision == "vote again, above that" {
				s := r.Steps[i]
				return Cause{Kind: Readmitted, Text: cause, Witness: s.Ref.Node, Ref: s.Ref, At: s.At}
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
