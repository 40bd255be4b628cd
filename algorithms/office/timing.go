package office

import (
	"time"

	"github.com/ringleader-dev/ringleader/algorithms/lease"
)

// RenewEvery is how often a holder renews.
func RenewEvery(p time.Duration) time.Duration { return p / 3 }

// mostRounds of questions a holder begins after the last that a majority answered: one
// that hears nothing must not lock the voters for longer.
const mostRounds = 2

// standDelay is how long a voter hears of no office before it stands without
// being nominated; above is how many living voters rank above it.
func standDelay(p, delta time.Duration, above int) time.Duration {
	return lease.BootWait(p) + 8*delta + time.Duration(above)*lease.AnswerTimeout(delta)
}

// Agreement bounds how long after everything is well, and the nomination agrees,
// one of the voters holds the office and all know: the longest promise or boot
// wait, after which a voter stands even without being nominated; two claims that
// failed, each with the longest wait for its grants and the longest pause after it, and
// the recess that may follow; and a handing over to a better node, put off as it may be,
// with the messages of two rounds.
func Agreement(p, delta time.Duration, nodes int) time.Duration {
	claim := lease.ClaimTimeout(p, delta, lease.MostDoublings)
	pause := 2 * lease.Pause(RenewEvery(p), delta, lease.MostDoublings)
	return standDelay(p, delta, nodes) + 2*(claim+pause) + lease.RecessOf(p) + lease.PreferAfter(p) +
		lease.MostPenalty(p) + 4*lease.AnswerTimeout(delta)
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
	return standDelay(p, delta, voters) + lease.AnswerTimeout(delta)
}

// Fencing bounds what fencing adds to Agreement, once the agents work and take up
// to agent: a candidate whose agent failed may still leave the office to others,
// and each of two candidacies may have to fence all others.
func Fencing(p, delta, agent time.Duration, nodes int) time.Duration {
	n := time.Duration(nodes)
	return fencePause(p, delta, nodes) + 2*(n*agent+fenceDelay(delta, nodes))
}
