package lease

import (
	"slices"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/quorum"
	"github.com/ringleader-dev/ringleader/proto"
)

// A voter without a saved vote may have lost one, at its first start or at its third, whatever else
// is on its disk. It does not vote, promise or stand until one of these is true:
//
//   - All voters say that they never voted: see collect.go.
//   - It has waited until no promise of its former life can run any more, and then enough voters
//     that did not lose their votes told it the highest term that they voted in. Enough are
//     N - majority + 1: one of them is in each majority that its former life may have been part of.
//     It then votes only above the highest of these terms. The list of voters may have changed since
//     its former life, or just now: see counts and toldEnough.
//   - An operator vouches for a first term: see algorithms.Config.FirstTerm.
//
// The papers have no such rule: they assume that stable storage is never lost.

// rejoin is the state of a voter that may have lost its vote: what it waits for, and what the others
// answered.
type rejoin struct {
	active  bool
	due     time.Time // when to ask, or to ask again
	again   time.Time // when to send UNVOTED again
	said    int       // how often UNVOTED was sent since anything new last came of it
	began   time.Time
	promise time.Duration                   // the longest promise of the former life, as far as is known
	nonce   uint64                          // of the last RECOVER; zero before the first
	told    map[proto.NodeID]proto.VoterSet // who answered RECOVER, and that voter's list of voters
	lost    quorum.Count                    // who answered that it may have lost its own vote
	voted   proto.Term                      // the highest term in which anybody voted, by the answers
	round   proto.Term                      // the highest term in which anybody took part, voting or not
	// former has the leaders that some voter which answered has not seen to stop: for each id the latest
	// leadership.
	former map[proto.NodeID]proto.Leadership
}

// at returns when this voter must next ask the others, or send UNVOTED again; zero if it need not.
func (r *rejoin) at() time.Time {
	if r.again.Before(r.due) {
		return r.again
	}
	return r.due
}

var (
	whyLost = reasons.Kind("lost", "nothing is saved of this voter -> vote for nobody until all voters say the same, "+
		"or for %v, and then ask them what they voted", algorithms.Voteless{})
	whyVouched = reasons.Kind("vouched", "an operator says that nobody voted in term %d or above -> vote above term %d",
		algorithms.Voteless{Over: true})
	whyAskBack = reasons.Kind("ask-back",
		"no promise of the former life runs any more -> ask the voters what they voted")
)

// beginRejoin makes this voter wait: while a promise of its former life may run, a candidate may count a
// vote that this voter has lost.
func (m *Machine) beginRejoin() {
	wait := BootWait(m.cfg.Promise)
	m.rejoin = rejoin{
		active: true, began: m.now, promise: m.cfg.Promise, due: m.now.Add(wait),
		told: map[proto.NodeID]proto.VoterSet{}, former: map[proto.NodeID]proto.Leadership{},
	}
	m.why(whyLost, wait)
	m.sayUnvoted()
}

// pursueRejoin asks the voters that have not answered, when it is time. It reports whether this voter
// may now vote because an operator gave a first term.
func (m *Machine) pursueRejoin() (readmitted bool) {
	r := &m.rejoin
	if !m.now.Before(r.again) {
		m.sayUnvoted()
	}
	if m.now.Before(r.due) {
		return false
	}
	if m.vouched() {
		m.why(whyVouched, m.cfg.FirstTerm, m.cfg.FirstTerm-1)
		m.readmit(m.cfg.FirstTerm - 1)
		return true
	}
	if r.nonce == 0 {
		m.why(whyAskBack)
		r.nonce = 1
	}
	r.due = m.now.Add(m.jitter(AnswerTimeout(m.cfg.Delta)))
	for _, id := range m.list.union {
		if id != m.cfg.Self && !m.toldBy(id) {
			m.send(id, 0, proto.Recover{Incarnation: m.cfg.Incarnation, Nonce: r.nonce})
		}
	}
	return false
}

// vouched reports whether this voter may vote because of the operator's first term. It may vote once two
// things are true. Those voters that answered are a majority together with this voter; answers of voters
// that lost their votes count, too. And none of them voted in that term or above, or has another list of
// voters. So a first term that is no longer true does no harm if one voter of the majority knows better.
func (m *Machine) vouched() bool {
	r, first := &m.rejoin, m.cfg.FirstTerm
	if first == 0 || r.nonce == 0 || r.voted >= first {
		return false
	}
	return !m.toldOfOthers() && 1+len(r.told)+r.lost.Len() >= m.voters.Majority()
}

// counts reports whether the answer of a voter with the list has counts. It counts if that list is this
// voter's own list, or has a lower version. If this voter's former life helped to commit another list,
// or to elect a leader under a later list, so many voters have that list that toldEnough stays false.
func (m *Machine) counts(has proto.VoterSet) bool {
	own := m.voterSet()
	return has.Version < own.Version || has.Is(own)
}

// toldOfOthers reports whether a voter answered with a list of voters that does not count.
func (m *Machine) toldOfOthers() bool {
	for _, has := range m.rejoin.told {
		if !m.counts(has) {
			return true
		}
	}
	return false
}

// toldBy reports whether the voter gave an answer that counts.
func (m *Machine) toldBy(id proto.NodeID) bool {
	has, ok := m.rejoin.told[id]
	return ok && m.counts(has)
}

// toldEnough reports whether each majority that this voter's former life may have belonged to has a
// voter that answered. Such a majority is one of this voter's list and, until that list is committed, of
// the list before it, since a leader needs both. docs/VOTERS.md says why older and later lists do not
// matter.
func (m *Machine) toldEnough() bool {
	before := m.list.before
	return len(m.toldOf(m.voters)) >= m.voters.Meeting() && (before == nil || len(m.toldOf(before)) >= before.Meeting())
}

// toldOf returns those of the voters v that gave an answer that counts.
func (m *Machine) toldOf(v quorum.Voters) quorum.Voters {
	return slices.DeleteFunc(slices.Clone(v), func(id proto.NodeID) bool { return !m.toldBy(id) })
}

var whyTellVote = reasons.Kind("tell-vote", "%d lost what it voted -> tell it of term %d")

// returned answers RECOVER. If the sender may have lost its vote, returned sends it own, which is what
// this voter knows; or, if this voter may have lost its vote, too, only that fact. To any other sender
// it sends this voter's terms, its list and whom it follows, if it has not lost its vote.
func (m *Machine) returned(msg proto.Message, b proto.Recover, own proto.VoterState) {
	own.Incarnation, own.Nonce, own.Number = b.Incarnation, b.Nonce, b.Number
	switch {
	case m.rejoin.active && b.Nonce != 0:
		m.send(msg.From, 0, proto.VoterState{Incarnation: b.Incarnation, Nonce: b.Nonce, Lost: true})
	case m.rejoin.active:
	case b.Nonce != 0:
		m.why(whyTellVote, msg.From, m.state.Vote.Term)
		own.Promise, own.Voters = m.state.Promise, m.voterSet()
		m.send(msg.From, m.state.Vote.Term, own)
	default:
		own.Former, own.Voters, own.Follows = "", m.voterSet(), m.belief.Leadership()
		m.send(msg.From, m.state.Vote.Term, own)
	}
}

var (
	whyDisbelieve = reasons.Kind("disbelieve", "%d voted in term %d, and an operator says that nobody did in term %d "+
		"or above -> do not believe that, wait for the voters")
	whyWaitOn = reasons.Kind("wait-on", "%d promised up to %v -> wait for that, then ask again")
	whyOthers = reasons.Kind("other-list", "%d has other voters, list %d of the cluster -> "+
		"its word does not count for list %d")
	whyReadmit = reasons.Kind("readmit", "%d other voters know of no term above %d -> vote again, above that",
		algorithms.Readmits{})
)

// countTold counts the answer of another voter. It reports whether there are now enough answers, so that
// this voter votes again. If the answer names a longer promise than this voter has waited for, this
// voter waits on and asks again. It keeps the highest term that it was told.
func (m *Machine) countTold(msg proto.Message, b proto.VoterState) (readmitted bool) {
	r := &m.rejoin
	if !r.active || b.Incarnation != m.cfg.Incarnation || b.Nonce == 0 || b.Nonce > r.nonce ||
		!m.list.union.Has(msg.From) {
		return false
	}
	if b.Lost {
		if _, told := r.told[msg.From]; b.Nonce == r.nonce && m.voters.Has(msg.From) && !told {
			r.lost.Add(msg.From)
		}
		return false
	}
	m.hearVoters(msg.From, b.Voters)
	if first := m.cfg.FirstTerm; first > 0 && msg.Term >= first && r.voted < first {
		m.refuse(whyDisbelieve, msg.From, msg.Term, first)
	}
	r.voted, r.round = max(r.voted, msg.Term), max(r.round, b.Round)
	if b.Promise > r.promise { // answers from before its end do not count
		m.why(whyWaitOn, msg.From, b.Promise)
		r.promise, r.due = b.Promise, r.began.Add(BootWait(b.Promise))
		r.nonce++
		clear(r.told)
		r.lost.Reset()
		clear(r.former)
		return false
	}
	if b.Nonce != r.nonce {
		return false // it answers an older question
	}
	r.told[msg.From] = b.Voters
	if !m.counts(b.Voters) {
		m.why(whyOthers, msg.From, b.Voters.Version, m.list.state.Version)
	}
	r.lost.Remove(msg.From)
	for _, e := range b.Former.All() {
		if e.Term > r.former[e.Leader].Term {
			r.former[e.Leader] = e
		}
	}
	if !m.toldEnough() {
		return false
	}
	m.why(whyReadmit, len(m.toldOf(m.list.union)), r.voted)
	m.readmit(0)
	return true
}

// readmit lets this voter vote again, in terms above floor and above the highest term that it was told.
// Each majority that its former life belonged to has a voter that answered.
func (m *Machine) readmit(floor proto.Term) {
	m.unvoted = false // its former life may have voted
	m.admit(max(m.rejoin.voted, floor), max(m.rejoin.round, floor))
}

// admit lets this voter vote in terms above floor, and take part in rounds of terms above round. The new
// state is saved, since from now on the voter relies on its disk again. The answers of the other voters
// stay in m.told.
func (m *Machine) admit(floor, round proto.Term) {
	m.told = m.rejoin
	m.rejoin = rejoin{}
	m.state = algorithms.State{
		Term: max(m.state.Term, round), Reserved: max(m.state.Reserved, round),
		Vote: algorithms.Vote{Term: floor}, Promise: max(m.told.promise, m.cfg.Promise),
		Voters: m.list.state,
	}
	m.known, m.dirty = max(m.known, floor), true
}

// recovery returns what this voter waits for before it votes; nil once it votes.
func (m *Machine) recovery() *algorithms.Recovery {
	r := &m.rejoin
	if !r.active {
		return nil
	}
	out := &algorithms.Recovery{
		Until: r.began.Add(BootWait(r.promise)), Asked: r.nonce > 0, Need: m.voters.Meeting(), Voted: r.voted,
	}
	for _, id := range m.list.union {
		_, unvoted := m.collect.heard[id]
		_, told := r.told[id]
		switch {
		case m.toldBy(id):
			out.Told = append(out.Told, id)
		case told:
			out.Others = append(out.Others, id)
		case unvoted || r.lost.Has(id):
			out.Lost = append(out.Lost, id)
		default:
			out.Silent = append(out.Silent, id)
		}
	}
	return out
}

// heardState handles VOTER_STATE. This node asked for it because it may have lost its vote, or because
// it heard of a term that is absurdly far above all that it knows, of a list of voters that it does not
// know, or of a leader of a lower term than before.
func (m *Machine) heardState(msg proto.Message, b proto.VoterState) {
	m.toldTerm(msg, b)
	m.saysItLeads(msg, b)
	m.noteVouch(msg, b)
	if m.believer != nil {
		m.believer.Believe(m.toldRound())
	}
	if m.countTold(msg, b) {
		m.readmitted()
	}
}

// heardUnvoted handles UNVOTED: another voter says that it never voted.
func (m *Machine) heardUnvoted(msg proto.Message, b proto.Unvoted) {
	if m.countUnvoted(msg, b) {
		m.readmitted()
	}
}

// readmitted makes this voter take part in elections, once it may vote. It notes the former leaders that
// the other voters named, and starts the nominating Machine, which did not run before.
func (m *Machine) readmitted() {
	m.state.Former = m.inherited(m.told.former)
	m.heardAt = m.now
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
