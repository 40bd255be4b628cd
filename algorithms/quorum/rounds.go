package quorum

import (
	"slices"
	"time"

	"github.com/ringleader-dev/ringleader/proto"
)

// Rounds are the latest rounds of questions that ended without a majority of answers. On a busy machine
// an answer may come after the next round has begun. Such a late answer still counts for its own round.
// If it completes a majority, the lease runs from the beginning of that round, since the voters promised
// after that time.
type Rounds struct{ unanswered []round }

type round struct {
	nonce uint64
	noted time.Time
	yes   Count
}

// mostRounds is the number of rounds that are kept. A lease of an older round would have ended.
const mostRounds = 4

// Keep stores the round with this nonce, which began at the time noted, and the voters that have
// answered it.
func (r *Rounds) Keep(nonce uint64, noted time.Time, yes Count) {
	if len(r.unanswered) == mostRounds {
		r.unanswered = slices.Delete(r.unanswered, 0, 1)
	}
	r.unanswered = append(r.unanswered, round{nonce, noted, Count{slices.Clone(yes.yes)}})
}

// Add counts a voter's yes for the round with this nonce, and returns when that round began. ok is true
// if the function enough reports that the voters which have answered are enough.
func (r *Rounds) Add(nonce uint64, id proto.NodeID, enough func(*Count) bool) (noted time.Time, ok bool) {
	for i := range r.unanswered {
		if k := &r.unanswered[i]; k.nonce == nonce {
			k.yes.Add(id)
			return k.noted, enough(&k.yes)
		}
	}
	return time.Time{}, false
}

// Reset forgets all rounds.
func (r *Rounds) Reset() { r.unanswered = nil }
