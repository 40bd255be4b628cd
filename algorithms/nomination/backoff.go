package nomination

import (
	"math/rand/v2"
	"time"
)

// freeRounds is the number of rounds that a node may call in a row without waiting. So nodes react at
// once to the crash of a leader, and then to that of its successor.
const freeRounds = 3

// backOff spaces out the rounds that one node calls, so that a false alarm costs one round and not
// many.
type backOff struct {
	delta  time.Duration
	random *rand.Rand
	series int       // rounds called since the last long quiet
	last   time.Time // when the last of these rounds was called
	pause  time.Duration
}

func newBackOff(delta time.Duration, seed uint64) backOff {
	return backOff{delta: delta, random: rand.New(rand.NewPCG(seed, seed))}
}

// next returns the earliest time for the next round that this node calls. If the round may start at
// once, the returned time is not after now.
func (d *backOff) next(now time.Time) time.Time {
	d.forget(now)
	return d.last.Add(d.pause)
}

// forget ends a series of rounds after a long time without one.
func (d *backOff) forget(now time.Time) {
	if now.Sub(d.last) > Forget(d.delta) {
		d.series, d.pause = 0, 0
	}
}

// called notes that this node calls a round now, and draws the pause after it.
func (d *backOff) called(now time.Time) {
	d.forget(now)
	d.series++
	d.last = now
	d.pause = d.jitter(BackOff(d.delta, d.series+1))
}

// jitter returns a random time from [t/2, 3t/2), so that nodes that collided once do not collide again.
func (d *backOff) jitter(t time.Duration) time.Duration {
	if t <= 0 {
		return 0
	}
	return t/2 + time.Duration(d.random.Int64N(int64(t)))
}
