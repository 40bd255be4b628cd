package nomination

import (
	"slices"
	"time"

	"github.com/ringleader-dev/ringleader/proto"
)

// A term that is absurdly far above a node's own is not believed on the word of one. The
// node asks all others that are alive which term they are in, and believes a term up to
// the highest that more than half of them tell of, or a higher one, and the usual jump
// above. So one that knows nothing joins a cluster however far that is, and one hostile
// message neither uses up the terms nor strands whoever did not hear it. Where nodes vote,
// the voters decide what is believed, not a view: see office.Believer.

// jumps is what others told of the terms that they are in.
type jumps struct {
	asked    time.Time                   // last
	told     map[proto.NodeID]proto.Term // by each
	believed proto.Term
}

// Believe raises the term above which no other is absurd.
func (c *Core) Believe(t proto.Term) { c.jumps.believed = max(c.jumps.believed, t) }

var (
	whyAbsurd    = reasons.Kind("absurd", "term %d is absurdly far above %d -> drop %s")
	whyAbsurdAsk = reasons.Kind("absurd-ask", "term %d is absurdly far above %d -> drop %s, ask the others")
)

// absurd reports, and says, that a message would use up more terms at once than any
// sequence of real rounds does.
func (c *Core) absurd(m proto.Message) bool {
	if m.Term <= max(c.term, c.jumps.believed)+proto.MaxTermJump {
		return false
	}
	if c.cfg.Promise > 0 { // voters are asked, by whoever is around this Machine
		c.Refuse(whyAbsurd, m.Term, c.term, m.Body.Kind())
		return true
	}
	c.Refuse(whyAbsurdAsk, m.Term, c.term, m.Body.Kind())
	if at := c.jumps.asked; at.IsZero() || !c.now.Before(at.Add(c.cfg.Delta)) {
		c.jumps.asked = c.now
		c.SendAll(proto.Recover{Session: c.cfg.Session})
	}
	return true
}

// asksTerm answers who asks for this node's term, or hears an answer, and reports whether
// the message was one of these.
func (c *Core) asksTerm(m proto.Message) bool {
	switch b := m.Body.(type) {
	case proto.Recover:
		if b.Nonce == 0 {
			c.Send(m.From, proto.VoterState{Session: b.Session, Round: c.term})
		}
	case proto.VoterState:
		if b.Nonce == 0 && b.Session == c.cfg.Session && c.Lists(m.From) {
			c.told(m.From, b.Round)
		}
	default:
		return false
	}
	return true
}

// told notes which term another is in, and believes what more than half of the others
// that are alive tell of.
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
