package rounds

import (
	"slices"
	"strings"
	"time"
)

// pairing finds for each receipt the entry that sent the message. A message of one term may be received by a node
// that is in another one. Message ids begin anew with each process of a node, so several entries may have sent
// messages with the same id, and the right one may be missing.
type pairing struct {
	senders map[string][]*entry // by the id of the message
	links   map[[2]uint64]*link
}

// link is what single pairs tell of all messages from one node to another. As long as the wall clocks of two nodes
// differ by less than proto.MaxHLCSkew, no message is received before it was sent, by the hybrid clock. If they
// differ by more, hybrid clocks prove nothing, but messages seem to take similar times.
type link struct {
	inOrder, against int // how many receipts are after their sends, by the hybrid clock, and how many are not
	took             []time.Duration
}

const (
	// mostTook is how many times a link keeps.
	mostTook = 256
	// alike is how far the times may differ that messages of one link seem to take.
	alike = time.Minute
)

// pair pairs the receipts of all terms.
func (g *group) pair(terms []uint64) {
	p := &pairing{map[string][]*entry{}, map[[2]uint64]*link{}}
	g.pairing = p
	for _, term := range terms {
		p.index(g.open[term])
	}
	for _, term := range terms {
		for got, kind := range g.open[term].receipts {
			if fitting := p.candidates(got, kind); len(fitting) == 1 {
				p.learn(fitting[0], got)
			}
		}
	}
	for _, l := range p.links {
		slices.Sort(l.took)
	}
	for _, term := range terms {
		t := g.open[term]
		for _, e := range t.entries {
			if e.msgID == "" {
				continue
			}
			got := e.receipt()
			if e.cause = p.sender(got, e.msg); e.cause != nil && e.cause.log != t {
				e.cause.elsewhere = append(e.cause.elsewhere, got)
			}
		}
		for _, got := range t.folded {
			if e := p.sender(got, ""); e != nil {
				e.elsewhere = append(e.elsewhere, got)
			}
		}
	}
}

// index notes which entry sent which message.
func (p *pairing) index(t *log) {
	for _, e := range t.entries {
		e.elsewhere = e.elsewhere[:0]
		for _, s := range e.sent {
			if at := strings.IndexByte(s, '#'); at >= 0 {
				p.senders[s[at+1:]] = append(p.senders[s[at+1:]], e)
			}
		}
	}
}

// receipts yields the receipts of the term and the kinds of their messages; an empty kind is not known.
func (t *log) receipts(yield func(receipt, string) bool) {
	for _, e := range t.entries {
		if e.msgID != "" && !yield(e.receipt(), e.msg) {
			return
		}
	}
	for _, got := range t.folded {
		if !yield(got, "") {
			return
		}
	}
}

func (e *entry) receipt() receipt { return receipt{e.msgID, e.from, e.Ref.Node, e.clock, e.Wall} }

// candidates returns the entries that sent a message of that kind with that id from the sender to the receiver.
func (p *pairing) candidates(got receipt, kind string) []*entry {
	all := p.senders[got.id]
	if !slices.ContainsFunc(all, func(e *entry) bool { return !e.sentTo(got, kind) }) {
		return all // nearly always
	}
	return slices.DeleteFunc(slices.Clone(all), func(e *entry) bool { return !e.sentTo(got, kind) })
}

// sentTo reports whether the entry sent a message of the kind with the id of the receipt to its node.
func (e *entry) sentTo(got receipt, kind string) bool {
	return e.Ref.Node == got.from && slices.ContainsFunc(e.sent, func(s string) bool {
		m, ok := parseSent(s)
		return ok && m.id == got.id && m.to == got.to && (kind == "" || m.kind == kind)
	})
}

// learn notes what one pair tells of its link.
func (p *pairing) learn(e *entry, got receipt) {
	key := [2]uint64{got.from, got.to}
	l := p.links[key]
	if l == nil {
		l = &link{}
		p.links[key] = l
	}
	if e.clock.Compare(got.clock) > 0 {
		l.against++
	} else {
		l.inOrder++
	}
	if len(l.took) < mostTook {
		l.took = append(l.took, got.wall.Sub(e.Wall))
	}
}

// sender returns the entry that sent the message of a receipt: of those that fit, the latest by hybrid clock. It
// returns nil if none fits.
func (p *pairing) sender(got receipt, kind string) (best *entry) {
	l := p.links[[2]uint64{got.from, got.to}]
	for _, e := range p.candidates(got, kind) {
		if l.fits(e, got) && (best == nil || l.fitsBetter(e, best, got)) {
			best = e
		}
	}
	return best
}

// fitsBetter reports whether the receipt is rather of the message of e than of that of other.
func (l *link) fitsBetter(e, other *entry, got receipt) bool {
	if l.usable() {
		return other.clock.Compare(e.clock) < 0
	}
	return l.off(e, got) < l.off(other, got)
}

// off returns how much longer or shorter the message of e seems to have taken than others of its link.
func (l *link) off(e *entry, got receipt) time.Duration {
	return (got.wall.Sub(e.Wall) - l.took[len(l.took)/2]).Abs()
}

// usable reports whether hybrid clocks tell which of two records of the link is the earlier.
func (l *link) usable() bool { return l == nil || l.against <= l.inOrder }

// again reports whether several processes of the sender sent a message with this id to the node.
func (p *pairing) again(id string, to uint64) bool {
	n := 0
	for _, e := range p.senders[id] {
		if slices.ContainsFunc(e.sent, func(s string) bool {
			m, ok := parseSent(s)
			return ok && m.id == id && m.to == to
		}) {
			n++
		}
	}
	return n > 1
}

// fits reports whether the receipt may be of the message that e sent.
func (l *link) fits(e *entry, got receipt) bool {
	if e.clock.IsZero() || got.clock.IsZero() {
		return true
	}
	if l.usable() {
		return e.clock.Compare(got.clock) <= 0
	}
	return l.off(e, got) <= alike
}
