package store

import (
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/lease"
	"github.com/ringleader-dev/ringleader/proto"
)

// nominator has the nominating Machine, and that Machine again as each of the optional interfaces.
type nominator struct {
	inner    algorithms.Machine
	hearer   lease.Hearer
	believer lease.Believer
	raiser   Raiser

	room         *algorithms.Outbox // the Outbox of the nominating Machine
	wake         time.Time          // when the nominating Machine wants its Timeout
	nominee      algorithms.Leader
	nomineeSince time.Time // when the nominee last changed
	above        int       // how many living nodes rank above this node
}

// Raiser is a nominating Machine that can be told the token of the leader, so that the next election has a
// higher term than the leadership before it.
type Raiser interface{ Raise(term proto.Term) }

func nominatorOf(cfg algorithms.Config, nominate func(algorithms.Config) algorithms.Machine) nominator {
	n := nominator{room: &algorithms.Outbox{}}
	cfg.Outbox = n.room
	n.inner = nominate(cfg)
	n.hearer, _ = n.inner.(lease.Hearer)
	n.believer, _ = n.inner.(lease.Believer)
	n.raiser, _ = n.inner.(Raiser)
	return n
}

func (m *Machine) nominated() bool { return m.nominee.ID == m.cfg.Self }

// hearLeader tells the nominating Machine that the leader lives, so that it may wait longer.
func (m *Machine) hearLeader() {
	if m.hearer != nil {
		m.wake = m.hearer.HearLeader(m.now, proto.Peer{ID: m.belief.ID, Incarnation: m.belief.Incarnation})
	}
}

// raise tells the nominating Machine the highest token that this node knows.
func (m *Machine) raise() {
	if m.believer != nil {
		m.believer.Believe(m.seen.Term)
	}
	if m.raiser != nil {
		m.raiser.Raise(m.seen.Term)
	}
}

// nominate passes an event to the nominating Machine, and adds that Machine's Output to the Output of
// this Machine. The leader that the nominating Machine names is only the nominee.
func (m *Machine) nominate(ev algorithms.Event) {
	m.room.After(m.out.Send)
	out := m.inner.Step(m.now, ev)
	m.out.Send = algorithms.Join(m.out.Send, out.Send)
	m.out.Why = append(m.out.Why, out.Why...)
	m.out.Warn = m.out.Warn || out.Warn
	m.wake = out.Deadline
	if out.Save != nil {
		m.state.Term, m.state.Reserved = out.Save.Term, out.Save.Reserved
		m.dirty = true
	}
	if out.Leader.ID != m.nominee.ID || out.Leader.Incarnation != m.nominee.Incarnation {
		m.nomineeSince = m.now
	}
	m.nominee = out.Leader
}

// nominateAmong tells the nominating Machine which nodes are alive.
func (m *Machine) nominateAmong(alive []proto.Peer, evidence string) {
	m.above = 0
	for i := range alive {
		if alive[i].Rank().Compare(m.self.Rank()) > 0 && !alive[i].Ineligible {
			m.above++
		}
	}
	m.nominate(algorithms.PeersChanged{Alive: alive, Evidence: evidence})
}

var (
	whyNominated = reasons.Kind("nominated", "this node is nominated and nobody leads",
		algorithms.Caused(algorithms.Vacant))
	whyChosen = reasons.Kind("chosen", "this node was chosen and nobody leads",
		algorithms.Caused(algorithms.Vacant))
	whyVacant = reasons.Kind("vacant", "nobody has led for long", algorithms.Caused(algorithms.Vacant),
		algorithms.Waited{})
)

// cause returns the reason why this node stands.
func (m *Machine) cause() algorithms.Reason {
	switch {
	case m.handing.chosen:
		return whyChosen.Of()
	case m.nominated():
		return whyNominated.Of()
	}
	return whyVacant.Of()
}
