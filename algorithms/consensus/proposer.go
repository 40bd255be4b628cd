package consensus

import (
	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/paxos"
	"github.com/ringleader-dev/ringleader/proto"
)

// Stand implements nomination.Stander: this process was asked to lead, and takes the
// proposal of no other, unless that may be chosen already.
func (r round) Stand(self proto.Peer) {
	r.insists = true
	r.prepare(self)
}

// propose begins a ballot of this process's own.
func (r round) propose() {
	own := proto.Peer{}
	if r.core.MayStand() {
		own = r.core.Self()
	}
	r.prepare(own)
}

var (
	whyFormerProposal = reasons.Kind("former-proposal", "a former life may have proposed, and this term is spent",
		algorithms.Caused(algorithms.RoundFailed))
	whyPrepare = reasons.Kind("prepare", "propose -> prepare ballot %v").
			Follows("A proposer selects a proposal number n and sends a prepare request with number n")
)

// prepare asks for promises.
//
// Paxos Made Simple, phase 1 (a): "A proposer selects a proposal number n and sends a
// prepare request with number n to a majority of acceptors." Numbers are its own, and
// never used twice: not in a term that a former life took part in.
func (r round) prepare(own proto.Peer) {
	if !r.core.MayVote() {
		r.core.Call(whyFormerProposal.Of())
		return
	}
	s := r.state()
	r.ballot = paxos.Ballot{Round: s.round + 1, By: r.core.Self().ID}
	s.round, s.promised = r.ballot.Round, r.ballot
	r.phase, r.own, r.value = preparing, own, proto.Peer{}
	r.last, r.bound, r.best = s.last, s.value, own
	r.promises.Reset()
	r.accepts.Reset()
	r.promises.Add(r.core.Self().ID)
	r.core.Why(whyPrepare, r.ballot)
	r.core.SendAll(Prepare{Ballot: r.ballot})
	r.core.SetTimer(AnswerTimeout(r.core.Delta()))
	r.acceptIfReady()
}

var (
	whyPromiseNoVoter = reasons.Kind("promise-no-voter", "%d promises, but it is no voter -> drop it")
	whyPromiseLate    = reasons.Kind("promise-late", "the promise of ballot %v comes late -> drop it")
)

// onPromise counts a voter once, and learns what it accepted and proposes.
func (r round) onPromise(msg proto.Message, b Promise) {
	switch {
	case !r.voters.Has(msg.From):
		r.core.Refuse(whyPromiseNoVoter, msg.From)
		return
	case r.phase != preparing || b.Ballot != r.ballot:
		r.core.Why(whyPromiseLate, b.Ballot)
		return
	}
	r.promises.Add(msg.From)
	if b.Accepted.ID != 0 && b.Last.Compare(r.last) > 0 {
		r.last, r.bound = b.Last, b.Accepted
	}
	if b.Proposal.ID != 0 && (r.best.ID == 0 || b.Proposal.Above(r.best)) {
		r.best = b.Proposal
	}
	r.acceptIfReady()
}

// acceptIfReady goes on once a majority promised, and waiting for more is of no use.
func (r round) acceptIfReady() {
	if !r.promises.Of(r.voters) {
		return
	}
	if r.settled() {
		r.accept()
	}
}

// settled reports whether nobody is awaited whose proposal would be better.
func (r round) settled() bool {
	return r.bound.ID != 0 || r.insists || r.above(r.best) == 0
}

// choice is the value that the promises so far leave this proposer, nobody if none
// proposes itself.
func (r round) choice() proto.Peer {
	switch {
	case r.bound.ID != 0:
		return r.bound
	case r.insists && r.own.ID != 0:
		return r.own
	}
	return r.best
}

// Contends implements office.Contender: this process asks to be chosen. It may still
// learn of a better one, or of a value that may be chosen already.
func (m *Machine) Contends() bool {
	switch r := (round{m}); r.phase {
	case preparing:
		return r.settled() && r.choice().Is(r.core.Self())
	case accepting:
		return r.value.Is(r.core.Self())
	}
	return false
}

var (
	whyNobodyProposes = reasons.Kind("nobody-proposes", "nobody proposes itself, and this term is spent",
		algorithms.Caused(algorithms.RoundFailed))
	whyBound = reasons.Kind("bound", "%d may be chosen already, by ballot %v -> propose it").
			Follows("v is the value of the highest-numbered proposal among the responses")
	whyAskToAccept = reasons.Kind("ask-to-accept", "a majority promised -> ask all to accept %d",
		algorithms.Outranks(algorithms.Self, 0)).
		Follows("v is any value if the responses reported no proposals")
)

// accept asks all to accept one value.
//
// Paxos Made Simple, phase 2 (a): "If the proposer receives a response to its prepare
// requests (numbered n) from a majority of acceptors, then it sends an accept request
// to each of those acceptors for a proposal numbered n with a value v, where v is the
// value of the highest-numbered proposal among the responses, or is any value if the
// responses reported no proposals."
func (r round) accept() {
	r.value = r.choice()
	if r.value.ID == 0 {
		r.core.Call(whyNobodyProposes.Of())
		return
	}
	if r.bound.ID != 0 {
		r.core.Why(whyBound, r.bound.ID, r.last)
	}
	r.core.Why(whyAskToAccept, r.value.ID)
	s := r.state()
	s.last, s.value = r.ballot, r.value
	r.phase = accepting
	r.accepts.Add(r.core.Self().ID)
	r.core.SendAll(Accept{Ballot: r.ballot, Value: r.value})
	r.core.SetTimer(AnswerTimeout(r.core.Delta()))
	r.chooseIfAccepted()
}

var (
	whyAcceptNoVoter = reasons.Kind("accept-no-voter", "%d accepts, but it is no voter -> drop it")
	whyAcceptLate    = reasons.Kind("accept-late", "ACCEPTED of ballot %v comes late -> drop it")
)

// onAccepted counts a voter once.
func (r round) onAccepted(msg proto.Message, b Accepted) {
	switch {
	case !r.voters.Has(msg.From):
		r.core.Refuse(whyAcceptNoVoter, msg.From)
	case r.phase != accepting || b.Ballot != r.ballot:
		r.core.Why(whyAcceptLate, b.Ballot)
	default:
		r.accepts.Add(msg.From)
		r.chooseIfAccepted()
	}
}

var whyTell = reasons.Kind("tell", "a majority accepted %d -> tell it").
	Follows("That lucky Pi is the new leader!")

// chooseIfAccepted learns what was chosen.
//
// Paxos Made Simple, 2.3: "To learn that a value has been chosen, a learner must find
// out that a proposal has been accepted by a majority of acceptors." Lecture notes:
// "That lucky Pi is the new leader!" Nobody is followed before it leads.
func (r round) chooseIfAccepted() {
	switch {
	case !r.accepts.Of(r.voters):
	case r.value.ID == r.core.Self().ID:
		r.take(r.value)
	default:
		r.core.Why(whyTell, r.value.ID)
		r.phase = telling
		r.core.Send(r.value.ID, Chosen{Leader: r.value})
		r.core.SetTimer(AnswerTimeout(r.core.Delta()))
	}
}

var whyFormerTold = reasons.Kind("former-told", "%d says that a former life of this node was chosen -> drop it")

// onChosen leads, if it is this very process that was chosen.
func (r round) onChosen(msg proto.Message, b Chosen) {
	switch {
	case !r.core.Looking():
		r.core.Tell(msg.From)
	case !b.Leader.Is(r.core.Self()):
		r.core.Why(whyFormerTold, msg.From)
	default:
		r.take(b.Leader)
	}
}

var (
	whyFormerChosen = reasons.Kind("former-chosen", "a former life of this node was chosen, and this term is spent",
		algorithms.Caused(algorithms.RoundFailed))
	whyChosenAside = reasons.Kind("chosen-aside", "this node was chosen, and stands aside -> do not lead")
	whyChosenSpent = reasons.Kind("chosen-spent", "this node was chosen, and this term is spent",
		algorithms.Caused(algorithms.RoundFailed))
	whyAccepted = reasons.Kind("accepted", "a majority accepted this node's proposal").
			Follows("That lucky Pi is the new leader!")
)

// take leads the term, with the rank that was chosen.
func (r round) take(self proto.Peer) {
	switch {
	case !self.Is(r.core.Self()):
		r.core.Call(whyFormerChosen.Of())
	case r.core.Aside():
		r.core.Why(whyChosenAside)
	case !r.core.MayStand():
		r.core.Call(whyChosenSpent.Of())
	default:
		r.core.WinAs(self, whyAccepted.Of())
	}
}
