package nomination

import (
	"math/rand/v2"
	"time"
)

// freeRounds is how many rounds a node may call in a row without waiting: a
// real crash, and the crash of the successor, are answered at once.
const freeRounds = 3

// damper spaces out the rounds that one node calls. A false alarm costs one
// round, not a storm.
type damper struct {
	delta  time.Duration
	random *rand.Rand
	series int       // rounds called since the last long quiet
	last   time.Time // when the last of them was called
	pause  time.Duration
}

func newDamper(delta time.Duration, seed uint64) damper {
	return damper{delta: delta, random: rand.New(rand.NewPCG(seed, seed))}
}

// next is the earliest time for the next own round; it is not after now when
// the round may start at once.
func (d *damper) next(now time.Time) time.Time {
	d.forget(now)
	return d.last.Add(d.pause)
}

// forget ends a series after a long quiet.
func (d *damper) forget(now time.Time) {
	if now.Sub(d.last) > Forget(d.delta) {
		d.series, d.pause = 0, 0
	}
}

// called notes that an own round starts now and draws the pause after it.
func (d *damper) called(now time.Time) {
	d.forget(now)
	d.series++
	d.last = now
	d.pause = d.jitter(BackOff(d.delta, d.series+1))
}

// jitter spreads t evenly over [t/2, 3t/2), so that nodes that collided once
// do not collide again.
func (d *damper) jitter(t time.Duration) time.Duration {
	if t <= 0 {
		return 0
	}
	return t/2 + time.Duration(d.random.Int64N(int64(t)))
}
