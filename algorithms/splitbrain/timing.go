package splitbrain

import "time"

// The times of recovery, each as a formula over delta, the planned worst-case
// one-way latency.

// Relief is the longest overlap of two leaders of which one relieves the other: the way of the
// announcement and the way of the report of it, each taking up to twice the planned time.
func Relief(delta time.Duration) time.Duration { return 4 * delta }

// SayEvery is the time between two repetitions of a REPORT or a STOP.
func SayEvery(delta time.Duration) time.Duration { return 10 * delta }

// StopLasts is how long a STOP holds that is not repeated.
func StopLasts(delta time.Duration) time.Duration { return 3 * SayEvery(delta) }

// YieldFor is how long a nominee that sees a better node waits for that node to take over and do
// the recovery: the hold-down of pre-emption, and a round.
func YieldFor(delta time.Duration, nodes int) time.Duration { return 10*delta + round(delta, nodes) }

// round is longer than a round of this many nodes takes without failures, with any nominating
// algorithm. The longest take three trips round a ring.
func round(delta time.Duration, nodes int) time.Duration { return time.Duration(3*nodes+6) * delta }

// Agreement bounds the time from when all nodes agree on a nominee until they agree on a leader, if
// reconciling takes no time and work stops within stop. A lost report is repeated; a late one makes
// the nominee stop once more; each time there is a round.
func Agreement(delta, stop time.Duration, nodes int) time.Duration {
	once := SayEvery(delta) + 2*delta + stop + YieldFor(delta, nodes) + 2*round(delta, nodes)
	return 3*once + StopLasts(delta)
}
