package rounds

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ringleader-dev/ringleader/proto"
)

// pairing finds for each receipt the entry that sent the message. A message of one term may be received by a node
// that is in another one. Message ids begin anew with each process of a node, so several entries may have sent
// messages with the same id, and the right one may be missing.
type pairing struct {
	// all has what all entries sent, the same mail together, by the hybrid clocks of the entries; by has just these
	// entries. senders says which of them sent each mail.
	all     []post
	by      []*entry
	senders map[mail]within
	links   map[[2]uint64]*link
	// Of the messages whose ids several processes used: received has those that a receipt is certainly of, unsure those
	// that a receipt may be of.
	received, unsure map[sending]bool
}

// mail is what all messages have in common that may have the same id, from one node to another.
type mail struct{ from, to, n uint64 }

// post is a message that an entry sent.
type post struct {
	mail
	kind, id string
	clock    proto.HLC
	by       *entry
}

// is reports whether it may be the message of a receipt with the same mail.
func (m *post) is(got receipt) bool {
	return (got.kind == "" || m.kind == got.kind) && (m.n > 0 || m.id == got.id)
}

// within is a part of a list: from one index to the one before another.
type within struct{ from, end int }

// sending is a message of an entry, by its number.
type sending struct {
	by    *entry
	n, to uint64
}

// link is what single pairs tell of all messages from one node to another: how long they seem to have taken. Where
// hybrid clocks prove nothing (see ordered), these times still are similar.
type link struct {
	took []time.Duration
	// rough has those of pairs that are less certain. They count if took is empty.
	rough []time.Duration
}

const (
	// mostTook is how many times a link keeps.
	mostTook = 256
	// alike is how far the times may differ that messages of one link seem to take.
	alike = time.Minute
	// neighbours is how many processes before and after a time are considered at most.
	neighbours = 4
	// outlives is how long after the last record of a process its messages may still come to others.
	outlives = 100 * time.Millisecond
)

// pair pairs the receipts of all terms, and notes how long their messages took.
func (g *group) pair(terms []uint64) {
	p := g.pairing.again()
	g.pairing = p
	for _, term := range terms {
		p.index(g.open[term])
	}
	p.sort()
	for _, term := range terms {
		for got := range g.open[term].receipts {
			if p.links[[2]uint64{got.from, got.to}].full() { // nearly always
				continue
			}
			if by := p.candidates(got); len(by) == 1 {
				g.learn(by[0], got)
			}
		}
	}
	for _, l := range p.links {
		if len(l.took) == 0 {
			l.took = l.rough
		}
		slices.Sort(l.took)
	}
	for _, term := range terms {
		for got := range g.open[term].receipts {
			if p.sent(got) < 2 { // nearly always
				continue
			}
			if fitting := p.fitting(got); len(fitting) == 1 {
				p.received[sending{fitting[0], got.n, got.to}] = true
			}
		}
	}
	for _, term := range terms {
		g.pairTerm(g.open[term])
	}
}

// pairTerm pairs the receipts of one term.
func (g *group) pairTerm(t *log) {
	for _, e := range t.entries {
		if e.msgID == "" {
			continue
		}
		got := e.receipt()
		by, how := g.sender(got)
		if by != nil && !e.life.text {
			g.sample(by, got, how)
		}
		if e.cause, e.unsure = by, how < likely; e.unsure {
			e.cause = nil
		}
		if e.cause == nil {
			continue
		}
		if e.cause.log != t {
			e.cause.elsewhere = append(e.cause.elsewhere, got)
		}
	}
	for _, got := range t.folded {
		e, how := g.sender(got)
		if e != nil {
			g.sample(e, got, how)
		}
		if how >= likely && e != nil {
			e.elsewhere = append(e.elsewhere, got)
		}
	}
}

// sample notes how long the message of e seems to have taken.
func (g *group) sample(e *entry, got receipt, how sure) {
	if how > notSure {
		g.doubtful.sample(got.from, got.to, e.Wall, got.wall)
	}
	if how == certain {
		g.delays.sample(got.from, got.to, e.Wall, got.wall)
	}
}

// again returns an empty pairing with the memory of p, which may be nil.
func (p *pairing) again() *pairing {
	if p == nil {
		p = &pairing{senders: map[mail]within{}}
	}
	clear(p.senders)
	clear(p.all) // so that built rounds can be freed
	clear(p.by)
	return &pairing{
		senders: p.senders, all: p.all[:0], by: p.by[:0],
		links: map[[2]uint64]*link{}, received: map[sending]bool{}, unsure: map[sending]bool{},
	}
}

// index notes which entry sent which message.
func (p *pairing) index(t *log) {
	for _, e := range t.entries {
		e.elsewhere = e.elsewhere[:0]
		for _, m := range e.sent {
			p.all = append(p.all, post{mail{e.Ref.Node, m.to, m.n}, m.kind, m.id, e.clock, e})
		}
	}
}

// sort finds the entries that sent each message.
func (p *pairing) sort() {
	slices.SortFunc(p.all, func(a, b post) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to), cmp.Compare(a.n, b.n),
			a.clock.Compare(b.clock), a.by.Wall.Compare(b.by.Wall))
	})
	for _, m := range p.all {
		p.by = append(p.by, m.by)
	}
	for i := 0; i < len(p.all); {
		end := i + 1
		for end < len(p.all) && p.all[end].mail == p.all[i].mail {
			end++
		}
		p.senders[p.all[i].mail] = within{i, end}
		i = end
	}
}

// receipts yields the receipts of the term.
func (t *log) receipts(yield func(receipt) bool) {
	for _, e := range t.entries {
		if e.msgID != "" && !yield(e.receipt()) {
			return
		}
	}
	for _, got := range t.folded {
		if !yield(got) {
			return
		}
	}
}

func (e *entry) receipt() receipt {
	return receipt{e.msgID, e.msg, e.number, e.from, e.Ref.Node, e.clock, e.Wall}
}

func (got receipt) mail() mail { return mail{got.from, got.to, got.n} }

// sent counts the entries that sent a message with the mail of the receipt.
func (p *pairing) sent(got receipt) int {
	in := p.senders[got.mail()]
	return in.end - in.from
}

// candidates returns the entries that sent a message of that kind with that id from the sender to the receiver; of
// very many processes, those around the time of the receipt.
func (p *pairing) candidates(got receipt) []*entry {
	in := p.senders[got.mail()]
	all := p.all[in.from:in.end]
	if len(all) > 2*neighbours {
		at, _ := slices.BinarySearchFunc(all, got.clock, func(m post, clock proto.HLC) int {
			return m.clock.Compare(clock)
		})
		in = within{in.from + max(0, at-neighbours), in.from + min(len(all), at+neighbours)}
		all = p.all[in.from:in.end]
	}
	for i := range all {
		if !all[i].is(got) {
			return some(all, got)
		}
	}
	return p.by[in.from:in.end:in.end] // nearly always
}

// some returns the entries whose messages may be that of the receipt.
func some(all []post, got receipt) (by []*entry) {
	for i := range all {
		if all[i].is(got) {
			by = append(by, all[i].by)
		}
	}
	return by
}

// learn notes what one pair tells of its link, or that it may be so.
func (g *group) learn(e *entry, got receipt) {
	if !fitsClock(e, got) {
		return
	}
	p := g.pairing
	key := [2]uint64{got.from, got.to}
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

// fitting returns the entries that may have sent the message of a receipt.
func (p *pairing) fitting(got receipt) []*entry {
	l := p.links[[2]uint64{got.from, got.to}]
	all := p.candidates(got)
	if !slices.ContainsFunc(all, func(e *entry) bool { return !l.fits(e, got) }) {
		return all
	}
	return slices.DeleteFunc(slices.Clone(all), func(e *entry) bool { return !l.fits(e, got) })
}

// sure says how well a pair is known.
type sure int

const (
	notSure sure = iota // several messages may be meant
	guess               // records of other processes are missing, and hybrid clocks do not tell
	likely              // other messages with this id were received already, or are too old
	certain             // no other message has this id
)

// sender returns the entry that sent the message of a receipt, nil if none is known to have. Where several processes
// sent such a message, it is the last one, if the others were received already or were sent too long before. The
// connections of a process end with it.
func (g *group) sender(got receipt) (last *entry, how sure) {
	p, l := g.pairing, g.pairing.links[[2]uint64{got.from, got.to}]
	fitting := p.fitting(got)
	p.doubtOthers(fitting, got)
	if len(fitting) == 0 {
		return nil, certain
	}
	if len(fitting) > 1 {
		fitting = l.prompt(fitting, got)
	}
	how = certain
	for _, e := range fitting {
		if last == nil || last.Wall.Before(e.Wall) {
			last = e
		}
	}
	for _, e := range fitting {
		switch {
		case e == last:
		case !l.proves(last, got):
			how = notSure
		case p.received[sending{e, got.n, got.to}]:
			how = min(how, likely)
		case last.Wall.Sub(e.life.until) > outlives:
			how = min(how, likely)
			p.unsure[sending{e, got.n, got.to}] = true
		default:
			how = notSure
		}
	}
	if how = min(how, g.others(last, got)); how < certain && got.ordered(last.clock.Micros) && !l.proves(last, got) {
		how = notSure
	}
	slow := l.late(last, got) > outlives || p.slow(last, got)
	if slow && last.life.until.Add(outlives).UnixMicro() < got.clock.Micros {
		how = notSure // the sender's log ends before: a later process may have sent it
	}
	if how < likely {
		p.doubt(fitting, got)
	}
	return last, how
}

// prompt returns those of the entries that did not send the message only after its receipt; all of them if each did.
func (l *link) prompt(entries []*entry, got receipt) []*entry {
	after := func(e *entry) bool { return l.late(e, got) < -maxTransit/2 }
	if !slices.ContainsFunc(entries, after) { // nearly always
		return entries
	}
	if prompt := slices.DeleteFunc(slices.Clone(entries), after); len(prompt) > 0 {
		return prompt
	}
	return entries
}

// doubt notes that the receipt may be of a message of any of these entries.
func (p *pairing) doubt(entries []*entry, got receipt) {
	for _, e := range entries {
		p.unsure[sending{e, got.n, got.to}] = true
	}
}

// doubtOthers notes that the receipt may be of a message that fits by the hybrid clock alone.
func (p *pairing) doubtOthers(fitting []*entry, got receipt) {
	if p.sent(got) == len(fitting) { // nearly always
		return
	}
	for _, e := range p.candidates(got) {
		if fitsClock(e, got) && !slices.Contains(fitting, e) {
			p.unsure[sending{e, got.n, got.to}] = true
		}
	}
}

// slow reports whether the message of e and fast ones in the other direction seem to have taken long together, whatever
// the clocks show. This tells more than late does where one message was sent alone.
func (p *pairing) slow(e *entry, got receipt) bool {
	back := p.links[[2]uint64{got.to, got.from}]
	return back != nil && got.wall.Sub(e.Wall)+back.took[len(back.took)/4] > maxTransit
}

// others says how sure it is that no other process than that of e sent the message, in a record that is not kept or is
// missing.
func (g *group) others(e *entry, got receipt) (how sure) {
	lives := g.nodes[got.from].lives
	if len(lives) == 1 { // nearly always
		return certain
	}
	n := got.n
	how = certain
	for _, l := range lives[max(0, e.life.place-neighbours):min(len(lives), e.life.place+neighbours+1)] {
		_, sent := slices.BinarySearchFunc(l.quiet, n, compareSpan)
		switch {
		case l == e.life || !sent && l.debug && l.complete():
		case l.from.UnixMicro() > got.clock.Micros && got.ordered(l.from.UnixMicro()):
		case !sent && !got.ordered(e.clock.Micros):
			how = min(how, guess)
		case e.Wall.Sub(l.until) > outlives:
			how = min(how, likely)
		default:
			return notSure
		}
	}
	return how
}

// numberOf returns the number of the message with the id "from:number", 0 if it has none.
func numberOf(id string) uint64 {
	_, number, _ := strings.Cut(id, ":")
	n, _ := strconv.ParseUint(number, 10, 64)
	return n
}

// ordered reports whether the receipt is after its send by the hybrid clock, if that showed so many µs at the send. A
// node follows no hybrid clock that is ahead of its own clock by more than proto.MaxHLCSkew.
func (got receipt) ordered(micros int64) bool {
	return micros < got.wall.Add(proto.MaxHLCSkew-maxTransit).UnixMicro()
}

// fitsClock reports whether the receipt may be of a message of e, by the hybrid clock.
func fitsClock(e *entry, got receipt) bool {
	return e.clock.IsZero() || got.clock.IsZero() || e.clock.Compare(got.clock) <= 0 || !got.ordered(e.clock.Micros)
}

// fits reports whether the receipt may be of the message that e sent.
func (l *link) fits(e *entry, got receipt) bool {
	if e.clock.IsZero() || got.clock.IsZero() {
		return true
	}
	late := l.late(e, got)
	return fitsClock(e, got) && late >= -maxTransit && (late <= alike || got.ordered(e.clock.Micros))
}

// proves reports whether the receipt certainly is after e, which the hybrid clock does not tell if the receiver's
// clock is ahead.
func (l *link) proves(e *entry, got receipt) bool {
	if !got.ordered(e.clock.Micros) {
		return false
	}
	near := l == nil || l.took[len(l.took)/4].Abs() < maxTransit
	return near || l.late(e, got) > -outlives
}

// late returns how much longer the message of e seems to have taken than fast messages of the link.
func (l *link) late(e *entry, got receipt) time.Duration {
	if l == nil {
		return 0
	}
	return got.wall.Sub(e.Wall) - l.took[len(l.took)/4]
}
