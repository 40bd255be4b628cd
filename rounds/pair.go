package rounds

import (
	"math/bits"
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
	posts    []post       // what all entries sent: the same mail together, by the hybrid clocks of the entries
	mails    map[mail]int // for each mail, the index in places
	places   []place      // in posts
	arrivals []arrival    // by terms
	links    map[[2]uint64]*link
	leads    map[uint64]int64 // see lead, nil until it is asked for
	cut      bool             // some log does not begin with the first process of its node
}

// mail is what all messages have in common that may have the same id, from one node to another.
type mail struct{ from, to, n uint64 }

// place is a part of posts, from one index to the one before another.
type place struct{ from, end int }

// post is a message, and the entry that sent it.
type post struct {
	*sentMessage
	by    *entry
	clock proto.HLC // of by, and so is wall
	wall  time.Time
}

// arrival is the receipt of a message.
type arrival struct {
	receipt
	e      *entry // that received it, nil if its record is not kept
	link   *link
	sent   int    // how many messages have its mail
	around []post // those of them around its time
	near   some   // those of around that may be it by the hybrid clock
	fits   some   // those of near that may be it by what is known of the link, too
}

// some is a set of indexes in arrival.around.
type some uint8

func (s some) has(i int) bool { return s&(1<<i) != 0 }

func (s some) several() bool { return s&(s-1) != 0 }

const (
	// neighbours is how many processes before and after a time are considered at most: both together are as many as a
	// set of some has places.
	neighbours = 4
	// outlives is how long after the last record of a process its messages may still come to others.
	outlives = 100 * time.Millisecond
)

// pair pairs the receipts of all terms, and notes how long their messages took.
func (g *group) pair(terms []uint64) {
	p := g.pairing.again()
	g.pairing = p
	for _, m := range g.nodes {
		p.cut = p.cut || len(m.lives) > 0 && !m.lives[0].surelyFirst()
	}
	p.index(terms, g.open)
	for _, term := range terms {
		g.collect(g.open[term])
	}
	for i := range p.arrivals {
		got := &p.arrivals[i]
		if got.link.full() { // nearly always
			continue
		}
		if by := got.only(); by != nil {
			g.learn(by, got)
		}
	}
	for _, l := range p.links {
		l.settle()
	}
	for i := range p.arrivals {
		p.arrivals[i].fit()
	}
	for i := range p.arrivals {
		g.attach(&p.arrivals[i])
	}
	for way, l := range p.links {
		told := &l.told
		if !told.doubtful.known {
			told = &l.early
		}
		told.certain.addTo(g.delays, way)
		told.doubtful.addTo(g.doubtful, way)
	}
}

// attach notes for a receipt and the entry that sent the message that they belong together.
func (g *group) attach(got *arrival) {
	by, how := g.sender(got)
	e := got.e
	if by != nil && (e == nil || !e.life.text) {
		g.sample(got, by, how)
	}
	if by == nil || how < likely {
		by = nil
	}
	if e != nil {
		e.cause, e.unsure = by, how < likely
	}
	if by != nil && (e == nil || by.log != e.log) {
		by.elsewhere = append(by.elsewhere, got.receipt)
	}
}

// unpair takes apart the pairs whose messages came before they were sent, by what the certain pairs tell of the clocks
// where all pairs contradict each other, and those whose messages outlived their sender.
func (g *group) unpair(contradict bool) {
	for i := range g.pairing.arrivals {
		got := &g.pairing.arrivals[i]
		if got.e != nil && got.e.life.text {
			continue
		}
		for i, m := range got.around {
			late := g.outlived(&m, got)
			early := contradict && g.paths.before(got.wall, m.by.Wall, got.to, got.from)
			if !got.fits.has(i) || !late && !early {
				continue
			}
			m.unsure = m.unsure || late
			if got.e != nil && got.e.cause == m.by {
				got.e.cause, got.e.unsure = nil, late || got.fits.several()
			}
			m.by.elsewhere = slices.DeleteFunc(m.by.elsewhere, func(other receipt) bool { return other == got.receipt })
		}
	}
}

// outlived reports whether the log of the sender may end before the message came, and a process after that of m may
// have sent it: that had begun, so that the connections of the former had ended, or m was sent long before, and the
// receiver had not slept since.
func (g *group) outlived(m *post, got *arrival) bool {
	off, at := g.apart(got.from, got.to), g.fix.at(got.to, got.wall)
	last := got.link.lives[len(got.link.lives)-1]
	if off == unbounded || !g.fix.at(got.from, last.until).Before(at.Add(off)) {
		return false
	}
	if next := m.by.life.next; next != nil && at.Sub(g.fix.at(got.from, next.from)) > outlives+off {
		return true
	}
	sent, by := g.fix.at(got.from, m.wall), g.nodes[got.to].at(at, g.fix)
	slept := by != nil && by.wokeBefore(at, g.fix) && !g.fix.at(got.to, by.from).After(sent)
	return at.Sub(sent) > maxTransit+off && !slept
}

// sample notes how long the message of e seems to have taken.
func (g *group) sample(got *arrival, e *entry, how sure) {
	if how == notSure {
		return
	}
	told := &got.link.told
	if g.pairing.early(got, e) {
		told = &got.link.early
	}
	told.doubtful.sample(e.Wall, got.wall)
	if how == certain {
		told.certain.sample(e.Wall, got.wall)
	}
}

// again returns an empty pairing with the memory of p, which may be nil.
func (p *pairing) again() *pairing {
	if p == nil {
		p = &pairing{mails: map[mail]int{}}
	}
	clear(p.mails)
	clear(p.posts) // so that built rounds can be freed
	clear(p.arrivals)
	return &pairing{
		posts: p.posts[:0], mails: p.mails, places: p.places[:0], arrivals: p.arrivals[:0],
		links: map[[2]uint64]*link{},
	}
}

// index finds what the entries of the terms sent.
func (p *pairing) index(terms []uint64, open map[uint64]*log) {
	for _, term := range terms {
		for _, e := range open[term].entries {
			e.elsewhere = e.elsewhere[:0]
			for i := range e.sent {
				m := &e.sent[i]
				m.received, m.unsure = false, false
				key := mail{e.Ref.Node, m.to, m.n}
				at, known := p.mails[key]
				if !known {
					at = len(p.places)
					p.mails[key] = at
					p.places = append(p.places, place{})
				}
				p.places[at].end++ // as a count
				m.place = at
			}
		}
	}
	sent := 0
	for i, at := range p.places {
		p.places[i] = place{sent, sent}
		sent += at.end
	}
	p.posts = slices.Grow(p.posts, sent)[:sent]
	for _, term := range terms {
		for _, e := range open[term].entries {
			for i := range e.sent {
				at := &p.places[e.sent[i].place]
				p.posts[at.end] = post{&e.sent[i], e, e.clock, e.Wall}
				at.end++
			}
		}
	}
	for _, at := range p.places {
		if same := p.posts[at.from:at.end]; !slices.IsSortedFunc(same, byHybridClock) {
			slices.SortStableFunc(same, byHybridClock)
		}
	}
}

func byHybridClock(a, b post) int {
	if order := a.clock.Compare(b.clock); order != 0 { // nearly always
		return order
	}
	return a.wall.Compare(b.wall)
}

// collect finds the receipts of the term, and the messages that have their mail.
func (g *group) collect(t *log) {
	for _, e := range t.entries {
		if e.msgID != "" {
			g.arrive(receipt{e.msgID, e.msg, e.number, e.from, e.Ref.Node, e.clock, e.Wall}, e)
		}
	}
	for _, got := range t.folded {
		g.arrive(got, nil)
	}
}

// arrive adds a receipt. Of very many processes that sent such a message, it considers those around its time.
func (g *group) arrive(got receipt, e *entry) {
	p := g.pairing
	same := p.same(&got)
	sent := len(same)
	if sent > 2*neighbours {
		at, _ := slices.BinarySearchFunc(same, got.clock, func(m post, clock proto.HLC) int {
			return m.clock.Compare(clock)
		})
		same = same[max(0, at-neighbours):min(sent, at+neighbours)]
	}
	near := some(0)
	for i := range same {
		if m := &same[i]; m.fitsClock(&got) && m.may(&got) && !p.caused(e, m) {
			near |= 1 << i
		}
	}
	p.arrivals = append(p.arrivals, arrival{got, e, g.link(got.way()), sent, same, near, 0})
}

// caused reports whether m was sent in answer to what the entry e sent, so that e did not receive it. Where the two
// nodes follow each other's hybrid clocks, these tell it.
func (p *pairing) caused(e *entry, m *post) bool {
	if e == nil || m.by.number == 0 || m.by.from != e.Ref.Node {
		return false
	}
	if follows(m.by.Wall, e.clock.Micros) && follows(e.Wall, m.clock.Micros) { // nearly always
		return false
	}
	at, known := p.mails[mail{e.Ref.Node, m.by.Ref.Node, m.by.number}]
	return known && p.places[at].end-p.places[at].from == 1 && p.posts[p.places[at].from].by == e
}

// same returns the messages with the mail of the receipt.
func (p *pairing) same(got *receipt) []post {
	at, known := p.mails[mail{got.from, got.to, got.n}]
	if !known {
		return nil
	}
	return p.posts[p.places[at].from:p.places[at].end]
}

// may reports whether m may be the message of a receipt with the same mail.
func (m *post) may(got *receipt) bool {
	return (got.kind == "" || m.kind == got.kind) && (m.n > 0 || m.id == got.id)
}

// only returns the one entry that may have sent the message by the hybrid clock, nil if there are several.
func (got *arrival) only() *entry {
	if got.near == 0 || got.near.several() {
		return nil
	}
	return got.around[bits.TrailingZeros8(uint8(got.near))].by
}

// fit finds which messages the receipt may be of.
func (got *arrival) fit() {
	for i := range got.around {
		if got.near.has(i) && got.link.fits(&got.around[i], &got.receipt) {
			got.fits |= 1 << i
		}
	}
	if got.sent > 1 && got.fits != 0 && !got.fits.several() {
		got.around[bits.TrailingZeros8(uint8(got.fits))].received = true
	}
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
func (g *group) sender(got *arrival) (by *entry, how sure) {
	l := got.link
	var last *post
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
		case !l.proves(last, &got.receipt), !l.passed(m, last, &got.receipt):
			how = notSure
		case m.received:
			how = min(how, likely)
		case last.wall.Sub(m.by.life.until) > outlives:
			how = min(how, likely)
			m.unsure = true
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
	if l.late(last, &got.receipt) > outlives && last.by.life.until.Add(outlives).UnixMicro() < got.clock.Micros {
		how = notSure // the sender's log ends before: a later process may have sent it
	}
	if got.wall.Sub(last.wall) < l.half && g.pairing.early(got, last.by) {
		how = notSure // it was too fast for a process that had just begun: a former one sent it
	}
	if others && l.vague {
		how = notSure // it may be the pair by which the link is known that is wrong
	}
	for i := range got.around {
		if how < likely && got.fits.has(i) { // also those that do not seem prompt
			got.around[i].unsure = true
		}
	}
	return last.by, how
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
	lives := got.link.lives
	how = certain
	if !lives[0].surelyFirst() && got.loose(e) {
		how = guess // an earlier process may have sent it
	}
	if len(lives) == 1 { // nearly always
		return how
	}
	n := got.n
	at := got.link.before(e.life)
	for _, l := range lives[max(0, at-neighbours):min(len(lives), at+neighbours+1)] {
		_, sent := slices.BinarySearchFunc(l.quiet, n, compareSpan)
		switch {
		case l == e.life || !sent && l.debug && l.complete():
		case l.from.UnixMicro() > got.clock.Micros && got.ordered(l.from.UnixMicro()+g.pairing.lead(got.from)):
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

// loose reports whether hybrid clocks leave open that the message came before e: the receiver does not follow the clock
// of the sender, or the sender does not follow that of the receiver, or had not heard of it yet.
func (got *arrival) loose(e *entry) bool {
	return !got.ordered(e.clock.Micros) || got.wall.Sub(e.Wall) > proto.MaxHLCSkew-maxTransit ||
		got.clock.Micros-e.clock.Micros > alike.Microseconds()
}

// early reports whether the message seems to have come when one of a process before that of e still might, which was
// sent in a record that is not here. Where logs are cut, another one may have been before a process that began with
// nothing saved, too: a disk may be lost.
func (p *pairing) early(got *arrival, e *entry) bool {
	l := got.link
	if !l.known() || !got.loose(e) {
		return false
	}
	var ended time.Time // the last process that may have sent the other
	if p.cut {
		ended = l.lives[0].from
	}
	at, next := l.before(e.life), e.life
	for _, other := range slices.Backward(l.lives[max(0, at-neighbours):at]) {
		if !other.debug || !other.complete() {
			ended = next.from
			break
		}
		next = other
	}
	return got.wall.Add(-l.quarter).Before(ended.Add(outlives))
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
		for _, m := range p.posts {
			note(m.by.Ref.Node, m.by.clock, m.by.Wall)
		}
		for i := range p.arrivals {
			note(p.arrivals[i].to, p.arrivals[i].clock, p.arrivals[i].wall)
		}
	}
	return p.leads[node]
}

// numberOf returns the number of the message with the id "from:number", 0 if it has none.
func numberOf(id string) uint64 {
	_, number, ok := strings.Cut(id, ":")
	if !ok {
		return 0 // and no error, which takes memory
	}
	n, _ := strconv.ParseUint(number, 10, 64)
	return n
}
