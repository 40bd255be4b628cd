package splitbrain

import (
	"cmp"
	"slices"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/proto"
)

// leadership is one entry of the ledger.
type leadership struct {
	leadership proto.Leadership
	after      proto.Leadership // the leadership that this one took over from, if any
	// since and until are times on this node's clock, computed as if the report had taken no time to
	// come. until is zero while the leadership goes on.
	since, until time.Time
	way          time.Duration // how long the report was on its way, by the hybrid clock
	told         int           // how many reports of this leadership came, up to patience
	stopped      bool          // the work of its leader has stopped
	heard        time.Time     // when the process that led last reported it
	settled      bool          // this leadership need not be reported any more
	verdict      Resume
	sayAt        time.Time // when this leadership is reported next
}

// ledger lists the leaderships that a node knows of: those of its own process, and those that
// others reported.
//
// Invariants: 1. No leadership is in it twice. 2. At most one leadership has not ended: that of
// this process, while it leads.
type ledger []*leadership

// maxLeaderships bounds a ledger. The oldest settled entry is removed first.
const maxLeaderships = 64

func (l ledger) find(e proto.Leadership) *leadership {
	for _, r := range l {
		if r.leadership == e {
			return r
		}
	}
	return nil
}

// add adds a leadership that is not in the ledger.
func (l *ledger) add(r *leadership) {
	if len(*l) >= maxLeaderships {
		i := slices.IndexFunc(*l, func(r *leadership) bool { return r.settled })
		*l = slices.Delete(*l, max(i, 0), max(i, 0)+1)
	}
	*l = append(*l, r)
}

// apart returns how long the leaders of r and o led at once, computed without wall clocks. The result is
// wrong by the time that the reports were on their way. It is negative if one leadership ended before
// the other began.
func (r *leadership) apart(o *leadership, now time.Time) time.Duration { return r.both(o, now, 0, 0) }

// overlap returns how long the leaders of r and o led at once, by the hybrid clock. If there is no such
// time by the hybrid clock, the wall clocks differ too much, and overlap returns the result of apart.
func (r *leadership) overlap(o *leadership, now time.Time) time.Duration {
	if both := r.both(o, now, r.way, o.way); both > 0 {
		return both
	}
	return r.apart(o, now)
}

func (r *leadership) both(o *leadership, now time.Time, way, other time.Duration) time.Duration {
	since, until := r.since.Add(-way), r.end(now).Add(-way)
	if s := o.since.Add(-other); s.After(since) {
		since = s
	}
	if u := o.end(now).Add(-other); u.Before(until) {
		until = u
	}
	return until.Sub(since)
}

func (r *leadership) end(now time.Time) time.Time {
	if r.until.IsZero() {
		return now
	}
	return r.until
}

// asTold returns the leadership as a report at the time now describes it. way is how long the report
// about it was on its way to this node.
func (r *leadership) asTold(now time.Time, way time.Duration) algorithms.Leadership {
	end := r.end(now)
	return algorithms.Leadership{Leadership: r.leadership, Led: end.Sub(r.since), Ago: now.Sub(end) + way}
}

// overlapped reports whether two nodes led at once for longer than is usual when one leader takes
// over from another.
func (l ledger) overlapped(a, b *leadership, now time.Time, relief time.Duration) bool {
	switch {
	case a.leadership.Leader == b.leadership.Leader, l.follows(a, b), l.follows(b, a):
		return false
	}
	apart := a.apart(b, now) // whatever the wall clocks say
	if a.late(relief) || b.late(relief) {
		apart = min(apart, a.both(b, now, a.way, b.way)) // however long the reports took
	}
	return apart > relief
}

// late reports whether all reports of a leadership may have been late. A late report makes the
// leadership seem later than it was, and may feign an overlap; so may a wrong wall clock. Therefore,
// while a report may be late, two nodes count as having led at once only if both ways of computing say
// so. After as many reports as patience says, this node concludes that the wall clocks differ, so an
// overlap that was hidden until then shows in a later report.
func (r *leadership) late(relief time.Duration) bool { return r.way > relief && r.told < patience }

// follows reports whether the leader of b handed over to the leader of a, directly or through other
// leaders. Then a began after b had ended, even if the report of b came late: a node stops leading
// before it hands over.
func (l ledger) follows(a, b *leadership) bool {
	for range l { // as long as a line can be
		switch {
		case a == nil || a.after == (proto.Leadership{}):
			return false
		case a.after == b.leadership:
			return true
		}
		a = l.find(a.after)
	}
	return false
}

// split returns the leaderships that overlapped with another one, sorted by Leadership.Compare, and the
// longest overlap. It ignores an overlap of two settled leaderships if at least one of the two was found
// to be part of a split. If neither was, no nominee has compared the two.
func (l ledger) split(now time.Time, relief time.Duration) (in []*leadership, longest time.Duration) {
	for i, a := range l {
		for _, b := range l[:i] {
			known := a.settled && b.settled && (ofSplit(a.verdict) || ofSplit(b.verdict))
			if known || !l.overlapped(a, b, now, relief) {
				continue
			}
			longest = max(longest, a.overlap(b, now))
			for _, r := range []*leadership{a, b} {
				if !slices.Contains(in, r) {
					in = append(in, r)
				}
			}
		}
	}
	slices.SortFunc(in, func(a, b *leadership) int { return a.leadership.Compare(b.leadership) })
	return in, longest
}

// rival returns the leadership of the list in that overlapped longest with r, and how long the two
// overlapped.
func (l ledger) rival(r *leadership, in []*leadership, now time.Time) (*leadership, time.Duration) {
	others := slices.DeleteFunc(slices.Clone(in), func(o *leadership) bool {
		return o.leadership.Leader == r.leadership.Leader
	})
	both := func(o *leadership) time.Duration {
		if l.follows(r, o) || l.follows(o, r) {
			return -MaxLeadership // if there is no other
		}
		return r.overlap(o, now)
	}
	best := slices.MaxFunc(others, func(a, b *leadership) int { return cmp.Compare(both(a), both(b)) })
	return best, r.overlap(best, now)
}
