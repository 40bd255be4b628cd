package consensus

import (
	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/paxos"
	"github.com/ringleader-dev/ringleader/proto"
)

var whyForeign = reasons.Kind("foreign", "%s is no message of the consensus -> drop it")

// Receive handles all messages except the announcement.
func (r *round) Receive(msg proto.Message) {
	switch b := msg.Body.(type) {
	case Prepare:
		if r.takesPart(msg, b.Ballot) {
			r.onPrepare(b)
		}
	case Promise:
		r.onPromise(msg, b)
	case Accept:
		if r.takesPart(msg, b.Ballot) {
			r.onAccept(b)
		}
	case Accepted:
		r.onAccepted(msg, b)
	case Chosen:
		r.onChosen(msg, b)
	case Enquiry:
		r.onEnquiry(msg)
	default:
		r.core.Refuse(whyForeign, b.Kind())
	}
}

var (
	whyOthersBallot  = reasons.Kind("others-ballot", "%d proposes in ballot %v of another -> drop it")
	whyLed           = reasons.Kind("led", "%d proposes but %d leads term %d -> tell it")
	whyUnheard       = reasons.Kind("unheard", "%d proposes, leader %d was not heard of late -> do not answer")
	whyFormerPromise = reasons.Kind("former-promise", "a former life may have promised in term %d -> do not answer %d")
	whyBelowPromised = reasons.Kind("below-promised", "ballot %v is below the promised %v -> do not answer").
				Follows("a promise not to accept any more proposals numbered less than n")
)

// takesPart reports whether this process answers a proposer. If this process knows the leader of the
// term, it tells the proposer who leads instead.
func (r *round) takesPart(msg proto.Message, b paxos.Ballot) bool {
	switch s := r.state(); {
	case b.By != msg.From:
		r.core.Refuse(whyOthersBallot, msg.From, b)
	case r.core.Vouches():
		r.core.Why(whyLed, msg.From, r.core.Leader().ID, r.core.Term())
		r.core.Tell(msg.From)
	case !r.core.Looking():
		r.core.Why(whyUnheard,
			msg.From, r.core.Leader().ID)
	case !r.core.MayVote():
		r.core.Why(whyFormerPromise, r.core.Term(), msg.From)
	case b.Compare(s.promised) < 0:
		r.core.Why(whyBelowPromised, b, s.promised)
	default:
		s.round = max(s.round, b.Round)
		return true
	}
	return false
}

var whyPromise = reasons.Kind("promise", "%d prepares ballot %v -> promise").
	Follows("it responds to the request with a promise not to accept any more proposals " + "numbered less than n")

// onPrepare answers PREPARE with a promise.
//
// Paxos Made Simple, phase 1 (b): "If an acceptor receives a prepare request with
// number n greater than that of any prepare request to which it has already responded,
// then it responds to the request with a promise not to accept any more proposals
// numbered less than n and with the highest-numbered proposal (if any) that it has
// accepted."
func (r *round) onPrepare(b Prepare) {
	s := r.state()
	s.promised = b.Ballot
	answer := Promise{Ballot: b.Ballot, Last: s.last, Accepted: s.value}
	if r.core.MayStand() {
		answer.Proposal = r.core.Self()
	}
	r.core.Why(whyPromise, b.Ballot.By, b.Ballot)
	r.core.Send(b.Ballot.By, answer)
	r.listen(ListenTimeout(r.core.Delta(), 1+r.above(r.core.Self())))
}

var whyAccept = reasons.Kind("accept", "%d proposes %d -> accept", algorithms.Outranks(algorithms.Self, 1)).
	Follows("it accepts the proposal unless it has already responded to a prepare request having " +
		"a number greater than n")

// onAccept accepts the proposal of an ACCEPT.
//
// Paxos Made Simple, phase 2 (b): "If an acceptor receives an accept request for a
// proposal numbered n, it accepts the proposal unless it has already responded to a
// prepare request having a number greater than n."
func (r *round) onAccept(b Accept) {
	s := r.state()
	s.promised, s.last, s.value = b.Ballot, b.Ballot, b.Value
	r.core.Why(whyAccept, b.Ballot.By, b.Value.ID)
	r.core.Send(b.Ballot.By, Accepted{Ballot: b.Ballot})
	r.phase = accepted
	if !r.core.Aside() {
		r.core.SetTimer(ChosenTimeout(r.core.Delta()))
	}
}

var (
	whyEnquiryLed = reasons.Kind("enquiry-led", "%d asks but %d leads term %d -> tell it")
	whyEnquiry    = reasons.Kind("enquiry", "%d asks, and this node knows no leader it vouches for -> do not answer")
)

// onEnquiry tells the sender of ENQUIRY who leads, or begins this process's part in the election.
func (r *round) onEnquiry(msg proto.Message) {
	switch {
	case r.core.Vouches():
		r.core.Why(whyEnquiryLed, msg.From, r.core.Leader().ID, r.core.Term())
		r.core.Tell(msg.From)
	case r.core.Looking() && r.phase == idle && !r.core.Aside():
		r.Begin()
	default:
		r.core.Why(whyEnquiry, msg.From)
	}
}
