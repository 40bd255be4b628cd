package nomination

import "time"

// The timeouts of the shared rules, each as a formula over delta, the planned
// worst-case one-way latency.

// StartDelay is how long a starting node listens for a leader before it calls an election. It is
// long enough to join the cluster and to be told who leads.
func StartDelay(delta time.Duration) time.Duration { return 10 * delta }

// YieldDelay is how much longer a starting node listens if it sees a higher-ranked node. So usually
// only the best node calls the first round.
func YieldDelay(delta time.Duration) time.Duration { return 4 * delta }

// HoldDown is how long after a change of leader no higher-ranked node takes over.
func HoldDown(delta time.Duration) time.Duration { return 10 * delta }

// AnnounceEvery is the time between two announcements of a leader. patience is the longest time
// that a round can take.
func AnnounceEvery(delta, patience time.Duration) time.Duration {
	return max(10*delta, patience)
}

// Silence is how long a follower hears no announcement before it doubts the leader. every is the
// time between two announcements.
func Silence(every time.Duration) time.Duration { return 3 * every }

// OfferTimeout is how long a leader waits for the answer of the node to which it wants to hand
// over: the time there and back, and as much again.
func OfferTimeout(delta time.Duration) time.Duration { return 4 * delta }

// BackOff is the pause, before jitter, ahead of the n-th round of a series that this node calls;
// the first is number 1. The first freeRounds rounds do not wait.
func BackOff(delta time.Duration, n int) time.Duration {
	if n <= freeRounds {
		return 0
	}
	pause := 4 * delta
	for range n - freeRounds - 1 {
		pause = min(2*pause, MaxBackOff(delta))
	}
	return pause
}

// MaxBackOff bounds BackOff.
func MaxBackOff(delta time.Duration) time.Duration { return 100 * delta }

// Forget is how long a node must call no round before its next round counts as the first of a new
// series.
func Forget(delta time.Duration) time.Duration { return 2 * MaxBackOff(delta) }

// Agreement bounds the time from when the network is calm, and the detectors are right, until all
// nodes agree on one leader. It adds the longest back-off with its jitter, a round that fails
// because of earlier events and one that succeeds, a pre-emption, a leader that falls silent, and
// two announcements for nodes that were left behind.
func Agreement(delta, patience time.Duration) time.Duration {
	backOff := 3 * MaxBackOff(delta) / 2
	start := StartDelay(delta) + YieldDelay(delta) + delta
	rounds := 4 * patience
	every := AnnounceEvery(delta, patience)
	settle := HoldDown(delta) + Silence(every) + 2*delta + 2*every
	return backOff + start + rounds + settle
}

// AgreementAfter returns Agreement as a function of delta and the number of nodes, for rounds that
// take up to patience(delta, n).
func AgreementAfter(
	patience func(delta time.Duration, n int) time.Duration,
) func(time.Duration, int) time.Duration {
	return func(delta time.Duration, n int) time.Duration { return Agreement(delta, patience(delta, n)) }
}
