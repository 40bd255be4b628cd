package nomination

import (
	"slices"
	"time"

	"github.com/ringleader-dev/ringleader/proto"
)

// A node does not believe one message whose term is absurdly far above its own. It asks all other living
// nodes which term they are in, and believes terms up to the highest that more than half of them
// reached, plus proto.MaxTermJump. So a node that has missed many terms can join a cluster. And one
// hostile message neither uses up the terms, nor divides the nodes into those that believed it and those
// that did not hear it. With voters, a majority of the voters decides instead: see lease.Believer.

// jumps has what the other nodes told about the terms that they are in.
type jumps struct {
	asked    time.Time                   // when the others were last asked
	told     map[proto.NodeID]proto.Term // the term that each of them told
	believed proto.Term
}

// Believe makes terms up to t + proto.MaxTermJump acceptable.
func (c *Core) Believe(t proto.Term) { c.jumps.believed = max(c.jumps.believed, t) }

// Raise makes the next election that this node calls have a term above t: the Machine around this one
// numbers leaderships by itself, and numbers of elections are to rise with those. Nothing else changes. To
// move the present term to t would be wrong: nodes that still know leaders of different terms would then
// know different leaders of one term, and each would tell the other that it errs, for ever.
func (c *Core) Raise(t proto.Term) { c.raised = max(c.raised, t) }

var (
	whyAbsurd    = reasons.Kind("absurd", "term %d is absurdly far above %d -> drop %s")
	whyAbsurdAsk = reasons.Kind("absurd-ask", "term %d is absurdly far above %d -> drop %s, ask the others")
)

// absurd reports whether the term of m is so far above this node's term that no sequence of real rounds
// could have reached it. If so, absurd records a reason, and asks the others for their terms.
func (c *Core) absurd(m proto.Message) bool {
	if m.Term <= max(c.term, c.jumps.believed)+proto.MaxTermJump {
		return false
	}
	if c.cfg.Promise > 0 { // the Machine that contains this one asks the voters
		c.Refuse(whyAbsurd, m.Term, c.term, m.Body.Kind())
		return true
	}
	c.Refuse(whyAbsurdAsk, m.Term, c.term, m.Body.Kind())
	if at := c.jumps.asked; at.IsZero() || !c.now.Before(at.Add(c.cfg.Delta)) {
		c.jumps.asked = c.now
		c.SendAll(proto.Recover{Incarnation: c.cfg.Incarnation})
	}
	return true
}

// asksTerm handles a question for this node's term, and an answer to such a question. It reports
// whether m was one of the two.
func (c *Core) asksTerm(m proto.Message) bool {
	switch b := m.Body.(type) {
	case proto.Recover:
		if b.Nonce == 0 {
			c.Send(m.From, proto.VoterState{Incarnation: b.Incarnation, Round: c.term})
		}
	case proto.VoterState:
		if b.Nonce == 0 && b.Incarnation == c.cfg.Incarnation && c.Lists(m.From) {
			c.told(m.From, b.Round)
		}
	default:
		return false
	}
	return true
}

// told notes that the node by is in the term t. It then believes the highest term that more than half of
// the other living nodes have reached.
func (c *Core) told(by proto.NodeID, t proto.Term) {
	if c.jumps.told == nil {
		c.jumps.told = map[proto.NodeID]proto.Term{}
	}
	c.jumps.told[by] = t
	var terms []proto.Term
	for p := range c.roster.all() {
		terms = append(terms, c.jumps.told[p.ID])
	}
	slices.Sort(terms)
	c.Believe(terms[len(terms)-(len(terms)/2+1)])
}
