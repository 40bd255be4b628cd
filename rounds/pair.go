package rounds

import (
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ringleader-dev/ringleader/internal/trace"
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
	first time.Time // when it was received at the earliest, by the receiver's clock; zero if it was not
	// got is the first receipt of a record that is kept which seems to be of it, nil for none. mixed says that another
	// one has other words, so that one of the two is of another message.
	got   *arrival
	mixed bool
}

// arrival is the receipt of a message.
type arrival struct {
	receipt
	e      *entry // that received it, nil if its record is not kept
	in     *log   // that has the receipt
	by     *entry // that sent it, nil if that is not known
	of     *post  // what seems to be it
	how    sure   // that it is
	link   *link
	sent   int    // how many messages have its mail
	around []post // those of them around its time
	near   some   // those of around that may be it by the hybrid clock
	fits   some   // those of near that may be it by what is known of the link, too
	later  some   // those of near that seem to have been sent after it; see pairing.asked
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

// heartbeatKinds are the kinds of messages with which the leader under a lease says that it leads. The names of version
// 0.1 come last.
var heartbeatKinds = []string{proto.KindHeartbeat.String(), "LEASE", "RENEW"}

// pair pairs the receipts of all terms, and notes how long their messages took.
func (g *group) pair(terms []uint64) {
	p := g.pairing.again()
	g.pairing = p
	p.index(terms, g.open)
	g.placeStrays()
	for _, m := range g.nodes {
		for _, l := range m.senders {
			l.sortSent()
		}
	}
	for _, term := range terms {
		g.collect(g.open[term])
	}
	g.noteHidden()
	for _, m := range g.nodes {
		p.cut = p.cut || len(m.lives) > 0 && !m.surelyWhole()
	}
	for _, l := range p.links {
		l.whole = l.from != nil && len(l.from.lives) > 0 && l.from.surelyWhole()
	}
	for i := range p.arrivals {
		got := &p.arrivals[i]
		if got.link.full() { // nearly always
			continue
		}
		if m := got.only(); m != nil {
			g.learn(m, got)
		}
	}
	for _, l := range p.links {
		l.settle()
	}
	for i := range p.arrivals {
		p.arrivals[i].fit()
	}
	for i := range p.arrivals {
		g.find(&p.arrivals[i])
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

// find finds which message seems to be that of the receipt.
func (g *group) find(got *arrival) {
	got.of, got.how = g.sender(got)
	switch m := got.of; {
	case m == nil || got.how < likely || got.e == nil:
	case m.got == nil:
		m.got = got
	case m.got.e.Detail != got.e.Detail:
		m.mixed = true
	}
}

// attach notes for a receipt and the entry that sent the message that they belong together.
func (g *group) attach(got *arrival) {
	var by *entry
	e := got.e
	if m := got.of; m != nil {
		if m.mixed {
			got.how = notSure
			got.doubt()
		}
		if e == nil || !e.life.text {
			g.sample(got, m.by, got.how)
		}
		if got.how >= likely {
			by = m.by
		}
	}
	if e != nil {
		e.cause, e.unsure = by, got.how < likely
	}
	got.by = by
	if by != nil && (e == nil || by.log != e.log) {
		by.elsewhere = append(by.elsewhere, got.receipt)
	}
}

// unpair takes apart the pairs whose messages came before they were sent, by what the certain pairs tell of the clocks
// where all pairs contradict each other, and those whose messages outlived their sender.
func (g *group) unpair(contradict bool) {
	for way, l := range g.pairing.links {
		l.off = g.apart(way[0], way[1])
	}
	for i := range g.pairing.arrivals {
		got := &g.pairing.arrivals[i]
		if got.sender != "" || got.e != nil && got.e.life.text {
			continue
		}
		for i := range got.around {
			m := &got.around[i]
			if !got.fits.has(i) {
				continue
			}
			late := g.outlived(m, got)
			early := contradict && g.paths.before(got.wall, m.by.Wall, got.to, got.from)
			if !late && !early {
				continue
			}
			m.unsure = m.unsure || late
			if got.by == m.by {
				got.by = nil
			}
			if got.e != nil && got.e.cause == m.by {
				got.e.cause, got.e.unsure = nil, late || got.fits.several()
			}
			m.by.elsewhere = slices.DeleteFunc(m.by.elsewhere, func(other receipt) bool { return other == got.receipt })
		}
	}
}

// outlived reports whether the log of the sender may end before the message came, or have a gap there, and a process
// after that of m may have sent it: that had begun, so that the connections of the former had ended, or m may have been
// sent long before, and the receiver had not slept since. Where the clocks tell so little that m may as well have come
// at once, that the receiver wrote nothing for a while does not explain how long it took.
func (g *group) outlived(m *post, got *arrival) bool {
	sent, at := g.fix.at(got.from, m.wall), g.fix.at(got.to, got.wall)
	took, off := elapsed(sent, at), got.link.off
	if len(g.fix) == 0 && took <= outlives { // nearly always
		return false
	}
	if off == unbounded && took <= alike { // the one log may end before the other one begins
		off = 0
	}
	if off == unbounded || took+off <= outlives {
		return false
	}
	took += off // at most
	next := m.by.life.next
	restarted := next != nil && elapsed(g.fix.at(got.from, next.from), at)+off > outlives ||
		g.sawEnd(got, sent.Add(off), at.Add(-outlives))
	if took <= maxTransit && !restarted {
		return false
	}
	last := m.by.life
	if then := got.link.from.at(at, g.fix); then != nil {
		last = then
	}
	if !g.fix.at(got.from, last.until).Before(at.Add(off)) {
		return false
	}
	if restarted || off > maxTransit {
		return true
	}
	by := got.link.to.at(at, g.fix)
	slept := by != nil && by.wokeBefore(at, g.fix) && !g.fix.at(got.to, by.from).After(sent)
	return !slept
}

// sawEnd reports whether the receiver saw between two times that the process of the sender had ended: another one may
// run since then, also where no record of it is here.
func (g *group) sawEnd(got *arrival, from, until time.Time) bool {
	by := got.link.to.at(until, g.fix)
	return by != nil && slices.ContainsFunc(by.allHappenings(), func(h happening) bool {
		at := g.fix.at(got.to, h.wall)
		return h.event == "peers" && at.After(from) && at.Before(until) && EndedProcess(h.evidence, got.from)
	})
}

// sample notes how long the message of e seems to have taken.
func (g *group) sample(got *arrival, e *entry, how sure) {
	if how == notSure {
		return
	}
	told := &got.link.told
	if got.sender == "" && g.pairing.early(got, e) {
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
				e.life.sent = append(e.life.sent, sending{m.n, m.to})
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
				p.posts[at.end] = post{sentMessage: &e.sent[i], by: e, clock: e.clock, wall: e.Wall}
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
			g.arrive(e.receipt(), e, t)
		}
	}
	for _, got := range t.folded {
		g.arrive(got, nil, t)
	}
}

// arrive adds a receipt that the log has. Of very many processes that sent such a message, it considers those around
// its time.
func (g *group) arrive(got receipt, e *entry, in *log) {
	p := g.pairing
	same := p.same(&got)
	if got.sender != "" {
		g.arriveFrom(got, e, in, ofProcess(same, &got))
		return
	}
	sent := len(same)
	if sent > 2*neighbours {
		at, _ := slices.BinarySearchFunc(same, got.clock, postAt)
		same = same[max(0, at-neighbours):min(sent, at+neighbours)]
	}
	near, later := some(0), some(0)
	term := uint64(0)
	if e != nil && sent > 0 {
		term = e.about()
	}
	for i := range same {
		m := &same[i]
		asked := p.asked(e, m)
		if asked != nil && asked == e { // or a former process sent what m answers, in a record that is not kept
			m.unsure = m.unsure || e.life.place > 0
			continue
		}
		if !m.fitsClock(&got) || !m.may(&got) || g.ofOtherTerm(m, e, term) {
			continue
		}
		near |= 1 << i
		if asked != nil && asked.life == e.life && asked.Ref.Seq > e.Ref.Seq {
			later |= 1 << i
		}
		m.first = earliest(m.first, got.wall)
	}
	p.arrivals = append(p.arrivals, arrival{
		receipt: got, e: e, in: in, link: g.link(got.way()), sent: sent, around: same, near: near, later: later,
	})
}

// arriveFrom adds a receipt that names the process that sent the message: only what this one sent may be it.
func (g *group) arriveFrom(got receipt, e *entry, in *log, sent []post) {
	a := arrival{receipt: got, e: e, in: in, link: g.link(got.way()), sent: len(sent), around: sent}
	if len(sent) > 0 && sent[0].may(&got) {
		a.near, a.fits = 1, 1
		sent[0].first = earliest(sent[0].first, got.wall)
	}
	g.pairing.arrivals = append(g.pairing.arrivals, a)
}

// ofProcess returns that one of the messages with the mail of the receipt which the process sent that it names; none if
// no record of it is kept. That is nearly always the last one before the receipt, so it begins to look there.
func ofProcess(same []post, got *receipt) []post {
	n := len(same)
	at, _ := slices.BinarySearchFunc(same, got.clock, postAt)
	for i := range same {
		i = (at - 1 - i + n) % n
		if same[i].by.life.incarnation == got.sender {
			return same[i : i+1]
		}
	}
	return nil
}

// postAt compares the hybrid clock of a message with another one.
func postAt(m post, clock proto.HLC) int { return m.clock.Compare(clock) }

// asked returns the entry of the node of e that sent what m answers, nil if it is not known. If that is e, or a later
// one of its process, e did not receive m; but of a later one, a former process may have sent the same in a record that
// is missing. Where the two nodes follow each other's hybrid clocks, these tell it.
func (p *pairing) asked(e *entry, m *post) *entry {
	if e == nil || m.by.number == 0 || m.by.from != e.Ref.Node {
		return nil
	}
	if follows(m.by.Wall, e.clock.Micros) && follows(e.Wall, m.clock.Micros) { // nearly always
		return nil
	}
	at, known := p.mails[mail{e.Ref.Node, m.by.Ref.Node, m.by.number}]
	if !known || p.places[at].end-p.places[at].from != 1 {
		return nil
	}
	return p.posts[p.places[at].from].by
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

// ofOtherTerm reports whether m is of the leader of another term than the one whose leader the process of the entry e
// follows since it received the message, or of another term than this message, as far as e tells that: see about. A
// record may send messages of the term that its process leaves. Under a lease, it may belong to the round of an earlier
// term than the message, in which it voted.
func (g *group) ofOtherTerm(m *post, e *entry, term uint64) bool {
	if e == nil {
		return false
	}
	if !leased(g.guarantee) {
		return term != 0 && term != m.by.log.term &&
			(term > m.by.log.term || term < m.by.life.termBefore(m.by.Ref.Seq))
	}
	return m.by.round < term && !m.by.life.text ||
		e.Change == string(trace.Elected) && e.Leader == e.from && e.Token != 0 &&
			m.by.Leader == m.by.Ref.Node && m.by.Token != 0 && m.by.Token != e.Token &&
			slices.Contains(heartbeatKinds, m.kind)
}

// only returns the one message that may be it by the hybrid clock, nil if there are several.
func (got *arrival) only() *post {
	if got.near == 0 || got.near.several() || got.later != 0 {
		return nil
	}
	return &got.around[bits.TrailingZeros8(uint8(got.near))]
}

// fit finds which messages the receipt may be of.
func (got *arrival) fit() {
	for i := range got.around {
		if got.near.has(i) && got.sender == "" && got.link.fits(&got.around[i], &got.receipt) {
			got.fits |= 1 << i
		}
	}
	if (got.sent > 1 || got.sender != "") && got.fits != 0 && !got.fits.several() {
		got.around[bits.TrailingZeros8(uint8(got.fits))].received = true
	}
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
