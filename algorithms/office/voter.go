package office

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

// question is an ASK that was answered with no.
type question struct {
	term    proto.Term
	session proto.Session
	nonce   uint64
}

// request is what CLAIM and RENEW have in common.
type request struct {
	Session proto.Session
	Nonce   uint64
}

// bound reports whether the promise, while it runs, is to this process.
func (m *Machine) bound(id proto.NodeID, s proto.Session) bool {
	v := m.state.Vote
	return v.ID == id && v.Session == s
}

// free reports whether the voter is bound to nobody, else what binds it, to
// whom, and until when.
func (m *Machine) free() (bar proto.Bar, holder proto.NodeID, until time.Time) {
	switch {
	case m.stand.phase == claiming || m.stand.phase == holding || m.stand.leaving != 0:
		return proto.BarSelf, m.cfg.Self, time.Time{}
	case m.now.Before(m.voter.boot):
		return proto.BarBoot, 0, m.voter.boot
	case !m.voter.over && m.now.Before(m.voter.promise):
		return proto.BarPromise, m.state.Vote.ID, m.voter.promise
	}
	return proto.NoBar, 0, time.Time{}
}

// wouldGrant reports what keeps the voter from granting a term that it has not
// voted in.
func (m *Machine) wouldGrant(term proto.Term) (proto.Bar, proto.NodeID) {
	if bar, holder, _ := m.free(); bar != proto.NoBar {
		return bar, holder
	}
	if term <= m.state.Vote.Term {
		return proto.BarVoted, m.state.Vote.ID
	}
	return proto.NoBar, 0
}

// asked answers ASK. It changes nothing but who is told when a no becomes a yes.
func (m *Machine) asked(msg proto.Message, b proto.Ask) {
	bar, holder := m.wouldGrant(msg.Term)
	delete(m.voter.waiting, msg.From)
	if bar == proto.BarPromise || bar == proto.BarBoot || bar == proto.BarSelf {
		m.voter.waiting[msg.From] = question{msg.Term, b.Session, b.Nonce}
	}
	m.answer(msg.From, question{msg.Term, b.Session, b.Nonce}, bar, holder)
}

func (m *Machine) answer(to proto.NodeID, q question, bar proto.Bar, holder proto.NodeID) {
	m.why("%d asks for term %d -> %s", to, q.term, sayBar(bar, holder))
	m.send(to, m.state.Vote.Term, proto.Answer{
		Session: q.session, Nonce: q.nonce, Yes: bar == proto.NoBar, Bar: bar, Holder: holder,
	})
}

func sayBar(bar proto.Bar, holder proto.NodeID) string {
	switch {
	case bar == proto.NoBar:
		return "yes"
	case holder == 0:
		return "no, " + bar.String()
	}
	return "no, " + bar.String() + " " + holder.String()
}

// answerWaiting says yes to those who were told no, once nothing binds the voter
// any more.
func (m *Machine) answerWaiting() {
	if len(m.voter.waiting) == 0 {
		return
	}
	if bar, _, _ := m.free(); bar != proto.NoBar {
		return
	}
	for _, id := range m.voters { // in a fixed order
		if q, ok := m.voter.waiting[id]; ok {
			delete(m.voter.waiting, id)
			bar, holder := m.wouldGrant(q.term)
			m.answer(id, q, bar, holder)
		}
	}
}

// claimed answers CLAIM and RENEW. A refusal changes nothing.
func (m *Machine) claimed(msg proto.Message, r request) {
	vote := m.state.Vote
	again := msg.Term == vote.Term && m.bound(msg.From, r.Session)
	bar, holder := m.wouldGrant(msg.Term)
	switch {
	case m.voter.dead[msg.From] == r.Session:
		m.why("%d is proven dead -> drop what it said", msg.From)
		return
	case again && m.voter.over:
		m.why("%d released term %d -> deny it", msg.From, msg.Term)
		bar, holder = proto.BarVoted, vote.ID
	case again:
		bar = proto.NoBar
	case bar == proto.NoBar:
		m.why("nothing binds this voter -> grant %d term %d", msg.From, msg.Term)
		m.vote(msg.Term, msg.From, r.Session)
	default:
		m.why("%d wants term %d -> deny it: %s", msg.From, msg.Term, bar)
	}
	if bar != proto.NoBar {
		m.send(msg.From, vote.Term, proto.Deny{
			Session: r.Session, Nonce: r.Nonce, Bar: bar, Holder: holder,
		})
		return
	}
	// The holder's lease began before it sent what came in this Step.
	m.voter.promise, m.heard = m.now.Add(m.cfg.Promise), m.now
	m.send(msg.From, msg.Term, proto.Grant{Session: r.Session, Nonce: r.Nonce})
}

// vote binds the voter. The State leaves with the Output, and is durable before
// the GRANT.
func (m *Machine) vote(term proto.Term, id proto.NodeID, s proto.Session) {
	if m.stand.phase == asking {
		m.stand.stop()
	}
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
		m.why("%d releases term %d, which this voter did not grant it -> drop it", msg.From, msg.Term)
		return
	}
	m.why("%d releases term %d -> the promise to it is over", msg.From, msg.Term)
	m.voter.over = true
	m.forget(proto.Peer{ID: msg.From, Session: b.Session}, "released the office")
}
