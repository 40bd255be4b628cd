package lease

import "time"

// Drift bounds how far the rates of two clocks may be apart from true time, in
// parts per million.
const Drift = 10_000

// margin is what a lease gives up beyond drift, for what clocks round away.
const margin = 10 * time.Millisecond

const million = 1_000_000

// Of is how long a leader leads on promises of length p: by the slowest
// clock of a leader it ends before p does by the fastest clock of a voter.
func Of(p time.Duration) time.Duration {
	return p/(million+Drift)*(million-Drift) - margin
}

// byAnyClock is how much of d a process with any clock may count, that begins after d did:
// the slowest clock then has it end before d does by the fastest.
func byAnyClock(d time.Duration) time.Duration { return d / (million + Drift) * (million - Drift) }

// MinPromise is the shortest promise that makes sense with delta, the planned
// worst-case one-way latency: two rounds of questions may fail and a third still
// comes in time.
func MinPromise(delta time.Duration) time.Duration { return 20*delta + 2*margin }

// BootWait is how long a voter that starts must assume that a promise of its
// former life runs.
func BootWait(p time.Duration) time.Duration { return p/million*(million+Drift) + margin }

// AnswerTimeout is how long a round of questions waits for its answers: there and
// back, and as much again.
func AnswerTimeout(delta time.Duration) time.Duration { return 4 * delta }

// OfferTimeout is how long a leader waits for the answer of the node that it would hand over
// to, which asks the voters meanwhile.
func OfferTimeout(delta time.Duration) time.Duration { return 2 * AnswerTimeout(delta) }

// ClaimTimeout is how long a claim waits for what makes it win, after so many in a row
// that failed: 8Δ, 16Δ, …, and at most half of the lease, which counts from the claim.
// Who wins at the last moment still has as long for the next round of questions.
func ClaimTimeout(p, delta time.Duration, failed int) time.Duration {
	return min(2*AnswerTimeout(delta)<<min(failed, MostDoublings), Of(p)/2)
}

// Pause is, before jitter, that after the n-th attempt that came to nothing: 4Δ, 8Δ, …
// and at most as long as a leader waits from one round to the next.
func Pause(every, delta time.Duration, n int) time.Duration {
	return min(AnswerTimeout(delta)<<min(n-1, MostDoublings), every)
}

// MostDoublings keep what doubles from overflowing; no promise is that long.
const MostDoublings = 16

// RecessOf is how long a node does not stand after too many of its attempts failed.
func RecessOf(p time.Duration) time.Duration { return p }

// PreferAfter is how long another must be the better choice, without a break,
// before the leader hands over to it.
func PreferAfter(p time.Duration) time.Duration { return 2 * p }

// preferPenalty is how long after the n-th time, of late, that a leader offered
// to hand over to a better node it offers it to none: it doubles.
func preferPenalty(p time.Duration, n int) time.Duration {
	return min(PreferAfter(p)<<min(n, MostDoublings), MostPenalty(p))
}

// MostPenalty bounds preferPenalty.
func MostPenalty(p time.Duration) time.Duration { return 8 * PreferAfter(p) }

// forgetPenalty is how long after a penalty a leader must have offered nothing to start
// anew: more than a link that comes and goes makes it wait.
func forgetPenalty(p time.Duration) time.Duration { return 4 * MostPenalty(p) }
