package raft

import (
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/lease"
	"github.com/ringleader-dev/ringleader/proto"
)

// Machine is one node's part. It is an algorithms.Machine.
//
// Its invariants are those of a lease.Party.
type Machine struct {
	lease.Party

	living []proto.Peer // the voters that are alive

	timer     electionTimer
	beats     int        // rounds of heartbeats since a majority answered one
	best      proto.Peer // who ranks highest of those who might lead, this leader or another
	bestSince time.Time  // since when it is that one
	about     proto.Term // that a voter was asked for in this Step
}

// New returns Raft's leader election. cfg names the voters, and a promise of at least
// MinPromise.
func New(cfg algorithms.Config) *Machine {
	return &Machine{Party: lease.New(cfg, HeartbeatEvery(cfg.Promise), lease.Words{
		Attempts: "candidacies", Claim: "become candidate", Leads: "leads", Leader: "a leader",
		Grant: "vote for %d in term %d", Denied: "in which this voter did not vote for it",
		LeadOn: "lead on", Offer: "offer it to", Offers: "offers to hand over",
		Held: "what it leads now", Prefer: "offer to hand over",
	})}
}

// Step implements algorithms.Machine.
func (m *Machine) Step(now time.Time, ev algorithms.Event) algorithms.Output {
	m.Begin(now)
	m.about = 0
	m.expire()
	switch ev := ev.(type) {
	case algorithms.Start:
		m.start(ev)
	case algorithms.Receive:
		m.receive(ev.Message)
	case algorithms.PeersChanged:
		m.peersChanged(ev)
	case algorithms.Gone:
		m.gone(proto.Peer{ID: ev.ID, Session: ev.Session})
	case algorithms.Heard:
		m.Heard(proto.Peer{ID: ev.ID, Session: ev.Session})
		m.countAbove()
	case algorithms.Idle:
		m.Stopped(ev.Term)
	case algorithms.Resign:
		m.Resigned = true
		m.leave("asked to resign")
	case algorithms.Campaign:
		m.campaign()
	case algorithms.Eligible:
		m.eligible(ev)
	case algorithms.Transfer:
		m.HandOver(ev)
	case algorithms.Lend:
		m.Lend()
	case algorithms.Lapsed:
		if m.leads() && m.Stand.Term == ev.Term {
			m.leave("the lease ran out before it was renewed")
		}
	}
	m.pursue()
	m.AnswerWaiting()
	return m.output()
}

// start takes up what the last run kept. "When servers start up, they begin as
// followers."
func (m *Machine) start(ev algorithms.Start) {
	if m.Restore(ev.Saved) {
		return
	}
	m.standBy(startDelay(m.Cfg.Delta), hasStarted, 0)
}

func (m *Machine) peersChanged(ev algorithms.PeersChanged) {
	before := m.Alive
	m.Alive, m.living = ev.Alive, m.Voters.Among(ev.Alive)
	for i := range ev.Alive {
		switch p := &ev.Alive[i]; {
		case p.ID == m.Cfg.Self:
			m.Self = *p
			m.Self.Ineligible = false // the host says that with Eligible
		case m.leads() && !algorithms.Lists(before, *p):
			m.heartbeat(p.ID)
		}
	}
	m.EndRecess()
	m.notePreference()
	m.countAbove()
	m.MetVoters(before)
}

// receive sorts a message. Whatever its term, it changes no term here: see the rules.
func (m *Machine) receive(msg proto.Message) {
	if m.Absurd(msg) {
		return
	}
	if !m.Concerns(msg) {
		m.Refuse("%s from %d to %d, not of a voter -> drop it", msg.Body.Kind(), msg.From, msg.To)
		return
	}
	switch body := msg.Body.(type) {
	case proto.Heartbeat:
		m.heard(msg, body)
	case proto.PreVoteReply:
		m.answered(msg, body)
	case proto.Vote:
		m.replied(msg, lease.Request{Session: body.Session, Nonce: body.Nonce, Voters: body.Voters}, body.Answer)
	case proto.HeartbeatReply:
		m.replied(msg, lease.Request{Session: body.Session, Nonce: body.Nonce, Voters: body.Voters}, body.Answer)
	case proto.Offer:
		m.offered(msg, body)
	case proto.Reply:
		m.offerReplied(msg, body)
	case proto.VoterState:
		m.stood(msg, body)
	default:
		m.receiveAsVoter(msg)
	}
}

// receiveAsVoter takes what is said to voters alone.
func (m *Machine) receiveAsVoter(msg proto.Message) {
	if !m.Votes() {
		m.Refuse("%s from %d, but this node is no voter -> drop it", msg.Body.Kind(), msg.From)
		return
	}
	switch body := msg.Body.(type) {
	case proto.PreVote:
		m.about = msg.Term // whatever comes of it
		m.WasAsked(msg, lease.Request(body))
	case proto.RequestVote:
		m.promised(msg, lease.Request(body), false)
	case proto.Release:
		m.released(msg, body)
	case proto.Recover:
		m.Returned(msg, body, proto.VoterState{Round: m.State.Reserved})
	case proto.Unvoted:
		m.heardUnvoted(msg, body)
	case proto.TakeOver:
		m.takeOver(msg, body)
	default:
		m.Refuse("%s is no message of this algorithm -> drop it", msg.Body.Kind())
	}
}

// campaign stands at once, unless somebody leads: heartbeats are there "to establish its
// authority and prevent new elections".
func (m *Machine) campaign() {
	m.Resigned = m.Resigned && m.Barred != ""
	switch {
	case m.Belief.ID != 0:
		m.Why("asked to call an election, and %d leads -> change nothing", m.Belief.ID)
	case m.Stand.Phase == follower:
		m.timer, m.Handing.Yield = electionTimer{since: m.Now, cause: wasCalled}, time.Time{}
	}
}

// gone frees the voter, and ends the belief in a leader, when the process is proven
// dead.
func (m *Machine) gone(p proto.Peer) {
	believed, freed := m.Died(p)
	m.countAbove()
	if freed {
		m.standBy(0, isVacant, 0)
	}
	if believed {
		m.forget(p, "is proven dead")
	}
}

// forget ends the belief that another process leads.
func (m *Machine) forget(p proto.Peer, why string) {
	if m.Forget(p, why) {
		m.standBy(0, isGone, p.ID)
	}
}

// expire ends what time has ended.
func (m *Machine) expire() {
	m.ExpireSurvey()
	m.EndRecess()
	if m.Belief.ID == 0 || m.Now.Before(m.Belief.Until) {
		return
	}
	if m.leads() {
		m.leave("the lease ran out")
		return
	}
	m.Why("no heartbeat of leader %d came in time -> nobody leads", m.Belief.ID)
	m.Belief = algorithms.Leader{}
}
