package splitbrain

import "time"

// The times of recovery, each as a formula over delta, the planned worst-case
// one-way latency.

// Relief returns the longest overlap that two leaders may seem to have if one relieves the other: the
// announcement of the new leader and the report of the old leadership are on their way, each for up to
// twice the planned time.
func Relief(delta time.Duration) time.Duration { return 4 * delta }

// SayEvery returns the time between two repetitions of a REPORT or a STOP.
func SayEvery(delta time.Duration) time.Duration { return 10 * delta }

// StopLasts returns how long a STOP is valid if it is not repeated.
func StopLasts(delta time.Duration) time.Duration { return 3 * SayEvery(delta) }

// YieldFor returns how long a nominee that sees a better node waits for that node to take over and do
// the recovery. It adds the time before a pre-emption and the time of a round.
func YieldFor(delta time.Duration, nodes int) time.Duration { return 10*delta + round(delta, nodes) }

// round returns an upper bound of the time that a round of this many nodes takes without failures, with
// any nominating algorithm. The longest rounds take three trips round a ring.
func round(delta time.Duration, nodes int) time.Duration { return time.Duration(3*nodes+6) * delta }

// Agreement returns an upper bound of the time from when all nodes agree on a nominee until they agree
// on a leader. It assumes that reconciling takes no time and that work stops within the time stop. A
// lost report is repeated, and a late report makes the nominee stop once more; each time there is a
// round.
func Agreement(delta, stop time.Duration, nodes int) time.Duration {
	once := SayEvery(delta) + 2*delta + stop + YieldFor(delta, nodes) + 2*round(delta, nodes)
	return 3*once + StopLasts(delta)
}
