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
	posts    []post       // what all entries sent: the same mail together, by the hybrid clocks of the entries
	mails    map[mail]int // for each mail, the index in places
	places   []place      // in posts
	arrivals []arrival    // by terms
	fits     []post       // memory for near and fits of the arrivals
	links    map[[2]uint64]*link
	leads    map[uint64]int64 // see lead, nil until it is asked for
}

// mail is what all messages have in common that may have the same id, from one node to another.
type mail struct{ from, to, n uint64 }

// place is a part of posts, from one index to the one before another.
type place struct{ from, end int }

// post is a message, and the entry that sent it.
type post struct {
	*sentMessage
	by *entry
}

// arrival is the receipt of a message.
type arrival struct {
	receipt
	e    *entry // that received it, nil if its record is not kept
	sent int    // how many messages have its mail
	near []post // those of them around its time that may be it by the hybrid clock
	fits []post // those of near that may be it by what is known of the link, too
}

const (
	// neighbours is how many processes before and after a time are considered at most.
	neighbours = 4
	// outlives is how long after the last record of a process its messages may still come to others.
	outlives = 100 * time.Millisecond
)

// pair pairs the receipts of all terms, and notes how long their messages took.
func (g *group) pair(terms []uint64) {
	p := g.pairing.again()
	g.pairing = p
	p.index(terms, g.open)
	for _, term := range terms {
		p.collect(g.open[term])
	}
	for i := range p.arrivals {
		got := &p.arrivals[i]
		if p.links[got.way()].full() { // nearly always
			continue
		}
		if by := got.only(); by != nil {
			g.learn(by, &got.receipt)
		}
	}
	for _, l := range p.links {
		l.settle()
	}
	for i := range p.arrivals {
		p.fit(&p.arrivals[i])
	}
	for i := range p.arrivals {
		g.attach(&p.arrivals[i])
	}
}

// attach notes for a receipt and the entry that sent the message that they belong together.
func (g *group) attach(got *arrival) {
	by, how := g.sender(got)
	e := got.e
	if by != nil && (e == nil || !e.life.text) {
		g.sample(by, got.receipt, how)
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

// unpair takes apart the pairs whose messages came before they were sent, by what the certain pairs tell of the clocks.
func (g *group) unpair() {
	for i := range g.pairing.arrivals {
		got := &g.pairing.arrivals[i]
		if got.e != nil && got.e.life.text {
			continue
		}
		for _, m := range got.fits {
			if !g.paths.before(got.wall, m.by.Wall, got.to, got.from) {
				continue
			}
			if got.e != nil && got.e.cause == m.by {
				got.e.cause, got.e.unsure = nil, len(got.fits) > 1
			}
			m.by.elsewhere = slices.DeleteFunc(m.by.elsewhere, func(other receipt) bool { return other == got.receipt })
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
		p = &pairing{mails: map[mail]int{}}
	}
	clear(p.mails)
	clear(p.posts) // so that built rounds can be freed
	clear(p.arrivals)
	clear(p.fits)
	return &pairing{
		posts: p.posts[:0], mails: p.mails, places: p.places[:0], arrivals: p.arrivals[:0], fits: p.fits[:0],
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
				p.posts[at.end] = post{&e.sent[i], e}
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
	return cmp.Or(a.by.clock.Compare(b.by.clock), a.by.Wall.Compare(b.by.Wall))
}

// collect finds the receipts of the term, and the messages that have their mail.
func (p *pairing) collect(t *log) {
	for _, e := range t.entries {
		if e.msgID != "" {
			p.arrive(receipt{e.msgID, e.msg, e.number, e.from, e.Ref.Node, e.clock, e.Wall}, e)
		}
	}
	for _, got := range t.folded {
		p.arrive(got, nil)
	}
}

// arrive adds a receipt. Of very many processes that sent such a message, it considers those around its time.
func (p *pairing) arrive(got receipt, e *entry) {
	same := p.same(&got)
	sent := len(same)
	if sent > 2*neighbours {
		at, _ := slices.BinarySearchFunc(same, got.clock, func(m post, clock proto.HLC) int {
			return m.by.clock.Compare(clock)
		})
		same = same[max(0, at-neighbours):min(sent, at+neighbours)]
	}
	near := p.those(same, func(m post) bool { return m.may(&got) && fitsClock(m.by, &got) })
	p.arrivals = append(p.arrivals, arrival{got, e, sent, near, nil})
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
func (m post) may(got *receipt) bool {
	return (got.kind == "" || m.kind == got.kind) && (m.n > 0 || m.id == got.id)
}

// those returns the posts of a list that fit.
func (p *pairing) those(list []post, fit func(post) bool) []post {
	if len(list) == 1 && fit(list[0]) { // nearly always
		return list
	}
	from := len(p.fits)
	for _, m := range list {
		if fit(m) {
			p.fits = append(p.fits, m)
		}
	}
	return p.fits[from:len(p.fits):len(p.fits)]
}

// only returns the one entry that may have sent the message by the hybrid clock, nil if there are several.
func (got *arrival) only() *entry {
	if len(got.near) != 1 {
		return nil
	}
	return got.near[0].by
}

// fit finds which messages the receipt may be of.
func (p *pairing) fit(got *arrival) {
	l := p.links[got.way()]
	got.fits = p.those(got.near, func(m post) bool { return l.fits(m.by, &got.receipt) })
	if got.sent > 1 && len(got.fits) == 1 {
		got.fits[0].received = true
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
func (g *group) sender(got *arrival) (last *entry, how sure) {
	p, l := g.pairing, g.pairing.links[got.way()]
	others := got.doubtOthers()
	fits := l.prompt(got.fits, &got.receipt)
	how = certain
	for _, m := range fits {
		if last == nil || last.Wall.Before(m.by.Wall) {
			last = m.by
		}
	}
	if last == nil {
		return nil, certain
	}
	for _, m := range fits {
		switch {
		case m.by == last:
		case !l.proves(last, &got.receipt), !l.passed(m.by, last, &got.receipt):
			how = notSure
		case m.received:
			how = min(how, likely)
		case last.Wall.Sub(m.by.life.until) > outlives:
			how = min(how, likely)
			m.unsure = true
		default:
			how = notSure
		}
	}
	proves := !got.ordered(last.clock.Micros) || l.proves(last, &got.receipt)
	if how = min(how, g.others(last, &got.receipt)); how < certain && !proves {
		how = notSure
	}
	slow := l.late(last, &got.receipt) > outlives || p.slow(last, &got.receipt)
	if slow && last.life.until.Add(outlives).UnixMicro() < got.clock.Micros {
		how = notSure // the sender's log ends before: a later process may have sent it
	}
	if others && l.vague {
		how = notSure // it may be the pair by which the link is known that is wrong
	}
	if how < likely {
		for _, m := range fits {
			m.unsure = true
		}
	}
	return last, how
}

// doubtOthers notes that the receipt may be of a message that fits by the hybrid clock alone, and reports whether there
// is one.
func (got *arrival) doubtOthers() (any bool) {
	if len(got.near) == len(got.fits) { // nearly always
		return false
	}
	for _, m := range got.near {
		if !slices.Contains(got.fits, m) {
			m.unsure, any = true, true
		}
	}
	return any
}

// others says how sure it is that no other process than that of e sent the message, in a record that is not kept or is
// missing.
func (g *group) others(e *entry, got *receipt) (how sure) {
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
	_, number, _ := strings.Cut(id, ":")
	n, _ := strconv.ParseUint(number, 10, 64)
	return n
}
