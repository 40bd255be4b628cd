package nomination

import "time"

// The timeouts of the shared rules, each as a formula over delta, the planned
// worst-case one-way latency.

// StartDelay returns how long a starting node listens for a leader before it calls an election. The time
// is long enough to join the cluster and to be told who leads.
func StartDelay(delta time.Duration) time.Duration { return 10 * delta }

// YieldDelay returns how much longer a starting node listens if it sees a higher-ranked node. So usually
// only the best node calls the first round.
func YieldDelay(delta time.Duration) time.Duration { return 4 * delta }

// HoldDown returns how long a higher-ranked node waits before it takes over from a leader.
func HoldDown(delta time.Duration) time.Duration { return 10 * delta }

// AnnounceEvery returns the time between two announcements of a leader. The parameter patience is the
// longest time that a round can take.
func AnnounceEvery(delta, patience time.Duration) time.Duration {
	return max(10*delta, patience)
}

// Silence returns how long a follower hears no announcement before it doubts the leader. The parameter
// every is the time between two announcements.
func Silence(every time.Duration) time.Duration { return 3 * every }

// OfferTimeout returns how long a leader waits for the answer of the node to which it wants to hand
// over: twice the time of the way there and back.
func OfferTimeout(delta time.Duration) time.Duration { return 4 * delta }

// BackOff returns the pause, before jitter, that a node makes before the n-th round that it calls in a
// series. The first round has the number 1. The first freeRounds rounds do not wait.
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

// MaxBackOff returns the largest result of BackOff.
func MaxBackOff(delta time.Duration) time.Duration { return 100 * delta }

// Forget returns how long a node must call no round before its next round counts as the first of a new
// series.
func Forget(delta time.Duration) time.Duration { return 2 * MaxBackOff(delta) }

// Agreement returns an upper bound of the time until all nodes agree on one leader. The time begins when
// the network is calm and the detectors are right. Agreement adds the longest back-off with its jitter,
// a round that fails because of earlier events and one that succeeds, a pre-emption, a leader that falls
// silent, and two announcements for nodes that were left behind.
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
