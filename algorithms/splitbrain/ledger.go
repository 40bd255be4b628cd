package splitbrain

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
	after proto.Epoch // the reign that was handed over to who led, if one was
	// By the clock of this node, as if the account had taken no time to come. A reign
	// that goes on has no until.
	since, until time.Time
	way          time.Duration // that the account took, by the hybrid clock
	told         int           // so many accounts came
	stopped      bool          // its work has
	heard        time.Time     // when its process last told of it
	settled      bool          // it need not be told any more
	verdict      Settled
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

// overlapped reports whether two nodes led at once, for longer than one is relieved by
// the other.
func (l ledger) overlapped(a, b *reign, now time.Time, relief time.Duration) bool {
	switch {
	case a.epoch.Leader == b.epoch.Leader, l.follows(a, b), l.follows(b, a):
		return false
	}
	apart := a.apart(b, now) // whatever the wall clocks say
	if a.late(relief) || b.late(relief) {
		apart = min(apart, a.both(b, now, a.way, b.way)) // however long the accounts took
	}
	return apart > relief
}

// late reports whether the accounts of a reign may all have been late: a late one makes
// it seem later than it was, and might feign an overlap, as might a wall clock that is
// wrong: who led at once did by both. One that is so hidden is seen in a later account:
// after patience the wall clocks are taken to differ.
func (r *reign) late(relief time.Duration) bool { return r.way > relief && r.told < patience }

// follows reports whether a began after b had ended, however late the account of b came:
// b was handed over to who led a, or to one that handed over to it in its turn. Who hands
// over leads no more when it says so.
func (l ledger) follows(a, b *reign) bool {
	for range l { // as long as a line can be
		switch {
		case a == nil || a.after == (proto.Epoch{}):
			return false
		case a.after == b.epoch:
			return true
		}
		a = l.find(a.after)
	}
	return false
}

// split are the reigns that overlapped with another, unless both of the two are
// settled, in the order of their epochs, and the longest overlap.
func (l ledger) split(now time.Time, relief time.Duration) (in []*reign, longest time.Duration) {
	for i, a := range l {
		for _, b := range l[:i] {
			if a.settled && b.settled || !l.overlapped(a, b, now, relief) {
				continue
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
func (l ledger) rival(r *reign, in []*reign, now time.Time) (*reign, time.Duration) {
	others := slices.DeleteFunc(slices.Clone(in), func(o *reign) bool {
		return o.epoch.Leader == r.epoch.Leader
	})
	both := func(o *reign) time.Duration {
		if l.follows(r, o) || l.follows(o, r) {
			return -MaxReign // if there is no other
		}
		return r.overlap(o, now)
	}
	best := slices.MaxFunc(others, func(a, b *reign) int { return cmp.Compare(both(a), both(b)) })
	return best, r.overlap(best, now)
}
