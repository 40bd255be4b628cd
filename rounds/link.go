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
}

const (
	// mostTook is how many times a link keeps.
	mostTook = 256
	// alike is how far the times may differ that messages of one link seem to take.
	alike = time.Minute
)

// learn notes what one pair tells of its link, or that it may be so.
func (g *group) learn(e *entry, got *receipt) {
	p := g.pairing
	key := got.way()
	l := p.links[key]
	if l == nil {
		l = &link{}
		p.links[key] = l
	}
	times := &l.took
	if g.others(e, got) < certain {
		times = &l.rough
	}
	if len(*times) < mostTook {
		*times = append(*times, got.wall.Sub(e.Wall))
	}
}

// full reports whether enough messages of the link are known.
func (l *link) full() bool { return l != nil && len(l.took) == mostTook }

// settle ends the learning.
func (l *link) settle() {
	if len(l.took) > 0 {
		slices.Sort(l.took)
		l.fastest = l.took[0]
		return
	}
	l.took = l.rough
	slices.Sort(l.took)
	few, quarter, half := len(l.took) < 3, l.took[len(l.took)/4], l.took[len(l.took)/2]
	l.fastest, l.vague = quarter, few || half-quarter > maxTransit
}

// prompt returns those of the messages that were not sent only after the receipt; all of them if each was.
func (l *link) prompt(sent []post, got *receipt) []post {
	after := func(m post) bool { return l.late(m.by, got) < -maxTransit/2 }
	if len(sent) < 2 || !slices.ContainsFunc(sent, after) { // nearly always
		return sent
	}
	if prompt := slices.DeleteFunc(slices.Clone(sent), after); len(prompt) > 0 {
		return prompt
	}
	return sent
}

// slow reports whether the message of e and fast ones in the other direction seem to have taken long together, whatever
// the clocks show. This tells more than late does where one message was sent alone.
func (p *pairing) slow(e *entry, got *receipt) bool {
	back := p.links[[2]uint64{got.to, got.from}]
	return back != nil && got.wall.Sub(e.Wall)+back.took[len(back.took)/4] > maxTransit
}

// ordered reports whether the receipt is after its send by the hybrid clock, if that showed so many µs at the send. A
// node follows no hybrid clock that is ahead of its own clock by more than proto.MaxHLCSkew.
func (got *receipt) ordered(micros int64) bool {
	return micros < got.wall.Add(proto.MaxHLCSkew-maxTransit).UnixMicro()
}

// fitsClock reports whether the receipt may be of a message of e, by the hybrid clock.
func fitsClock(e *entry, got *receipt) bool {
	return e.clock.IsZero() || got.clock.IsZero() || e.clock.Compare(got.clock) <= 0 || !got.ordered(e.clock.Micros)
}

// fits reports whether the receipt may be of the message that e sent, if it may be by the hybrid clock.
func (l *link) fits(e *entry, got *receipt) bool {
	if e.clock.IsZero() || got.clock.IsZero() {
		return true
	}
	late := l.late(e, got)
	return late >= -maxTransit && (late <= alike || got.ordered(e.clock.Micros))
}

// proves reports whether the receipt certainly is after e, which the hybrid clock does not tell if the receiver's
// clock is ahead.
func (l *link) proves(e *entry, got *receipt) bool {
	if !got.ordered(e.clock.Micros) {
		return false
	}
	near := l == nil || l.took[len(l.took)/4].Abs() < maxTransit
	return near || !l.vague && l.late(e, got) > -outlives
}

// passed reports whether the receipt is too late for a message that another process sent in e, so that it is of last:
// its message would not be faster than any that is known, or its process began long after the one of e had ended.
func (l *link) passed(e, last *entry, got *receipt) bool {
	return l != nil && (got.wall.Sub(last.Wall) >= l.fastest || last.Wall.Sub(e.life.until) > 2*outlives)
}

// late returns how much longer the message of e seems to have taken than fast messages of the link.
func (l *link) late(e *entry, got *receipt) time.Duration {
	if l == nil {
		return 0
	}
	return got.wall.Sub(e.Wall) - l.took[len(l.took)/4]
}
