package sim

import (
	"fmt"
	"slices"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/proto"
)

// transfer draws an operator's request for another leader. Mostly the request goes to the leader.
func (d *drafter) transfer() fault {
	t := d.target()
	t.leading = t.leading || d.chance(800)
	var successor proto.NodeID
	to := "the best"
	if d.chance(800) {
		successor = d.id()
		to = successor.String()
	}
	return fault{What: fmt.Sprintf("transfer at %v to %s", t, to), do: func(c *cluster) {
		c.transfer(t.in(c), successor)
	}}
}

// transfer gives a node the operator's request for another leader. After that, the leader need not
// be the best node.
func (c *cluster) transfer(n *node, to proto.NodeID) {
	c.transferred = true
	c.operate(n, algorithms.Transfer{To: to, Why: "the operator asked"})
}

// giveWay does what a host does before it ends a node's leadership: it lets the leader ask others
// to take over. Only once the leader has found a successor, or none, the leader gets the event
// then.
func (c *cluster) giveWay(n *node, to proto.NodeID, then algorithms.Event) {
	if !c.algo.Leased || !n.leads() {
		c.operate(n, then)
		return
	}
	n.life.then = then
	c.operate(n, algorithms.Transfer{To: to, Leaves: true, Why: "the host is to leave"})
}

// leave gives a node the event that giveWay put off.
func (c *cluster) leave(n *node, end *algorithms.TransferEnd) {
	l := n.life
	then := l.then
	if then == nil || end == nil {
		return
	}
	if _, ok := then.(algorithms.Resign); ok && end.Refused == "" {
		then = algorithms.Resign{To: end.To}
	}
	l.then = nil
	c.queue.plan(c.now, func() {
		c.attend(n, l, func() {
			c.step(n, then, c.root)
			if c.healed {
				c.callBack()
			}
		})
	})
}

// transferEnds counts the transfers under way, by process.
type transferEnds struct{ under table[int] }

func (k *transferEnds) check(s *step) string {
	n := k.under.at(s.node.life.number)
	if _, ok := s.ev.(algorithms.Transfer); ok {
		*n++
	}
	end := s.out.Transfer
	if end != nil {
		*n--
	}
	switch {
	case *n < 0 || *n > 1:
		return fmt.Sprintf("%d transfers are under way", *n)
	case *n == 1 && s.out.Deadline.IsZero():
		return "waits for ever"
	case end != nil && end.Refused != "" && s.out.Leader.ID != s.node.id && k.only(s) && s.claimed():
		return "gave up its leadership for a transfer that was refused"
	}
	return ""
}

// claimed reports whether the node believed before the Step that it leads, on a
// lease that has not run out.
func (s *step) claimed() bool {
	was := s.prev()
	return was.ID == s.node.id && (was.Until.IsZero() || s.now.Before(was.Until))
}

// only reports whether the transfer is all that the Step is about.
func (*transferEnds) only(s *step) bool {
	switch ev := s.ev.(type) {
	case algorithms.Transfer:
		return true
	case algorithms.Receive:
		_, reply := ev.Body.(proto.Reply)
		return reply && ev.Term == s.prev().Term
	}
	return false
}

// failures counts how often in a row a process asked for votes, and then released the term without
// having led it.
type failures struct {
	claimed proto.Term // the term for which it last asked for votes; 0 once it led, released or fenced in it
	count   int
	until   time.Time // end of the back-off, by its own clock
}

// backsOff checks that a node does not stand for a while after its candidacies failed several times
// in a row, if another voter could stand.
type backsOff struct {
	lives   table[failures]
	ballots ballots
}

func (k *backsOff) check(s *step) string {
	f := k.lives.at(s.node.life.number)
	b := k.ballots.of(s)
	b.count(s)
	switch {
	case s.claims():
		*f = failures{}
	case b.won(s) >= 0 && b.term == f.claimed:
		f.count, f.until = 0, time.Time{} // those before it; it may still be given up
	}
	if _, fenced := s.ev.(algorithms.Fenced); fenced {
		f.claimed = 0 // one that its fence agent keeps from leading did not fail
	}
	b.follow(s)
	another := s.seesAnother()
	if !another {
		f.until = time.Time{}
	}
	for i, q := range s.said {
		m := &s.out.Send[i]
		_, release := m.Body.(proto.Release)
		switch {
		case q.does(claims):
			if s.now.Before(f.until) {
				return fmt.Sprintf("claims term %d, %v too early", m.Term, f.until.Sub(s.now))
			}
			f.claimed = m.Term
		case release:
			if m.Term != f.claimed || f.claimed == 0 {
				continue
			}
			f.claimed = 0
			if f.count++; f.count == 3 {
				if f.count = 0; another {
					f.until = s.now.Add(s.node.promise)
				}
			}
		}
	}
	return ""
}

// seesAnother reports whether the node's view has another voter that may be a candidate.
func (s *step) seesAnother() bool {
	return slices.ContainsFunc(s.node.life.view, func(p proto.Peer) bool {
		return p.ID != s.node.id && !p.Ineligible && slices.Contains(s.cluster.Voters, p.ID)
	})
}

// offers are the offers of leadership that a leader made by itself to a node that ranks above it.
type offers struct {
	count int
	until time.Time // no other offer before this time, by the leader's clock
	asked bool      // somebody asked it to hand over, and that has not ended
}

type calmPreference struct{ lives table[offers] }

func (k *calmPreference) check(s *step) string {
	o := k.lives.at(s.node.life.number)
	if _, asked := s.ev.(algorithms.Transfer); asked {
		o.asked = true
	}
	was := o.asked
	o.asked = o.asked && s.out.Transfer == nil
	offers := func(m proto.Message) bool { return m.Body.Kind() == proto.KindOffer }
	if was || !slices.ContainsFunc(s.out.Send, offers) {
		return ""
	}
	if s.now.Before(o.until) {
		return fmt.Sprintf("the next offer %v too early", o.until.Sub(s.now))
	}
	most := 16 * s.node.promise
	if s.now.Sub(o.until) > most {
		o.count = 0
	}
	o.count++
	o.until = s.now.Add(min(most, 2*s.node.promise<<o.count))
	return ""
}

// couldWin counts the answers to each process's latest PRE_VOTE.
type couldWin struct{ lives table[survey] }

// survey is a PRE_VOTE of a process that a leader made an offer, and the voters that would vote for
// this process once the leader has released its term.
type survey struct {
	leader proto.NodeID // the leader that made the offer, even if the process follows nobody just now
	offer  proto.Offer
	nonce  uint64
	yes    []proto.NodeID
	due    bool // the process got an OFFER, and its next PRE_VOTE is about that OFFER
}

func (k *couldWin) check(s *step) string {
	v := k.lives.at(s.node.life.number)
	if ev, ok := s.ev.(algorithms.Receive); ok {
		v.hear(s, ev.Message)
	}
	for i, q := range s.said {
		reply, ok := s.out.Send[i].Body.(proto.Reply)
		switch {
		case q.does(asks) && v.due:
			// A later one, of its own candidacy, is another.
			*v = survey{leader: v.leader, offer: v.offer, nonce: q.nonce}
		case ok && reply.No == proto.NoDecline && 2*(len(v.yes)+1) <= len(s.cluster.Voters):
			return fmt.Sprintf("would take over, and %d of %d voters would vote for it", len(v.yes)+1,
				len(s.cluster.Voters))
		}
	}
	return ""
}

func (v *survey) hear(s *step, m proto.Message) {
	switch b := m.Body.(type) {
	case proto.Offer:
		if v.offer != b { // else it is a copy: the answers so far count, unless the process asks anew
			v.leader, v.offer, v.yes = m.From, b, nil
		}
		v.due = true
	case proto.PreVoteReply:
		bound := b.Denial == proto.DeniedStarted || b.To != v.leader && b.Denial != proto.DeniedVoted
		if b.Nonce != v.nonce || b.Incarnation != s.node.life.incarnation || !b.Granted() && bound ||
			!slices.Contains(s.cluster.Voters, m.From) || slices.Contains(v.yes, m.From) {
			return
		}
		v.yes = append(v.yes, m.From)
	}
}
