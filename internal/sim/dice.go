package sim

import (
	"math/rand/v2"
	"time"

	"github.com/ringleader-dev/ringleader/proto"
)

// The seed feeds two generators: one for the plan of a run, and one for what happens in it. So an
// option that replaces a part of the plan does not change the rest.
const (
	streamPlan = 1
	streamRun  = 2
)

// permille is a probability in thousandths. Whole numbers give the same result on every processor.
type permille int

// dice draws all random numbers of a run.
type dice struct{ *rand.Rand }

func newDice(seed, stream uint64) dice {
	return dice{rand.New(rand.NewPCG(seed, stream))}
}

// chance returns true with probability p.
func (d dice) chance(p permille) bool { return p > 0 && d.IntN(1000) < int(p) }

// between draws a duration in [low, high].
func (d dice) between(low, high time.Duration) time.Duration {
	if high <= low {
		return low
	}
	return low + time.Duration(d.Int64N(int64(high-low)+1))
}

// incarnation draws the incarnation of a starting process.
func (d dice) incarnation() proto.Incarnation {
	var s proto.Incarnation
	for i := range s {
		s[i] = byte(d.Uint32())
	}
	return s
}

// one draws one of the choices.
func one[T any](d dice, choices ...T) T { return choices[d.IntN(len(choices))] }
