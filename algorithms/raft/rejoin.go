package raft

import (
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/office"
	"github.com/ringleader-dev/ringleader/algorithms/quorum"
	"github.com/ringleader-dev/ringleader/proto"
)

// rejoin is how a voter that lost its disk comes back, as in the office. It votes for
// nobody and stands for nothing until enough others have told it what it may have
// voted in. The paper has no such thing: there a server's state is on stable storage,
// or the server is a new one.
type rejoin struct {
	active  bool
	began   time.Time
	promise time.Duration // the longest that it may have made, as far as it knows
	nonce   uint64
	due     time.Time // when to ask, or to ask again
	told    quorum.Count
	voted   proto.Term // the highest that those know of
}

// beginRejoin waits first: as long as a promise of the former life may run, a
// candidate may still count a vote that this voter knows nothing of.
func (m *Machine) beginRejoin() {
	wait := office.BootWait(m.cfg.Promise)
	m.rejoin = rejoin{active: true, began: m.now, promise: m.cfg.Promise, due: m.now.Add(wait)}
	m.why("this voter lost what it voted -> vote for nobody for %v, then ask the others", wait)
}

// pursueRejoin asks those that have not answered, when it is time.
func (m *Machine) pursueRejoin() {
	r := &m.rejoin
	if m.now.Before(r.due) {
		return
	}
	if r.nonce == 0 {
		m.why("no promise of the former life runs any more -> ask the voters what they voted")
		r.nonce = 1
	}
	r.due = m.now.Add(m.jitter(answerTimeout(m.cfg.Delta)))
	for _, id := range m.voters {
		if id != m.cfg.Self && !r.told.Has(id) {
			m.send(id, 0, proto.Return{Session: m.cfg.Session, Nonce: r.nonce})
		}
	}
}

// returned answers a voter that lost its disk, or one that asks whether it did. One
// that lost its own says nothing.
func (m *Machine) returned(msg proto.Message, b proto.Return) {
	switch {
	case m.rejoin.active:
	case b.Nonce != 0:
		m.why("%d lost what it voted -> tell it of term %d", msg.From, m.state.Vote.Term)
		m.send(msg.From, m.state.Vote.Term, proto.Standing{
			Session: b.Session, Nonce: b.Nonce, Round: m.state.Reserved, Promise: m.state.Promise,
		})
	case m.met[msg.From] > 0:
		m.send(msg.From, m.met[msg.From], proto.Standing{Session: b.Session})
	}
}

// stood counts what another voter tells. A longer promise than was waited for means
// waiting on, and asking again.
func (m *Machine) stood(msg proto.Message, b proto.Standing) {
	r := &m.rejoin
	if b.Nonce == 0 && b.Session == m.cfg.Session && !r.active {
		m.recognized(msg)
		return
	}
	if !r.active || b.Session != m.cfg.Session {
		return
	}
	r.voted = max(r.voted, msg.Term, b.Round) // whatever else the answer is good for
	if b.Nonce != r.nonce {
		return
	}
	if b.Promise > r.promise { // what was answered before its end counts for nothing
		m.why("%d promised up to %v -> wait for that, then ask again", msg.From, b.Promise)
		r.promise, r.due = b.Promise, r.began.Add(office.BootWait(b.Promise))
		r.nonce++
		r.told.Reset()
		return
	}
	r.told.Add(msg.From)
	if r.told.Len() >= m.voters.Meeting() {
		m.readmit()
	}
}

// readmit takes the highest term, with no vote in it. Every majority that the former
// life was part of has one of those who answered in it.
func (m *Machine) readmit() {
	r := m.rejoin
	m.why("%d other voters know of no term above %d -> vote again, above that", r.told.Len(), r.voted)
	m.rejoin = rejoin{}
	m.state = algorithms.State{
		Term: r.voted, Reserved: r.voted, Vote: algorithms.Vote{Term: r.voted}, Promise: r.promise,
	}
	m.known, m.dirty, m.new = max(m.known, r.voted), true, false
	m.reset()
}

// A voter of which nothing is saved is either new or has lost its disk. It cannot
// tell; those who met its former life can. So once it hears of a leader it asks all
// voters, and each that knows of a vote of it says in which term. A vote above all
// that it made itself is one of a former life.

// inquire asks whether anybody has met this voter before: once for each leader.
func (m *Machine) inquire() {
	if m.votes() && !m.rejoin.active && m.new && m.state.Vote.Term == 0 {
		m.why("nothing is saved of this voter, and there is a leader -> ask whether it voted before")
		m.tell(0, proto.Return{Session: m.cfg.Session})
	}
}

// meet notes that a voter has voted in a term, or in a higher one.
func (m *Machine) meet(id proto.NodeID, term proto.Term) {
	if m.met[id] < term {
		m.met[id] = term
	}
}

// recognized hears what this voter is known to have voted in.
func (m *Machine) recognized(msg proto.Message) {
	if m.new && msg.Term > m.state.Vote.Term {
		m.refuse("%d knows of a vote of this voter in term %d, and it has none saved -> "+
			"its disk was lost: end", msg.From, msg.Term)
		m.out.Forgot = true
	}
}
