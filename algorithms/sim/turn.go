package sim

import (
	"fmt"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/proto"
)

// turnCheckers are the invariants of an office around an algorithm that asks a majority
// itself. They hold by themselves around others, which do not say such things.
func turnCheckers() []checker { return []checker{&claimsInTurn{}} }

// contest is what a process knows of its own nomination, and of its candidacy.
type contest struct {
	ballot proto.Ballot
	term   proto.Term
	yes    map[proto.NodeID]bool // to this process; nil before it asks that
	open   bool                  // it asks others, and is not nominated so far
	asking bool                  // it asks the voters of the office
	ahead  bool                  // it began to while the contest was open, and that is not decided
	heard  time.Time             // of an office, by its own clock: not before
}

// claimsInTurn goes for candidates that ask the voters ahead.
type claimsInTurn struct{ lives table[contest] }

func (*claimsInTurn) invariant() Invariant {
	return Invariant{"claims-in-turn", "who asked the voters while it asked to be nominated claims nothing " +
		"before it is, unless the office is handed to it or none was heard of for a promise"}
}

func (k *claimsInTurn) check(s *step) string {
	c := k.lives.at(s.node.life.number)
	c.heed(s)
	if _, leads := s.announces(); leads {
		c.nominated()
	}
	for i, q := range s.said {
		m := &s.out.Send[i]
		c.ask(s, m)
		switch {
		case q.does(grants):
			c.heard, c.asking = s.now, false
		case q.does(asks):
			c.ahead = c.ahead || !c.asking && c.open
			c.asking = true
		case q.does(claims):
			early := c.ahead && s.now.Before(c.heard.Add(s.node.promise))
			if c.asking, c.ahead = false, false; early {
				return fmt.Sprintf("claims term %d, and was not nominated in term %d", m.Term, c.term)
			}
		}
	}
	return ""
}

// nominated ends the contest: it is this process's turn.
func (c *contest) nominated() { c.open, c.ahead = false, false }

// heed takes what the Step's event says of this process's turn.
func (c *contest) heed(s *step) {
	_, starts := s.ev.(algorithms.Start)
	if is := s.out.Leader; starts || is.ID != 0 && is != s.prev() {
		c.heard, c.asking = s.now, false
	}
	ev, ok := s.ev.(algorithms.Receive)
	if !ok {
		return
	}
	own := s.node.life.session
	switch b := ev.Body.(type) {
	case proto.Accepted:
		c.count(s, ev.Term == c.term && b.Ballot == c.ballot)
	case proto.NewLeaderAck:
		c.count(s, ev.Term == c.term && b.Candidate == own)
	case proto.TakeOver:
		c.nominated()
	case proto.Chosen: // whoever proposed it
		if b.Leader.Session == own {
			c.nominated()
		}
	}
}

// count counts the sender of the Step's message, once, if what it said is for this
// process in the contest in progress.
func (c *contest) count(s *step, counts bool) {
	if counts && c.yes != nil {
		c.yes[s.ev.(algorithms.Receive).From] = true
	}
	if 2*len(c.yes) > len(s.cluster.Voters) {
		c.nominated()
	}
}

// ask takes what the process asks others about itself.
func (c *contest) ask(s *step, m *proto.Message) {
	own := s.node.life.session
	switch b := m.Body.(type) {
	case proto.Prepare:
		c.open, c.term, c.ballot, c.yes = true, m.Term, b.Ballot, nil
	case proto.Accept:
		if c.yes == nil && b.Value.Session == own {
			c.yes = map[proto.NodeID]bool{s.node.id: true}
		}
	case proto.NewLeader:
		if m.Term != c.term || c.yes == nil {
			c.open, c.term, c.yes = true, m.Term, map[proto.NodeID]bool{s.node.id: true}
		}
	}
}
