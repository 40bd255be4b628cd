package raft

import (
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/proto"
)

// voter is this node's vote and what it is bound to. The vote itself is in
// Machine.state.
type voter struct {
	promise time.Time // when the promise to state.Vote's process ends,
	over    bool      // unless that released the term, or is proven dead
	boot    time.Time // until then a promise of a former life may run
	dead    map[proto.NodeID]proto.Session
	waiting map[proto.NodeID]question
}

// request is what all questions, and the votes that answer them, have in common.
type request struct {
	Session proto.Session
	Nonce   uint64
}

// question is a PRE_VOTE, and the no that it was answered with.
type question struct {
	request
	term proto.Term
	no   refusal
}

// refusal is what keeps a voter from voting, and to whom that binds it.
type refusal struct {
	bar    proto.Bar
	holder proto.NodeID
}

// String is the answer that the refusal is.
func (r refusal) String() string {
	switch {
	case r.bar == proto.NoBar:
		return "yes"
	case r.holder == 0:
		return "no, " + r.bar.String()
	}
	return "no, " + r.bar.String() + " " + r.holder.String()
}

// bound reports whether the promise, while it runs, is to this process.
func (m *Machine) bound(id proto.NodeID, s proto.Session) bool {
	v := m.state.Vote
	return v.ID == id && v.Session == s
}

// free returns what binds the voter, and until when; the zero refusal for nothing.
func (m *Machine) free() (no refusal, until time.Time) {
	switch {
	case m.rejoin.active:
		return refusal{bar: proto.BarBoot}, time.Time{}
	case m.stand.role >= candidate || m.stand.leaving != 0:
		return refusal{proto.BarSelf, m.cfg.Self}, time.Time{}
	case m.now.Before(m.voter.boot):
		return refusal{bar: proto.BarBoot}, m.voter.boot
	case !m.voter.over && m.now.Before(m.voter.promise):
		return refusal{proto.BarPromise, m.state.Vote.ID}, m.voter.promise
	}
	return refusal{}, time.Time{}
}

// wouldVote returns what keeps the voter from voting in a term that it has not voted
// in. "Each server will vote for at most one candidate in a given term, on a
// first-come-first-served basis"; and "if a server receives a RequestVote RPC within the
// minimum election timeout of hearing from a current leader, it does not update its term
// or grant its vote".
func (m *Machine) wouldVote(term proto.Term) refusal {
	if no, _ := m.free(); no.bar != proto.NoBar {
		return no
	}
	if term <= m.state.Vote.Term {
		return refusal{proto.BarVoted, m.state.Vote.ID}
	}
	return refusal{}
}

// asked answers PRE_VOTE. It changes nothing but who is told when a no becomes a yes.
func (m *Machine) asked(msg proto.Message, r request) {
	m.about = msg.Term // whatever comes of it
	was := m.voter.waiting[msg.From]
	if was.Session == r.Session && was.Nonce > r.Nonce {
		return // it came late: the answer to a later question is under way
	}
	q := question{r, msg.Term, m.wouldVote(msg.Term)}
	delete(m.voter.waiting, msg.From)
	switch q.no.bar {
	case proto.BarPromise, proto.BarBoot, proto.BarSelf:
		m.voter.waiting[msg.From] = q
	}
	if was.term != q.term || was.Session != q.Session || was.no != q.no {
		m.why("%d asks for term %d -> %s", msg.From, q.term, q.no)
	}
	m.answer(msg.From, q)
}

func (m *Machine) answer(to proto.NodeID, q question) {
	m.send(to, m.state.Vote.Term, proto.Answer{
		Session: q.Session, Nonce: q.Nonce,
		Yes: q.no.bar == proto.NoBar, Bar: q.no.bar, Holder: q.no.holder,
	})
}

// answerWaiting says yes to those who were told no, once nothing binds the voter any
// more.
func (m *Machine) answerWaiting() {
	if len(m.voter.waiting) == 0 {
		return
	}
	if no, _ := m.free(); no.bar != proto.NoBar {
		return
	}
	for _, id := range m.voters { // in a fixed order
		if q, ok := m.voter.waiting[id]; ok {
			delete(m.voter.waiting, id)
			q.no = m.wouldVote(q.term)
			m.why("%d asked for term %d -> %s", id, q.term, q.no)
			m.answer(id, q)
		}
	}
}

// requested answers REQUEST_VOTE.
func (m *Machine) requested(msg proto.Message, r request) {
	if m.promised(msg, r) {
		m.send(msg.From, msg.Term, proto.Vote(r))
	}
}

// promised gives the sender this voter's promise, and its vote if it has not had that,
// or denies it. A refusal changes nothing.
func (m *Machine) promised(msg proto.Message, r request) bool {
	m.meet(msg.From, msg.Term)
	vote := m.state.Vote
	again := msg.Term == vote.Term && m.bound(msg.From, r.Session)
	no := m.wouldVote(msg.Term)
	switch {
	case m.voter.dead[msg.From] == r.Session:
		m.why("%d is proven dead -> drop what it said", msg.From)
		return false
	case again && m.voter.over:
		m.why("%d released term %d -> deny it", msg.From, msg.Term)
		no = refusal{proto.BarVoted, vote.ID}
	case again:
		no = refusal{}
	case no.bar == proto.NoBar:
		m.why("nothing binds this voter -> vote for %d in term %d", msg.From, msg.Term)
		m.vote(msg.Term, msg.From, r.Session)
	default:
		m.why("%d wants term %d -> deny it: %s", msg.From, msg.Term, no)
	}
	if no.bar != proto.NoBar {
		m.send(msg.From, vote.Term, proto.Deny{
			Session: r.Session, Nonce: r.Nonce, Bar: no.bar, Holder: no.holder,
		})
		return false
	}
	// The leader's lease began before it sent what came in this Step.
	m.voter.promise = m.now.Add(m.cfg.Promise)
	m.reset()
	return true
}

// vote binds the voter. The State leaves with the Output, and is durable before the
// VOTE: "Updated on stable storage before responding to RPCs".
func (m *Machine) vote(term proto.Term, id proto.NodeID, s proto.Session) {
	if m.stand.role == preCandidate {
		m.stand.stop()
	}
	m.state.Term, m.state.Reserved = term, term
	m.state.Vote = algorithms.Vote{Term: term, ID: id, Session: s}
	m.state.Promise = max(m.state.Promise, m.cfg.Promise)
	m.known, m.dirty = max(m.known, term), true
	m.voter.promise, m.voter.over = m.now.Add(m.cfg.Promise), false
	if m.belief.Session != s {
		m.forget(proto.Peer{ID: m.belief.ID, Session: m.belief.Session}, "has lost this voter's promise")
	}
}

// released ends the promise to exactly the process that gives it back. The vote
// stays.
func (m *Machine) released(msg proto.Message, b proto.Release) {
	if msg.Term != m.state.Vote.Term || !m.bound(msg.From, b.Session) {
		m.why("%d releases term %d, in which this voter did not vote for it -> drop it", msg.From, msg.Term)
		return
	}
	m.why("%d releases term %d -> the promise to it is over", msg.From, msg.Term)
	m.voter.over = true
	m.standBy(0, isVacant, 0)
	m.forget(proto.Peer{ID: msg.From, Session: b.Session}, "released the term")
	if b.Heir != 0 && b.Heir != m.cfg.Self {
		m.giveWay(b.Heir)
	}
}
