package raft

import (
	"fmt"
	"time"

	"github.com/ringleader-dev/ringleader/proto"
)

// electionTimer is how long this node, while nobody leads as far as it knows, waits
// before it stands.
type electionTimer struct {
	since time.Time
	wait  time.Duration
	// ranked: it waits its turn besides, which comes the later the more living voters
	// rank above it.
	ranked bool
	above  int
	// why it stands then, and which leader that is about.
	cause cause
	lost  proto.NodeID
}

// cause is why a node stands.
type cause int

const (
	hasStarted cause = iota // and heard of no leader
	fellSilent              // the leader that was heard of, or the candidate that got the vote
	isGone                  // the leader: proven dead, or it released the term
	isVacant                // the candidate that got the vote is gone
	hadFailed               // the last candidacy
	wasCalled               // the operator asked for an election
)

// String is the cause in words.
func (t *electionTimer) String() string {
	switch {
	case t.cause == fellSilent && t.lost != 0:
		return fmt.Sprintf("nobody has heard leader %d of late", t.lost)
	case t.cause == isGone:
		return fmt.Sprintf("leader %d is gone", t.lost)
	case t.cause == hasStarted:
		return "no leader was heard of"
	case t.cause == hadFailed:
		return "the last candidacy failed"
	case t.cause == wasCalled:
		return "asked to call an election"
	}
	return "nobody leads"
}

// reset begins a random timeout: a leader was heard of, or a candidate got the vote.
// "If a follower receives no communication over a period of time called the election
// timeout, then it assumes there is no viable leader and begins an election".
func (m *Machine) reset() {
	p := m.Cfg.Promise
	m.timer = electionTimer{
		since: m.Now, wait: ElectionTimeout(p) + m.Random(spread(p)),
		cause: fellSilent, lost: m.Belief.ID,
	}
}

// standBy begins an election in the order of rank: all are to know at about this time
// that nobody leads, so that nobody need wait at random.
func (m *Machine) standBy(wait time.Duration, c cause, lost proto.NodeID) {
	m.timer = electionTimer{
		since: m.Now, wait: wait, ranked: true, cause: c, lost: lost,
	}
	m.countAbove()
}

// pause begins the wait after a candidacy that failed. It is random, and in the order of
// rank besides: who collided once is not to collide again.
func (m *Machine) pause(wait time.Duration) {
	m.timer = electionTimer{
		since: m.Now, wait: wait, ranked: true, cause: hadFailed,
	}
	m.countAbove()
}

// standAt is when the timer runs out.
func (m *Machine) standAt() time.Time {
	t := &m.timer
	at := t.since.Add(t.wait)
	if t.ranked {
		at = at.Add(time.Duration(t.above) * turn(m.Cfg.Delta))
	}
	if m.Handing.Chosen {
		at = t.since
	}
	if yield := m.Handing.Yield; yield.After(at) {
		return yield
	}
	return at
}

// countAbove counts how many living voters would stand before this one. The leader that
// is gone or released its term is none of them, also while the detectors call it alive.
func (m *Machine) countAbove() {
	t := &m.timer
	if t.above = 0; !t.ranked {
		return
	}
	left, own := proto.NodeID(0), m.Self.Rank()
	if t.cause == isGone {
		left = t.lost
	}
	for i := range m.living {
		p := &m.living[i]
		if !p.Ineligible && p.Rank().Compare(own) > 0 && p.ID != left && m.Voter.Dead[p.ID] != p.Session {
			t.above++
		}
	}
}

// mayWait reports whether this node stands once its timer has run out.
func (m *Machine) mayWait() bool {
	return m.Votes() && !m.Rejoin.Active && m.Stand.Phase == follower && m.Stands() && m.Belief.ID == 0 &&
		m.Stand.Leaving == 0
}
