package lease

import (
	"slices"
	"time"

	"github.com/ringleader-dev/ringleader/proto"
)

// A node does not believe one message whose term is absurdly far above all that it knows, since terms
// that no election reached would be used up. But a node that has missed many terms must be able to
// follow the cluster, and one with a false term must not lead others astray. So the node asks the voters
// in which terms they voted. It believes terms up to the highest that a majority of them reached, plus
// proto.MaxTermJump: each leader had the votes of a majority. And it stands in no term that the others would find
// absurd, whatever it heard from single nodes, so that what was forged keeps nobody from being elected.

// jumps has what the voters answered when they were asked for their terms.
type jumps struct {
	asked time.Time                   // when they were last asked
	voted map[proto.NodeID]proto.Term // the last term in which each voted
	round map[proto.NodeID]proto.Term // the last term in which each took part, voting or not
}

var whyAbsurd = reasons.Kind("absurd", "term %d is absurdly far above %d -> drop %s, ask the voters")

// absurd reports whether elections cannot have reached the term of a message. If so, it warns and asks
// the voters. It reports false for messages whose term is only a hint: the handlers of such messages
// judge the term themselves.
func (m *Machine) absurd(msg proto.Message) bool {
	hint := false
	switch b := msg.Body.(type) {
	case proto.PreVoteReply, proto.Recover, proto.VoterState, proto.Unvoted:
		hint = true
	case proto.Vote:
		hint = !b.Granted()
	case proto.HeartbeatReply:
		hint = !b.Granted()
	}
	if hint || m.believes(msg.Term) {
		return false
	}
	m.refuse(whyAbsurd, msg.Term, m.known, msg.Body.Kind())
	m.askTerms()
	return true
}

// believes reports whether a term is one that elections may have reached. Terms that this node only heard of count
// for a single jump: whoever repeats its word moves this node no further.
func (m *Machine) believes(t proto.Term) bool {
	return t <= min(max(m.known, m.base()), m.credible())+proto.MaxTermJump
}

// base returns the highest term in which this voter, or a majority of the voters, is known to have voted.
func (m *Machine) base() proto.Term { return max(m.state.Vote.Term, m.toldVoted()) }

// credible returns the highest term that this node takes over from a single other node: all voters that know as
// much as this node believe a candidate of this term.
func (m *Machine) credible() proto.Term { return m.base() + proto.MaxTermJump }

// askTerms asks the voters in which terms they voted, at most once in a Delta.
func (m *Machine) askTerms() {
	if at := m.jumps.asked; !at.IsZero() && m.now.Before(at.Add(m.cfg.Delta)) {
		return
	}
	m.jumps.asked = m.now
	m.tell(0, proto.Recover{Incarnation: m.cfg.Incarnation})
}

// toldTerm notes the terms in which a voter says that it voted and took part.
func (m *Machine) toldTerm(msg proto.Message, b proto.VoterState) {
	if b.Nonce == 0 && b.Incarnation == m.cfg.Incarnation && !b.Lost {
		m.jumps.voted[msg.From] = msg.Term
		m.jumps.round[msg.From] = b.Round
	}
}

// toldVoted returns the highest term such that a majority of the voters voted in that term or a higher
// one.
func (m *Machine) toldVoted() proto.Term { return m.majorityOf(m.jumps.voted, m.state.Vote.Term) }

// toldRound returns the highest term such that a majority of the voters took part in that term or a
// higher one, with or without a vote.
func (m *Machine) toldRound() proto.Term { return m.majorityOf(m.jumps.round, m.state.Reserved) }

// majorityOf returns the highest term such that a majority of the voters told that term or a higher one.
// own is the term of this voter itself.
func (m *Machine) majorityOf(told map[proto.NodeID]proto.Term, own proto.Term) proto.Term {
	terms := make([]proto.Term, 0, len(m.voters))
	for _, id := range m.voters {
		if id == m.cfg.Self {
			terms = append(terms, own)
			continue
		}
		terms = append(terms, told[id])
	}
	if len(terms) == 0 {
		return 0
	}
	slices.Sort(terms)
	return terms[len(terms)-m.voters.Majority()]
}
