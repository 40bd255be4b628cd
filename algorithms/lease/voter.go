package lease

import (
	"maps"
	"slices"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/proto"
)

// Voter is this node's vote and what it is bound to. The vote itself is in Party.State.
type Voter struct {
	Promise time.Time                      // when the promise to State.Vote's process ends,
	Over    bool                           // unless that released the term, or is proven dead,
	Kept    time.Time                      // and then for a lease that it had lent; released, that is over too
	Dead    map[proto.NodeID]proto.Session // of each, the last that is proven dead

	proven bool // it is Over by proof alone

	boot    time.Time // until then a promise of a former life may run
	waiting map[proto.NodeID]question
}

// Request is what all questions, and the votes that answer them, have in common.
type Request struct {
	Session proto.Session
	Nonce   uint64
	Voters  proto.VoterSet // of the sender
}

// question is one that was answered with a no: it is told when that becomes a yes.
type question struct {
	Request
	term proto.Term
	no   proto.Answer
}

// Bound reports whether the promise, while it runs, is to this process.
func (p *Party) Bound(id proto.NodeID, s proto.Session) bool {
	v := p.State.Vote
	return v.ID == id && v.Session == s
}

// free returns what binds the voter, and until when; yes for nothing. The
// boot wait comes last: a node that nothing else binds may stand in it.
func (p *Party) free() (no proto.Answer, until time.Time) {
	switch {
	case p.Rejoin.Active:
		return proto.Answer{Bar: proto.BarBoot}, time.Time{}
	case p.Stand.Phase >= Claiming || p.Stand.Leaving != 0:
		return proto.Answer{Bar: proto.BarSelf, Holder: p.Cfg.Self}, time.Time{}
	case !p.Voter.Over && p.Now.Before(p.Voter.Promise):
		return proto.Answer{Bar: proto.BarPromise, Holder: p.State.Vote.ID}, p.Voter.Promise
	case p.Now.Before(p.Voter.Kept):
		return proto.Answer{Bar: proto.BarPromise, Holder: p.State.Vote.ID}, p.Voter.Kept
	case p.Now.Before(p.Voter.boot):
		return proto.Answer{Bar: proto.BarBoot}, p.Voter.boot
	}
	return proto.Answer{}, time.Time{}
}

// wouldVote returns what keeps the voter from voting in a term. "Each server will vote
// for at most one candidate in a given term, on a first-come-first-served basis"; and
// "if a server receives a RequestVote RPC within the minimum election timeout of hearing
// from a current leader, it does not update its term or grant its vote".
func (p *Party) wouldVote(term proto.Term, voters proto.VoterSet) proto.Answer {
	if p.superseded(voters) {
		return proto.Answer{Bar: proto.BarVoters}
	}
	if no, _ := p.free(); !no.Granted() {
		return no
	}
	if term <= p.State.Vote.Term {
		return proto.Answer{Bar: proto.BarVoted, Holder: p.State.Vote.ID}
	}
	return proto.Answer{}
}

// wouldAnswer is wouldVote for one that asks first. A voter that has just started tells that
// it has, whatever else binds it: no RELEASE ends that.
func (p *Party) wouldAnswer(term proto.Term, voters proto.VoterSet) proto.Answer {
	no := p.wouldVote(term, voters)
	if no.Bar == proto.BarPromise && p.Now.Before(p.Voter.boot) {
		return proto.Answer{Bar: proto.BarBoot}
	}
	return no
}

// WasAsked answers whoever asks before it takes a term. It changes nothing but who is
// told when a no becomes a yes.
func (p *Party) WasAsked(msg proto.Message, r Request) {
	was := p.Voter.waiting[msg.From]
	if was.Session == r.Session && was.Nonce > r.Nonce {
		return // it came late: the answer to a later question is under way
	}
	q := question{r, msg.Term, p.wouldAnswer(msg.Term, r.Voters)}
	delete(p.Voter.waiting, msg.From)
	switch q.no.Bar {
	case proto.BarPromise, proto.BarBoot, proto.BarSelf:
		p.Voter.waiting[msg.From] = q
	}
	if was.term != q.term || was.Session != q.Session || was.no != q.no {
		p.Why("%d asks for term %d -> %s", msg.From, q.term, q.no)
	}
	p.answer(msg.From, q)
}

func (p *Party) answer(to proto.NodeID, q question) {
	p.Send(to, p.State.Vote.Term, proto.PreVoteReply{
		Session: q.Session, Nonce: q.Nonce, Answer: q.no, Voters: p.VoterSet(),
	})
}

// AnswerWaiting says yes to those who were told no, once nothing binds the voter any
// more; for a moment to the successor alone, if the leader chose one. One that did not see
// that leader would be first otherwise.
func (p *Party) AnswerWaiting() {
	if len(p.Voter.waiting) == 0 {
		return
	}
	if no, _ := p.free(); !no.Granted() {
		return
	}
	for _, id := range slices.Sorted(maps.Keys(p.Voter.waiting)) {
		if p.favorsOver(id) {
			continue
		}
		q := p.Voter.waiting[id]
		delete(p.Voter.waiting, id)
		q.no = p.wouldVote(q.term, q.Voters)
		p.Why("%d asked for term %d -> %s", id, q.term, q.no)
		p.answer(id, q)
	}
}

// favorsOver reports whether another than this node is to take over just now.
func (p *Party) favorsOver(id proto.NodeID) bool {
	return id != p.Handing.favored && p.Now.Before(p.Handing.favors)
}

// FreeAt is when this voter may answer those who wait for it, this node itself among
// them while it asks; zero if nobody waits.
func (p *Party) FreeAt() (until time.Time) {
	if len(p.Voter.waiting) > 0 || p.Stand.Phase == Asking {
		_, until = p.free()
	}
	if len(p.Voter.waiting) > 0 && until.IsZero() && p.Now.Before(p.Handing.favors) {
		return p.Handing.favors
	}
	return until
}

// Judge tells what a voter makes of who wants its vote, or its promise anew: a vote that
// it has not had, and that Vote is to give; the promise, kept for it since it voted; or
// neither: that is denied here. A refusal changes nothing.
func (p *Party) Judge(msg proto.Message, r Request) Verdict {
	vote := p.State.Vote
	again := msg.Term == vote.Term && p.Bound(msg.From, r.Session)
	no := p.wouldVote(msg.Term, r.Voters)
	if no.Bar == proto.BarVoted && p.leadsFloor(msg) {
		no = proto.Answer{}
	}
	switch {
	case p.Voter.Dead[msg.From] == r.Session:
		p.Why("%d is proven dead -> drop what it said", msg.From)
		return Denied
	case again && p.Voter.Over:
		p.Why("%d released term %d -> deny it", msg.From, msg.Term)
		no = proto.Answer{Bar: proto.BarVoted, Holder: vote.ID}
	case again:
		p.bind(msg.From, r.Voters)
		return Kept
	case no.Granted():
		p.Why("nothing binds this voter -> "+p.Words.Grant, msg.From, msg.Term)
		p.bind(msg.From, r.Voters)
		return Free
	default:
		p.Why("%d wants term %d -> deny it: %s", msg.From, msg.Term, no)
	}
	p.Reply(msg, r, no, "")
	return Denied
}

// Reply answers who wants this voter's vote, or its promise anew. A refusal tells the highest
// term that the voter voted in; former goes with a vote.
func (p *Party) Reply(msg proto.Message, r Request, answer proto.Answer, former proto.Epochs) {
	term := msg.Term
	if !answer.Granted() {
		term = p.State.Vote.Term
	}
	if msg.Body.Kind() == proto.KindRequestVote {
		p.Send(msg.From, term, proto.Vote{
			Session: r.Session, Nonce: r.Nonce, Answer: answer, Voters: p.VoterSet(), Former: former,
		})
		return
	}
	p.Send(msg.From, term, proto.HeartbeatReply{
		Session: r.Session, Nonce: r.Nonce, Answer: answer, Voters: p.VoterSet(),
	})
}

// leadsFloor reports whether a leader asks for the promise in the very term above which this
// voter was let vote, and has no vote in: see Rejoin. No candidate gets that vote, which a
// former life may have given to another. The leader gets it, with the promise:
//
//   - That elects nobody. Only the process that won a term renews in it. A majority elected
//     it, so nobody else wins the term, whomever the former life voted for: who counted
//     that vote did so before the wait for its promise ended, and had won or lost by then.
//   - It binds a voter that is bound to nobody: what the former life promised has run out,
//     and a promise of this life, a start and another list of voters come before: see free
//     and superseded.
//
// It is the same with the term below an operator's first one, in which somebody may lead by
// the votes of others. In term 0, of voters that never voted, nobody does.
func (p *Party) leadsFloor(msg proto.Message) bool {
	switch msg.Body.(type) {
	case proto.Renew, proto.Heartbeat:
		return p.State.Vote.ID == 0 && msg.Term == p.State.Vote.Term && msg.Term > 0
	}
	return false
}

// Verdict is what Judge returns.
type Verdict int

// The verdicts.
const (
	Denied Verdict = iota
	Free           // nothing binds the voter
	Kept           // it is bound to this very process
)

// Vote binds the voter. The State leaves with the Output, and is durable before what
// answers: "Updated on stable storage before responding to RPCs".
func (p *Party) Vote(term proto.Term, id proto.NodeID, s proto.Session) {
	if p.Stand.Phase == Asking {
		p.Stand.Stop()
	}
	p.State.Vote = algorithms.Vote{Term: term, ID: id, Session: s}
	p.State.Promise = max(p.State.Promise, p.Cfg.Promise)
	if id == p.Cfg.Self {
		p.bind(id, p.VoterSet())
	}
	p.Known, p.Dirty = max(p.Known, term), true
	p.unvoted = false
	p.Voter.Over, p.Voter.proven, p.Voter.Kept = false, false, time.Time{}
	p.Promise()
}

// Promise begins the promise anew. The leader's lease began before it sent what came in
// this Step.
func (p *Party) Promise() { p.Voter.Promise = p.Now.Add(p.Cfg.Promise) }

// WasReleased ends the promise to exactly the process that gives it back, and reports
// whether it was that. The vote stays.
func (p *Party) WasReleased(msg proto.Message, b proto.Release) bool {
	if msg.Term != p.State.Vote.Term || !p.Bound(msg.From, b.Session) {
		p.Why("%d releases term %d, "+p.Words.Denied+" -> drop it", msg.From, msg.Term)
		return false
	}
	p.Why("%d releases term %d -> the promise to it is over", msg.From, msg.Term)
	p.Voter.proven, p.Voter.Kept = false, time.Time{}
	p.Voter.Over = true
	return true
}

// Release gives the promises of the term back, this voter's own with them.
func (p *Party) Release(term proto.Term) {
	if p.Bound(p.Cfg.Self, p.Cfg.Session) && p.State.Vote.Term == term {
		p.Voter.Over, p.Voter.Kept = true, time.Time{}
	}
	p.Tell(term, proto.Release{Session: p.Cfg.Session, Heir: p.Handing.Heir.ID})
}

// Died takes the proof that a process is dead, unless promises are kept all the same,
// and reports whether it did. It frees a voter that was bound to that process; the vote
// stays.
func (p *Party) Died(dead proto.Peer) (believed, freed bool) {
	if p.Cfg.KeepPromises {
		p.Why("%d is proven dead, promises are kept all the same -> wait", dead.ID)
		return false, false
	}
	p.Voter.Dead[dead.ID] = dead.Session
	delete(p.Voter.waiting, dead.ID)
	freed = p.Bound(dead.ID, dead.Session)
	if freed {
		p.Voter.proven = p.Voter.proven || !p.Voter.Over
		p.Why("%d is proven dead -> the promise to it is over", dead.ID)
		p.Voter.Over = true
	}
	if lent := p.Voter.Kept.Sub(p.Now); freed && lent > 0 {
		p.Why("but for a lease that it lent -> keep that promise for %v", lent.Round(time.Millisecond))
	}
	return true, freed
}

// Heard takes back that a process is dead, and reports whether it was held for that:
// its words count again. A promise to it that the proof ended has run out, like any that
// was not asked for in time: it may be asked for anew while this voter has voted for
// nobody else. One that it gave back itself stays over.
func (p *Party) Heard(q proto.Peer) bool {
	if s, was := p.Voter.Dead[q.ID]; !was || s != q.Session {
		return false
	}
	p.Why("%d was held for dead and answered a new link -> what it says counts again", q.ID)
	delete(p.Voter.Dead, q.ID)
	if p.Bound(q.ID, q.Session) && p.Voter.proven {
		p.Voter.Over, p.Voter.proven, p.Voter.Promise = false, false, time.Time{}
	}
	return true
}
