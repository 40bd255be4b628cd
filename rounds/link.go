package rounds

import (
	"slices"
	"time"

	"github.com/ringleader-dev/ringleader/proto"
)

// link is what single pairs tell of all messages from one node to another: how long they seem to have taken. Where
// hybrid clocks prove nothing (see ordered), these times still are similar.
type link struct {
	took []time.Duration
	// rough has those of pairs that are less certain. They count if took is empty.
	rough []time.Duration
	// fastest is the shortest of the times, unless a wrong pair may have made it. vague says that all of them may be of
	// wrong pairs: they are few, or differ.
	fastest time.Duration
	vague   bool
	quarter time.Duration // a quarter of the times are shorter
	half    time.Duration // half of them are

	from, to *member // the sender and the receiver, nil for a node without records
	whole    bool    // the log of the sender surely begins with its first process
	// off is by how much the corrected times of the two may be apart; see apart.
	off time.Duration

	told  shortest
	early shortest // of the slower half of the pairs that pairing.early doubts; they count if there are no others
}

// shortest has the shortest times of the pairs that are certain, and of all pairs.
type shortest struct{ certain, doubtful delay }

const (
	// mostTook is how many times a link keeps.
	mostTook = 256
	// alike is how far the times may differ that messages of one link seem to take.
	alike = time.Minute
)

// link returns the link from one node to another.
func (g *group) link(way [2]uint64) *link {
	l := g.pairing.links[way]
	if l == nil {
		l = &link{from: g.nodes[way[0]], to: g.nodes[way[1]]}
		g.pairing.links[way] = l
	}
	return l
}

// learn notes what one pair tells of its link, or that it may be so. Of several receipts of a message that no former
// process can have sent, the first one counts: the others are of copies, or of a later process.
func (g *group) learn(m *post, got *arrival) {
	times := &got.link.took
	if g.others(m.by, got) < certain {
		times = &got.link.rough
	} else if m.first.Before(got.wall) {
		return
	}
	if len(*times) < mostTook {
		*times = append(*times, elapsed(m.wall, got.wall))
	}
}

// known reports whether a pair tells of the link.
func (l *link) known() bool { return len(l.took) > 0 }

// few reports whether so few pairs tell of the link that a single slow or wrong one of them makes its quarter.
func (l *link) few() bool { return len(l.took) < 4 }

// full reports whether enough messages of the link are known.
func (l *link) full() bool { return len(l.took) == mostTook }

// settle ends the learning.
func (l *link) settle() {
	certain := l.known()
	if !certain {
		l.took = l.rough
	}
	if !l.known() {
		return
	}
	slices.Sort(l.took)
	l.quarter, l.half = l.took[len(l.took)/4], l.took[len(l.took)/2]
	if l.fastest = l.took[0]; !certain {
		l.fastest, l.vague = l.quarter, l.few() || l.half-l.quarter > maxTransit
	}
}

// prompt returns those of the messages that fit which were not sent only after the receipt; all of them if each was.
func (got *arrival) prompt() some {
	if !got.fits.several() { // nearly always
		return got.fits
	}
	prompt := got.fits
	for i := range got.around {
		if prompt.has(i) && got.link.late(&got.around[i], &got.receipt) < -maxTransit/2 {
			prompt &^= 1 << i
		}
	}
	if prompt == 0 {
		return got.fits
	}
	return prompt
}

// ordered reports whether the receipt is after its send by the hybrid clock, if that showed so many µs at the send.
func (got *receipt) ordered(micros int64) bool { return follows(got.wall, micros) }

// follows reports whether a node at whose own clock it is the time wall follows a hybrid clock that shows so many µs:
// none that is ahead by more than proto.MaxHLCSkew.
func follows(wall time.Time, micros int64) bool {
	return micros < wall.UnixMicro()+(proto.MaxHLCSkew-maxTransit).Microseconds()
}

// fitsClock reports whether the receipt may be of the message, by the hybrid clock.
func (m *post) fitsClock(got *receipt) bool {
	return m.clock.IsZero() || got.clock.IsZero() || m.clock.Compare(got.clock) <= 0 || !got.ordered(m.clock.Micros)
}

// fits reports whether the receipt may be of the message, if it may be by the hybrid clock.
func (l *link) fits(m *post, got *receipt) bool {
	if m.clock.IsZero() || got.clock.IsZero() {
		return true
	}
	late := l.late(m, got)
	return late >= -maxTransit && (late <= alike || got.ordered(m.clock.Micros))
}

// proves reports whether the receipt certainly is after the message was sent, which the hybrid clock does not tell if
// the receiver's clock is ahead.
func (l *link) proves(m *post, got *receipt) bool {
	if !got.ordered(m.clock.Micros) {
		return false
	}
	return l.near() || !l.vague && l.late(m, got) > -outlives
}

// near reports whether the clocks of the two nodes hardly differ, as far as is known.
func (l *link) near() bool { return !l.known() || l.quarter.Abs() < maxTransit }

// tooLate reports whether the receipt is too late for a message that another process sent, so that it is the last one:
// that would not be faster than any that is known, or not much, and its process began long after the other one had
// ended.
func (l *link) tooLate(m, last *post, got *receipt) bool {
	if !l.known() {
		return false
	}
	took := elapsed(last.wall, got.wall)
	sudden := !l.near() && !l.few() && l.fastest-took > l.quarter-l.fastest
	return took >= l.fastest || !sudden && elapsed(l.over(m.by.life, m.wall, got), last.wall) > 2*outlives
}

// woke reports whether the receiver, which writes down all that it does, may have woken just before the receipt, so
// that the message had come long before.
func (l *link) woke(got *receipt) bool {
	by := l.to.at(got.wall, nil)
	return by != nil && by.debug && by.wokeBefore(got.wall, nil)
}

// over returns when the process had ended that sent a message by the given time, as far as that matters to the receipt:
// it may have written nothing for a while until the next one began. That does not matter if the message would have been
// on its way for too long.
func (l *link) over(by *life, sent time.Time, got *receipt) time.Time {
	if by.next == nil || l.lateSince(sent, got) > maxTransit {
		return by.until
	}
	return latest(by.until, by.next.from)
}

// late returns how much longer the message seems to have taken than fast messages of the link.
func (l *link) late(m *post, got *receipt) time.Duration { return l.lateSince(m.wall, got) }

// lateSince returns the same of a message that was sent then.
func (l *link) lateSince(sent time.Time, got *receipt) time.Duration {
	if !l.known() {
		return 0
	}
	return elapsed(sent, got.wall) - l.quarter
}
