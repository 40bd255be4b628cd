package office

import (
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/quorum"
	"github.com/ringleader-dev/ringleader/proto"
)

// rejoin is how a voter that lost its disk comes back. It votes for nobody, stands
// for nothing and nominates nobody until enough others have told it what it may
// have voted in.
type rejoin struct {
	active  bool
	began   time.Time
	promise time.Duration // the longest that it may have made, as far as it knows
	nonce   uint64
	due     time.Time // when to ask, or to ask again
	told    quorum.Count
	voted   proto.Term // the highest that anybody told of
	round   proto.Term // likewise, of the nomination
	// former are whom any of them has not seen to stop: the latest of each id.
	former map[proto.NodeID]proto.Epoch
}

// beginRejoin waits first: as long as a promise of the former life may run, a
// candidate may still count a vote that this voter knows nothing of.
func (m *Machine) beginRejoin() {
	m.rejoin = rejoin{
		active: true, began: m.now, promise: m.cfg.Promise, former: map[proto.NodeID]proto.Epoch{},
	}
	m.rejoin.due = m.now.Add(BootWait(m.cfg.Promise))
	m.why("this voter lost what it voted -> vote for nobody for %v, then ask the others",
		BootWait(m.cfg.Promise))
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

// returned answers a voter that lost its disk. One that lost its own says nothing.
func (m *Machine) returned(msg proto.Message, b proto.Return) {
	if m.rejoin.active {
		return
	}
	if b.Nonce == 0 {
		m.recognize(msg, b)
		return
	}
	m.why("%d lost what it voted -> tell it of term %d", msg.From, m.state.Vote.Term)
	m.send(msg.From, m.state.Vote.Term, proto.Standing{
		Session: b.Session, Nonce: b.Nonce,
		Round: max(m.nominee.Term, m.state.Reserved), Promise: m.state.Promise,
		Former: m.unseen(),
	})
}

// stood counts what another voter tells. A longer promise than was waited for
// means waiting on, and asking again; a term told before that is not forgotten.
func (m *Machine) stood(msg proto.Message, b proto.Standing) {
	r := &m.rejoin
	if b.Nonce == 0 && b.Session == m.cfg.Session && !r.active {
		m.recognized(msg)
		return
	}
	if !r.active || b.Session != m.cfg.Session || b.Nonce == 0 || b.Nonce > r.nonce {
		return
	}
	r.voted, r.round = max(r.voted, msg.Term), max(r.round, b.Round)
	if b.Nonce != r.nonce {
		return // it answers an older question
	}
	if b.Promise > r.promise { // what was answered before its end counts for nothing
		m.why("%d promised up to %v -> wait for that, then ask again", msg.From, b.Promise)
		r.promise, r.due = b.Promise, r.began.Add(BootWait(b.Promise))
		r.nonce++
		r.told.Reset()
		clear(r.former)
		return
	}
	r.told.Add(msg.From)
	for _, e := range b.Former.All() {
		if e.Term > r.former[e.Leader].Term {
			r.former[e.Leader] = e
		}
	}
	if r.told.Len() >= m.voters.Meeting() {
		m.readmit()
	}
}

// readmit takes the highest term, with no vote in it, and the account of former
// holders. Every majority that the former life was part of has one of those who
// answered in it.
func (m *Machine) readmit() {
	r := m.rejoin
	m.why("%d other voters know of no term above %d -> vote again, above that", r.told.Len(), r.voted)
	m.rejoin = rejoin{}
	m.state = algorithms.State{
		Term: r.round, Reserved: r.round, Vote: algorithms.Vote{Term: r.voted}, Promise: r.promise,
		Former: m.inherited(r.former),
	}
	m.known, m.dirty, m.new = max(m.known, r.voted), true, false
	m.heard = m.now
	m.nominate(algorithms.Start{Saved: m.state})
	m.dirty = true
	if m.resigned {
		m.nominate(algorithms.Resign{})
	}
	if m.ineligible() != "" {
		m.tellNomination(false)
	}
	if len(m.alive) > 0 {
		m.nominateAmong(m.alive, "readmitted")
	}
}
