package office

import "time"

// Drift bounds how far the rates of two clocks may be apart from true time, in
// parts per million.
const Drift = 10_000

// margin is what a lease gives up beyond drift, for what clocks round away.
const margin = 10 * time.Millisecond

const million = 1_000_000

// LeaseOf is how long a holder leads on promises of length p: by the slowest
// clock of a holder it ends before p does by the fastest clock of a voter.
func LeaseOf(p time.Duration) time.Duration {
	return p/(million+Drift)*(million-Drift) - margin
}

// MinPromise is the shortest promise that makes sense with delta, the planned
// worst-case one-way latency: two rounds of questions may fail and a third still
// comes in time.
func MinPromise(delta time.Duration) time.Duration { return 20*delta + 2*margin }

// BootWait is how long a voter that starts must assume that a promise of its
// former life runs.
func BootWait(p time.Duration) time.Duration { return p/million*(million+Drift) + margin }

// RenewEvery is how often a holder renews. Two rounds that bring no majority fit
// into a lease, a third does not: a holder that hears nothing does not lock the
// voters for longer.
func RenewEvery(p time.Duration) time.Duration { return p / 3 }

// answerTimeout is how long a round of questions waits for its answers.
func answerTimeout(delta time.Duration) time.Duration { return 4 * delta }

// tryAgain is the pause, before jitter, after the n-th attempt that came to
// nothing: 4Δ, 8Δ, … and at most a third of a promise.
func tryAgain(p, delta time.Duration, n int) time.Duration {
	return min(answerTimeout(delta)<<min(n-1, mostDoublings), p/3)
}

// mostDoublings keep tryAgain from overflowing; no promise is that long.
const mostDoublings = 16

// standDelay is how long a voter hears of no office before it stands without
// being nominated; above is how many living voters rank above it.
func standDelay(p, delta time.Duration, above int) time.Duration {
	return BootWait(p) + 8*delta + time.Duration(above)*answerTimeout(delta)
}

// preferAfter is how long another must be the better choice, without a break,
// before the holder hands over to it.
func preferAfter(p time.Duration) time.Duration { return 2 * p }

// preferPenalty is how long after the n-th time, of late, that a holder offered
// the office to a better node it offers it to none: it doubles.
func preferPenalty(p time.Duration, n int) time.Duration {
	return min(preferAfter(p)<<min(n, mostDoublings), mostPenalty(p))
}

// mostPenalty bounds preferPenalty. Who offered nothing for so long after it was
// over starts anew.
func mostPenalty(p time.Duration) time.Duration { return 8 * preferAfter(p) }

// recessOf is how long a node does not stand after too many of its claims failed.
func recessOf(p time.Duration) time.Duration { return p }

// Agreement bounds how long after everything is well, and the nomination agrees,
// one of the voters holds the office and all know: the longest promise or boot
// wait, after which a voter stands even without being nominated; the longest
// pauses after two attempts that failed, and the recess that may follow; and a handing over to a better node, put
// off as it may be, with the messages of two rounds.
func Agreement(p, delta time.Duration, nodes int) time.Duration {
	pause := 2 * tryAgain(p, delta, mostDoublings)
	return standDelay(p, delta, nodes) + 2*pause + recessOf(p) + preferAfter(p) + mostPenalty(p) +
		4*answerTimeout(delta)
}

// fenceAttempts are how often one candidacy tries to fence a former holder.
const fenceAttempts = 3

// fenceDelay is how long a candidate waits, with a majority's promises, before it
// has anybody shot: for the answers of voters that are slow, the suspect itself
// among them, and longer the more living voters rank above it.
func fenceDelay(delta time.Duration, above int) time.Duration {
	return 2 * delta * time.Duration(1+above)
}

// fencePause is how long a candidate whose fence agent failed leaves the office
// to others, whose agents may do better: until the last of them has stood.
func fencePause(p, delta time.Duration, voters int) time.Duration {
	return standDelay(p, delta, voters) + answerTimeout(delta)
}

// Fencing bounds what fencing adds to Agreement, once the agents work and take up
// to agent: a candidate whose agent failed may still leave the office to others,
// and each of two candidacies may have to fence all others.
func Fencing(p, delta, agent time.Duration, nodes int) time.Duration {
	n := time.Duration(nodes)
	return fencePause(p, delta, nodes) + 2*(n*agent+fenceDelay(delta, nodes))
}
