package rounds

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
)

// clusterState is the state of the cluster after the rounds that were built: who believes whom
// alive, who leads, how clocks differ. Rounds are built in the order of their terms, and the steps
// of a term are applied in causal order.
type clusterState struct {
	delays  delays
	fix     clockFix
	nodes   map[uint64]*nodeState
	members map[uint64]*member
	// leaderships has all leaderships by leader and term; list has the same in the order in which they
	// began.
	leaderships map[leadershipKey]*Leadership
	list        []*Leadership
	top         uint64 // the highest term there is
	// drops has, for each node, the evidence of the other nodes that dropped this node from their view, in
	// the order of the steps. The evidence is kept until a round is about the loss of this node.
	drops map[uint64][]*drop
	// called has initiators of the last round's term: those that called an election after the
	// winner of that round was elected, because that winner was gone.
	called []Initiator
	// unread has the codes of reasons that this version does not know.
	unread map[string]bool
	// brief: rounds keep no steps and messages. All rounds then use one scratch.
	brief   bool
	scratch scratch
}

type leadershipKey struct{ leader, term uint64 }

// drop is one node's evidence against another. back is when that node saw the other alive again.
type drop struct {
	Detection
	back time.Time
}

// nodeState is the state of one node.
type nodeState struct {
	id   uint64
	attr *int64
	// alive is the node's last view, which it wrote in the term viewed. It is nil before
	// the first view.
	alive       []uint64
	viewed      uint64
	looked      uint64 // the Seq of that view
	incarnation string
	// gone has the evidence against each node that left the view.
	gone map[uint64]Detection
	// leader is the node that this node believes to lead, 0 for nobody. term is the term of that leadership.
	leader, term uint64
	last         Ref // the last step
	lastAt       time.Time
	aside        Ref    // the step in which it was told to stand aside
	ineligible   string // why it does not stand; empty if it does
	request      string // why it last had to give up leadership: an operator asked it, or it is ineligible
}

func newClusterState(members map[uint64]*member) *clusterState {
	return &clusterState{
		members: members, delays: delays{}, fix: clockFix{}, nodes: map[uint64]*nodeState{},
		leaderships: map[leadershipKey]*Leadership{},
		drops:       map[uint64][]*drop{}, unread: map[string]bool{}, scratch: newScratch(),
	}
}

func (s *clusterState) node(id uint64) *nodeState {
	c := s.nodes[id]
	if c == nil {
		c = &nodeState{id: id, gone: map[uint64]Detection{}}
		s.nodes[id] = c
	}
	return c
}

// measure adds the delays of a term's messages to s.delays.
func (s *clusterState) measure(t *log) {
	s.top = max(s.top, t.term)
	t.pair()
	for _, e := range t.entries {
		if e.cause != nil && !e.life.text {
			s.delays.sample(e.from, e.Ref.Node, e.cause.Wall, e.Wall)
		}
	}
}

// step applies step i of the round.
func (s *clusterState) step(r *Round, i int, e *entry) {
	st := &r.Steps[i]
	c := s.node(st.Ref.Node)
	if st.Ref.Incarnation == c.last.Incarnation && st.Ref.Seq < c.last.Seq {
		// It is past: a record of an earlier term that comes with a later one, or one of the term that a candidate
		// asked for while its own term went on. The view may still be its newest.
		if st.Event == "peers" && st.Ref.Seq > c.looked {
			s.look(c, st)
		}
		return
	}
	if st.Event == "start" || c.incarnation != st.Ref.Incarnation {
		for id := range c.gone { // what the former process saw is past
			s.takeBack(c.id, id, st.At)
		}
		c.alive, c.gone, c.incarnation, c.looked = nil, map[uint64]Detection{}, st.Ref.Incarnation, 0
		c.leader, c.term = 0, 0 // no record tells how the former process ended
		c.aside, c.ineligible = Ref{}, ""
	}
	switch st.Event {
	case "peers":
		s.look(c, st)
		c.viewed = r.Term
	case "gone":
		s.prove(c, st, e.about)
	case "resign":
		c.aside, c.request = st.Ref, "it was asked to resign"
	case "transfer":
		c.request = "transfer " + st.Detail
	case "campaign":
		if c.ineligible == "" {
			c.aside = Ref{}
		}
	case "eligible":
		c.aside, c.ineligible, c.request = Ref{}, "", ""
		if e.unfit != "" {
			c.aside, c.ineligible, c.request = st.Ref, e.unfit, e.unfit
		}
	}
	s.believe(c, st, r)
	c.last, c.lastAt = st.Ref, st.At
}

// look applies a new view of the node.
func (s *clusterState) look(c *nodeState, st *Step) {
	// At level info not every view is in the records. So a node may be dropped although no
	// record tells that it was back in the view. The evidence names it.
	for _, id := range union(c.alive, accused(st.Evidence)) {
		if !slices.Contains(st.Alive, id) && id != c.id {
			s.drop(id, Detection{Node: c.id, Evidence: st.Evidence, Ref: st.Ref, At: st.At})
		}
	}
	for _, id := range st.Alive {
		if _, was := c.gone[id]; !was {
			continue
		}
		delete(c.gone, id)
		s.takeBack(c.id, id, st.At)
	}
	c.alive, c.looked = st.Alive, st.Ref.Seq
}

// prove notes the proof, in the step st of node c, that the process of the node id is dead.
func (s *clusterState) prove(c *nodeState, st *Step, id uint64) {
	if id != 0 {
		s.drop(id, Detection{Node: c.id, Evidence: fmt.Sprint(provenDead, " ", id), Ref: st.Ref, At: st.At})
	}
}

// drop notes the evidence w against the node id. A view without the node follows at once after a
// proof. Both count as one piece of evidence, with the words of the view.
func (s *clusterState) drop(id uint64, w Detection) {
	c := s.node(w.Node)
	c.gone[id] = w
	for _, d := range s.drops[id] {
		proof := d.Node == w.Node && d.back.IsZero() && strings.HasPrefix(d.Evidence, provenDead)
		if proof && d.Ref.Incarnation == w.Ref.Incarnation && w.At.Sub(d.At) <= maxTransit {
			d.Evidence = w.Evidence
			c.gone[id] = d.Detection
			return
		}
	}
	s.drops[id] = append(s.drops[id], &drop{Detection: w})
}

// union returns all of a, and then those elements of b that are not in a.
func union(a, b []uint64) []uint64 {
	all := a
	for _, id := range b {
		if !slices.Contains(all, id) {
			all = append(all[:len(all):len(all)], id)
		}
	}
	return all
}

// takeBack notes that a node believes the node id alive again, since the time at.
func (s *clusterState) takeBack(node, id uint64, at time.Time) {
	for _, d := range s.drops[id] {
		if d.Node == node && d.back.IsZero() {
			d.back = at
		}
	}
}

// past forgets the evidence that was taken back: later rounds are not about it.
func (s *clusterState) past() {
	for id, drops := range s.drops {
		s.drops[id] = slices.DeleteFunc(drops, func(d *drop) bool { return !d.back.IsZero() })
	}
}

// believe applies what the node believes after a step. It updates the leadership that the node believed in
// before, and the one that it believes in now.
func (s *clusterState) believe(c *nodeState, st *Step, r *Round) {
	term := c.leads(st, r)
	if st.Leader != 0 && term != r.Term {
		st.LeaderTerm = term
	}
	changed := c.leader != st.Leader || c.term != term
	if leadership := s.leaderships[leadershipKey{c.leader, c.term}]; leadership != nil {
		switch {
		case c.leader != c.id:
			f := leadership.follower(c.id)
			f.Until, f.left = st.At, changed
		case changed:
			leadership.Last, leadership.Until, leadership.endedBy = st.Ref, st.At, r.senderOf(st)
			leadership.ranOut = st.ranOut()
		default:
			leadership.Until = st.At
		}
	}
	if changed {
		c.leader, c.term = st.Leader, term
		s.follow(c, st)
	}
	if leadership := s.leaderships[leadershipKey{c.leader, c.term}]; leadership != nil && c.leader == c.id &&
		st.Lease.After(leadership.Lease) {
		leadership.Lease = st.Lease
	}
}

// leads returns the term that the step's leader leads. Without a lease that is the term of the
// record. Under a lease, a record has the term of the election that is going on, while the leader
// may lead an earlier term.
func (c *nodeState) leads(st *Step, r *Round) uint64 {
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

// senderOf returns the record that sent the message which the step received. It is zero if there is none.
func (r *Round) senderOf(st *Step) Ref {
	if st.Received < 0 || r.Messages[st.Received].SendStep < 0 {
		return Ref{}
	}
	return r.Steps[r.Messages[st.Received].SendStep].Ref
}

func (s *clusterState) follow(c *nodeState, st *Step) {
	if c.leader == 0 {
		return
	}
	r := s.leadership(c.leader, c.term)
	if c.leader == c.id {
		if r.First.IsZero() {
			r.First, r.Incarnation, r.From = st.Ref, st.Ref.Incarnation, st.At
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

func (s *clusterState) leadership(leader, term uint64) *Leadership {
	key := leadershipKey{leader, term}
	r := s.leaderships[key]
	if r == nil {
		r = &Leadership{Leader: leader, Term: term, Followers: []Follower{}}
		s.leaderships[key] = r
		s.list = append(s.list, r)
	}
	return r
}

func (r *Leadership) follower(id uint64) *Follower {
	for i := range r.Followers {
		if r.Followers[i].Node == id {
			return &r.Followers[i]
		}
	}
	return nil
}
