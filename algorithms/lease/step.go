package lease

import (
	"slices"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/proto"
)

// restore restores the saved state. It reports whether this voter may have lost a vote: then it must
// rejoin before the nominating Machine starts.
func (m *Machine) restore(saved algorithms.State) (rejoins bool) {
	m.state = saved
	m.takeList(saved.Voters)
	m.known = m.state.Vote.Term
	if promise := m.state.Promise; promise > 0 {
		m.voter.boot = m.now.Add(BootWait(promise))
	}
	if !m.votes() {
		return false
	}
	if m.unvoted = m.state.Vote.Term == 0; m.unvoted {
		m.beginCollect()
	}
	if !m.unvoted || m.state.Promise > 0 {
		m.noteFirstTerm()
		return false
	}
	m.beginRejoin()
	return !m.allUnvoted() || !m.clear(m.roll()) // it may be the only voter
}

var whyFirstTerm = reasons.Kind("first-term",
	"a first term of %d is given, and what this voter voted is saved -> do nothing with it")

// noteFirstTerm records that an operator's first term has no effect, since this voter has its vote.
func (m *Machine) noteFirstTerm() {
	if first := m.cfg.FirstTerm; first > 0 {
		m.why(whyFirstTerm, first)
	}
}

// begin prepares the Machine for a Step.
func (m *Machine) begin(now time.Time) {
	if !m.due.IsZero() && now.Sub(m.due) > m.every {
		m.woke = now
	}
	m.now, m.out = now, algorithms.Output{Send: m.outbox.Empty()}
}

// end completes the Output of the Step and returns it.
func (m *Machine) end() algorithms.Output {
	if m.dirty {
		save := m.state
		m.out.Save, m.dirty = &save, false
	}
	m.out.Leader = m.belief
	if m.belief.ID == 0 {
		m.out.Leader = algorithms.Leader{Term: m.seen.Term}
	}
	m.out.Ineligible, m.out.Voters = m.ineligible(), m.list.state
	m.wakeAt(m.handing.survey.due)
	m.out.Recovery = m.recovery()
	m.out.Send = m.outbox.Lend(m.out.Send)
	m.due = m.out.Deadline
	out := m.out
	m.out = algorithms.Output{}
	return out
}

// votes reports whether this node is a voter.
func (m *Machine) votes() bool { return m.voters.Has(m.cfg.Self) }

// stale reports whether a heartbeat may have waited while this process was stopped: the process has
// just woken, and knows no leader. The lease that the heartbeat names may have ended since. A leader
// sends the next one soon.
func (m *Machine) stale() bool {
	return m.belief.ID == 0 && !m.woke.IsZero() && m.now.Sub(m.woke) < m.cfg.Delta
}

// The reasons why nobody leads any more, as far as this node knows.
var (
	whyLeaderDead     = reasons.Kind("leader-dead", "leader %d is proven dead -> nobody leads")
	whyLeaderUnbound  = reasons.Kind("leader-unbound", "leader %d has lost this voter's promise -> nobody leads")
	whyLeaderReleased = reasons.Kind("leader-released", "leader %d released the term -> nobody leads")
	whyLeaderLeft     = reasons.Kind("leader-left", "leader %d handed over -> nobody leads")
	WhyNotRenewed     = reasons.Kind("not-renewed", "no heartbeat of leader %d came in time -> nobody leads",
		algorithms.LeaseEnds{})
)

// why adds a reason to the Output: "cause -> decision".
func (m *Machine) why(kind *algorithms.ReasonKind, args ...any) { m.say(kind.Of(args...)) }

func (m *Machine) say(why algorithms.Reason) { m.out.Why = append(m.out.Why, why) }

// refuse adds a reason, as why does, for something that should not happen. It also asks for a warning in
// the log.
func (m *Machine) refuse(kind *algorithms.ReasonKind, args ...any) {
	m.why(kind, args...)
	m.out.Warn = true
}

// send adds a message to the Output.
func (m *Machine) send(to proto.NodeID, term proto.Term, body proto.Body) {
	m.out.Send = append(m.out.Send, proto.Message{From: m.cfg.Self, To: to, Term: term, Body: body})
}

// tell sends a message to all other voters of this node's list and, until that list is committed, also
// to those of the list before.
func (m *Machine) tell(term proto.Term, body proto.Body) {
	send := slices.Grow(m.out.Send, len(m.list.union))
	msg := proto.Message{From: m.cfg.Self, Term: term, Body: body}
	for _, id := range m.list.union {
		if id != m.cfg.Self {
			send = algorithms.AppendTo(send, &msg, id)
		}
	}
	m.out.Send = send
}

// wakeAt asks for a Timeout at the earliest of these times, unless the Output already asks for an
// earlier one. A zero time means never.
func (m *Machine) wakeAt(times ...time.Time) {
	for _, at := range times {
		if !at.IsZero() && (m.out.Deadline.IsZero() || at.Before(m.out.Deadline)) {
			m.out.Deadline = at
		}
	}
}

// jitter returns a random time, evenly drawn from [t, 2t).
func (m *Machine) jitter(t time.Duration) time.Duration { return t + m.random(t) }

// random returns a random time, evenly drawn from [0, t).
func (m *Machine) random(t time.Duration) time.Duration {
	return time.Duration(m.dice.Int64N(int64(t)))
}
