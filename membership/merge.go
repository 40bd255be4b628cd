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
//  2. Evidence is said only when it changes who counts as alive or how they are
//     described, with the trouble on the link just before it.
type merge struct {
	self   Member
	listed map[proto.NodeID]*process
	said   []string // evidence since the last call of take
}

// process is a process that gossip lists.
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
}

func newMerge(self Member) *merge {
	return &merge{
		self:   self,
		listed: make(map[proto.NodeID]*process),
		said:   []string{says(joined, self.ID)},
	}
}

// gossipAlive handles the news that gossip lists this process. The parameter now describes the process.
func (m *merge) gossipAlive(now Member) {
	p := m.listed[now.ID]
	switch {
	case p == nil:
		m.listed[now.ID] = &process{Member: now}
		m.say(joined, now.ID)
	case p.former == now.Incarnation:
		// The process is proven gone, whatever gossip still hears of it.
	case p.Incarnation != now.Incarnation:
		m.listed[now.ID] = &process{Member: now}
		m.say(newIncarnation, now.ID)
	default:
		before := p.Member
		p.Member, p.former = now, proto.Incarnation{}
		if p.alive() {
			m.describe(before, now)
		}
	}
}

// gossipRival handles the news that gossip has also heard of another process, which has the id of a listed
// process and another address. Gossip lists the new process only after it has dropped the listed one, which
// takes seconds. If the listed process is proven gone, the new one takes its place in the views at once: the
// new process sends and receives election messages, and the other nodes must answer.
func (m *merge) gossipRival(now Member) {
	p := m.listed[now.ID]
	if p == nil || p.Incarnation == now.Incarnation || !p.gone() {
		return
	}
	m.listed[now.ID] = &process{Member: now, former: p.Incarnation}
	m.say(newIncarnation, now.ID)
}

// alive reports whether the process counts as alive.
func (p *process) alive() bool { return p.against == 0 && !p.left }

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

// gossipGone handles the news that gossip no longer lists this process.
func (m *merge) gossipGone(id proto.NodeID, incarnation proto.Incarnation) {
	p := m.listed[id]
	if p != nil && p.former != incarnation {
		delete(m.listed, id)
		if p.alive() {
			m.say(gossipDead, id)
		}
	}
}

// goodbye handles the goodbye of this process. Nothing brings the process back.
func (m *merge) goodbye(id proto.NodeID, incarnation proto.Incarnation) {
	p := m.find(id, incarnation)
	if p == nil {
		return
	}
	if p.alive() {
		m.say(left, id)
	}
	p.left = true
}

// report handles the evidence of a link about a process.
func (m *merge) report(e Evidence) {
	p := m.find(e.ID, e.Incarnation)
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
	case proto.DialRefused, proto.OtherIncarnation, proto.Unreachable, proto.HeartbeatMissed, proto.IndirectUnreachable:
		if !p.alive() {
			if e.Event == proto.DialRefused || e.Event == proto.OtherIncarnation {
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
