package lease

import "time"

// Drift is the largest difference between the rate of a node's clock and that of true time, in parts per
// million.
const Drift = 10_000

// margin is the time by which a lease is shortened in addition to Drift, since clocks round.
const margin = 10 * time.Millisecond

const million = 1_000_000

// Of returns the length of the lease that promises of length p give. Measured by the slowest clock, the
// lease ends before a promise measured by the fastest clock.
func Of(p time.Duration) time.Duration {
	return p/(million+Drift)*(million-Drift) - margin
}

// ByAnyClock returns how long a process may use a lease that has the time d left by this node's clock.
// Measured by the slowest clock, that use ends before d has passed by the fastest clock.
func ByAnyClock(d time.Duration) time.Duration { return d / (million + Drift) * (million - Drift) }

// MinPromise returns the shortest promise that makes sense with delta, the planned worst-case one-way
// latency: two rounds of questions may fail, and a third round still comes in time.
func MinPromise(delta time.Duration) time.Duration { return 20*delta + 2*margin }

// BootWait returns how long after its start a voter must assume that a promise of length p of its former
// life still runs.
func BootWait(p time.Duration) time.Duration { return p/million*(million+Drift) + margin }

// HeartbeatEvery returns the time between two rounds of heartbeats. A follower that misses one heartbeat
// still believes in its leader when the next one comes.
func HeartbeatEvery(p time.Duration) time.Duration { return p / 4 }

// mostRounds is the largest number of rounds of heartbeats that a leader begins after the last round
// that a majority answered. A leader that receives nothing must not bind the voters for longer.
const mostRounds = 2

// AnswerTimeout returns how long a node waits for the answers to a round of questions: twice the round
// trip.
func AnswerTimeout(delta time.Duration) time.Duration { return 4 * delta }

// offerTimeout returns how long a leader waits for the answer of the node to which it offers to hand
// over. That node asks the voters meanwhile.
func offerTimeout(delta time.Duration) time.Duration { return 2 * AnswerTimeout(delta) }

// ClaimTimeout returns how long a candidate waits for votes if this many of its candidacies in a row
// have failed: 8Δ, 16Δ, …, and at most half of the lease, which runs from the request. So a candidate
// that wins at the last moment has the other half for its next round of questions.
func ClaimTimeout(p, delta time.Duration, failed int) time.Duration {
	return min(2*AnswerTimeout(delta)<<min(failed, MostDoublings), Of(p)/2)
}

// Pause returns the pause after the n-th failed attempt, before jitter: 4Δ, 8Δ, … It is at most the
// parameter every, the time between two rounds of heartbeats.
func Pause(every, delta time.Duration, n int) time.Duration {
	return min(AnswerTimeout(delta)<<min(n-1, MostDoublings), every)
}

// MostDoublings is the largest number of times that a pause doubles, so that the pause does not
// overflow.
const MostDoublings = 16

// BackOffFor returns the length of a back-off.
func BackOffFor(p time.Duration) time.Duration { return p }

// PreferAfter returns how long another node must be the better choice, without a break, before the
// leader offers to hand over to that node.
func PreferAfter(p time.Duration) time.Duration { return 2 * p }

// preferPenalty returns how long a leader makes no offer to a better node after its n-th such offer. The
// time doubles with each offer, up to MostPenalty.
func preferPenalty(p time.Duration, n int) time.Duration {
	return min(PreferAfter(p)<<min(n, MostDoublings), MostPenalty(p))
}

// MostPenalty returns the largest result of preferPenalty.
func MostPenalty(p time.Duration) time.Duration { return 8 * PreferAfter(p) }

// forgetPenalty returns how long after a penalty a leader must make no offer before its count of offers
// begins anew. This time is longer than any penalty, so that a link which comes and goes does not reset
// the count.
func forgetPenalty(p time.Duration) time.Duration { return 4 * MostPenalty(p) }

// standDelay returns how long a voter must hear from no leader before it stands without being nominated.
// above is the number of living voters that rank above this voter.
func standDelay(p, delta time.Duration, above int) time.Duration {
	return BootWait(p) + 8*delta + time.Duration(above)*AnswerTimeout(delta)
}

// Agreement returns an upper bound of the time until a voter leads and all nodes know it. The time
// begins when there is no fault any more and all nodes nominate the same voter. It is the sum of:
//   - the longest wait of a voter that stands without being nominated,
//   - two candidacies that fail, each with its longest pause, and the back-off after them,
//   - the longest wait before a leader hands over to a better node, and two rounds of messages.
func Agreement(p, delta time.Duration, nodes int) time.Duration {
	claim := ClaimTimeout(p, delta, MostDoublings)
	pause := 2 * Pause(HeartbeatEvery(p), delta, MostDoublings)
	return standDelay(p, delta, nodes) + 2*(claim+pause) + BackOffFor(p) + PreferAfter(p) +
		MostPenalty(p) + 4*AnswerTimeout(delta)
}

// fenceAttempts is the number of times that one candidacy tries to fence a former leader.
const fenceAttempts = 3

// fenceDelay returns how long a candidate that has a majority's promises waits for the answers of slow
// voters before it fences anybody: the former leader itself may answer. above is the number of living
// voters that rank above the candidate.
func fenceDelay(delta time.Duration, above int) time.Duration {
	return 2 * delta * time.Duration(1+above)
}

// fencePause returns how long a candidate whose fence agent failed does not stand. In that time each
// other voter, whose agent may work, has had its turn to stand.
func fencePause(p, delta time.Duration, voters int) time.Duration {
	return standDelay(p, delta, voters) + AnswerTimeout(delta)
}

// Fencing returns an upper bound of the time that fencing adds to Agreement once the fence agents work.
// agent is the longest time that an agent takes. A candidate whose agent failed before may still be in
// its pause, and each of two candidacies may have to fence all other nodes.
func Fencing(p, delta, agent time.Duration, nodes int) time.Duration {
	n := time.Duration(nodes)
	return fencePause(p, delta, nodes) + 2*(n*agent+fenceDelay(delta, nodes))
}
