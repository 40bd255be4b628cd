package splitbrain

import "time"

// The times of mending, each as a formula over delta, the planned worst-case
// one-way latency.

// Relief is for how long two may lead when one relieves the other: the way of the
// announcement, and that of the account of it, each taking up to twice what is
// planned for.
func Relief(delta time.Duration) time.Duration { return 4 * delta }

// SayEvery is how often an ACCOUNT and a TRUCE are said again.
func SayEvery(delta time.Duration) time.Duration { return 10 * delta }

// TruceLasts is how long a TRUCE holds that is not said again.
func TruceLasts(delta time.Duration) time.Duration { return 3 * SayEvery(delta) }

// YieldFor is how long a nominee that sees a better node waits for that one to
// take over, so that it does the mending: the hold-down of pre-emption, and a
// round.
func YieldFor(delta time.Duration, nodes int) time.Duration { return 10*delta + round(delta, nodes) }

// round is longer than a round of so many nodes takes without failures, of any
// nominating algorithm: three trips round a ring are the longest.
func round(delta time.Duration, nodes int) time.Duration { return time.Duration(3*nodes+6) * delta }

// Agreement bounds how long after all agree on a nominee they agree on a leader,
// when reconciling takes no time and work stops within stop: an account that was
// lost is told again, another that comes late makes the nominee stop once more,
// and each time there is a round.
func Agreement(delta, stop time.Duration, nodes int) time.Duration {
	once := SayEvery(delta) + 2*delta + stop + YieldFor(delta, nodes) + 2*round(delta, nodes)
	return 3*once + TruceLasts(delta)
}
