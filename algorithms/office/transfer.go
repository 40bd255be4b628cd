package office

import (
	"fmt"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/proto"
)

// transfer is this node's part in handing the office over, or in taking it.
type transfer struct {
	// The holder: whom it has offered the office, to nobody while there is no offer,
	// and who is to be told once the work has stopped.
	to    proto.Peer
	nonce uint64
	due   time.Time // when the answer should be here
	asked bool      // by an operator, who waits for the outcome
	heir  proto.Peer
	told  bool // by an operator

	// The successor: it stands though it is not nominated, and, if an operator chose
	// it, no preference takes the office from it.
	chosen, stays bool
	given         proto.Term // that it was told to take last

	// Another than the two: it does not stand before, so that the successor stands
	// alone.
	yield time.Time
}

// transfer takes the operator's wish to hand over.
func (m *Machine) transfer(ev algorithms.Transfer) {
	heir, why := m.successor(ev.To)
	if why != "" {
		m.refuseTransfer(ev.To, why)
		return
	}
	m.why("asked to hand over -> offer the office to %d", heir.ID)
	m.handing.asked = true
	m.offer(heir)
}

// offer asks another whether it would hold the office. Nothing changes until it
// said yes: one that is dead, or behind, costs nobody the leader.
func (m *Machine) offer(heir proto.Peer) {
	h := &m.handing
	h.to = heir
	h.nonce++
	h.due = m.now.Add(answerTimeout(m.cfg.Delta))
	m.send(heir.ID, m.stand.term, proto.Offer{Session: m.cfg.Session, Nonce: h.nonce, To: heir.Session})
}

// successor is whom this holder may hand over to, or why it may not.
func (m *Machine) successor(to proto.NodeID) (heir proto.Peer, why string) {
	switch {
	case !m.holds() && m.belief.ID == 0:
		return heir, "nobody holds the office"
	case !m.holds():
		return heir, fmt.Sprintf("%d holds the office, not this node", m.belief.ID)
	case m.handing.to.ID != 0:
		return heir, fmt.Sprintf("a transfer to %d is under way", m.handing.to.ID)
	case to == m.cfg.Self:
		return heir, "it leads already"
	case to != 0 && !m.voters.Has(to):
		return heir, "it is no voter"
	}
	for _, p := range m.alive {
		switch {
		case p.ID == m.cfg.Self || !m.voters.Has(p.ID):
		case to == p.ID && p.Ineligible:
			return heir, "it is not eligible"
		case to == p.ID:
			return p, ""
		case to == 0 && !p.Ineligible && (heir.ID == 0 || p.Rank().Compare(heir.Rank()) > 0):
			heir = p
		}
	}
	switch {
	case to != 0:
		return heir, "it is not alive, as far as the leader knows"
	case heir.ID == 0:
		return heir, "no other voter is alive and eligible"
	}
	return heir, ""
}

// offered answers the holder that asks whether this node would hold the office
// after it.
func (m *Machine) offered(msg proto.Message, b proto.Offer) {
	no := proto.NoDecline
	switch {
	case b.To != m.cfg.Session:
		no = proto.DeclineSession
	case !m.votes():
		no = proto.DeclineNonVoter
	case !m.stands():
		no = proto.DeclineAside
	case m.belief.ID != msg.From || m.belief.Session != b.Session || m.belief.Term != msg.Term:
		no = proto.DeclineBehind
	}
	m.why("%d offers the office -> %v", msg.From, no)
	m.send(msg.From, msg.Term, proto.Reply{Session: b.Session, Nonce: b.Nonce, No: no})
}

// replied leaves the office once the successor said that it would take it.
func (m *Machine) replied(msg proto.Message, b proto.Reply) {
	h := &m.handing
	if !m.holds() || msg.From != h.to.ID || msg.Term != m.stand.term ||
		b.Session != m.cfg.Session || b.Nonce != h.nonce {
		return
	}
	if b.No != proto.NoDecline {
		m.endTransfer(b.No.String())
		return
	}
	heir, told := h.to, h.asked
	m.endTransfer("")
	m.leave(heir.ID.String() + " would take over")
	h.heir, h.told = heir, told
}

// endTransfer ends an offer. The operator, if it was one, is told.
func (m *Machine) endTransfer(refused string) {
	h := &m.handing
	to, asked := h.to.ID, h.asked
	h.to, h.due, h.asked = proto.Peer{}, time.Time{}, false
	switch {
	case to == 0:
	case asked && refused != "":
		m.refuseTransfer(to, refused)
	case asked:
		m.out.Transfer = &algorithms.TransferEnd{To: to}
	case refused != "":
		m.why("%d does not take over: %s -> hold on", to, refused)
	}
}

func (m *Machine) refuseTransfer(to proto.NodeID, why string) {
	m.out.Transfer = &algorithms.TransferEnd{To: to, Refused: why}
	m.why("a transfer: %s -> change nothing", why)
}

// bequeath notes whom a holder that resigns would have after it, where the nominating
// Machine has no message for that itself.
func (m *Machine) bequeath(to proto.NodeID) {
	if _, ok := m.inner.(Watcher); !ok || to == 0 || m.stand.leaving == 0 {
		return
	}
	for _, p := range m.alive {
		if p.ID == to && p.ID != m.cfg.Self && m.voters.Has(to) && !p.Ineligible {
			m.handing.heir = p
			return
		}
	}
	m.why("%d is not alive, eligible and a voter -> another must take over", to)
}

// tellHeir tells the successor to stand, after the promises were released.
func (m *Machine) tellHeir(term proto.Term) {
	heir := m.handing.heir
	m.handing.heir = proto.Peer{}
	if heir.ID == 0 {
		return
	}
	m.send(heir.ID, term, proto.TakeOver{
		Session: m.cfg.Session, To: heir.Session, Chosen: m.handing.told,
	})
	m.giveWay(heir.ID)
}

// giveWay holds this node back for a moment, so that the one that was chosen to
// hold the office stands alone.
func (m *Machine) giveWay(to proto.NodeID) {
	m.why("%d is to take over -> do not stand for a moment", to)
	m.handing.yield = m.now.Add(RenewEvery(m.cfg.Promise))
}

// takeOver stands at once: the last holder has left and chose this process. A
// message that is late, or from a former life, or to one, does nothing.
func (m *Machine) takeOver(msg proto.Message, b proto.TakeOver) {
	h, led := &m.handing, proto.Epoch{Term: msg.Term, Leader: msg.From, Session: b.Session}
	switch {
	case b.To != m.cfg.Session:
		m.why("%d hands over to a former life of this node -> drop it", msg.From)
		return
	case m.seen != led || m.stand.phase != idle:
		m.why("%d does not hand over the office as it is now -> drop its TIMEOUT_NOW", msg.From)
		return
	case !m.stands():
		m.why("%d hands over, this node does not stand -> do nothing", msg.From)
		return
	}
	h.given = m.nextTerm()
	m.why("%d hands over -> take term %d", msg.From, h.given)
	if m.bound(msg.From, b.Session) && m.state.Vote.Term == msg.Term {
		m.voter.over = true // it comes after its RELEASE
	}
	m.forget(proto.Peer{ID: msg.From, Session: b.Session}, "handed the office over")
	h.chosen, h.stays = true, b.Chosen
	h.yield, m.stand.retryAt = time.Time{}, time.Time{}
}
