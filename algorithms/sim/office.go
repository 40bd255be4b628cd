package sim

import (
	"fmt"
	"slices"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/proto"
)

// What a run of an algorithm with an office has beyond others: proofs of death,
// work that has to stop, and checkers of true time.

// proveDeath gives others the proof that a process is dead, if a connection to
// it stood: its machine closes that, and refuses a new one.
func (c *cluster) proveDeath(dead *node, l *life) {
	if !c.algo.Office {
		return
	}
	for _, n := range c.nodes {
		if n == dead || n.life == nil || c.dice.chance(c.unproven) {
			continue
		}
		observer := n.life
		c.queue.plan(c.now+c.dice.between(0, 2*c.delta), func() {
			if c.network.open(n.id, dead.id) && c.network.open(dead.id, n.id) {
				c.attend(n, observer, func() {
					c.step(n, algorithms.Gone{ID: dead.id, Session: l.session}, c.root)
				})
			}
		})
	}
}

// mayLead reports whether a node can lead at all: with an office only a voter.
func (c *cluster) mayLead(id proto.NodeID) bool {
	return !c.algo.Office || slices.Contains(c.voters, id)
}

// stopWork lets what a process did as a leader stop by and by, once it leads no
// more.
func (c *cluster) stopWork(n *node, was algorithms.Leader) {
	l := n.life
	if !c.algo.Office || was.ID != n.id || l.belief.ID == n.id {
		return
	}
	c.queue.plan(c.now+c.dice.between(0, 2*c.delta), func() {
		c.attend(n, l, func() { c.step(n, algorithms.Idle{Term: was.Term}, c.root) })
	})
}

// officeCheckers are the invariants of an office.
func officeCheckers() []checker {
	return []checker{
		&oneHolder{holders: map[proto.NodeID]*tenure{}},
		&oneHolderATerm{holders: map[proto.Term]proto.Session{}},
		&tokensRise{},
		&voteFirst{voted: map[proto.NodeID]algorithms.Vote{}},
	}
}

// tenure is a node's latest time in office.
type tenure struct {
	node  *node
	life  *life
	term  proto.Term
	until time.Duration // true time at which the lease ends
	left  bool          // it believes no more that it leads
	idle  bool          // and all its work has stopped
}

// works reports whether anything may still be done in this office: by a living
// process, before the end of its lease, after which it starts nothing.
func (t *tenure) works(at time.Duration) bool {
	return t.node.life == t.life && at < t.until && !(t.left && t.idle)
}

type oneHolder struct{ holders map[proto.NodeID]*tenure }

func (*oneHolder) invariant() Invariant {
	return Invariant{"one-holder", "at any instant of true time at most one process holds the " +
		"office or still works in it"}
}

func (k *oneHolder) check(s step) string {
	k.note(s)
	if !s.claims() {
		return ""
	}
	for _, other := range s.cluster.nodes {
		t := k.holders[other.id]
		if other != s.node && t != nil && t.works(s.at) {
			return fmt.Sprintf("holds term %d while %d works in term %d for %v more",
				s.out.Leader.Term, other.id, t.term, t.until-s.at)
		}
	}
	return ""
}

// note keeps the node's own tenure up to date.
func (k *oneHolder) note(s step) {
	t := k.holders[s.node.id]
	if ev, ok := s.ev.(algorithms.Idle); ok && t != nil && t.term == ev.Term {
		t.idle = true
	}
	switch {
	case s.claims():
		k.holders[s.node.id] = &tenure{
			node: s.node, life: s.node.life, term: s.out.Leader.Term,
			until: s.node.clock.when(s.out.Leader.Until),
		}
	case t != nil && t.life == s.node.life:
		t.left = true
	}
}

type oneHolderATerm struct{ holders map[proto.Term]proto.Session }

func (*oneHolderATerm) invariant() Invariant {
	return Invariant{"one-holder-a-term", "no term is ever held by two processes"}
}

func (k *oneHolderATerm) check(s step) string {
	if !s.claims() {
		return ""
	}
	term, session := s.out.Leader.Term, s.node.life.session
	if was, ok := k.holders[term]; ok && was != session {
		return fmt.Sprintf("holds term %d as %s did", term, was.Short())
	}
	k.holders[term] = session
	return ""
}

// tokensRise is a store that every holder writes to in each Step, and that
// compares no tokens.
type tokensRise struct{ highest proto.Term }

func (*tokensRise) invariant() Invariant {
	return Invariant{"tokens-rise", "the tokens that reach a store never go back"}
}

func (k *tokensRise) check(s step) string {
	valid := s.claims() && s.now.Before(s.out.Leader.Until)
	if valid && s.out.Leader.Term < k.highest {
		return fmt.Sprintf("writes with token %d after %d", s.out.Leader.Term, k.highest)
	}
	if valid {
		k.highest = s.out.Leader.Term
	}
	return ""
}

type voteFirst struct {
	voted map[proto.NodeID]algorithms.Vote
}

func (*voteFirst) invariant() Invariant {
	return Invariant{"vote-first", "a voter grants a term once, to one process, and not before " +
		"that is durable; nobody claims what it has not voted for"}
}

func (k *voteFirst) check(s step) string {
	vote, was := s.node.disk.Vote, k.voted[s.node.id]
	if vote.Term < was.Term || vote.Term == was.Term && vote != was {
		return fmt.Sprintf("voted for %d in term %d after %d in term %d",
			vote.ID, vote.Term, was.ID, was.Term)
	}
	k.voted[s.node.id] = vote
	for _, m := range s.out.Send {
		switch b := m.Body.(type) {
		case proto.Grant:
			if want := (algorithms.Vote{Term: m.Term, ID: m.To, Session: b.Session}); vote != want {
				return fmt.Sprintf("grants %d term %d, voted for %d in term %d",
					m.To, m.Term, vote.ID, vote.Term)
			}
		case proto.Claim, proto.Renew, proto.Lease:
			if want := (algorithms.Vote{
				Term: m.Term, ID: s.node.id, Session: s.node.life.session,
			}); vote != want {
				return fmt.Sprintf("%s of term %d, voted for %d in term %d",
					m.Body.Kind(), m.Term, vote.ID, vote.Term)
			}
		}
	}
	return ""
}
