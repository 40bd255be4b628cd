package membership

import (
	"slices"

	"github.com/ringleader-dev/ringleader/proto"
)

// merge is what all detectors together say, by the table in the package's
// documentation. It belongs to one goroutine.
//
//  1. A process counts as alive iff gossip lists it, or lists another of its id
//     that is proven gone, and nothing speaks against it.
//  2. Evidence is said only when it changes who counts as alive or how they are
//     described, with the trouble on the link just before it.
type merge struct {
	self   Member
	listed map[proto.NodeID]*process
	said   []string // since the last take
}

// process is one that gossip lists.
type process struct {
	Member
	// former is the process of the same id that gossip lists in its place; zero
	// once gossip lists this one.
	former proto.Session
	// trouble is LinkClosed or LinkReset since the last sign of life, the latest, and
	// IndirectAlive since: worth telling, but no reason to drop a process.
	trouble []proto.LinkEvent
	// against is why the links say that the process does not count as alive; zero when they
	// do not say so.
	against proto.LinkEvent
	// left is whether the process said goodbye.
	left bool
}

func newMerge(self Member) *merge {
	return &merge{
		self:   self,
		listed: make(map[proto.NodeID]*process),
		said:   []string{says(joined, self.ID)},
	}
}

// gossipAlive: gossip lists this process, as described.
func (m *merge) gossipAlive(now Member) {
	p := m.listed[now.ID]
	switch {
	case p == nil:
		m.listed[now.ID] = &process{Member: now}
		m.say(joined, now.ID)
	case p.former == now.Session:
		// Proven gone, whatever gossip still hears of it.
	case p.Session != now.Session:
		m.listed[now.ID] = &process{Member: now}
		m.say(newSession, now.ID)
	default:
		before := p.Member
		p.Member, p.former = now, proto.Session{}
		if p.alive() {
			m.describe(before, now)
		}
	}
}

// gossipRival: gossip has heard of this process too, at another address, and
// lists it no sooner than it gives the one before up, which takes it seconds.
// When that one is proven gone, the new one takes its place at once: it hears
// and asks the others, and they must not be deaf to it.
func (m *merge) gossipRival(now Member) {
	p := m.listed[now.ID]
	if p == nil || p.Session == now.Session || !p.gone() {
		return
	}
	m.listed[now.ID] = &process{Member: now, former: p.Session}
	m.say(newSession, now.ID)
}

// alive reports whether the process counts as alive.
func (p *process) alive() bool { return p.against == 0 && !p.left }

// gone reports whether the process is proven to have ended.
func (p *process) gone() bool {
	return p.against == proto.DialRefused || p.against == proto.OtherSession || p.left
}

// describe says how a process that stays in the view changed, if it did.
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
	before.Ineligible, before.Voters = now.Ineligible, now.Voters // the latter is no news for elections
	if before != now {
		m.say(moved, now.ID)
	}
}

// gossipGone: gossip does not list this process any more.
func (m *merge) gossipGone(id proto.NodeID, session proto.Session) {
	p := m.listed[id]
	if p != nil && p.former != session {
		delete(m.listed, id)
		if p.alive() {
			m.say(gossipDead, id)
		}
	}
}

// goodbye: this process says that it leaves. Nothing brings it back.
func (m *merge) goodbye(id proto.NodeID, session proto.Session) {
	p := m.find(id, session)
	if p == nil {
		return
	}
	if p.alive() {
		m.say(left, id)
	}
	p.left = true
}

// report: a link says this about a process.
func (m *merge) report(e Evidence) {
	p := m.find(e.ID, e.Session)
	if p == nil || p.left {
		return
	}
	switch e.Event {
	case proto.LinkUp, proto.HeartbeatBack:
		if !p.alive() {
			m.say(e.Event.String(), e.ID)
		}
		p.trouble, p.against = nil, 0
	case proto.LinkClosed, proto.LinkReset:
		p.trouble = []proto.LinkEvent{e.Event}
	case proto.IndirectAlive:
		if !slices.Contains(p.trouble, e.Event) {
			p.trouble = append(p.trouble, e.Event)
		}
	case proto.DialRefused, proto.OtherSession, proto.Unreachable, proto.HeartbeatMissed, proto.IndirectUnreachable:
		if !p.alive() {
			if e.Event == proto.DialRefused || e.Event == proto.OtherSession {
				p.against = e.Event // now it is proven
			}
			return
		}
		for _, t := range p.trouble {
			m.say(t.String(), e.ID)
		}
		m.say(e.Event.String(), e.ID)
		p.against = e.Event
	}
}

// setSelf: this node describes itself anew.
func (m *merge) setSelf(now Member) {
	before := m.self
	m.self = now
	m.describe(before, now)
}

// find is the process that gossip lists under exactly this id and session.
func (m *merge) find(id proto.NodeID, session proto.Session) *process {
	if p := m.listed[id]; p != nil && p.Session == session {
		return p
	}
	return nil
}

func (m *merge) say(word string, id proto.NodeID) { m.said = append(m.said, says(word, id)) }

// take is the view now and what was said since the last take.
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

// gossiped are the processes that gossip lists, without this one, by id.
func (m *merge) gossiped() []Member {
	all := make([]Member, 0, len(m.listed))
	for _, p := range m.listed {
		all = append(all, p.Member)
	}
	return sortByID(all)
}
