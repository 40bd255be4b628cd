package sim

import (
	"math/rand/v2"
	"time"

	"github.com/ringleader-dev/ringleader/proto"
)

// The seed feeds one generator for what a run is (its plan) and one for what
// happens in it, so that an option given by hand leaves the other one alone.
const (
	streamPlan = 1
	streamRun  = 2
)

// permille is a probability in thousandths: whole numbers draw the same on
// every processor.
type permille int

// dice is the only source of chance in a run.
type dice struct{ *rand.Rand }

func newDice(seed, stream uint64) dice {
	return dice{rand.New(rand.NewPCG(seed, stream))}
}

// chance is true with probability p.
func (d dice) chance(p permille) bool { return p > 0 && d.IntN(1000) < int(p) }

// between draws a duration in [low, high].
func (d dice) between(low, high time.Duration) time.Duration {
	if high <= low {
		return low
	}
	return low + time.Duration(d.Int64N(int64(high-low)+1))
}

// session draws what a starting process draws.
func (d dice) session() proto.Session {
	var s proto.Session
	for i := range s {
		s[i] = byte(d.Uint32())
	}
	return s
}

// one draws an element of choices.
func one[T any](d dice, choices ...T) T { return choices[d.IntN(len(choices))] }
