package raft

import (
	"time"

	"github.com/ringleader-dev/ringleader/algorithms/office"
)

// MinPromise is the shortest promise that makes sense with delta, the planned
// worst-case one-way latency.
func MinPromise(delta time.Duration) time.Duration { return office.MinPromise(delta) }

// HeartbeatEvery is how often a leader asks for the promises anew. A follower that
// misses one heartbeat still believes in its leader when the next one comes.
func HeartbeatEvery(p time.Duration) time.Duration { return p / 4 }

// mostRounds of heartbeats a leader begins after the last that a majority answered:
// one that hears nothing must not lock the voters for longer.
const mostRounds = 2

// ElectionTimeout is the shortest time for which a node that heard from a leader, or
// voted, hears nothing before it stands: when no promise made then can run any more.
func ElectionTimeout(p time.Duration) time.Duration { return office.BootWait(p) }

// spread is how much longer it waits at most. "Raft uses randomized election timeouts
// to ensure that split votes are rare."
func spread(p time.Duration) time.Duration { return p / 2 }

// startDelay is how long a starting node listens for a leader before it stands, in
// the order of rank: long enough to join, and to be told.
func startDelay(delta time.Duration) time.Duration { return 10 * delta }

// answerTimeout is how long a round of questions waits for its answers: there and
// back, and as much again.
func answerTimeout(delta time.Duration) time.Duration { return 4 * delta }

// turn is how much later each stands than the next better one, where all know at
// about the same time that nobody leads: an election without a rival fits in.
func turn(delta time.Duration) time.Duration { return answerTimeout(delta) }

// backOff is the pause, before jitter, after the n-th attempt that came to nothing.
func backOff(p, delta time.Duration, n int) time.Duration {
	return min(answerTimeout(delta)<<min(n-1, mostDoublings), p/4)
}

// mostDoublings keep backOff from overflowing; no promise is that long.
const mostDoublings = 16

// recessOf is how long a node does not stand after too many of its candidacies failed.
func recessOf(p time.Duration) time.Duration { return p }

// preferAfter is how long another must rank above the leader, without a break, before
// that hands over to it.
func preferAfter(p time.Duration) time.Duration { return 2 * p }

// preferPenalty is how long after the n-th time, of late, that a leader offered to
// hand over to a better node it offers it to none: it doubles.
func preferPenalty(p time.Duration, n int) time.Duration {
	return min(preferAfter(p)<<min(n, mostDoublings), mostPenalty(p))
}

// mostPenalty bounds preferPenalty. Who offered nothing for so long after it was over
// starts anew.
func mostPenalty(p time.Duration) time.Duration { return 8 * preferAfter(p) }

// Agreement bounds how long after everything is well one voter leads and all know, with
// promises of up to p: the longest election timeout, in which every promise and boot
// wait ends; the longest pauses after candidacies that failed, and the recess that
// may follow; and a handing over to a better node, put off as it may be, with the
// messages of two elections.
func Agreement(p, delta time.Duration, nodes int) time.Duration {
	pause := 2 * backOff(p, delta, mostDoublings)
	return ElectionTimeout(p) + spread(p) + startDelay(delta) + 4*time.Duration(nodes)*turn(delta) +
		4*pause + recessOf(p) + preferAfter(p) + mostPenalty(p) + 8*answerTimeout(delta)
}
