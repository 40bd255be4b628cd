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
	trouble []Kind
	// against is why the process does not count as alive; empty when it does.
	against Kind
}

func newMerge(self Member) *merge {
	return &merge{
		self:   self,
		listed: make(map[proto.NodeID]*process),
		said:   []string{joined.says(self.ID)},
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
		if p.against == "" {
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

// gone reports whether the process is proven to have ended.
func (p *process) gone() bool {
	return p.against == DialRefused || p.against == OtherSession || p.against == left
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
		if p.against == "" {
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
	if p.against == "" {
		m.say(left, id)
	}
	p.against = left
}

// report: a link says this about a process.
func (m *merge) report(e Evidence) {
	p := m.find(e.ID, e.Session)
	if p == nil || p.against == left {
		return
	}
	switch e.Kind {
	case LinkUp, HeartbeatBack:
		if p.against != "" {
			m.say(e.Kind, e.ID)
		}
		p.trouble, p.against = nil, ""
	case LinkClosed, LinkReset:
		p.trouble = []Kind{e.Kind}
	case IndirectAlive:
		if !slices.Contains(p.trouble, e.Kind) {
			p.trouble = append(p.trouble, e.Kind)
		}
	case DialRefused, OtherSession, Unreachable, HeartbeatMissed, IndirectUnreachable:
		if p.against != "" {
			if e.Kind == DialRefused || e.Kind == OtherSession {
				p.against = e.Kind // now it is proven
			}
			return
		}
		for _, k := range p.trouble {
			m.say(k, e.ID)
		}
		m.say(e.Kind, e.ID)
		p.against = e.Kind
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

func (m *merge) say(k Kind, id proto.NodeID) { m.said = append(m.said, k.says(id)) }

// take is the view now and what was said since the last take.
func (m *merge) take() View {
	v := View{Alive: []Member{m.self}, Evidence: m.said}
	m.said = nil
	for _, p := range m.listed {
		if p.against == "" {
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
