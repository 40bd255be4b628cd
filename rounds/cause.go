package rounds

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
)

// callsFor returns the cause, if the reason calls an election of the round's term. Where voters
// decide, the term of the nomination may be lower than the term of the votes.
func (r *Round) callsFor(why *reason) (cause reason, ok bool) {
	opens, ok := decided[algorithms.Opens](why)
	term := why.number(opens.Term)
	if !ok || term != r.Term && (r.Guarantee != lease || term > r.Term) {
		return cause, false
	}
	return why.cause(opens.Cause), true
}

// stoodFor returns the cause, if the reason makes the node a candidate in the term.
func (why *reason) stoodFor(term uint64) (cause reason, ok bool) {
	stands, ok := decided[algorithms.Stands](why)
	if !ok || why.number(stands.Term) != term {
		return cause, false
	}
	return why.cause(stands.Cause), true
}

// addCandidates makes the candidates for votes the initiators, if no node called an election before somebody
// won: while nobody leads, voters may elect a leader without a call. If nodes called an election because the
// leader was gone, but still in that leader's own term, these nodes are the initiators instead. A node that
// called after the win is no initiator: it began another election, of this term or a later one.
func (r *Round) addCandidates(s *clusterState) {
	if r.Guarantee != lease {
		return
	}
	called := s.called
	s.called = nil
	if won := r.place(); won >= 0 {
		r.Initiators = slices.DeleteFunc(r.Initiators, func(in Initiator) bool {
			later := slices.IndexFunc(r.Steps, func(s Step) bool { return s.Ref == in.Ref }) > won
			if later && in.cause.loses() == r.Winner.Node {
				s.called = append(s.called, in)
			}
			return later
		})
	}
	if len(r.Initiators) > 0 {
		return
	}
	for i := range r.Steps {
		st := &r.Steps[i]
		for j := range st.reasons {
			if cause, ok := st.reasons[j].stoodFor(r.Term); ok {
				r.Initiators = append(r.Initiators, initiator(st, cause))
				break
			}
		}
	}
	if len(r.Initiators) == 0 {
		return
	}
	stood := r.Initiators[0].At
	called = slices.DeleteFunc(called, func(in Initiator) bool { return !s.stillGone(&in, stood) })
	if len(called) > 0 {
		r.Initiators = called
	}
}

// stillGone reports whether the initiator called because a leader was gone, and had no sign of life of that
// leader before the time t.
func (s *clusterState) stillGone(in *Initiator, t time.Time) bool {
	return !in.At.After(t) && slices.ContainsFunc(s.drops[in.cause.loses()], func(d *drop) bool {
		return d.Node == in.Node && !d.At.After(in.At) && (d.back.IsZero() || d.back.After(t))
	})
}

// loses returns the leader whose loss the cause is, or 0 if the cause is another one.
func (why *reason) loses() uint64 {
	because, ok := decided[algorithms.Because](why)
	if !ok || because.Kind != LeaderLost && because.Kind != LeaderSilent {
		return 0
	}
	return why.number(because.About)
}

// addInitiator makes the node of a step an initiator, if the step called the election.
func (r *Round) addInitiator(s *Step) {
	for i := range s.reasons {
		if cause, ok := r.callsFor(&s.reasons[i]); ok {
			r.Initiators = append(r.Initiators, initiator(s, cause))
			return
		}
	}
}

func initiator(s *Step, cause reason) Initiator {
	return Initiator{Node: s.Ref.Node, Why: cause.why, Ref: s.Ref, At: s.At, cause: cause}
}

// findCause finds why the election was held, from its first initiator.
func (r *Round) findCause(s *clusterState) {
	r.addCandidates(s)
	if len(r.Initiators) == 0 {
		r.Cause = r.noElection()
		return
	}
	first := r.Initiators[0]
	c := Cause{Kind: Unexplained, Text: first.Why, Node: first.Node, Ref: first.Ref, At: first.At}
	if because, ok := decided[algorithms.Because](&first.cause); ok {
		c.Kind = because.Kind
		c.Lost = first.cause.loses()
		if c.Kind == HandOver {
			giver := s.node(first.cause.number(because.About))
			c.Request, giver.request = giver.request, ""
		}
	}
	if st := r.step(first.Ref); st != nil && st.Event == "campaign" {
		c.Kind = Operator
	}
	if c.Lost != 0 {
		c.Detections = r.detections(c.Lost, s)
	}
	if len(c.Detections) > 0 {
		if w := c.Detections[0]; !w.At.After(first.At) { // else the initiator knew without evidence
			c.Node, c.Evidence, c.Ref, c.At = w.Node, w.Evidence, w.Ref, w.At
		}
		c.Back, c.BackAt = s.back(c)
	}
	r.Cause = c
}

// noElection returns the cause of a term that nobody called. A voter that lost its saved vote takes
// a new term, to be above all terms in which it may have voted. Otherwise the records do not show
// the cause.
func (r *Round) noElection() Cause {
	for i := range r.Steps {
		s := &r.Steps[i]
		for j := range s.reasons {
			if _, ok := decided[algorithms.Readmits](&s.reasons[j]); ok {
				text := s.reasons[j].cause(algorithms.Self).why
				return Cause{Kind: Readmitted, Text: text, Node: s.Ref.Node, Ref: s.Ref, At: s.At}
			}
		}
	}
	return Cause{Kind: Unexplained}
}

// back returns the first record, and its time, that the process of the lost leader wrote after the
// first evidence against it. Both are zero if there is none.
func (s *clusterState) back(c Cause) (Ref, time.Time) {
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

// detections returns each node's evidence that the leader with the id lost is gone, the earliest first. It
// returns one piece of evidence per node: the last one before the election was called, or else the first one
// after the call. It ignores evidence from before that leader began to lead, evidence that the node took back
// before the call, and the lost leader's own evidence.
func (r *Round) detections(lost uint64, s *clusterState) []Detection {
	latest := map[uint64]Detection{}
	called, led := r.Initiators[0].At, s.ledSince(lost, r.Term)
	for _, d := range s.drops[lost] {
		takenBack := !d.back.IsZero() && d.back.Before(called)
		if _, known := latest[d.Node]; takenBack || d.At.Before(led) || known && d.At.After(called) {
			continue
		}
		latest[d.Node] = d.Detection
	}
	delete(s.drops, lost)
	delete(latest, lost)
	return slices.SortedFunc(maps.Values(latest), func(a, b Detection) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Node, b.Node))
	})
}

// against has the patterns of evidence that a process is dead or unreachable. # stands for its node's id.
var against = []string{
	"gossip-dead #", "dial-refused #", "unreachable #", "heartbeat-missed #", "link-closed #",
	"link-reset #", "other-incarnation #", "left #", provenDead + " #",
}

// ledSince returns when a node began to lead its last term below the given one, or zero if it led none.
func (s *clusterState) ledSince(leader, below uint64) time.Time {
	for _, leadership := range slices.Backward(s.list) {
		if leadership.Leader == leader && leadership.Term < below && !leadership.First.IsZero() {
			return leadership.From
		}
	}
	return time.Time{}
}

// provenDead is the word for the evidence that a process is proven dead. It comes from a "gone" step.
const provenDead = "proven-dead"

// accused returns the nodes that are gone, as the evidence says.
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
