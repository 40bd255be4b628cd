package nomination

import "time"

// The timeouts of the shared rules, each as a formula over delta, the planned
// worst-case one-way latency.

// StartDelay is how long a starting node listens for a leader before it calls
// an election of its own: long enough to join, and to be told.
func StartDelay(delta time.Duration) time.Duration { return 10 * delta }

// YieldDelay is how much longer a starting node listens that sees a
// higher-ranked one, so that usually only the best node calls the first round.
func YieldDelay(delta time.Duration) time.Duration { return 4 * delta }

// HoldDown is how long things stay as they are after a change of leader before
// a higher-ranked node may take over.
func HoldDown(delta time.Duration) time.Duration { return 10 * delta }

// AnnounceEvery is how often a leader repeats its announcement; patience is
// the longest a round can take.
func AnnounceEvery(delta, patience time.Duration) time.Duration {
	return max(10*delta, patience)
}

// Silence is how long a follower hears no announcement before it doubts the
// leader; every is the time between two of them.
func Silence(every time.Duration) time.Duration { return 3 * every }

// OfferTimeout is how long a leader waits for the answer of the node to which it
// would hand over: there and back, and as much again.
func OfferTimeout(delta time.Duration) time.Duration { return 4 * delta }

// BackOff is the pause before the own round number n of a series, the first
// being 1, before jitter. The first freeRounds do not wait.
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

// Forget is how long a node must have called no round for its series to start
// anew.
func Forget(delta time.Duration) time.Duration { return 2 * MaxBackOff(delta) }

// Agreement bounds how long after the network has calmed, and the detectors
// tell the truth, all nodes agree on one leader: the longest back-off with its
// jitter, a round that fails because of what went before and one that does
// not, a pre-emption, a leader that falls silent, and two announcements for
// those who were left behind.
func Agreement(delta, patience time.Duration) time.Duration {
	backOff := 3 * MaxBackOff(delta) / 2
	start := StartDelay(delta) + YieldDelay(delta) + delta
	rounds := 4 * patience
	every := AnnounceEvery(delta, patience)
	settle := HoldDown(delta) + Silence(every) + 2*delta + 2*every
	return backOff + start + rounds + settle
}

// AgreementAfter is Agreement for rounds that can take so long among n nodes.
func AgreementAfter(
	patience func(delta time.Duration, n int) time.Duration,
) func(time.Duration, int) time.Duration {
	return func(delta time.Duration, n int) time.Duration { return Agreement(delta, patience(delta, n)) }
}
