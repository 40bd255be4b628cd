package raft

import (
	"time"

	"github.com/ringleader-dev/ringleader/algorithms/lease"
)

// ElectionTimeout returns the shortest time for which a node that heard from a leader, or voted, must
// hear nothing before it stands. After this time no promise that was made at its beginning can run any
// more.
func ElectionTimeout(p time.Duration) time.Duration { return lease.BootWait(p) }

// spread returns the largest random time by which a node waits longer than ElectionTimeout. "Raft uses
// randomized election timeouts to ensure that split votes are rare."
func spread(p time.Duration) time.Duration { return p / 2 }

// startDelay returns how long a starting node listens for a leader before the nodes stand in the order
// of their ranks. The time is long enough to join the cluster and to be told who leads.
func startDelay(delta time.Duration) time.Duration { return 10 * delta }

// turn returns how much later each node stands than the node that ranks next above it, if all know at
// about the same time that nobody leads. In that time the higher node can win an election without a
// rival.
func turn(delta time.Duration) time.Duration { return lease.AnswerTimeout(delta) }

// Agreement returns an upper bound of the time, from when there is no fault any more, until one voter
// leads and all nodes know it. Promises are at most p long. It adds the longest election timeout, in
// which every promise ends, also those of former lives; the longest waits for votes, the pauses after
// failed candidacies, and the back-off that may follow; and the longest wait before a leader hands over
// to a better node, with the messages of two elections.
func Agreement(p, delta time.Duration, nodes int) time.Duration {
	pause := 2 * lease.Pause(lease.HeartbeatEvery(p), delta, lease.MostDoublings)
	return ElectionTimeout(p) + spread(p) + startDelay(delta) + 4*time.Duration(nodes)*turn(delta) +
		6*pause + lease.BackOffFor(p) + lease.PreferAfter(p) + lease.MostPenalty(p) + 8*lease.AnswerTimeout(delta)
}
