package office

import (
	"time"

	"github.com/ringleader-dev/ringleader/proto"
)

// offered asks the voters before this node says that it would take the office.
func (m *Machine) offered(msg proto.Message, b proto.Offer) {
	if r, term, asks := m.Offered(msg, b); asks {
		m.Tell(term, proto.PreVote(r))
	}
}

// offerReplied leaves the office once the successor said that it would take it.
func (m *Machine) offerReplied(msg proto.Message, b proto.Reply) {
	if m.Replied(msg, b) {
		m.leave(m.Handing.Heir.ID.String() + " would take over")
	}
}

// bequeath notes whom a holder that resigns would have after it, where the nominating
// Machine has no message for that itself.
func (m *Machine) bequeath(to proto.NodeID) {
	if m.watcher == nil || to == 0 || m.Stand.Leaving == 0 {
		return
	}
	for _, p := range m.Alive {
		if p.ID == to && p.ID != m.Cfg.Self && m.Voters.Has(to) && !p.Ineligible {
			m.Handing.Heir = p
			return
		}
	}
	m.Why("%d is not alive, eligible and a voter -> another must take over", to)
}

// takeOver stands at once: the last holder has left and chose this process.
func (m *Machine) takeOver(msg proto.Message, b proto.TakeOver) {
	if m.TakeOver(msg, b, m.Stand.Phase == idle, m.nextTerm()) {
		m.forget(proto.Peer{ID: msg.From, Session: b.Session}, "handed the office over")
		m.retryAt = time.Time{}
	}
}
