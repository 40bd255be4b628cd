package lease

import (
	"slices"
	"time"

	"github.com/ringleader-dev/ringleader/proto"
)

// A term that is absurdly far above all that a node knows is not believed on the word of
// one: it would use up, or lead nodes into, terms that no election reached. But a node that
// knows nothing must be able to follow a cluster that is far, and one that was led astray
// must not strand others. So the node asks the voters what they voted in. A term is
// believed up to the highest that a majority of them tells of, or a higher one, and the
// usual jump above: every leader was voted for by a majority.

// jumps is what voters told of the terms that they are in.
type jumps struct {
	asked time.Time                   // last
	voted map[proto.NodeID]proto.Term // in what each voted
	round map[proto.NodeID]proto.Term // of a round without a vote
}

// Absurd reports, and says, that a message would use up more terms at once than any
// sequence of real elections does. What a voter hints at is judged where it is used, and
// a voter that comes back with nothing asks for a term of any height.
func (p *Party) Absurd(msg proto.Message) bool {
	hint := false
	switch b := msg.Body.(type) {
	case proto.PreVoteReply, proto.Recover, proto.VoterState, proto.Unvoted:
		hint = true
	case proto.Vote:
		hint = !b.Granted()
	case proto.HeartbeatReply:
		hint = !b.Granted()
	}
	if hint || p.believes(msg.Term) {
		return false
	}
	p.Refuse("term %d is absurdly far above %d -> drop %s, ask the voters", msg.Term, p.Known, msg.Body.Kind())
	p.AskTerms()
	return true
}

// believes reports whether a term is one that elections may have reached.
func (p *Party) believes(t proto.Term) bool {
	return t <= p.Known+proto.MaxTermJump || t <= p.toldVoted()+proto.MaxTermJump
}

// AskTerms asks the voters what they voted in, once in a Delta.
func (p *Party) AskTerms() {
	if at := p.jumps.asked; !at.IsZero() && p.Now.Before(at.Add(p.Cfg.Delta)) {
		return
	}
	p.jumps.asked = p.Now
	p.Tell(0, proto.Recover{Session: p.Cfg.Session})
}

// ToldTerm notes what a voter says that it voted in.
func (p *Party) ToldTerm(msg proto.Message, b proto.VoterState) {
	if b.Nonce == 0 && b.Session == p.Cfg.Session && !b.Lost {
		p.jumps.voted[msg.From] = msg.Term
		p.jumps.round[msg.From] = b.Round
	}
}

// toldVoted is the highest term that a majority of the voters has voted in, or in a
// higher one.
func (p *Party) toldVoted() proto.Term { return p.majorityOf(p.jumps.voted, p.State.Vote.Term) }

// ToldRound is likewise of a round without a vote.
func (p *Party) ToldRound() proto.Term { return p.majorityOf(p.jumps.round, p.State.Reserved) }

// majorityOf is the highest term that a majority of the voters, this one with its own
// word, tells of, or of a higher one.
func (p *Party) majorityOf(told map[proto.NodeID]proto.Term, own proto.Term) proto.Term {
	terms := make([]proto.Term, 0, len(p.Voters))
	for _, id := range p.Voters {
		if id == p.Cfg.Self {
			terms = append(terms, own)
			continue
		}
		terms = append(terms, told[id])
	}
	if len(terms) == 0 {
		return 0
	}
	slices.Sort(terms)
	return terms[len(terms)-p.Voters.Majority()]
}
