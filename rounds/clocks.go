package rounds

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// delays has the shortest time that a message took from one node to another, by their wall clocks.
// A negative time proves that the two clocks differ.
type delays map[[2]uint64]time.Duration

func (d delays) sample(from, to uint64, sent, received time.Time) {
	took := received.Sub(sent)
	key := [2]uint64{from, to}
	if best, known := d[key]; !known || took < best {
		d[key] = took
	}
}

// linked reports whether messages in both directions compare the clocks of two nodes,
// directly or through other nodes.
func (d delays) linked(one, other uint64) bool { return d.reach(one, other) && d.reach(other, one) }

func (d delays) reach(from, to uint64) bool {
	reached := map[uint64]bool{from: true}
	for more := true; more && !reached[to]; {
		more = false
		for way := range d {
			if reached[way[0]] && !reached[way[1]] {
				reached[way[1]], more = true, true
			}
		}
	}
	return reached[to]
}

// clockFix has the estimated offset of each clock that is not right.
type clockFix map[uint64]Clock

func (f clockFix) at(node uint64, wall time.Time) time.Time {
	return wall.Add(-f[node].Offset)
}

// error returns an upper bound on the error between corrected times of different nodes, or 0 if no
// clock was corrected.
func (f clockFix) error() time.Duration {
	worst := time.Duration(0)
	for _, c := range f {
		worst = max(worst, c.Error)
	}
	return worst
}

// sameClock is how far two clocks may seem to differ and still count as one. A node takes the time
// of a record a little after it read or sent the message. So on one machine, where a message takes
// some 50 µs, even one clock seems to differ from itself by as much. The shortest time in any
// output is far longer.
const sameClock = 100 * time.Microsecond

// Differs reports whether the offset is larger than sameClock, so that it shows a real difference.
func (c Clock) Differs() bool { return c.Offset.Abs() > sameClock }

// differ reports whether the offset of any clock is larger than sameClock.
func (f clockFix) differ() bool {
	for _, c := range f {
		if c.Differs() {
			return true
		}
	}
	return false
}

// bounds limit the offset of a clock: it is between low and high. They follow from messages to and
// from nodes whose clocks are known, if there are messages in both directions.
type bounds struct {
	low, high       time.Duration
	hasLow, hasHigh bool
	err             time.Duration // of the known offsets
}

// bound narrows b by the messages between the node and the node of fixed, whose offset is known.
func (d delays) bound(b *bounds, node uint64, fixed Clock) {
	if there, ok := d[[2]uint64{fixed.Node, node}]; ok { // took some time: the offset is less
		if high := fixed.Offset + there; !b.hasHigh || high < b.high {
			b.high, b.hasHigh = high, true
		}
		b.err = max(b.err, fixed.Error)
	}
	if back, ok := d[[2]uint64{node, fixed.Node}]; ok {
		if low := fixed.Offset - back; !b.hasLow || low > b.low {
			b.low, b.hasLow = low, true
		}
		b.err = max(b.err, fixed.Error)
	}
}

// clock returns an estimate of the node's offset. If 0 lies within the bounds, the clock counts as
// right: no message proves the opposite. Otherwise the fastest messages of both directions count as
// equally fast, as in NTP. With messages in one direction alone, the estimate is the bound that
// they give.
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

// better reports whether b is more exact than a. Bounds on both sides that do not contradict each
// other are better than all other bounds. Of two such bounds, the narrower ones are better.
func (b bounds) better(a bounds) bool {
	sound := func(x bounds) bool { return x.hasLow && x.hasHigh && x.low <= x.high }
	if sound(b) != sound(a) {
		return sound(b)
	}
	return sound(b) && b.high-b.low+b.err < a.high-a.low+a.err
}

// fix estimates the offset of each clock against the clocks that agree. Two clocks agree unless a
// message between them has a negative delay. If they do not agree, the clock with more such
// messages counts as wrong. If both have equally many, the clock whose offset is bounded better by
// the other clocks counts as wrong.
func (d delays) fix() clockFix {
	fix := clockFix{}
	good := map[uint64]bool{}
	for way := range d {
		good[way[0]], good[way[1]] = true, true
	}
	var wrong []uint64
	for {
		id, found := d.worst(good)
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
			if d.bounds(wrong[i], known).better(d.bounds(wrong[best], known)) {
				best = i
			}
		}
		id := wrong[best]
		known[id] = d.bounds(id, known).clock(id)
		if known[id].Offset != 0 {
			fix[id] = known[id]
		}
		wrong = slices.Delete(wrong, best, best+1)
	}
	return fix
}

// worst returns the next clock that counts as wrong. found is false if no message between two
// clocks in good has a negative delay.
func (d delays) worst(good map[uint64]bool) (id uint64, found bool) {
	against := map[uint64]int{}
	for way, took := range d {
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
		if !found || more > 0 || more == 0 && d.bounds(candidate, known).better(d.bounds(id, known)) {
			id, found = candidate, true
		}
	}
	return id, found
}

// bounds computes the bounds of one clock from the messages to and from the known clocks.
func (d delays) bounds(id uint64, known map[uint64]Clock) (b bounds) {
	for other, clock := range known {
		if other != id {
			d.bound(&b, id, clock)
		}
	}
	return b
}

// list returns the corrected clocks by node id.
func (f clockFix) list() []Clock {
	return slices.SortedFunc(maps.Values(f), func(a, b Clock) int { return cmp.Compare(a.Node, b.Node) })
}
