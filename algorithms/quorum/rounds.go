package quorum

import (
	"slices"
	"time"

	"github.com/ringleader-dev/ringleader/proto"
)

// Rounds are the latest rounds of questions that their asker went on from before a
// majority had answered. On a busy machine answers take longer than from one round to
// the next: one that comes late counts for its own round, and for a lease from when that
// began. Who answered it promised after that.
type Rounds struct{ unanswered []round }

type round struct {
	nonce uint64
	noted time.Time
	yes   Count
}

// mostRounds are kept: what an older one stands for is over.
const mostRounds = 4

// Keep keeps a round that began at noted, with those who answered it so far.
func (r *Rounds) Keep(nonce uint64, noted time.Time, yes Count) {
	if len(r.unanswered) == mostRounds {
		r.unanswered = slices.Delete(r.unanswered, 0, 1)
	}
	r.unanswered = append(r.unanswered, round{nonce, noted, Count{slices.Clone(yes.yes)}})
}

// Add counts a voter's yes to one of the rounds, and returns when that began; ok is
// false unless those who have answered it are enough.
func (r *Rounds) Add(nonce uint64, id proto.NodeID, enough func(*Count) bool) (noted time.Time, ok bool) {
	for i := range r.unanswered {
		if k := &r.unanswered[i]; k.nonce == nonce {
			k.yes.Add(id)
			return k.noted, enough(&k.yes)
		}
	}
	return time.Time{}, false
}

// Reset forgets them all.
func (r *Rounds) Reset() { r.unanswered = nil }
