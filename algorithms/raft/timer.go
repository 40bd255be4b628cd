package raft

import (
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/proto"
)

// cause says why a node stands.
type cause int

const (
	hasStarted cause = iota // the node started, and has heard of no leader
	fellSilent              // the leader, or the candidate that got the vote, was not heard of for long
	isGone                  // the leader is proven dead, or released the term
	isVacant                // the candidate that got the vote is gone
	hadFailed               // the node's last candidacy failed
	wasCalled               // the operator asked for an election
)

var (
	whySilent = reasons.Kind("silent", "nobody has heard leader %d of late",
		algorithms.Because{Kind: algorithms.LeaderSilent, About: 0}, algorithms.Waited{}).
		Follows("if now() - last_heartbeat > election_timeout: start_election()")
	whyGone = reasons.Kind("gone", "leader %d is gone",
		algorithms.Because{Kind: algorithms.LeaderLost, About: 0})
	whyStart  = reasons.Kind("start", "no leader was heard of", algorithms.Caused(algorithms.FirstLeader))
	whyFailed = reasons.Kind("failed", "the last candidacy failed", algorithms.Caused(algorithms.RoundFailed))
	whyCalled = reasons.Kind("called", "asked to call an election", algorithms.Caused(algorithms.Operator))
	whyVacant = reasons.Kind("vacant", "nobody leads", algorithms.Caused(algorithms.Vacant))
)

// Cause implements lease.Watcher.
func (t *timer) Cause() algorithms.Reason {
	switch {
	case t.cause == fellSilent && t.lost != 0:
		return whySilent.Of(t.lost)
	case t.cause == isGone:
		return whyGone.Of(t.lost)
	case t.cause == hasStarted:
		return whyStart.Of()
	case t.cause == hadFailed:
		return whyFailed.Of()
	case t.cause == wasCalled:
		return whyCalled.Of()
	}
	return whyVacant.Of()
}

// begin begins an election timeout.
func (t *timer) begin(now time.Time, wait time.Duration, c cause, lost proto.NodeID) {
	t.since, t.wait, t.cause, t.lost, t.ranked = now, wait, c, lost, false
}

// standBy begins an election timeout after which the servers stand in the order of their ranks.
func (t *timer) standBy(now time.Time, wait time.Duration, c cause, lost proto.NodeID) {
	t.begin(now, wait, c, lost)
	t.ranked = true
	t.countAbove()
}

// standAt returns when the election timeout is over.
func (t *timer) standAt() time.Time {
	at := t.since.Add(t.wait)
	if t.ranked {
		at = at.Add(time.Duration(t.above) * turn(t.cfg.Delta))
	}
	return at
}

// countAbove counts the living voters that would stand before this server. It does not count the leader
// that is gone or released its term, even while the detectors call that leader alive.
func (t *timer) countAbove() {
	left := proto.NodeID(0)
	if t.cause == isGone {
		left = t.lost
	}
	t.above = 0
	for i := range t.alive {
		if p := &t.alive[i]; p.Above(t.self) && p.ID != left && t.mayLead(p) {
			t.above++
		}
	}
}
