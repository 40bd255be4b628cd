package raft

import (
	"fmt"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/proto"
)

// transfer is this node's part in handing over, or in taking over.
type transfer struct {
	// The leader: to whom it has offered to hand over, to nobody while there is no
	// offer, and who is to be told once the work has stopped.
	to    proto.Peer
	nonce uint64
	due   time.Time // when the answer should be here
	asked bool      // by an operator, who waits for the outcome
	heir  proto.Peer
	told  bool // by an operator

	// The successor: it stands at once, and, if an operator chose it, no preference
	// takes the leadership from it.
	chosen, stays bool
	given         proto.Term // that it was told to take last
}

// transfer takes the operator's wish to hand over.
func (m *Machine) transfer(ev algorithms.Transfer) {
	heir, why := m.successor(ev.To)
	if why != "" {
		m.refuseTransfer(ev.To, why)
		return
	}
	m.why("asked to hand over -> offer it to %d", heir.ID)
	m.handing.asked = true
	m.offer(heir)
}

// offer asks another whether it would lead. Nothing changes until it said yes: one
// that is dead, or behind, costs nobody the leader.
func (m *Machine) offer(heir proto.Peer) {
	h := &m.handing
	h.to = heir
	h.nonce++
	h.due = m.now.Add(answerTimeout(m.cfg.Delta))
	m.send(heir.ID, m.stand.term, proto.Offer{Session: m.cfg.Session, Nonce: h.nonce, To: heir.Session})
}

// successor is to whom this leader may hand over, or why it may not.
func (m *Machine) successor(to proto.NodeID) (heir proto.Peer, why string) {
	switch {
	case !m.leads() && m.belief.ID == 0:
		return heir, "nobody leads"
	case !m.leads():
		return heir, fmt.Sprintf("%d leads, not this node", m.belief.ID)
	case m.handing.to.ID != 0:
		return heir, fmt.Sprintf("a transfer to %d is under way", m.handing.to.ID)
	case to == m.cfg.Self:
		return heir, "it leads already"
	case to != 0 && !m.voters.Has(to):
		return heir, "it is no voter"
	}
	for _, p := range m.others {
		switch {
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

// offered answers the leader that asks whether this node would lead after it.
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
	m.why("%d offers to hand over -> %v", msg.From, no)
	m.send(msg.From, msg.Term, proto.Reply{Session: b.Session, Nonce: b.Nonce, No: no})
}

// replied leaves once the successor said that it would lead.
func (m *Machine) replied(msg proto.Message, b proto.Reply) {
	h := &m.handing
	if !m.leads() || msg.From != h.to.ID || msg.Term != m.stand.term ||
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
		m.why("%d does not take over: %s -> lead on", to, refused)
	}
}

// loseOffer ends the offer of a leader that leads no more. Of two transfers that end
// in one Step, this one ends in the next.
func (m *Machine) loseOffer() {
	switch {
	case m.handing.to.ID == 0:
	case m.out.Transfer != nil:
		m.handing.due = m.now
	default:
		m.endTransfer("the leader lost its leadership meanwhile")
	}
}

func (m *Machine) refuseTransfer(to proto.NodeID, why string) {
	m.out.Transfer = &algorithms.TransferEnd{To: to, Refused: why}
	m.why("a transfer: %s -> change nothing", why)
}

// tellHeir tells the successor to stand, after the term was released.
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

// takeOver stands at once: the last leader leads no more and chose this process. A
// message that is late, or from a former life, or to one, does nothing.
func (m *Machine) takeOver(msg proto.Message, b proto.TakeOver) {
	h, led := &m.handing, proto.Epoch{Term: msg.Term, Leader: msg.From, Session: b.Session}
	switch {
	case b.To != m.cfg.Session:
		m.why("%d hands over to a former life of this node -> drop it", msg.From)
		return
	case m.seen != led || m.stand.role != follower || m.stand.leaving != 0:
		m.why("%d does not hand over what it leads now -> drop its TIMEOUT_NOW", msg.From)
		return
	case !m.stands():
		m.why("%d hands over, this node does not stand -> do nothing", msg.From)
		return
	}
	h.given = m.known + 1
	m.why("%d hands over -> take term %d", msg.From, h.given)
	if m.bound(msg.From, b.Session) && m.state.Vote.Term == msg.Term {
		m.voter.over = true // it comes after its RELEASE
	}
	m.forget(proto.Peer{ID: msg.From, Session: b.Session}, "handed over")
	h.chosen, h.stays = true, b.Chosen
	m.timer.yield = time.Time{}
}
