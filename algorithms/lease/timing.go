package lease

import "time"

// Drift bounds how far the rates of two clocks may be apart from true time, in
// parts per million.
const Drift = 10_000

// margin is how much shorter a lease is beyond Drift, since clocks round.
const margin = 10 * time.Millisecond

const million = 1_000_000

// Of is the length of the lease that promises of length p give. Measured by the slowest clock, it ends
// before p measured by the fastest clock.
func Of(p time.Duration) time.Duration {
	return p/(million+Drift)*(million-Drift) - margin
}

// byAnyClock is how long a process may use a lease that has d left by this node's clock: measured by
// the slowest clock, that ends before d measured by the fastest clock.
func byAnyClock(d time.Duration) time.Duration { return d / (million + Drift) * (million - Drift) }

// MinPromise is the shortest promise that makes sense with delta, the planned
// worst-case one-way latency: two rounds of questions may fail and a third still
// comes in time.
func MinPromise(delta time.Duration) time.Duration { return 20*delta + 2*margin }

// BootWait is how long a voter must assume after its start that a promise p of its former life runs.
func BootWait(p time.Duration) time.Duration { return p/million*(million+Drift) + margin }

// HeartbeatEvery is the time between two rounds of heartbeats. A follower that misses one heartbeat
// still believes in its leader when the next one comes.
func HeartbeatEvery(p time.Duration) time.Duration { return p / 4 }

// mostRounds is how many rounds of heartbeats a leader begins after the last that a majority answered.
// A leader that receives nothing must not bind the voters for longer.
const mostRounds = 2

// AnswerTimeout is how long a round of questions waits for its answers: twice the round trip.
func AnswerTimeout(delta time.Duration) time.Duration { return 4 * delta }

// offerTimeout is how long a leader waits for the answer of the node that it would hand over
// to, which asks the voters meanwhile.
func offerTimeout(delta time.Duration) time.Duration { return 2 * AnswerTimeout(delta) }

// ClaimTimeout is how long a candidate waits for votes, after this many of its candidacies in a row
// failed: 8Δ, 16Δ, …, and at most half of the lease, which runs from the request. So a candidate that
// wins at the last moment has the other half for its next round of questions.
func ClaimTimeout(p, delta time.Duration, failed int) time.Duration {
	return min(2*AnswerTimeout(delta)<<min(failed, MostDoublings), Of(p)/2)
}

// Pause is the pause after the n-th attempt that failed, before jitter: 4Δ, 8Δ, … and at most every,
// the time between two rounds of heartbeats.
func Pause(every, delta time.Duration, n int) time.Duration {
	return min(AnswerTimeout(delta)<<min(n-1, MostDoublings), every)
}

// MostDoublings bounds how often a pause doubles, so that it does not overflow.
const MostDoublings = 16

// BackOffFor is the length of a back-off.
func BackOffFor(p time.Duration) time.Duration { return p }

// PreferAfter is how long another node must be the better choice, without a break, before the leader
// hands over to it.
func PreferAfter(p time.Duration) time.Duration { return 2 * p }

// preferPenalty is how long a leader makes no offer after its n-th offer to a better node. It doubles
// with each.
func preferPenalty(p time.Duration, n int) time.Duration {
	return min(PreferAfter(p)<<min(n, MostDoublings), MostPenalty(p))
}

// MostPenalty bounds preferPenalty.
func MostPenalty(p time.Duration) time.Duration { return 8 * PreferAfter(p) }

// forgetPenalty is how long after a penalty a leader must make no offer until its count of offers is
// forgotten. It is longer than any penalty, so that a link which comes and goes does not reset it.
func forgetPenalty(p time.Duration) time.Duration { return 4 * MostPenalty(p) }

// standDelay is how long a voter hears from no leader before it stands without being nominated.
// above is how many living voters rank above it.
func standDelay(p, delta time.Duration, above int) time.Duration {
	return BootWait(p) + 8*delta + time.Duration(above)*AnswerTimeout(delta)
}

// Agreement bounds the time until a voter leads and all nodes know it, from when no fault is left and
// all nodes nominate the same voter. It is the sum of:
//   - the longest wait of a voter that stands without being nominated,
//   - two candidacies that fail, each with its longest pause, and the back-off after them,
//   - the longest wait before a leader hands over to a better node, and two rounds of messages.
func Agreement(p, delta time.Duration, nodes int) time.Duration {
	claim := ClaimTimeout(p, delta, MostDoublings)
	pause := 2 * Pause(HeartbeatEvery(p), delta, MostDoublings)
	return standDelay(p, delta, nodes) + 2*(claim+pause) + BackOffFor(p) + PreferAfter(p) +
		MostPenalty(p) + 4*AnswerTimeout(delta)
}

// fenceAttempts is how often one candidacy tries to fence a former leader.
const fenceAttempts = 3

// fenceDelay is how long a candidate that has a majority's promises waits for the answers of slow
// voters before it fences anybody: the former leader itself may answer. above is how many living
// voters rank above it.
func fenceDelay(delta time.Duration, above int) time.Duration {
	return 2 * delta * time.Duration(1+above)
}

// fencePause is how long a candidate whose fence agent failed does not stand: until each other voter,
// whose agent may work, may have stood.
func fencePause(p, delta time.Duration, voters int) time.Duration {
	return standDelay(p, delta, voters) + AnswerTimeout(delta)
}

// Fencing bounds what fencing adds to Agreement, from when the fence agents work. agent is the longest
// that one takes. A candidate whose agent failed before may still be in its pause, and each of two
// candidacies may have to fence all other nodes.
func Fencing(p, delta, agent time.Duration, nodes int) time.Duration {
	n := time.Duration(nodes)
	return fencePause(p, delta, nodes) + 2*(n*agent+fenceDelay(delta, nodes))
}
