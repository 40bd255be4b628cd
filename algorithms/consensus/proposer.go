package consensus

import (
	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/paxos"
	"github.com/ringleader-dev/ringleader/proto"
)

// Stand implements nomination.Candidacy: this process was asked to lead. The process proposes itself and
// no other process, unless another value may be chosen already.
func (r *round) Stand(self proto.Peer) {
	r.insists = true
	r.prepare(self)
}

// propose begins a ballot of this process.
func (r *round) propose() {
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

// prepare asks all processes for promises.
//
// Paxos Made Simple, phase 1 (a): "A proposer selects a proposal number n and sends a prepare
// request with number n to a majority of acceptors." The numbers belong to this process, which
// never uses one twice: it does not propose in a term in which a former process of its node took
// part.
func (r *round) prepare(own proto.Peer) {
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

// onPromise counts the promise of a voter, once, and notes which value the voter accepted and which one
// it proposes.
func (r *round) onPromise(msg proto.Message, b Promise) {
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

// acceptIfReady begins phase 2 once a majority has promised and further promises could not change the
// choice.
func (r *round) acceptIfReady() {
	if !r.promises.Of(r.voters) {
		return
	}
	if r.settled() {
		r.accept()
	}
}

// settled reports whether no better proposal can still come.
func (r *round) settled() bool {
	return r.bound.ID != 0 || r.insists || r.above(r.best) == 0
}

// choice returns the value that this proposer must or may propose, given the promises so far; nobody if
// no process is a candidate.
func (r *round) choice() proto.Peer {
	switch {
	case r.bound.ID != 0:
		return r.bound
	case r.insists && r.own.ID != 0:
		return r.own
	}
	return r.best
}

// Contends implements nomination.Candidacy: it reports whether this process asks to be chosen. The
// process may still learn of a better proposal, or of a value that may be chosen already.
func (r *round) Contends() bool {
	switch r.phase {
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

// accept asks all processes to accept one value.
//
// Paxos Made Simple, phase 2 (a): "If the proposer receives a response to its prepare
// requests (numbered n) from a majority of acceptors, then it sends an accept request
// to each of those acceptors for a proposal numbered n with a value v, where v is the
// value of the highest-numbered proposal among the responses, or is any value if the
// responses reported no proposals."
func (r *round) accept() {
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

// onAccepted counts the ACCEPTED of a voter, once.
func (r *round) onAccepted(msg proto.Message, b Accepted) {
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

// chooseIfAccepted acts once a value is chosen: this process leads if it is the value, and otherwise
// tells the chosen process.
//
// Paxos Made Simple, 2.3: "To learn that a value has been chosen, a learner must find out that a
// proposal has been accepted by a majority of acceptors." Lecture notes: "That lucky Pi is the new
// leader!" The others follow the chosen process only when it says that it leads.
func (r *round) chooseIfAccepted() {
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

// onChosen handles CHOSEN: this process leads if this very process was chosen.
func (r *round) onChosen(msg proto.Message, b Chosen) {
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

// take makes this process lead the term, if it may. self has the rank that was chosen.
func (r *round) take(self proto.Peer) {
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
