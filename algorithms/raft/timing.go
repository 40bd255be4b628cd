package raft

import (
	"time"

	"github.com/ringleader-dev/ringleader/algorithms/lease"
)

// ElectionTimeout is the shortest time for which a node that heard from a leader, or
// voted, hears nothing before it stands: when no promise made then can run any more.
func ElectionTimeout(p time.Duration) time.Duration { return lease.BootWait(p) }

// spread is how much longer it waits at most. "Raft uses randomized election timeouts
// to ensure that split votes are rare."
func spread(p time.Duration) time.Duration { return p / 2 }

// startDelay is how long a starting node listens for a leader before it stands, in
// the order of rank: long enough to join, and to be told.
func startDelay(delta time.Duration) time.Duration { return 10 * delta }

// turn is how much later each stands than the next better one, where all know at
// about the same time that nobody leads: an election without a rival fits in.
func turn(delta time.Duration) time.Duration { return lease.AnswerTimeout(delta) }

// Agreement bounds how long after everything is well one voter leads and all know, with
// promises of up to p: the longest election timeout, in which every promise and boot
// wait ends; the longest waits for votes, and the pauses after candidacies that failed,
// and the back-off that may follow; and a handing over to a better node, put off as it may
// be, with the messages of two elections.
func Agreement(p, delta time.Duration, nodes int) time.Duration {
	pause := 2 * lease.Pause(lease.HeartbeatEvery(p), delta, lease.MostDoublings)
	return ElectionTimeout(p) + spread(p) + startDelay(delta) + 4*time.Duration(nodes)*turn(delta) +
		6*pause + lease.BackOffFor(p) + lease.PreferAfter(p) + lease.MostPenalty(p) + 8*lease.AnswerTimeout(delta)
}
