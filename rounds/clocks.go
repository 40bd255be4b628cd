package rounds

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// ways is the shortest time that a message from one node took to another, by
// their wall clocks. A negative one refutes the clocks.
type ways map[[2]uint64]time.Duration

func (w ways) sample(from, to uint64, sent, received time.Time) {
	took := received.Sub(sent)
	key := [2]uint64{from, to}
	if best, known := w[key]; !known || took < best {
		w[key] = took
	}
}

// linked reports whether messages compare the clocks of two nodes, directly or through
// others: that takes both directions.
func (w ways) linked(one, other uint64) bool { return w.reach(one, other) && w.reach(other, one) }

func (w ways) reach(from, to uint64) bool {
	reached := map[uint64]bool{from: true}
	for more := true; more && !reached[to]; {
		more = false
		for way := range w {
			if reached[way[0]] && !reached[way[1]] {
				reached[way[1]], more = true, true
			}
		}
	}
	return reached[to]
}

// clockFix corrects wall times by how far each node's clock is off.
type clockFix map[uint64]Clock

func (f clockFix) at(node uint64, wall time.Time) time.Time {
	return wall.Add(-f[node].Offset)
}

// error bounds how far corrected times of different nodes may be off each
// other; 0 when no clock was corrected.
func (f clockFix) error() time.Duration {
	worst := time.Duration(0)
	for _, c := range f {
		worst = max(worst, c.Error)
	}
	return worst
}

// sameClock is how far clocks may seem to differ and count as one: a record's
// time is taken a little after its message was, so that on one machine, where a
// message takes some 50 µs, the clocks seem to differ by as much. It is far below
// the shortest time that is told.
const sameClock = 100 * time.Microsecond

// Differs reports whether the clock is off by more than records of one machine
// may seem to be.
func (c Clock) Differs() bool { return c.Offset.Abs() > sameClock }

// differ reports whether some clock was corrected by more than that.
func (f clockFix) differ() bool {
	for _, c := range f {
		if c.Differs() {
			return true
		}
	}
	return false
}

// bounds are what messages to and from nodes whose clocks are known tell of
// another clock's offset: it lies between low and high, as far as there are
// messages in both directions.
type bounds struct {
	low, high       time.Duration
	hasLow, hasHigh bool
	err             time.Duration // of the offsets they rest on
}

// bound adds what the messages between node and a fixed clock tell.
func (w ways) bound(b *bounds, node uint64, fixed Clock) {
	if there, ok := w[[2]uint64{fixed.Node, node}]; ok { // took some time: the offset is less
		if high := fixed.Offset + there; !b.hasHigh || high < b.high {
			b.high, b.hasHigh = high, true
		}
		b.err = max(b.err, fixed.Error)
	}
	if back, ok := w[[2]uint64{node, fixed.Node}]; ok {
		if low := fixed.Offset - back; !b.hasLow || low > b.low {
			b.low, b.hasLow = low, true
		}
		b.err = max(b.err, fixed.Error)
	}
}

// clock is the offset within the bounds. A clock that no message refutes is
// right: within what the messages took, nothing tells it from the others.
// Otherwise the fastest messages of each direction are taken to have been
// equally fast, as NTP does; one direction alone gives a bound, not an estimate.
func (b bounds) clock(node uint64) Clock {
	c := Clock{Node: node}
	switch {
	case (!b.hasLow || b.low <= 0) && (!b.hasHigh || b.high >= 0):
	case b.hasLow && b.hasHigh:
		c.Offset = b.low/2 + b.high/2
		c.Error = (b.high-b.low).Abs()/2 + b.err
	case b.hasHigh:
		c.Offset = b.high
	default:
		c.Offset = b.low
	}
	return c
}

// better reports whether b tells more than a: bounds on both sides that agree,
// and then the narrower.
func (b bounds) better(a bounds) bool {
	sound := func(x bounds) bool { return x.hasLow && x.hasHigh && x.low <= x.high }
	if sound(b) != sound(a) {
		return sound(b)
	}
	return sound(b) && b.high-b.low+b.err < a.high-a.low+a.err
}

// fix estimates how far each clock is off from those that agree. Clocks agree
// until a message refutes them; of two that do not, the one goes which more
// messages speak against, or whose offset the others tell best.
func (w ways) fix() clockFix {
	fix := clockFix{}
	good := map[uint64]bool{}
	for way := range w {
		good[way[0]], good[way[1]] = true, true
	}
	var wrong []uint64
	for {
		id, found := w.worst(good)
		if !found {
			break
		}
		delete(good, id)
		wrong = append(wrong, id)
	}
	known := map[uint64]Clock{}
	for id := range good {
		known[id] = Clock{Node: id}
	}
	for len(wrong) > 0 {
		best := 0
		for i := range wrong {
			if w.bounds(wrong[i], known).better(w.bounds(wrong[best], known)) {
				best = i
			}
		}
		id := wrong[best]
		known[id] = w.bounds(id, known).clock(id)
		if known[id].Offset != 0 {
			fix[id] = known[id]
		}
		wrong = slices.Delete(wrong, best, best+1)
	}
	return fix
}

// worst is the clock among those still good that is least so, found false when
// no message between them refutes any.
func (w ways) worst(good map[uint64]bool) (id uint64, found bool) {
	against := map[uint64]int{}
	for way, took := range w {
		if took < 0 && good[way[0]] && good[way[1]] {
			against[way[0]]++
			against[way[1]]++
		}
	}
	known := map[uint64]Clock{}
	for other := range good {
		known[other] = Clock{Node: other}
	}
	for _, candidate := range slices.Sorted(maps.Keys(against)) {
		more := against[candidate] - against[id]
		if !found || more > 0 || more == 0 && w.bounds(candidate, known).better(w.bounds(id, known)) {
			id, found = candidate, true
		}
	}
	return id, found
}

// bounds is what messages to and from the known clocks tell of one.
func (w ways) bounds(id uint64, known map[uint64]Clock) (b bounds) {
	for other, clock := range known {
		if other != id {
			w.bound(&b, id, clock)
		}
	}
	return b
}

// list is the fix by node.
func (f clockFix) list() []Clock {
	return slices.SortedFunc(maps.Values(f), func(a, b Clock) int { return cmp.Compare(a.Node, b.Node) })
}
