package rounds

import "slices"

// round builds the Round of one term. next is the term that comes after it, 0 for none. The Round is
// nil for term 0, in which nodes start and have called no election yet.
func (s *clusterState) round(g *group, t *log, next uint64) *Round {
	t.inOrder(s.fix, g.key.run > 0)
	r := &Round{
		Cluster: g.key.cluster, Algorithm: g.key.algo, Guarantee: g.guarantee,
		Run: g.key.run, Term: t.term,
		Initiators: []Initiator{}, Participants: []Participant{}, Steps: s.steps(t.entries, s.scratch.steps),
		Verdicts: []Verdict{}, Counts: []KindCount{},
		LeftBehind: []Straggler{}, Findings: []Finding{}, Unknown: []string{},
	}
	r.Messages, s.scratch.sent = s.scratch.messages[:0], s.scratch.sent[:0]
	messages(r, t.entries, &s.scratch)
	known := map[Verdict]bool{}
	var led []Winner
	for i := range r.Steps {
		s.step(r, i, t.entries[i])
		r.addInitiator(&r.Steps[i])
		r.addVerdicts(&r.Steps[i], known)
		led = r.lead(led, i, s, t.entries[i].life.debug)
	}
	unread := unreadCodes(t.entries)
	for _, code := range unread {
		s.unread[code] = true
	}
	if t.term == 0 {
		return nil
	}
	r.ranks(s, t.entries)
	r.choose(led)
	r.findCause(s)
	r.end(s, g, next)
	r.ballot()
	r.deliveries(s, g, t.folded)
	r.count()
	r.split(s, g)
	r.findUnknown(t.entries, unread)
	r.judge(s, g)
	s.past()
	if s.brief {
		s.scratch.steps, s.scratch.messages = r.Steps, r.Messages
		r.Steps, r.Messages = nil, nil
	} else {
		s.scratch = newScratch()
	}
	return r
}

// scratch is the memory for the steps and messages of one round. If rounds keep none of
// them (clusterState.brief), all rounds use one scratch, one after the other.
type scratch struct {
	steps    []Step
	messages []Message
	sent     []int // the indexes in messages that all steps sent
}

func newScratch() scratch { return scratch{steps: []Step{}, messages: []Message{}} }

// steps returns the steps of the entries, with corrected times. It reuses the memory of old.
func (s *clusterState) steps(entries []*entry, old []Step) []Step {
	steps := slices.Grow(old[:0], len(entries))[:len(entries)]
	for i, e := range entries {
		steps[i] = e.Step
		steps[i].At = s.fix.at(e.Ref.Node, e.Wall)
		if !e.Lease.IsZero() {
			steps[i].Lease = s.fix.at(e.Ref.Node, e.Lease)
		}
	}
	return steps
}

// step returns the step of the record, or nil if the round does not have it.
func (r *Round) step(ref Ref) *Step {
	i := slices.IndexFunc(r.Steps, func(s Step) bool { return s.Ref == ref })
	if i < 0 {
		return nil
	}
	return &r.Steps[i]
}

// ranks notes the attributes of nodes that messages name.
func (r *Round) ranks(s *clusterState, entries []*entry) {
	for _, e := range entries {
		for id, attr := range e.named() {
			if c := s.node(id); c.attr == nil || *c.attr != attr {
				c.attr = &attr
			}
		}
	}
}
