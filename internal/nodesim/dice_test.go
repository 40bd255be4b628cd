package nodesim

import (
	"math/rand/v2"
	"time"
)

// dice draws what a seed decides.
type dice struct{ *rand.Rand }

func newDice(seed, use uint64) dice { return dice{rand.New(rand.NewPCG(seed, use))} }

// N draws a duration below max; zero when that is none.
func (d dice) N(max time.Duration) time.Duration {
	if max <= 0 {
		return 0
	}
	return time.Duration(d.Int64N(int64(max)))
}
