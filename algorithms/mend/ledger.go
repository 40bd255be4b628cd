package mend

import (
	"cmp"
	"slices"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/proto"
)

// reign is one entry of the ledger.
type reign struct {
	epoch proto.Epoch
	// By the clock of this node, as if the account had taken no time to come. A reign
	// that goes on has no until.
	since, until time.Time
	way          time.Duration // that the account took, by the hybrid clock
	told         int           // so many accounts came
	stopped      bool          // its work has
	heard        time.Time     // when its process last told of it
	settled      bool          // it need not be told any more
	verdict      proto.Settled
	sayAt        time.Time // when it is told next
}

// ledger are the reigns that a node knows of: those of its own process, and those
// that it was told of.
//
// Invariants:
//  1. No epoch is in it twice.
//  2. At most one reign goes on: this process's own, as the leader that it is.
type ledger []*reign

// maxReigns bounds a ledger. The oldest that is settled goes first.
const maxReigns = 64

func (l ledger) find(e proto.Epoch) *reign {
	for _, r := range l {
		if r.epoch == e {
			return r
		}
	}
	return nil
}

// add takes in a reign that is not in the ledger.
func (l *ledger) add(r *reign) {
	if len(*l) >= maxReigns {
		i := slices.IndexFunc(*l, func(r *reign) bool { return r.settled })
		*l = slices.Delete(*l, max(i, 0), max(i, 0)+1)
	}
	*l = append(*l, r)
}

// apart is for how long both led, as far as no wall clock tells: too long, or too
// short, by the way of the accounts. It is negative when one ended before the other
// began.
func (r *reign) apart(o *reign, now time.Time) time.Duration { return r.both(o, now, 0, 0) }

// overlap is for how long both led, by the hybrid clock; as far as no wall clock
// tells, if those differ so much that nothing is left.
func (r *reign) overlap(o *reign, now time.Time) time.Duration {
	if both := r.both(o, now, r.way, o.way); both > 0 {
		return both
	}
	return r.apart(o, now)
}

func (r *reign) both(o *reign, now time.Time, way, other time.Duration) time.Duration {
	since, until := r.since.Add(-way), r.end(now).Add(-way)
	if s := o.since.Add(-other); s.After(since) {
		since = s
	}
	if u := o.end(now).Add(-other); u.Before(until) {
		until = u
	}
	return until.Sub(since)
}

func (r *reign) end(now time.Time) time.Time {
	if r.until.IsZero() {
		return now
	}
	return r.until
}

// asTold is the reign as it is told at now, the account having taken so long.
func (r *reign) asTold(now time.Time, way time.Duration) algorithms.Reign {
	end := r.end(now)
	return algorithms.Reign{Epoch: r.epoch, Led: end.Sub(r.since), Ago: now.Sub(end) + way}
}

// split are the reigns that overlapped with another, unless both of the two are
// settled, in the order of their epochs, and the longest overlap.
func (l ledger) split(now time.Time, relief time.Duration) (in []*reign, longest time.Duration) {
	for i, a := range l {
		for _, b := range l[:i] {
			if a.epoch.Leader == b.epoch.Leader || a.settled && b.settled {
				continue
			}
			if a.apart(b, now) <= relief {
				continue // whatever the wall clocks say
			}
			longest = max(longest, a.overlap(b, now))
			for _, r := range []*reign{a, b} {
				if !slices.Contains(in, r) {
					in = append(in, r)
				}
			}
		}
	}
	slices.SortFunc(in, func(a, b *reign) int { return a.epoch.Compare(b.epoch) })
	return in, longest
}

// rival is the reign among in that overlapped longest with r, and for how long.
func (r *reign) rival(in []*reign, now time.Time) (*reign, time.Duration) {
	others := slices.DeleteFunc(slices.Clone(in), func(o *reign) bool {
		return o.epoch.Leader == r.epoch.Leader
	})
	best := slices.MaxFunc(others, func(a, b *reign) int {
		return cmp.Compare(r.overlap(a, now), r.overlap(b, now))
	})
	return best, r.overlap(best, now)
}
