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
	{"the round brought no leader", RoundFailed, false},
	{"no COORDINATOR came in time", RoundFailed, false},
	{"no ELECTED came in two trips round", RoundFailed, false},
	{"# was elected but is dead", RoundFailed, false},
	{"#, the best of the round, is dead", RoundFailed, false},
	{"this term is spent", RoundFailed, false},
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
	if len(r.Initiators) == 0 {
		r.Cause = Cause{Kind: Unexplained}
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
			break
		}
	}
	if strings.HasSuffix(first.Why, ", and this term is spent") {
		c.Kind = RoundFailed
	}
	if st := r.step(first.Ref); st != nil && st.Event == "campaign" {
		c.Kind = Operator
	}
	if c.Lost != 0 {
		c.Witnesses = r.witnesses(c.Lost, s)
	}
	if len(c.Witnesses) > 0 {
		w := c.Witnesses[0]
		c.Witness, c.Evidence, c.Ref, c.At = w.Node, w.Evidence, w.Ref, w.At
		c.Back, c.BackAt = s.back(c)
	}
	r.Cause = c
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
// first: one each, the last that it had when the election was called or later.
func (r *Round) witnesses(lost uint64, s *story) []Witness {
	latest := map[uint64]Witness{}
	called := r.Initiators[0].At
	for _, d := range s.drops[lost] {
		if d.back.IsZero() || !d.back.Before(called) {
			latest[d.Node] = d.Witness
		}
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
	"link-reset #", "other-session #", "left #",
}

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
