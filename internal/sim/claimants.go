package sim

import (
	"fmt"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/proto"
)

// The invariants of candidates and holders.

// canvass is a process's latest round of questions (PRE_VOTE) whether the voters would vote for it.
type canvass struct {
	term  proto.Term
	nonce uint64
	yes   table[bool] // who answered yes, by id
	// claimed says that a majority answered yes, and that the process then requested the votes of
	// the term.
	claimed bool
}

type askedFirst struct{ lives table[canvass] }

func (k *askedFirst) check(s *step) string {
	c := k.lives.at(s.node.life.number)
	if ev, ok := s.ev.(algorithms.Receive); ok {
		b, ok := ev.Body.(proto.PreVoteReply)
		if ok && b.Incarnation == s.node.life.incarnation && b.Nonce == c.nonce {
			*c.yes.at(int(ev.From)) = b.Granted()
		}
	}
	for i, q := range s.said {
		m := &s.out.Send[i]
		switch {
		case q.does(claims):
			// It claims again, without asking, while it waits for the work of a former leader to stop.
			if yes := c.count(s); m.Term != c.term || !c.claimed && 2*(yes+1) <= len(s.cluster.Voters) {
				return fmt.Sprintf("claims term %d, of term %d %d of the %d others said yes",
					m.Term, c.term, yes, len(s.cluster.Voters)-1)
			}
			c.claimed = true
		case q.does(asks):
			if q.nonce != c.nonce {
				*c = canvass{term: m.Term, nonce: q.nonce}
			}
		}
	}
	return ""
}

// count returns how many other voters answered yes.
func (c *canvass) count(s *step) int {
	n := 0
	for _, id := range s.cluster.Voters {
		if id != s.node.id && *c.yes.at(int(id)) {
			n++
		}
	}
	return n
}

// terms are three terms of a process: the last in which it led, the last in which its work has
// stopped, and the last that it released.
type terms struct{ held, idle, released proto.Term }

type releasedLast struct{ lives table[terms] }

func (k *releasedLast) check(s *step) string {
	t := k.lives.at(s.node.life.number)
	if ev, ok := s.ev.(algorithms.WorkStopped); ok {
		t.idle = ev.Term
	}
	if s.claims() {
		t.held = s.out.Leader.Term
	}
	for i, q := range s.said {
		m := &s.out.Send[i]
		switch m.Body.(type) {
		case proto.Release:
			if m.Term == t.held && m.Term != t.idle {
				return fmt.Sprintf("releases term %d while it works in it", m.Term)
			}
			t.released = m.Term
		case proto.TakeOver:
			if m.Term == t.held && m.Term != t.idle {
				return fmt.Sprintf("hands term %d over while it works in it", m.Term)
			}
		}
		if q.does(claims|renews|announces) && m.Term <= t.released {
			return fmt.Sprintf("%s of term %d after its release", m.Body.Kind(), m.Term)
		}
	}
	if s.claims() && t.held <= t.released {
		return fmt.Sprintf("holds term %d after its release", t.held)
	}
	return ""
}

// asksNoMore counts a leader's rounds of renewals after the last one that a majority granted.
type asksNoMore struct{ ballots ballots }

// mostRounds is how many rounds in a row a leader may ask for renewals without a majority. Then it
// must stop asking.
const mostRounds = 2

func (k *asksNoMore) check(s *step) string {
	b := k.ballots.of(s)
	b.count(s)
	b.follow(s)
	if rounds := len(b.polls) - 1 - b.won(s); rounds > mostRounds {
		return fmt.Sprintf("%d rounds of renewals", rounds)
	}
	return ""
}
