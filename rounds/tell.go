package rounds

import (
	"iter"
	"slices"
	"strconv"
)

// tell makes the Round of one term, nil when there was none: before the first
// term, nodes start and look about.
func (s *story) tell(g *group, t *log) *Round {
	t.inOrder(s.fix, g.key.run > 0)
	r := &Round{
		Cluster: g.key.cluster, Algorithm: g.key.algo, Guarantee: g.guarantee,
		Run: g.key.run, Term: t.term,
		Initiators: []Initiator{}, Participants: []Participant{}, Steps: s.steps(t.entries, s.room.steps),
		Verdicts: []Verdict{}, Counts: []KindCount{},
		LeftBehind: []Straggler{}, Findings: []Finding{}, Unknown: []string{},
	}
	r.Messages, s.room.sent = s.room.messages[:0], s.room.sent[:0]
	messages(r, t.entries, &s.room)
	known := map[Verdict]bool{}
	var led []Winner
	for i := range r.Steps {
		s.step(r, i)
		r.addInitiator(&r.Steps[i])
		r.addVerdicts(&r.Steps[i], known)
		led = r.lead(led, i, s, t.entries[i].life.debug)
	}
	if t.term == 0 {
		return nil
	}
	r.ranks(s)
	r.choose(led)
	r.findCause(s)
	r.end(s, g)
	r.ballot()
	r.fates(s, g, t.folded)
	r.count()
	r.split(s, g)
	r.findUnknown(t.entries)
	r.judge(s, g)
	s.past()
	if s.brief {
		s.room.steps, s.room.messages = r.Steps, r.Messages
		r.Steps, r.Messages = nil, nil
	} else {
		s.room = newRoom()
	}
	return r
}

// room is where the steps and messages of one round lie. Rounds that are told
// without them use it one after the other.
type room struct {
	steps    []Step
	messages []Message
	sent     []int // indexes in messages, of all steps
}

func newRoom() room { return room{steps: []Step{}, messages: []Message{}} }

// steps are the entries as a Round has them, in the room given.
func (s *story) steps(entries []*entry, room []Step) []Step {
	steps := slices.Grow(room[:0], len(entries))[:len(entries)]
	for i, e := range entries {
		steps[i] = Step{
			Ref: e.ref(), At: s.fix.at(e.node(), e.wall), Wall: e.wall,
			Event: e.event, Detail: e.detail, Alive: e.alive, Evidence: e.evidence, Why: e.why, reasons: e.reasons,
			Warn: e.warn, Received: -1, Role: e.role, Leader: e.leader, Change: e.change, Prev: e.prev, Token: e.token,
		}
		if !e.lease.IsZero() {
			steps[i].Lease = s.fix.at(e.node(), e.lease)
		}
	}
	return steps
}

// step is the step of that record, nil for none.
func (r *Round) step(ref Ref) *Step {
	i := slices.IndexFunc(r.Steps, func(s Step) bool { return s.Ref == ref })
	if i < 0 {
		return nil
	}
	return &r.Steps[i]
}

// ranks gathers the attributes that messages name: "candidate 4:0".
func (r *Round) ranks(s *story) {
	for i := range r.Steps {
		if r.Steps[i].Event != "receive" {
			continue // an operator's words may look like anything
		}
		for id, attr := range peersIn(r.Steps[i].Detail) {
			if c := s.character(id); c.attr == nil || *c.attr != attr {
				c.attr = &attr
			}
		}
	}
}

// peersIn are the id:attr in the words of a message.
func peersIn(detail string) iter.Seq2[uint64, int64] {
	return func(yield func(uint64, int64) bool) {
		for i := 1; i < len(detail)-1; i++ {
			if detail[i] != ':' {
				continue
			}
			id, okID := numberBefore(detail, i)
			attr, okAttr := numberAfter(detail, i)
			if okID && okAttr && !yield(id, attr) {
				return
			}
		}
	}
}

func numberBefore(s string, end int) (uint64, bool) {
	begin := end
	for begin > 0 && s[begin-1] >= '0' && s[begin-1] <= '9' {
		begin--
	}
	n, err := strconv.ParseUint(s[begin:end], 10, 64)
	return n, err == nil
}

func numberAfter(s string, colon int) (int64, bool) {
	end := colon + 1
	for end < len(s) && (s[end] >= '0' && s[end] <= '9' || end == colon+1 && s[end] == '-') {
		end++
	}
	n, err := strconv.ParseInt(s[colon+1:end], 10, 64)
	return n, err == nil
}
