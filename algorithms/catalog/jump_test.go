package catalog

import (
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/nomination"
	"github.com/ringleader-dev/ringleader/algorithms/quorum"
	"github.com/ringleader-dev/ringleader/proto"
)

// three are three voters on a network that loses nothing, for the messages of an attacker.
type three struct {
	t       *testing.T
	entry   Entry
	now     time.Time
	nodes   map[proto.NodeID]*one
	waiting []proto.Message
	down    map[proto.NodeID]bool
}

type one struct {
	m     algorithms.Machine
	saved algorithms.State
	out   algorithms.Output
	life  byte
}

func newThree(t *testing.T, name string) *three {
	entry, err := Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	c := &three{
		t: t, entry: entry.WithLease(), now: time.Unix(1e9, 0), nodes: map[proto.NodeID]*one{},
		down: map[proto.NodeID]bool{},
	}
	for id := proto.NodeID(1); id <= 3; id++ {
		c.nodes[id] = &one{}
		c.start(id)
	}
	return c
}

func (n *one) incarnation(id proto.NodeID) proto.Incarnation {
	return proto.Incarnation{byte(id), n.life}
}

func (c *three) start(id proto.NodeID) {
	n := c.nodes[id]
	n.life++
	n.m = c.entry.New(algorithms.Config{
		Self: id, Incarnation: n.incarnation(id), Delta: 50 * time.Millisecond, Seed: uint64(id),
		Voters: quorum.Voters{1, 2, 3}, Promise: 2 * time.Second,
	})
	c.down[id] = false
	c.step(id, algorithms.Start{Saved: n.saved})
	c.see()
}

func (c *three) see() {
	var alive []proto.Peer
	for id := proto.NodeID(1); id <= 3; id++ {
		if n := c.nodes[id]; n != nil && n.m != nil && !c.down[id] {
			alive = append(alive, proto.Peer{ID: id, Incarnation: n.incarnation(id)})
		}
	}
	for _, p := range alive {
		c.step(p.ID, algorithms.PeersChanged{Alive: alive})
	}
}

func (c *three) step(id proto.NodeID, ev algorithms.Event) {
	n := c.nodes[id]
	before := n.out.Leader
	n.out = n.m.Step(c.now, ev)
	if n.out.Save != nil {
		n.saved = *n.out.Save
	}
	c.waiting = append(c.waiting, n.out.Send...)
	if _, starts := ev.(algorithms.Start); before.ID == id && n.out.Leader.ID != id && !starts {
		defer c.step(id, algorithms.WorkStopped{Term: before.Term}) // it has none
	}
}

// run lets so much time pass.
func (c *three) run(d time.Duration) {
	for end := c.now.Add(d); ; {
		for len(c.waiting) > 0 {
			m := c.waiting[0]
			c.waiting = c.waiting[1:]
			if n := c.nodes[m.To]; n != nil && !c.down[m.To] {
				c.step(m.To, algorithms.Receive{Message: m})
			}
		}
		next, who := end, proto.NodeID(0)
		for id := proto.NodeID(1); id <= 3; id++ {
			if at := c.nodes[id].out.Deadline; !c.down[id] && !at.IsZero() && at.Before(next) {
				next, who = at, id
			}
		}
		if next.After(c.now) {
			c.now = next
		}
		if who == 0 {
			return
		}
		c.step(who, algorithms.Timeout{})
	}
}

// forge delivers a message of an attacker.
func (c *three) forge(from, to proto.NodeID, term proto.Term, body proto.Body) {
	c.step(to, algorithms.Receive{Message: proto.Message{From: from, To: to, Term: term, Body: body}})
}

// agreed returns the leader that all name; zero if they do not agree.
func (c *three) agreed() algorithms.Leader {
	var l algorithms.Leader
	for id := proto.NodeID(1); id <= 3; id++ {
		if c.down[id] {
			continue
		}
		if own := c.nodes[id].out.Leader; l.ID == 0 {
			l = own
		} else if own.ID != l.ID || own.Term != l.Term {
			return algorithms.Leader{}
		}
	}
	return l
}

// holders returns how many nodes lead.
func (c *three) holders() (n int) {
	for id, one := range c.nodes {
		if !c.down[id] && one.out.Leader.ID == id {
			n++
		}
	}
	return n
}

// "One sender's word moves terms by a bounded amount, and what was forged keeps nobody from being elected": jumps of
// terms, repeated, by messages of each kind, to some of three voters. With all of them up, one leads, and mostly so
// with any two; after a restart of each, all name it.
func TestJumpsStrandNobody(t *testing.T) {
	liar, list := proto.Incarnation{66}, proto.VoterSet{Hash: proto.ListVoters([]proto.NodeID{1, 2, 3}).Hash()}
	bodies := map[string]func(from proto.NodeID) proto.Body{
		"heartbeat": func(from proto.NodeID) proto.Body {
			leader := proto.Peer{ID: from, Incarnation: liar}
			return proto.Heartbeat{Leader: leader, Nonce: 1, Remaining: time.Second, Voters: list}
		},
		"request": func(proto.NodeID) proto.Body {
			return proto.RequestVote{Incarnation: liar, Nonce: 1, Voters: list}
		},
		"vote": func(proto.NodeID) proto.Body {
			return proto.Vote{Incarnation: liar, Nonce: 1, Answer: proto.Answer{Denial: proto.DeniedPromised}}
		},
		"coordinator": func(from proto.NodeID) proto.Body {
			return nomination.Coordinator{Leader: proto.Peer{ID: from, Incarnation: liar}}
		},
	}
	attack := func(name string, jumps int, victims []proto.NodeID, last string) {
		c := newThree(t, "bully")
		c.run(20 * time.Second)
		term := c.agreed().Term
		if term == 0 {
			t.Fatal("no leader at first")
		}
		forge := func(name string, to ...proto.NodeID) {
			term += proto.MaxTermJump
			for _, v := range to {
				c.forge(1+v%3, v, term, bodies[name](1+v%3))
			}
		}
		for range jumps {
			c.run(2500 * time.Millisecond)
			forge(name, victims...)
		}
		if last != "" {
			forge(last, 1, 2, 3)
		}
		check := func(when string, ok bool) {
			t.Helper()
			if ok {
				return
			}
			t.Errorf("%s, %d jumps to %v, last %q, %s: %d lead", name, jumps, victims, last, when, c.holders())
			for id, n := range c.nodes {
				t.Logf("%d: leader %d, term %d, vote in %d, reserved %d", id, n.out.Leader.ID, n.out.Leader.Term,
					n.saved.Vote.Term, n.saved.Reserved)
			}
		}
		c.run(30 * time.Second)
		check("all up", c.holders() == 1)
		for id := proto.NodeID(1); id <= 3; id++ {
			c.down[id] = true
			c.see()
			c.run(30 * time.Second)
			if name != "heartbeat" { // a voter may vote for a leader two jumps up: then two others have to be up
				check("without "+id.String(), c.holders() == 1)
			}
			c.start(id)
			c.run(30 * time.Second)
		}
		check("after a restart of each", c.agreed().ID != 0)
		for _, n := range c.nodes {
			if vote := n.saved.Vote.Term; vote > proto.Term(jumps+3)*proto.MaxTermJump {
				t.Errorf("%s, %d jumps to %v, last %q: a vote in term %d", name, jumps, victims, last, vote)
			}
		}
	}
	for name := range bodies {
		for _, jumps := range []int{1, 2, 5} {
			for _, victims := range [][]proto.NodeID{{1}, {2}, {3}, {1, 2}, {2, 3}, {1, 3}} {
				for _, last := range []string{"", "heartbeat", "request", "coordinator"} {
					attack(name, jumps, victims, last)
				}
			}
		}
	}
}
