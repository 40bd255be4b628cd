package rounds

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/ringleader-dev/ringleader/proto"
)

// sure says how well a pair is known.
type sure int

const (
	notSure sure = iota // several messages may be meant
	guess               // records of other processes are missing, and hybrid clocks do not tell
	likely              // other messages with this id were received already, or are too old
	certain             // no other message has this id
)

// unwritten is how long a process may send messages before its first record of level info.
const unwritten = 2 * time.Second

// sender returns the message of a receipt, nil if none seems to be it, and how sure that is. Where several processes
// sent such a message, it is the last one, if the others were received already or were sent too long before. The
// connections of a process end with it.
func (g *group) sender(got *arrival) (last *post, how sure) {
	if got.sender != "" {
		return got.only(), certain
	}
	l := got.link
	others := got.doubtOthers()
	fits := got.prompt()
	how = certain
	for i := range got.around {
		if m := &got.around[i]; fits.has(i) && (last == nil || last.wall.Before(m.wall)) {
			last = m
		}
	}
	if last == nil {
		return nil, certain
	}
	for i := range got.around {
		switch m := &got.around[i]; {
		case !fits.has(i) || m.by == last.by:
		case !l.proves(last, &got.receipt), !l.tooLate(m, last, &got.receipt):
			how = notSure
		case elapsed(l.over(m.by.life, m.wall, &got.receipt), last.wall) > outlives:
			how = min(how, likely)
			m.unsure = m.unsure || !m.received
		default:
			how = notSure
		}
	}
	proves := l.proves(last, &got.receipt)
	if !got.ordered(last.clock.Micros) {
		proves = l.known() && !l.vague
	}
	if how = min(how, g.others(last.by, got)); how < certain && !proves {
		how = notSure
	}
	if ended := last.by.life.until.Add(outlives); l.late(last, &got.receipt) > outlives &&
		(ended.UnixMicro() < got.clock.Micros || ended.Before(got.wall.Add(-l.quarter))) {
		how = notSure // the sender's log ends before: a later process may have sent it
	}
	if elapsed(last.wall, got.wall) < l.half && g.pairing.early(got, last.by) {
		how = notSure // it was too fast for a process that had just begun: a former one sent it
	}
	if how == likely && l.known() && elapsed(last.wall, got.wall) < l.fastest && l.woke(&got.receipt) {
		how = notSure // it would be the fastest one of all, and may be of a former process: the receiver slept
	}
	if got.fits&got.later != 0 || others && (l.vague || l.few()) {
		how = notSure // it may be the pair by which the link is known that is wrong, or slow
	}
	if how < likely {
		got.doubt()
	}
	return last, how
}

// doubt notes that each message that fits may be that of the receipt, also those that do not seem prompt.
func (got *arrival) doubt() {
	for i := range got.around {
		if got.fits.has(i) {
			got.around[i].unsure = true
		}
	}
}

// doubtOthers notes that the receipt may be of a message that fits by the hybrid clock alone, and reports whether there
// is one.
func (got *arrival) doubtOthers() (any bool) {
	for i := range got.around {
		if got.near.has(i) && !got.fits.has(i) {
			got.around[i].unsure, any = true, true
		}
	}
	return any
}

// others says how sure it is that no other process than that of e sent the message, in a record that is not kept or is
// missing.
func (g *group) others(e *entry, got *arrival) (how sure) {
	how = certain
	if got.sender != "" {
		return how
	}
	senders := got.link.from.senders
	if !got.link.whole && got.loose(e) {
		how = guess // an earlier process may have sent it
	}
	if len(senders) == 1 { // nearly always
		return how
	}
	at := e.life.earlier
	first, byNumber := max(0, at-neighbours), false
	for _, l := range senders[first:min(len(senders), at+neighbours+1)] {
		if l == e.life || how == notSure {
			continue
		}
		doubt := g.didNotSend(l, e, got)
		if doubt < certain && g.numbered(got, l) { // that one, if it was to this node, is known
			doubt, byNumber = certain, true
		}
		how = min(how, doubt)
	}
	mayHave := func(l *life) bool { return !l.passed(got.n) && !g.numbered(got, l) }
	if byNumber && how == certain && slices.ContainsFunc(senders[:first], mayHave) {
		return likely
	}
	return how
}

// didNotSend says how sure it is that the process l did not send the message in a record that is not kept or is
// missing, if e seems to have sent it. A process may have written its last record long before it ended.
func (g *group) didNotSend(l *life, e *entry, got *arrival) (how sure) {
	quietly := l.sentQuietly(got.n)
	if !quietly && l.passed(got.n) || l.first() == 1 && g.beganLater(l, e, got) {
		return certain
	}
	before := l.earlier < e.life.earlier
	over := before && elapsed(g.overBy(l, got), e.Wall) > outlives
	switch {
	case !quietly && l.debug && l.complete() && (over || !before): // but its last records may be missing
		how = certain
		if before && (!got.ordered(e.clock.Micros) || got.link.from.former && got.loose(e)) {
			how = likely
		}
	case !quietly && !got.ordered(e.clock.Micros):
		how = guess
	case over:
		how = likely
	}
	return how
}

// overBy returns when the process before another one of its node had ended, by its own word or since that began: as far
// as that matters to the receipt, as over does.
func (g *group) overBy(l *life, got *arrival) time.Time {
	if bye := g.goodbye(l); bye != nil {
		return bye.Time
	}
	return got.link.over(l, l.sentBy(got.n), &got.receipt)
}

// passed reports whether the process wrote down all that it sent, and came to the number of a message.
func (l *life) passed(n uint64) bool { return l.debug && !l.text && l.complete() && n <= l.numbered }

// noteHidden notes the nodes of which others received a message that no record sent, though a message of the last
// process to another one has its number: a former process sent it, in records that are lost. That process is in no log
// if each one that is there wrote down all that it sent, and came to that number. So is one of which only a proof that
// it ended tells.
func (g *group) noteHidden() {
	if g.past != nil && len(g.past.built) > 0 {
		return // what was sent then is no longer here
	}
	for _, m := range g.nodes {
		m.hidden, m.former = false, false
	}
	for _, m := range g.nodes {
		for _, l := range m.lives {
			g.noteProven(l)
		}
	}
	for i := range g.pairing.arrivals {
		got := &g.pairing.arrivals[i]
		m := g.nodes[got.from]
		if m == nil || len(m.lives) == 0 || m.hidden && m.former || got.n == 0 || !g.unsent(got) ||
			m.byIncarnation[got.sender] != nil { // in a record of it that is missing
			continue
		}
		m.former = m.former || g.numbered(got, m.lives[len(m.lives)-1])
		m.hidden = m.hidden || !slices.ContainsFunc(m.lives, func(l *life) bool { return !l.passed(got.n) })
	}
}

// noteProven notes the nodes of which the process proved that a process has ended that is in no log.
func (g *group) noteProven(l *life) {
	for i := range l.happenings {
		h := &l.happenings[i]
		m := g.nodes[h.about]
		_, incarnation, named := strings.Cut(h.detail, " ")
		if h.event != "gone" || !named || m == nil || m.byIncarnation[incarnation] != nil {
			continue
		}
		_, greeted := g.ups.at[Ref{Node: h.about, Incarnation: incarnation}]
		m.hidden = m.hidden || !greeted
	}
}

// numbered reports whether a record shows the message of the process with the number of the receipt: one to another
// node with records, or one of those that may be the message.
func (g *group) numbered(got *arrival, l *life) bool {
	for i := range got.around {
		if got.around[i].by.life == l {
			return true
		}
	}
	i, _ := slices.BinarySearchFunc(l.sent, got.n, func(s sending, n uint64) int { return cmp.Compare(s.n, n) })
	for ; i < len(l.sent) && l.sent[i].n == got.n; i++ {
		if to := l.sent[i].to; to != got.to && g.nodes[to] != nil {
			return true
		}
	}
	return false
}

// surelyWhole reports whether the log of the node begins with its first process. That nothing was saved then does not
// tell it where others received messages of a process that is not there: the node may have lost its disk.
func (m *member) surelyWhole() bool { return m.lives[0].surelyFirst() && !m.hidden }

// beganLater reports whether hybrid clocks show that the process of the sender began after the receipt, if e did not
// send that message.
func (g *group) beganLater(l *life, e *entry, got *arrival) bool {
	began := l.from.UnixMicro()
	if began <= got.clock.Micros { // nearly always
		return false
	}
	if !l.started { // but not as soon as a message takes
		began = min(began, max(began-unwritten.Microseconds(), e.Wall.Add(outlives).UnixMicro()))
	}
	return began > got.clock.Micros && got.ordered(began+g.pairing.lead(got.from))
}

// loose reports whether hybrid clocks leave open that the message came before e: the receiver does not follow the clock
// of the sender, or the sender does not follow that of the receiver, or had not heard of it yet.
func (got *arrival) loose(e *entry) bool {
	return !got.ordered(e.clock.Micros) || elapsed(e.Wall, got.wall) > proto.MaxHLCSkew-maxTransit ||
		got.clock.Micros-e.clock.Micros > alike.Microseconds()
}

// early reports whether the message seems to have come when one of a process before that of e still might, whose last
// records may not be here. Where logs are cut, another one may have been before a process that began with nothing
// saved, too: a disk may be lost.
func (p *pairing) early(got *arrival, e *entry) bool {
	l := got.link
	if !l.known() || !got.loose(e) || e.life.earlier == 0 && !p.cut {
		return false
	}
	return got.wall.Add(-l.quarter).Before(e.life.from.Add(outlives))
}

// lead returns by how many µs the hybrid clock of the node was ahead of its own clock at most, since it follows the
// clocks of others: by the records of which a message is known.
func (p *pairing) lead(node uint64) int64 {
	if p.leads == nil {
		p.leads = map[uint64]int64{}
		note := func(node uint64, clock proto.HLC, wall time.Time) {
			if ahead := clock.Micros - wall.UnixMicro(); ahead > p.leads[node] {
				p.leads[node] = ahead
			}
		}
		for key, at := range p.mails { // not by the entries, whose rounds may be over
			for _, m := range p.posts[p.places[at].from:p.places[at].end] {
				note(key.from, m.clock, m.wall)
			}
		}
		for i := range p.arrivals {
			note(p.arrivals[i].to, p.arrivals[i].clock, p.arrivals[i].wall)
		}
	}
	return p.leads[node]
}
