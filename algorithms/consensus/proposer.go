package consensus

import "github.com/ringleader-dev/ringleader/proto"

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

// prepare asks for promises.
//
// Paxos Made Simple, phase 1 (a): "A proposer selects a proposal number n and sends a
// prepare request with number n to a majority of acceptors." Numbers are its own, and
// never used twice: not in a term that a former life took part in.
func (r round) prepare(own proto.Peer) {
	if !r.core.MayVote() {
		r.core.Call("a former life may have proposed, and this term is spent")
		return
	}
	s := r.state()
	r.ballot = proto.Ballot{Round: s.round + 1, By: r.core.Self().ID}
	s.round, s.promised = r.ballot.Round, r.ballot
	r.phase, r.own, r.value = preparing, own, proto.Peer{}
	r.last, r.bound, r.best = s.last, s.value, own
	r.promises.Reset()
	r.accepts.Reset()
	r.promises.Add(r.core.Self().ID)
	r.core.Why("propose -> prepare ballot %v", r.ballot)
	r.core.SendAll(proto.Prepare{Ballot: r.ballot})
	r.core.SetTimer(AnswerTimeout(r.core.Delta()))
	r.acceptIfReady()
}

// onPromise counts a voter once, and learns what it accepted and proposes.
func (r round) onPromise(msg proto.Message, b proto.Promise) {
	switch {
	case !r.voters.Has(msg.From):
		r.core.Refuse("%d promises, but it is no voter -> drop it", msg.From)
		return
	case r.phase != preparing || b.Ballot != r.ballot:
		r.core.Why("the promise of ballot %v comes late -> drop it", b.Ballot)
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
		r.core.Call("nobody proposes itself, and this term is spent")
		return
	}
	if r.bound.ID != 0 {
		r.core.Why("%d may be chosen already, by ballot %v -> propose it", r.bound.ID, r.last)
	}
	r.core.Why("a majority promised -> ask all to accept %d", r.value.ID)
	s := r.state()
	s.last, s.value = r.ballot, r.value
	r.phase = accepting
	r.accepts.Add(r.core.Self().ID)
	r.core.SendAll(proto.Accept{Ballot: r.ballot, Value: r.value})
	r.core.SetTimer(AnswerTimeout(r.core.Delta()))
	r.chooseIfAccepted()
}

// onAccepted counts a voter once.
func (r round) onAccepted(msg proto.Message, b proto.Accepted) {
	switch {
	case !r.voters.Has(msg.From):
		r.core.Refuse("%d accepts, but it is no voter -> drop it", msg.From)
	case r.phase != accepting || b.Ballot != r.ballot:
		r.core.Why("ACCEPTED of ballot %v comes late -> drop it", b.Ballot)
	default:
		r.accepts.Add(msg.From)
		r.chooseIfAccepted()
	}
}

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
		r.core.Why("a majority accepted %d -> tell it", r.value.ID)
		r.phase = telling
		r.core.Send(r.value.ID, proto.Chosen{Leader: r.value})
		r.core.SetTimer(AnswerTimeout(r.core.Delta()))
	}
}

// onChosen leads, if it is this very process that was chosen.
func (r round) onChosen(msg proto.Message, b proto.Chosen) {
	switch {
	case !r.core.Looking():
		r.core.Tell(msg.From)
	case !b.Leader.Is(r.core.Self()):
		r.core.Why("%d says that a former life of this node was chosen -> drop it", msg.From)
	default:
		r.take(b.Leader)
	}
}

// take leads the term, with the rank that was chosen.
func (r round) take(self proto.Peer) {
	switch {
	case !self.Is(r.core.Self()):
		r.core.Call("a former life of this node was chosen, and this term is spent")
	case r.core.Aside():
		r.core.Why("this node was chosen, and stands aside -> do not lead")
	case !r.core.MayStand():
		r.core.Call("this node was chosen, and this term is spent")
	default:
		r.core.WinAs(self, "a majority accepted this node's proposal")
	}
}
