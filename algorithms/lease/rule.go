package lease

import (
	"time"

	"github.com/ringleader-dev/ringleader/proto"
)

// ballot is a question that a voter answers: its kind (PRE_VOTE, REQUEST_VOTE or HEARTBEAT), the process
// that asks, the term that the question is about, and the list of voters of that process.
type ballot struct {
	kind   proto.Kind
	from   proto.Peer
	term   proto.Term
	voters proto.VoterSet
}

// judge applies the whole vote rule. It returns why this voter says no, or the zero Answer for a yes.
// until is when the no becomes a yes by the passing of time alone; zero if time does not change the
// answer. again is true if this voter has already promised the term to the process that asks.
//
// The quotes are of Ongaro and Ousterhout, "In Search of an Understandable Consensus Algorithm",
// of Burrows, "The Chubby lock service", and of this package's documentation.
func (m *Machine) judge(b ballot) (no proto.Answer, until time.Time, again bool) {
	vote, v := m.state.Vote, &m.voter
	boots, asks := m.now.Before(v.boot), b.kind == proto.KindPreVote
	bootFirst := asks && boots
	again = !asks && b.term == vote.Term && m.bound(b.from.ID, b.from.Incarnation)
	has := vote.ID == b.from.ID && vote.Incarnation == b.from.Incarnation
	voted := proto.Answer{Denial: proto.DeniedVoted, To: vote.ID}
	promised := proto.Answer{Denial: proto.DeniedPromised, To: m.promisee().ID}
	switch {
	// Package doc: "It grants an equal term to that process only"; a promise that it released stays over.
	case again && v.over:
		return voted, until, again
	// Raft: "Each server will vote for at most one candidate in a given term": a winner that this
	// voter did not vote for has its promise, and no vote.
	case again && !has && b.kind == proto.KindRequestVote:
		return voted, until, false
	case again:
		return no, until, again
	// docs/VOTERS.md, rule 2: "A voter gives no new vote to a node whose list is of its own version
	// and another, or of an earlier version."
	// Its rule 5: "A voter believes a node that is none of its voters only once a voter has told it of that list."
	case m.superseded(b.voters), !m.mayLead(b.from.ID, b.voters):
		return proto.Answer{Denial: proto.DeniedVoters}, until, again
	// Package doc: "A voter without a saved vote may have lost its disk: it grants nothing, old or new".
	case m.rejoin.active:
		return proto.Answer{Denial: proto.DeniedStarted}, until, again
	// Raft: "It then votes for itself"; and a leader's work stops before another's begins.
	// But who asks first is told of a start: it does not get this vote when the work has stopped.
	case (m.candidacy.phase >= claiming || m.candidacy.leaving != 0) && !bootFirst:
		return proto.Answer{Denial: proto.DeniedStands, To: m.cfg.Self}, until, again
	// This package: "Whoever has won the term of its vote gets its promise, whomever it voted for".
	case m.won(b):
		return no, until, again
	// Chubby: "promises that those replicas will not elect a different master for an interval".
	// Raft: "within the minimum election timeout of hearing from a current leader, it does not
	// update its term or grant its vote". Who asks first is told of a start: no RELEASE ends that.
	case !v.over && m.now.Before(v.promise) && !bootFirst:
		return promised, v.promise, again
	// Package doc: "A voter that answered a HEARTBEAT for a loan keeps that promise whatever is proven".
	case m.now.Before(v.kept) && !bootFirst:
		return promised, v.kept, again
	// Package doc: "After a start it grants no new term for as long as any promise of its former life
	// may run." It comes last but for the term: a node that nothing else binds may stand meanwhile.
	case boots:
		return proto.Answer{Denial: proto.DeniedStarted}, v.boot, again
	// Raft: "Each server will vote for at most one candidate in a given term".
	case b.term < vote.Term, b.term == vote.Term && !m.leadsFloor(b):
		return voted, until, again
	}
	return no, until, again
}

// won reports whether b is the heartbeat of a leader in the term in which this voter voted for another
// process. That process has lost, since only the winner of a term sends heartbeats in it. The vote
// stays. Earlier promises were over when this voter voted.
func (m *Machine) won(b ballot) bool {
	return b.kind == proto.KindHeartbeat && b.term == m.state.Vote.Term && m.state.Vote.ID != 0 &&
		m.voter.winner.ID == 0
}

// leadsFloor reports whether b is the heartbeat of a leader in the term above which this voter may vote
// again: see readmit. No candidate gets this voter's vote in that term, since this voter's former life
// may have voted in that term for another. But the term's leader gets the vote and the promise:
//
//   - That elects nobody. Only the process that won a term sends heartbeats in it. A majority
//     elected it, so nobody else wins the term, whomever the former life voted for: who counted
//     that vote did so before the wait for its promise ended, and had won or lost by then.
//   - It binds a voter that is bound to nobody: what the former life promised has run out,
//     and a promise of this life, a start and another list of voters come before: see judge.
//
// The same is true for the term below an operator's first term: a node may lead that term by the votes
// of others. Nobody leads in term 0, the term of voters that never voted.
func (m *Machine) leadsFloor(b ballot) bool {
	return b.kind == proto.KindHeartbeat && m.state.Vote.ID == 0 && b.term == m.state.Vote.Term && b.term > 0
}

// own returns the question that this node asks its own voter: whether the voter would vote for this node
// in a term.
func (m *Machine) own(term proto.Term) ballot {
	return ballot{proto.KindRequestVote, m.self, term, m.voterSet()}
}

// next returns the question of own for the next term, in which this voter has not voted yet.
func (m *Machine) next() ballot { return m.own(m.state.Vote.Term + 1) }
