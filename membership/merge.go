package membership

import (
	"slices"

	"github.com/ringleader-dev/ringleader/proto"
)

// merge combines what all detectors report, by the table in the package's documentation. It belongs to one
// goroutine.
//
//  1. A process counts as alive iff gossip lists it, or lists another of its id
//     that is proven gone, and nothing speaks against it.
//  2. With linksProve, none counts as alive that no link has proven. One that is proven stays as its links describe it,
//     whatever gossip says, until its links say otherwise. Then what gossip said last counts.
//  3. With linksProve, a process with a link stays listed, whatever gossip says, until a link proves another of its id:
//     what the links say next is about a process that is known here.
//  4. Evidence is said only when it changes who counts as alive or how they are
//     described, with the trouble on the link just before it.
type merge struct {
	self       Member
	linksProve bool // see Config.LinksProve
	// linked reports whether a link with a process is up: see Config.Linked. Without linksProve it is false.
	linked func(proto.NodeID, proto.Incarnation) bool
	listed map[proto.NodeID]*process
	said   []string // evidence since the last call of take
}

// process is a process that gossip lists, or that has told of itself on a link.
type process struct {
	Member
	// former is the process of the same id that gossip still lists in place of this one; zero if
	// gossip lists this one.
	former proto.Incarnation
	// trouble is the latest LinkClosed or LinkReset since the last sign of life, and IndirectAlive if it came
	// after that. Views show trouble as evidence, but it is no reason to drop a process.
	trouble []proto.LinkEvent
	// against is the links' reason why the process does not count as alive; zero if it counts.
	against proto.LinkEvent
	// left says that the process said goodbye.
	left bool

	// The rest is for linksProve. proven says that a link was up, with this very process, and first is the evidence of
	// it that will be said then. told says that the process has described itself on a link.
	proven, told bool
	first        string
	// parting says that gossip has its goodbye. held is what else gossip says of it, nil if that agrees; and rounds
	// counts rejoin rounds since it had a link.
	parting bool
	held    *word
	rounds  int
}

// word is what gossip says in place of a process that the links vouch for: that it ended or, if there is another, that
// the other took its place.
type word struct{ other *process }

// lostRounds is how many rejoin rounds after its last link ended the links still vouch for a process, if they find out
// nothing about it.
const lostRounds = 2

// newMerge returns a merge of which linked says which links are up. With nil, links prove nothing.
func newMerge(self Member, linked func(proto.NodeID, proto.Incarnation) bool) *merge {
	linksProve := linked != nil
	if !linksProve {
		linked = func(proto.NodeID, proto.Incarnation) bool { return false }
	}
	return &merge{
		self:       self,
		linksProve: linksProve,
		linked:     linked,
		listed:     make(map[proto.NodeID]*process),
		said:       []string{says(joined, self.ID)},
	}
}

// add lists a process. The parameter word is the evidence that it is there.
func (m *merge) add(p *process, word string) {
	m.listed[p.ID] = p
	p.first = word
	if !m.linksProve || p.proven || m.isLinked(p) {
		p.proven = true
		m.say(word, p.ID)
	}
}

func (m *merge) isLinked(p *process) bool { return m.linked(p.ID, p.Incarnation) }

// vouched reports whether the links vouch for a process, against what gossip says of it.
func (m *merge) vouched(p *process) bool {
	return m.linksProve && p.alive() && (p.rounds < lostRounds || m.isLinked(p))
}

// hold keeps what gossip says of a process. It reports whether the process stays listed; if it does not, the word
// counts at once.
func (m *merge) hold(p *process, w word) (held bool) {
	p.held = &w
	m.settle(p)
	return m.listed[p.ID] == p
}

// settle makes what gossip said of a process count, unless the links vouch for the process. One that hangs has a link,
// too: only one that is proven takes its place.
func (m *merge) settle(p *process) {
	if p.held == nil || m.vouched(p) {
		return
	}
	other := p.held.other
	if (other == nil || !other.proven) && m.isLinked(p) {
		return
	}
	delete(m.listed, p.ID)
	if p.alive() && (other == nil || m.linksProve && !other.proven) {
		m.say(gossipDead, p.ID)
	}
	if other != nil {
		m.add(other, newIncarnation)
	}
}

// round notes that a rejoin round is over.
func (m *merge) round() {
	for _, p := range m.listed {
		switch {
		case m.isLinked(p):
			p.rounds = 0
		case p.proven:
			p.rounds++
			m.part(p)
			m.settle(p)
		}
	}
}

// part makes the goodbye of a process count once it has no link.
func (m *merge) part(p *process) {
	if p.parting && !m.isLinked(p) {
		m.leave(p)
	}
}

// told handles what a process says of itself, on a link that it dialled.
func (m *merge) told(now Member) {
	p := m.listed[now.ID]
	switch {
	case p == nil || p.Incarnation != now.Incarnation && !m.vouched(p):
		said := newIncarnation
		if p == nil {
			said = joined
		}
		m.add(&process{Member: now, proven: true, told: true, held: &word{}}, said)
	case p.Incarnation != now.Incarnation:
		p.held = &word{&process{Member: now, proven: true, told: true, held: &word{}}}
	default:
		before := p.Member
		p.Member, p.told = now, true
		if !p.proven {
			p.proven = true
			if p.alive() {
				m.say(p.first, now.ID)
			}
		} else if p.alive() {
			m.describe(before, now)
		}
	}
}

// found lists a process that was found where it says that it is, whatever else gossip lists of its node.
func (m *merge) found(now Member) {
	said := joined
	if p := m.listed[now.ID]; p != nil {
		if p.told && p.Incarnation == now.Incarnation {
			return // it describes itself, and what stands against it stands
		}
		said = newIncarnation
	}
	m.add(&process{Member: now, held: &word{}}, said)
}

// met reports whether any other process counts as alive.
func (m *merge) met() bool {
	for _, p := range m.listed {
		if p.alive() {
			return true
		}
	}
	return false
}

// gossipAlive handles the news that gossip lists this process. The parameter now describes the process. gossipAlive
// reports whether it must not count, since the links vouch for another process of the node.
func (m *merge) gossipAlive(now Member) (held bool) {
	p := m.listed[now.ID]
	switch {
	case p == nil:
		m.add(&process{Member: now}, joined)
	case p.former == now.Incarnation:
		// The process is proven gone, whatever gossip still hears of it.
	case p.Incarnation != now.Incarnation:
		return m.hold(p, word{&process{Member: now}})
	default:
		before := p.Member
		p.former, p.held = proto.Incarnation{}, nil
		if p.told {
			return false // it describes itself
		}
		p.Member = now
		if p.alive() {
			m.describe(before, now)
		}
	}
	return false
}

// gossipRival handles the news that gossip has also heard of another process, which has the id of a listed
// process and another address. Gossip lists the new process only after it has dropped the listed one, which
// takes seconds. If the listed process is proven gone, the new one takes its place in the views at once: the
// new process sends and receives election messages, and the other nodes must answer.
func (m *merge) gossipRival(now Member) {
	p := m.listed[now.ID]
	if p == nil || p.Incarnation == now.Incarnation || !p.gone() || m.linksProve && p.left {
		return
	}
	m.add(&process{Member: now, former: p.Incarnation}, newIncarnation)
}

// alive reports whether the process counts as alive.
func (p *process) alive() bool { return p.against == 0 && !p.left && p.proven }

// gone reports whether the process is proven to have ended.
func (p *process) gone() bool {
	return p.against == proto.DialRefused || p.against == proto.OtherIncarnation || p.left
}

// describe adds evidence of the changes in the description of a process that stays in the view.
func (m *merge) describe(before, now Member) {
	if before.Attr != now.Attr {
		m.say(attr, now.ID)
		before.Attr = now.Attr
	}
	switch {
	case now.Ineligible && !before.Ineligible:
		m.say(ineligible, now.ID)
	case before.Ineligible && !now.Ineligible:
		m.say(eligible, now.ID)
	}
	before.Ineligible, before.Voters = now.Ineligible, now.Voters // voters are no news for elections
	if before != now {
		m.say(moved, now.ID)
	}
}

// gossipGone handles the news that gossip no longer lists this process. It reports whether that must not count, since
// the links vouch for the process.
func (m *merge) gossipGone(id proto.NodeID, incarnation proto.Incarnation) (held bool) {
	p := m.listed[id]
	switch {
	case p == nil || p.former == incarnation:
		return false
	case p.Incarnation != incarnation && p.told:
		p.held = &word{} // gossip listed another in its place, and now lists neither
		m.settle(p)
		return false
	}
	return m.hold(p, word{})
}

// goodbye handles the goodbye of this process. Nothing brings the process back.
func (m *merge) goodbye(id proto.NodeID, incarnation proto.Incarnation) {
	p := m.find(id, incarnation)
	if p == nil {
		return
	}
	if m.vouched(p) {
		p.parting = true
		return
	}
	m.leave(p)
}

func (m *merge) leave(p *process) {
	if p.alive() {
		m.say(left, p.ID)
	}
	p.left = true
}

// report handles the evidence of a link about a process.
func (m *merge) report(e Evidence) {
	p := m.find(e.ID, e.Incarnation)
	if p == nil || p.left && !m.linksProve {
		return
	}
	switch e.Event {
	case proto.LinkUp, proto.HeartbeatBack:
		was, word := p.alive(), e.Event.String()
		if !p.proven {
			word = p.first
		}
		p.trouble, p.against, p.left, p.parting, p.proven, p.rounds = nil, 0, false, false, true, 0
		if !was {
			m.say(word, e.ID)
		}
	case proto.LinkClosed, proto.LinkReset:
		p.trouble = []proto.LinkEvent{e.Event}
		m.part(p)
		if !p.alive() {
			m.settle(p)
		}
	case proto.IndirectAlive:
		if !slices.Contains(p.trouble, e.Event) {
			p.trouble = append(p.trouble, e.Event)
		}
	case proto.DialRefused, proto.OtherIncarnation, proto.Unreachable, proto.HeartbeatMissed, proto.IndirectUnreachable:
		if !p.alive() {
			if e.Event == proto.DialRefused || e.Event == proto.OtherIncarnation {
				p.against = e.Event // now it is proven
			}
			m.settle(p)
			return
		}
		for _, t := range p.trouble {
			m.say(t.String(), e.ID)
		}
		m.say(e.Event.String(), e.ID)
		p.against = e.Event
		m.settle(p)
	}
}

// setSelf sets the description of this node itself.
func (m *merge) setSelf(now Member) {
	before := m.self
	m.self = now
	m.describe(before, now)
}

// find returns the process that gossip lists with exactly this id and incarnation.
func (m *merge) find(id proto.NodeID, incarnation proto.Incarnation) *process {
	if p := m.listed[id]; p != nil && p.Incarnation == incarnation {
		return p
	}
	return nil
}

func (m *merge) say(word string, id proto.NodeID) { m.said = append(m.said, says(word, id)) }

// take returns the present view, with the evidence since the last call of take.
func (m *merge) take() View {
	v := View{Alive: []Member{m.self}, Evidence: m.said}
	m.said = nil
	for _, p := range m.listed {
		if p.alive() {
			v.Alive = append(v.Alive, p.Member)
		}
	}
	sortByID(v.Alive)
	return v
}

// gossiped returns the processes that gossip lists, without this one, in order of id.
func (m *merge) gossiped() []Member {
	all := make([]Member, 0, len(m.listed))
	for _, p := range m.listed {
		all = append(all, p.Member)
	}
	return sortByID(all)
}
