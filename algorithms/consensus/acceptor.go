package consensus

import "github.com/ringleader-dev/ringleader/proto"

// Receive handles all messages but the announcement.
func (r round) Receive(msg proto.Message) {
	switch b := msg.Body.(type) {
	case proto.Prepare:
		if r.takesPart(msg, b.Ballot) {
			r.onPrepare(b)
		}
	case proto.Promise:
		r.onPromise(msg, b)
	case proto.Accept:
		if r.takesPart(msg, b.Ballot) {
			r.onAccept(b)
		}
	case proto.Accepted:
		r.onAccepted(msg, b)
	case proto.Chosen:
		r.onChosen(msg, b)
	case proto.Enquiry:
		r.onEnquiry(msg)
	default:
		r.core.Refuse("%s is no message of the consensus -> drop it", b.Kind())
	}
}

// takesPart reports whether this process answers a proposer. Where the term has its
// leader, that is the answer.
func (r round) takesPart(msg proto.Message, b proto.Ballot) bool {
	switch s := r.state(); {
	case b.By != msg.From:
		r.core.Refuse("%d proposes in ballot %v of another -> drop it", msg.From, b)
	case r.core.Vouches():
		r.core.Why("%d proposes but %d leads term %d -> tell it", msg.From, r.core.Leader().ID, r.core.Term())
		r.core.Tell(msg.From)
	case !r.core.Looking():
		r.core.Why("%d proposes, leader %d was not heard of late -> do not answer",
			msg.From, r.core.Leader().ID)
	case !r.core.MayVote():
		r.core.Why("a former life may have promised in term %d -> do not answer %d", r.core.Term(), msg.From)
	case b.Compare(s.promised) < 0:
		r.core.Why("ballot %v is below the promised %v -> do not answer", b, s.promised)
	default:
		s.round = max(s.round, b.Round)
		return true
	}
	return false
}

// onPrepare promises.
//
// Paxos Made Simple, phase 1 (b): "If an acceptor receives a prepare request with
// number n greater than that of any prepare request to which it has already responded,
// then it responds to the request with a promise not to accept any more proposals
// numbered less than n and with the highest-numbered proposal (if any) that it has
// accepted."
func (r round) onPrepare(b proto.Prepare) {
	s := r.state()
	s.promised = b.Ballot
	answer := proto.Promise{Ballot: b.Ballot, Last: s.last, Accepted: s.value}
	if r.core.MayStand() {
		answer.Proposal = r.core.Self()
	}
	r.core.Why("%d prepares ballot %v -> promise", b.Ballot.By, b.Ballot)
	r.core.Send(b.Ballot.By, answer)
	r.listen(ListenTimeout(r.core.Delta(), 1+r.above(r.core.Self())))
}

// onAccept accepts.
//
// Paxos Made Simple, phase 2 (b): "If an acceptor receives an accept request for a
// proposal numbered n, it accepts the proposal unless it has already responded to a
// prepare request having a number greater than n."
func (r round) onAccept(b proto.Accept) {
	s := r.state()
	s.promised, s.last, s.value = b.Ballot, b.Ballot, b.Value
	r.core.Why("%d proposes %d -> accept", b.Ballot.By, b.Value.ID)
	r.core.Send(b.Ballot.By, proto.Accepted{Ballot: b.Ballot})
	r.phase = accepted
	if !r.core.Aside() {
		r.core.SetTimer(ChosenTimeout(r.core.Delta()))
	}
}

// onEnquiry tells who leads, or sees to it that somebody does.
func (r round) onEnquiry(msg proto.Message) {
	switch {
	case r.core.Vouches():
		r.core.Why("%d asks but %d leads term %d -> tell it", msg.From, r.core.Leader().ID, r.core.Term())
		r.core.Tell(msg.From)
	case r.core.Looking() && r.phase == idle && !r.core.Aside():
		r.Begin()
	default:
		r.core.Why("%d asks, and this node knows no leader it vouches for -> do not answer", msg.From)
	}
}
