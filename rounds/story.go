package rounds

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
)

// story is what the rounds told so far mean for the next: who believes whom
// alive, who leads, how clocks differ. Steps reach it in causal order within a
// term, and terms in their order.
type story struct {
	ways  ways
	fix   clockFix
	nodes map[uint64]*character
	// members are the group's.
	members map[uint64]*member
	// reigns by their leader and term; list has them in order.
	reigns map[reignKey]*Reign
	list   []*Reign
	top    uint64 // the highest term there is
	// drops are who dropped a node from its view, by that node, in the order of
	// the steps, as long as no round was about it.
	drops map[uint64][]*drop
	// brief: rounds are told without their steps and messages, which share room.
	brief bool
	room  room
}

type reignKey struct{ leader, term uint64 }

// drop is one node's evidence against another, and when it took it back.
type drop struct {
	Witness
	back time.Time
}

// character is one node in the story.
type character struct {
	id   uint64
	attr *int64
	// alive is the node's view, as told in the term viewed; nil before it told
	// of any.
	alive   []uint64
	viewed  uint64
	session string
	// gone has, for each node that left the view, the evidence.
	gone map[uint64]Witness
	// The belief, and the reign it is about.
	leader, term uint64
	last         Ref // the last step
	lastAt       time.Time
	aside        Ref    // the step in which it was told to stand aside
	barred       string // why it is not eligible
	wish         string // the last that made it leave, if it leads
}

func newStory(members map[uint64]*member) *story {
	return &story{
		members: members, ways: ways{}, fix: clockFix{}, nodes: map[uint64]*character{}, reigns: map[reignKey]*Reign{},
		drops: map[uint64][]*drop{}, room: newRoom(),
	}
}

func (s *story) character(id uint64) *character {
	c := s.nodes[id]
	if c == nil {
		c = &character{id: id, gone: map[uint64]Witness{}}
		s.nodes[id] = c
	}
	return c
}

// measure learns from the messages of a term how far the clocks differ.
func (s *story) measure(t *log) {
	s.top = max(s.top, t.term)
	t.pair()
	for _, e := range t.entries {
		if e.cause != nil && !e.life.text {
			s.ways.sample(e.from, e.node(), e.cause.wall, e.wall)
		}
	}
}

// step takes step i of the round into the story.
func (s *story) step(r *Round, i int) {
	st := &r.Steps[i]
	c := s.character(st.Ref.Node)
	if st.Ref.Session == c.last.Session && st.Ref.Seq < c.last.Seq {
		return // of the term before, and told with a later one: what it says is past
	}
	if st.Event == "start" || c.session != st.Ref.Session {
		for id := range c.gone { // what another process saw is past
			s.takeBack(c.id, id, st.At)
		}
		c.alive, c.gone, c.session = nil, map[uint64]Witness{}, st.Ref.Session
		c.leader, c.term = 0, 0 // the process before ended unseen
		c.aside, c.barred = Ref{}, ""
	}
	switch st.Event {
	case "peers":
		s.look(c, st)
		c.viewed = r.Term
	case "gone":
		s.prove(c, st)
	case "resign":
		c.aside, c.wish = st.Ref, "it was asked to resign"
	case "transfer":
		c.wish = "transfer " + st.Detail
	case "campaign":
		if c.barred == "" {
			c.aside = Ref{}
		}
	case "eligible":
		why, no := strings.CutPrefix(st.Detail, "no, ")
		c.aside, c.barred, c.wish = Ref{}, "", ""
		if no {
			c.aside, c.barred, c.wish = st.Ref, why, why
		}
	}
	s.believe(c, st, r)
	c.last, c.lastAt = st.Ref, st.At
}

// look takes the node's new view.
func (s *story) look(c *character, st *Step) {
	// At level info not every view is in the records: a node may be dropped of
	// which none told that it had come back. The evidence names it.
	for _, id := range union(c.alive, accused(st.Evidence)) {
		if !slices.Contains(st.Alive, id) && id != c.id {
			s.drop(id, Witness{Node: c.id, Evidence: st.Evidence, Ref: st.Ref, At: st.At})
		}
	}
	for _, id := range st.Alive {
		if _, was := c.gone[id]; !was {
			continue
		}
		delete(c.gone, id)
		s.takeBack(c.id, id, st.At)
	}
	c.alive = st.Alive
}

// prove takes the proof that a process is dead.
func (s *story) prove(c *character, st *Step) {
	if id, _, ok := leadingNumber(st.Detail); ok {
		s.drop(id, Witness{Node: c.id, Evidence: fmt.Sprint(provenDead, " ", id), Ref: st.Ref, At: st.At})
	}
}

// drop notes evidence against id. The view without the node that follows a proof
// at once is the same evidence, and says what it was.
func (s *story) drop(id uint64, w Witness) {
	c := s.character(w.Node)
	c.gone[id] = w
	for _, d := range s.drops[id] {
		proof := d.Node == w.Node && d.back.IsZero() && strings.HasPrefix(d.Evidence, provenDead)
		if proof && d.Ref.Session == w.Ref.Session && w.At.Sub(d.At) <= heldUp {
			d.Evidence = w.Evidence
			c.gone[id] = d.Witness
			return
		}
	}
	s.drops[id] = append(s.drops[id], &drop{Witness: w})
}

// union is a and what b has besides.
func union(a, b []uint64) []uint64 {
	all := a
	for _, id := range b {
		if !slices.Contains(all, id) {
			all = append(all[:len(all):len(all)], id)
		}
	}
	return all
}

// takeBack notes that node no longer believes id gone.
func (s *story) takeBack(node, id uint64, at time.Time) {
	for _, d := range s.drops[id] {
		if d.Node == node && d.back.IsZero() {
			d.back = at
		}
	}
}

// past forgets the evidence that was taken back: later rounds are not about
// it.
func (s *story) past() {
	for id, drops := range s.drops {
		s.drops[id] = slices.DeleteFunc(drops, func(d *drop) bool { return !d.back.IsZero() })
	}
}

// believe notes a changed belief in the reigns it ends and begins.
func (s *story) believe(c *character, st *Step, r *Round) {
	term := c.leads(st, r)
	if st.Leader != 0 && term != r.Term {
		st.LeaderTerm = term
	}
	changed := c.leader != st.Leader || c.term != term
	if reign := s.reigns[reignKey{c.leader, c.term}]; reign != nil {
		switch {
		case c.leader != c.id:
			f := reign.follower(c.id)
			f.Until, f.left = st.At, changed
		case changed:
			reign.Last, reign.Until, reign.endedBy = st.Ref, st.At, r.senderOf(st)
			reign.ranOut = st.ranOut()
		default:
			reign.Until = st.At
		}
	}
	if changed {
		c.leader, c.term = st.Leader, term
		s.follow(c, st)
	}
	if reign := s.reigns[reignKey{c.leader, c.term}]; reign != nil && c.leader == c.id &&
		st.Lease.After(reign.Lease) {
		reign.Lease = st.Lease
	}
}

// leads is the term that the step's leader leads. Without an office it is the
// record's; with one, a record has the term of the round that is on, and the
// leader may be that of an earlier one.
func (c *character) leads(st *Step, r *Round) uint64 {
	switch {
	case r.Guarantee != lease || st.Leader == 0:
		return r.Term
	case st.Token != 0:
		return st.Token
	case st.Change == "" && st.Leader == c.leader:
		return c.term
	}
	for i := range st.reasons {
		why := &st.reasons[i]
		if follows, ok := decided[algorithms.Follows](why); ok {
			return why.number(follows.Term)
		}
		if leads, ok := decided[algorithms.Leads](why); ok {
			return why.number(leads.Term)
		}
	}
	return r.Term
}

// senderOf is the record that sent what the step received.
func (r *Round) senderOf(st *Step) Ref {
	if st.Received < 0 || r.Messages[st.Received].SendStep < 0 {
		return Ref{}
	}
	return r.Steps[r.Messages[st.Received].SendStep].Ref
}

func (s *story) follow(c *character, st *Step) {
	if c.leader == 0 {
		return
	}
	r := s.reign(c.leader, c.term)
	if c.leader == c.id {
		if r.First.IsZero() {
			r.First, r.Session, r.From = st.Ref, st.Ref.Session, st.At
		}
		r.Until = st.At
		return
	}
	if r.From.IsZero() {
		r.From = st.At // until the leader's own record is seen
	}
	if f := r.follower(c.id); f != nil {
		f.Until = st.At
		return
	}
	r.Followers = append(r.Followers, Follower{Node: c.id, From: st.At, Until: st.At, First: st.Ref})
}

func (s *story) reign(leader, term uint64) *Reign {
	key := reignKey{leader, term}
	r := s.reigns[key]
	if r == nil {
		r = &Reign{Leader: leader, Term: term, Followers: []Follower{}}
		s.reigns[key] = r
		s.list = append(s.list, r)
	}
	return r
}

func (r *Reign) follower(id uint64) *Follower {
	for i := range r.Followers {
		if r.Followers[i].Node == id {
			return &r.Followers[i]
		}
	}
	return nil
}
