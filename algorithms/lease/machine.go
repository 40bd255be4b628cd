package lease

import (
	"math/rand/v2"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/quorum"
	"github.com/ringleader-dev/ringleader/proto"
)

// Machine is one node's part in an election by votes: a voter, a candidate, a leader and a follower.
// It is an algorithms.Machine.
//
// Invariants, between Steps:
//  1. State.Vote is durable, or in the Output of this Step.
//  2. belief names this node exactly while it leads, until candidacy.leaseEnd.
//  3. While this node requests votes, leads or has work that must stop, its own voter has promised it
//     the term.
type Machine struct {
	cfg    algorithms.Config
	voters quorum.Voters
	list   listing
	misled bool          // the saved list does not allow the list that was given: this node votes for nobody
	every  time.Duration // between two rounds of heartbeats
	dice   *rand.Rand

	alive []proto.Peer
	self  proto.Peer

	resigned      bool      // an operator ordered it, and has called no election since: do not stand
	ineligibility string    // why the host does not let this node stand, "" if it does
	backOffEnd    time.Time // until then this node does not stand: too many attempts failed
	called        string    // why the operator called an election during a back-off, "" if not

	state     algorithms.State
	dirty     bool
	voter     voter
	candidacy candidacy
	fencing   fencing
	handing   transfer
	preferred preference
	rejoin    rejoin
	told      rejoin // what the others had answered when this voter began to vote again
	unvoted   bool   // no vote was saved when this voter started, and it has not voted since
	collect   collect
	jumps     jumps
	belief    algorithms.Leader
	known     proto.Term       // the highest term in which a voter is known to have voted
	seen      proto.Leadership // the highest leadership that this node heard of
	older     older            // than seen, and still heard of
	questions uint64           // how many times this node asked another whether it leads
	// releases has the last leadership that each node released, whether this voter voted for it or not.
	releases map[proto.NodeID]proto.Leadership

	nominator
	nominee      algorithms.Leader
	nomineeSince time.Time // when the nominee last changed
	above        int       // how many living voters rank above this node
	ahead        bool      // in the phase asking: this node's turn has not come yet, see Contender
	retryAt      time.Time // this node does not stand before this time
	heardAt      time.Time // when a leader, or an attempt to lead, was last heard of

	due  time.Time // the Deadline of the last Step
	woke time.Time // when a Step last came long after that Deadline

	// The Step in progress.
	now    time.Time
	out    algorithms.Output
	outbox algorithms.Outbox
}

// New returns the Machine of the node that cfg describes. New calls nominate to make the nominating
// Machine. cfg must name the voters, and a promise of at least MinPromise.
func New(cfg algorithms.Config, nominate func(algorithms.Config) algorithms.Machine) *Machine {
	m := &Machine{
		cfg: cfg, voters: cfg.Voters, every: HeartbeatEvery(cfg.Promise),
		dice: rand.New(rand.NewPCG(cfg.Seed, ^cfg.Seed)),
		self: proto.Peer{ID: cfg.Self, Incarnation: cfg.Incarnation},
		voter: voter{
			dead:    map[proto.NodeID]proto.Incarnation{},
			waiting: map[proto.NodeID]question{},
		},
		candidacy: candidacy{no: map[proto.NodeID]proto.Answer{}, boots: map[proto.NodeID]time.Time{}},
		releases:  map[proto.NodeID]proto.Leadership{},
		jumps:     jumps{voted: map[proto.NodeID]proto.Term{}, round: map[proto.NodeID]proto.Term{}},
	}
	m.nominator = nominatorOf(cfg, nominate)
	return m
}

// Step implements algorithms.Machine.
func (m *Machine) Step(now time.Time, ev algorithms.Event) algorithms.Output {
	m.begin(now)
	m.expire()
	switch ev := ev.(type) {
	case algorithms.Start:
		m.start(ev)
	case algorithms.Receive:
		m.receive(ev)
	case algorithms.PeersChanged:
		m.peersChanged(ev)
	case algorithms.PeerProvenDead:
		m.gone(proto.Peer{ID: ev.ID, Incarnation: ev.Incarnation})
		m.tellWatcherOf(ev)
	case algorithms.PeerHeardAgain:
		m.back(proto.Peer{ID: ev.ID, Incarnation: ev.Incarnation})
		m.tellWatcherOf(ev)
	case algorithms.WorkStopped:
		m.stopped(ev.Term)
	case algorithms.Fenced:
		m.fenced(ev)
	case algorithms.Resign:
		m.resigned, m.called = true, ""
		m.nominate(ev)
		m.leave(whyResign.Of())
		m.bequeath(ev.To)
	case algorithms.Campaign:
		m.campaign(ev)
	case algorithms.Eligible:
		m.eligible(ev)
	case algorithms.Transfer:
		m.handOver(ev)
	case algorithms.Lend:
		m.lend()
	case algorithms.LeaseExpired:
		m.lapsed(ev.Term)
	case algorithms.Timeout:
		m.nominate(ev)
	}
	m.tellWatcher()
	m.pursue()
	m.answerWaiting()
	m.tellWatcher()
	return m.output()
}

// start restores the saved state, and starts the nominating Machine.
func (m *Machine) start(ev algorithms.Start) {
	m.heardAt = m.now
	if m.restore(ev.Saved) {
		return
	}
	m.nominate(algorithms.Start{Saved: m.state})
}

func (m *Machine) peersChanged(ev algorithms.PeersChanged) {
	before := m.alive
	m.alive = ev.Alive
	for i := range ev.Alive {
		switch p := &ev.Alive[i]; {
		case p.ID == m.cfg.Self:
			m.self = *p
		case m.leads() && !algorithms.Lists(before, *p):
			m.heartbeatTo(p.ID)
		}
	}
	m.nominateAmong(ev.Alive, ev.Evidence)
	if m.endBackOff() {
		m.tellNomination(false)
	}
	m.metVoters(before)
}

// receive passes a message to its handler, or to the nominating Machine. The term of a message alone
// changes nothing.
func (m *Machine) receive(ev algorithms.Receive) {
	msg := ev.Message
	if msg.Body.Kind().Is(proto.Nominates) && m.votes() && m.watcher == nil {
		if msg.Term > max(m.nominee.Term, m.toldRound())+proto.MaxTermJump {
			m.askTerms() // until the voters answer, the nominating Machine refuses the term
		}
		m.nominate(ev)
		return
	}
	if m.absurd(msg) {
		return
	}
	switch msg.Body.(type) {
	case proto.Heartbeat, proto.PreVoteReply, proto.Vote, proto.HeartbeatReply, proto.Offer, proto.Reply,
		proto.VoterState:
	default:
		if !m.votes() {
			m.refuse(whyNoVoter, msg.Body.Kind(), msg.From)
			return
		}
	}
	if !m.concerns(msg) {
		m.refuse(whyStranger, msg.Body.Kind(), msg.From, msg.To)
		return
	}
	m.noteList(msg)
	switch body := msg.Body.(type) {
	case proto.PreVote:
		m.wasAsked(msg, request(body))
	case proto.RequestVote:
		m.claimed(msg, request(body), false)
	case proto.Heartbeat:
		m.heardHeartbeat(msg, body)
	case proto.Release:
		m.released(msg, body)
	case proto.PreVoteReply:
		m.answered(msg, body)
	case proto.Vote:
		m.voted(msg, body)
	case proto.HeartbeatReply:
		m.noteWait(msg.From, body)
		r := request{Incarnation: body.Incarnation, Nonce: body.Nonce, Voters: body.Voters}
		m.replied(msg, r, body.Answer)
	case proto.Offer:
		m.offered(msg, body)
	case proto.Reply:
		m.offerReplied(msg, body)
	case proto.TakeOver:
		m.takeOver(msg, body)
	case proto.Recover:
		m.returned(msg, body, proto.VoterState{
			Round: max(m.nominee.Term, m.state.Reserved, m.state.Vote.Term), Former: m.unseen(),
		})
	case proto.VoterState:
		m.heardState(msg, body)
	case proto.Unvoted:
		m.heardUnvoted(msg, body)
	default:
		m.refuse(whyForeign, msg.Body.Kind())
	}
}

// heardHeartbeat handles HEARTBEAT: this node follows the leader, and its voter renews the promise.
func (m *Machine) heardHeartbeat(msg proto.Message, b proto.Heartbeat) {
	stood := m.candidacy.phase >= claiming
	switch m.hear(msg, b) {
	case dropped:
		return
	case followed:
		if stood {
			m.leave(whyLeads.Of(msg.From))
		}
		m.settle(msg.Term)
		m.follow(msg, b)
		m.heardAt, m.retryAt = m.now, time.Time{}
		m.hearLeader()
	}
	// A node that gives up its own term in this Step promises only at the next heartbeat: its RELEASE
	// would leave after its new vote is saved.
	if m.votes() && stood == (m.candidacy.phase >= claiming) {
		m.claimed(msg, request{Incarnation: b.Leader.Incarnation, Nonce: b.Nonce, Voters: b.Voters}, b.Lent)
	}
}

// gone handles the proof that a process is dead: it ends a promise to that process, and this node no
// longer follows the process.
func (m *Machine) gone(p proto.Peer) {
	believed, freed := m.died(p)
	if freed {
		m.news = News{Kind: Vacated}
	}
	if believed {
		m.strike(upTo(proto.Leadership{Term: proto.MaxTerm, Leader: p.ID, Incarnation: p.Incarnation}))
		m.forget(p, whyLeaderDead)
	}
}

// back notes that a process lives although it was proven dead. If this voter voted for that process, the
// process counts again as a leader that was not seen to stop.
func (m *Machine) back(p proto.Peer) {
	if m.heardAgain(p) && m.cfg.Fence && m.bound(p.ID, p.Incarnation) && !m.voter.over {
		m.state.Stopped, m.dirty = false, true
	}
}

// forget ends the belief that another process leads.
func (m *Machine) forget(p proto.Peer, why *algorithms.ReasonKind) {
	if p.ID == 0 || m.belief.ID != p.ID || m.belief.Incarnation != p.Incarnation || p.ID == m.cfg.Self {
		return
	}
	m.why(why, p.ID)
	m.belief = algorithms.Leader{}
	m.heardAt, m.news = m.now, News{Kind: Gone, Lost: p.ID}
}

// expire ends everything whose time is over: a survey, a back-off, the lease or the belief in a leader.
func (m *Machine) expire() {
	m.expireSurvey()
	if m.endBackOff() {
		m.tellNomination(false)
	}
	if m.belief.ID == 0 || m.now.Before(m.belief.Until) {
		return
	}
	if m.leads() {
		m.leave(m.ranOut())
		return
	}
	m.why(WhyNotRenewed, m.belief.ID)
	m.belief = algorithms.Leader{}
}

// ranOut returns the reason why a leader whose lease has ended leads no more. A leader that did not run at the end
// says how long ago that was, since its record is as late.
func (m *Machine) ranOut() algorithms.Reason {
	if ago := m.now.Sub(m.belief.Until); ago > m.cfg.Delta {
		return whyRanOutLate.Of(int(ByAnyClock(ago).Milliseconds()))
	}
	return whyRanOut.Of()
}

// lapsed ends the leadership of this term, since the host noticed that the lease was renewed too late.
func (m *Machine) lapsed(term proto.Term) {
	if m.leads() && m.candidacy.term == term {
		m.leave(whyRanOutUnseen.Of())
	}
}

// output completes the Output of the Step.
func (m *Machine) output() algorithms.Output {
	if !m.leads() {
		m.loseOffer()
		m.loseLend()
	}
	m.wakeAt(m.wake)
	var room [12]time.Time // on the stack
	m.wakeAt(m.deadlines(room[:0])...)
	if asked := m.fencing.asked; asked != nil {
		m.out.Fence = new(*asked)
	}
	m.out.Round = max(m.nominee.Term, m.known, m.handing.given)
	if m.watcher != nil && m.candidacy.phase == asking {
		m.out.Round = max(m.out.Round, m.candidacy.term)
	}
	return m.end()
}
