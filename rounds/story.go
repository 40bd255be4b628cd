package rounds

import (
	"slices"
	"time"
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
	aside        Ref // the step in which it was told to stand aside
}

func newStory(members map[uint64]*member) *story {
	return &story{
		members: members, ways: ways{}, fix: clockFix{}, nodes: map[uint64]*character{}, reigns: map[reignKey]*Reign{},
		drops: map[uint64][]*drop{},
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
	if st.Event == "start" || c.session != st.Ref.Session {
		for id := range c.gone { // what another process saw is past
			s.takeBack(c.id, id, st.At)
		}
		c.alive, c.gone, c.session = nil, map[uint64]Witness{}, st.Ref.Session
		c.leader, c.term = 0, 0 // the process before ended unseen
		c.aside = Ref{}
	}
	switch st.Event {
	case "peers":
		s.look(c, st)
		c.viewed = r.Term
	case "resign":
		c.aside = st.Ref
	case "campaign":
		c.aside = Ref{}
	}
	s.believe(c, st, r)
	c.last, c.lastAt = st.Ref, st.At
}

// look takes the node's new view.
func (s *story) look(c *character, st *Step) {
	before := c.alive
	if before == nil { // its views so far are not in the records
		before = accused(st.Evidence)
	}
	for _, id := range before {
		if !slices.Contains(st.Alive, id) {
			w := Witness{Node: c.id, Evidence: st.Evidence, Ref: st.Ref, At: st.At}
			c.gone[id] = w
			s.drops[id] = append(s.drops[id], &drop{Witness: w})
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
	changed := c.leader != st.Leader || c.term != r.Term
	if reign := s.reigns[reignKey{c.leader, c.term}]; reign != nil {
		switch {
		case c.leader != c.id:
			reign.follower(c.id).Until = st.At
		case changed:
			reign.Last, reign.Until, reign.endedBy = st.Ref, st.At, r.senderOf(st)
		default:
			reign.Until = st.At
		}
	}
	if changed {
		c.leader, c.term = st.Leader, r.Term
		s.follow(c, st)
	}
	if reign := s.reigns[reignKey{c.leader, c.term}]; reign != nil && c.leader == c.id &&
		st.Lease.After(reign.Lease) {
		reign.Lease = st.Lease
	}
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
