package raft

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/quorum"
	"github.com/ringleader-dev/ringleader/proto"
)

// maxTermJump is how far beyond what is known another's term is believed.
const maxTermJump = 1 << 20

// Machine is one node's part. It is an algorithms.Machine.
//
// Invariants, between Steps:
//  1. state.Vote is durable, or in the Output of this Step.
//  2. belief names this node exactly while it leads, and then until leaseEnd.
//  3. While this node is a candidate, leads or has work that must stop, its own voter
//     is bound to it.
type Machine struct {
	cfg    algorithms.Config
	voters quorum.Voters
	dice   *rand.Rand

	alive    []proto.Peer
	others   []proto.Peer // the voters among them, but for this node
	learners []proto.Peer // those that do not vote
	self     proto.Peer

	resigned bool      // asked to, and not called since: never stand
	barred   string    // why the host does not let this node stand, "" if it does
	recess   time.Time // until then it does not stand: too many candidacies failed

	state     algorithms.State
	dirty     bool
	voter     voter
	timer     electionTimer
	stand     stand
	handing   transfer
	rejoin    rejoin
	new       bool                        // nothing was saved of this voter when it started
	met       map[proto.NodeID]proto.Term // the highest that each voter is known to have voted in
	preferred preference
	belief    algorithms.Leader
	known     proto.Term  // the highest that a voter is known to have voted in
	seen      proto.Epoch // the highest leadership that was heard of

	// The Step in progress.
	now   time.Time
	about proto.Term // that a voter was asked for
	out   algorithms.Output
}

// New returns Raft's leader election. cfg names the voters, and a promise of at least
// MinPromise.
func New(cfg algorithms.Config) *Machine {
	m := &Machine{
		cfg: cfg, voters: cfg.Voters,
		dice: rand.New(rand.NewPCG(cfg.Seed, ^cfg.Seed)),
		self: proto.Peer{ID: cfg.Self, Session: cfg.Session},
	}
	m.voter.dead = map[proto.NodeID]proto.Session{}
	m.voter.waiting = map[proto.NodeID]question{}
	m.met = map[proto.NodeID]proto.Term{}
	m.stand.no = map[proto.NodeID]refusal{}
	return m
}

// Step implements algorithms.Machine.
func (m *Machine) Step(now time.Time, ev algorithms.Event) algorithms.Output {
	m.now, m.about, m.out = now, 0, algorithms.Output{}
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
	case algorithms.Idle:
		m.idle(ev.Term)
	case algorithms.Resign:
		m.resigned = true
		m.leave("asked to resign")
	case algorithms.Campaign:
		m.campaign()
	case algorithms.Eligible:
		m.eligible(ev)
	case algorithms.Transfer:
		m.transfer(ev)
	}
	m.pursue()
	m.answerWaiting()
	return m.output()
}

// start takes up what the last run kept. "When servers start up, they begin as
// followers."
func (m *Machine) start(ev algorithms.Start) {
	m.state = ev.Saved
	m.known = m.state.Vote.Term
	m.new = m.state == algorithms.State{}
	if v := m.state.Vote; v.ID != 0 {
		m.meet(v.ID, v.Term) // a candidate has voted for itself
	}
	if p := m.state.Promise; p > 0 {
		m.voter.boot = m.now.Add(ElectionTimeout(p))
	}
	if m.cfg.Rejoin && m.votes() && m.new {
		m.beginRejoin()
		return
	}
	m.standBy(startDelay(m.cfg.Delta), hasStarted, 0)
}

func (m *Machine) peersChanged(ev algorithms.PeersChanged) {
	before := m.alive
	m.alive, m.others, m.learners = ev.Alive, make([]proto.Peer, 0, len(m.voters)), nil
	for _, p := range ev.Alive {
		switch {
		case p.ID == m.cfg.Self:
			m.self = p
			m.self.Ineligible = false // the host says that with Eligible
			continue
		case m.leads() && !slices.ContainsFunc(before, p.Is):
			m.heartbeat(p.ID)
		}
		if m.voters.Has(p.ID) {
			m.others = append(m.others, p)
		} else {
			m.learners = append(m.learners, p)
		}
	}
	m.notePreference()
}

// receive sorts a message. Whatever its term, it changes no term here: see the rules.
func (m *Machine) receive(msg proto.Message) {
	if m.absurd(msg) {
		m.refuse("term %d is absurdly far above %d -> drop %s", msg.Term, m.known, msg.Body.Kind())
		return
	}
	if !m.voters.Has(msg.From) || msg.From == m.cfg.Self || msg.To != m.cfg.Self {
		m.refuse("%s from %d to %d, not of a voter -> drop it", msg.Body.Kind(), msg.From, msg.To)
		return
	}
	switch body := msg.Body.(type) {
	case proto.Heartbeat:
		m.heard(msg, body)
	case proto.Answer:
		m.answered(msg, body)
	case proto.Vote:
		m.granted(msg, request(body))
	case proto.HeartbeatAck:
		m.granted(msg, request(body))
	case proto.Deny:
		m.denied(msg, body)
	case proto.Offer:
		m.offered(msg, body)
	case proto.Reply:
		m.replied(msg, body)
	case proto.Standing:
		m.stood(msg, body)
	default:
		m.receiveAsVoter(msg)
	}
}

// receiveAsVoter takes what is said to voters alone.
func (m *Machine) receiveAsVoter(msg proto.Message) {
	if !m.votes() {
		m.refuse("%s from %d, but this node is no voter -> drop it", msg.Body.Kind(), msg.From)
		return
	}
	switch body := msg.Body.(type) {
	case proto.PreVote:
		m.asked(msg, request(body))
	case proto.RequestVote:
		m.requested(msg, request(body))
	case proto.Release:
		m.released(msg, body)
	case proto.Return:
		m.returned(msg, body)
	case proto.TakeOver:
		m.takeOver(msg, body)
	default:
		m.refuse("%s is no message of this algorithm -> drop it", msg.Body.Kind())
	}
}

// absurd reports whether a message would use up more terms at once than any sequence
// of real elections does. What a voter hints at is judged where it is used.
func (m *Machine) absurd(msg proto.Message) bool {
	switch msg.Body.(type) {
	case proto.Answer, proto.Deny, proto.Standing:
		return false
	}
	return msg.Term > m.known+maxTermJump
}

// campaign stands at once, unless somebody leads: heartbeats are there "to establish its
// authority and prevent new elections".
func (m *Machine) campaign() {
	m.resigned = m.resigned && m.barred != ""
	switch {
	case m.belief.ID != 0:
		m.why("asked to call an election, and %d leads -> change nothing", m.belief.ID)
	case m.stand.role == follower:
		m.timer = electionTimer{since: m.now, cause: wasCalled}
	}
}

// gone frees the voter, and ends the belief in a leader, when the process is proven
// dead.
func (m *Machine) gone(p proto.Peer) {
	if m.cfg.KeepPromises {
		m.why("%d is proven dead, promises are kept all the same -> wait", p.ID)
		return
	}
	m.voter.dead[p.ID] = p.Session
	delete(m.voter.waiting, p.ID)
	if m.bound(p.ID, p.Session) {
		m.why("%d is proven dead -> the promise to it is over", p.ID)
		m.voter.over = true
		m.standBy(0, isVacant, 0)
	}
	m.forget(p, "is proven dead")
}

// forget ends the belief that another process leads.
func (m *Machine) forget(p proto.Peer, why string) {
	if p.ID != 0 && m.belief.ID == p.ID && m.belief.Session == p.Session && p.ID != m.cfg.Self {
		m.why("leader %d %s -> nobody leads", p.ID, why)
		m.belief = algorithms.Leader{}
		m.standBy(0, isGone, p.ID)
	}
}

// expire ends what time has ended.
func (m *Machine) expire() {
	if !m.recess.IsZero() && !m.now.Before(m.recess) {
		m.recess = time.Time{}
		m.why("others had time to try -> stand again")
	}
	if m.belief.ID == 0 || m.now.Before(m.belief.Until) {
		return
	}
	if m.leads() {
		m.leave("the lease ran out")
		return
	}
	m.why("no heartbeat of leader %d came in time -> nobody leads", m.belief.ID)
	m.belief = algorithms.Leader{}
}

// votes reports whether this node is a voter.
func (m *Machine) votes() bool { return m.voters.Has(m.cfg.Self) }
