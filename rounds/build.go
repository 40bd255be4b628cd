package rounds

import "slices"

// round builds the Round of one term. next is the term that comes after it, 0 for none. The Round is
// nil for term 0, in which nodes start and have called no election yet.
func (g *group) round(t *log, next uint64) *Round {
	t.inOrder(g.fix, g.linked || t.comparable(g.paths), g.key.run > 0)
	r := &Round{
		Cluster: g.key.cluster, Algorithm: g.key.algo, Guarantee: g.guarantee,
		Run: g.key.run, Era: g.key.era, Term: t.term,
		Initiators: []Initiator{}, Participants: []Participant{}, Steps: g.steps(t.entries, g.scratch.steps, t.term),
		Verdicts: []Verdict{}, Counts: []KindCount{},
		LeftBehind: []Straggler{}, Findings: []Finding{}, Unknown: []string{},
	}
	if len(r.Steps) > 0 {
		r.From = r.Steps[0].At
	}
	r.Messages, g.scratch.sent = g.scratch.messages[:0], g.scratch.sent[:0]
	messages(r, t.entries, &g.scratch)
	var led []Winner
	for i := range r.Steps {
		r.addInitiator(&r.Steps[i])
		r.noteUnfenced(&r.Steps[i])
		r.noteStore(&r.Steps[i])
		r.noteSkipped(&r.Steps[i])
		r.noteAnswers(&r.Steps[i])
		led = r.lead(led, i, t.entries[i].life)
		r.Terse = r.Terse || !t.entries[i].life.debug
		r.until = latest(r.until, r.Steps[i].At)
	}
	unread := unreadCodes(t.entries)
	for _, code := range unread {
		g.unread[code] = true
	}
	if t.term == 0 {
		return nil
	}
	g.ranks(t.entries)
	r.choose(led, g)
	r.findCause(g)
	r.noteAsked()
	r.end(g, next)
	r.deliveries(g, t)
	r.ballot(g)
	r.setSoonest(g)
	r.count()
	r.noteQuiet(g)
	lacks := r.lacksSends(t.entries, g)
	r.AtLeast, r.Quiet = r.Terse || lacks || r.Quiet, r.Quiet && !lacks
	r.split(g, t)
	r.judge(g)
	if g.briefly(t.term) {
		g.scratch.steps, g.scratch.messages = r.Steps, r.Messages
		r.Steps, r.Messages = nil, nil
	} else {
		r.decide(&g.scratch)
		r.compare()
		r.findQuestion(t.entries)
		r.findUnknown(t.entries, unread)
		g.scratch = newScratch()
	}
	return r
}

// briefly reports whether the Round of the term has only what a list tells of it: see NewBriefBuilder.
func (g *group) briefly(term uint64) bool {
	return g.brief && (g.bounds == nil || g.bounds.Steps == nil || !g.bounds.Steps(term))
}

// scratch is the memory for the steps and messages of one round. If rounds keep none of
// them (group.brief), all rounds use one scratch, one after the other.
type scratch struct {
	steps    []Step
	messages []Message
	unsorted []Message // memory for messages while they are sorted
	sent     []int     // the indexes in messages that all steps sent
	verdicts map[decision]bool
}

func newScratch() scratch {
	return scratch{steps: []Step{}, messages: []Message{}, verdicts: map[decision]bool{}}
}

// steps returns the steps of the entries of one term, with corrected times. It reuses the memory of old.
func (g *group) steps(entries []*entry, old []Step, term uint64) []Step {
	steps := slices.Grow(old[:0], len(entries))[:len(entries)]
	for i, e := range entries {
		st := &steps[i]
		*st = e.Step
		st.At = g.fix.at(e.Ref.Node, e.Wall)
		if !e.Lease.IsZero() {
			st.Lease = g.fix.at(e.Ref.Node, e.Lease)
		}
		if st.Leader == 0 {
			continue
		}
		if led := e.life.ledAt(e.Ref.Seq); led != term {
			st.LeaderTerm = led
		}
	}
	return steps
}

// step returns the step of the record, or nil if the round does not have it.
func (r *Round) step(ref Ref) *Step {
	i := r.stepOf(ref)
	if i < 0 {
		return nil
	}
	return &r.Steps[i]
}

// stepOf returns the index of the step of the record, -1 if the round does not have it.
func (r *Round) stepOf(ref Ref) int {
	for i := range r.Steps {
		if r.Steps[i].Ref == ref {
			return i
		}
	}
	return -1
}

// ranks notes the attributes of nodes that messages name.
func (g *group) ranks(entries []*entry) {
	note := func(id uint64, attr int64) bool {
		if was := g.attrs[id]; was == nil || *was != attr {
			g.attrs[id] = new(attr)
		}
		return true
	}
	for _, e := range entries {
		e.named(note)
	}
}
