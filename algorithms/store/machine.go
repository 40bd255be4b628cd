package store

import (
	"cmp"
	"math/rand/v2"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/lease"
	"github.com/ringleader-dev/ringleader/proto"
)

// Machine is one node's part in an election on a store. It is an algorithms.Machine.
//
// Invariants, between Steps:
//  1. While this node leads, State.Vote is its leadership, and durable, or in the Output of this Step.
//  2. belief names this node exactly while it leads, and ends before the store forgets the entry.
//  3. At most one ask is open.
type Machine struct {
	cfg   algorithms.Config
	dice  *rand.Rand
	alive []proto.Peer
	self  proto.Peer
	dead  map[proto.NodeID]proto.Incarnation

	resigned      bool   // an operator ordered it, and has called no election since
	ineligibility string // why the host does not let this node stand, "" if it does

	state  algorithms.State
	dirty  bool
	belief algorithms.Leader
	seen   proto.Leadership // the highest leadership that this node heard of, or read in the store

	desk    desk
	leading leading
	handing transfer
	nominator

	// The Step in progress.
	now    time.Time
	out    algorithms.Output
	outbox algorithms.Outbox
}

// New returns the Machine of the node that cfg describes. cfg.Promise is the TTL of an entry. New calls
// nominate to make the nominating Machine.
func New(cfg algorithms.Config, nominate func(algorithms.Config) algorithms.Machine) *Machine {
	m := &Machine{
		cfg: cfg, dice: rand.New(rand.NewPCG(cfg.Seed, ^cfg.Seed)),
		self: proto.Peer{ID: cfg.Self, Incarnation: cfg.Incarnation},
		dead: map[proto.NodeID]proto.Incarnation{},
	}
	m.nominator = nominatorOf(cfg, nominate)
	return m
}

// Step implements algorithms.Machine.
func (m *Machine) Step(now time.Time, ev algorithms.Event) algorithms.Output {
	m.now, m.out = now, algorithms.Output{Send: m.outbox.Empty()}
	m.expire()
	switch ev := ev.(type) {
	case algorithms.Start:
		m.start(ev)
	case algorithms.Receive:
		m.receive(ev)
	case algorithms.Answered:
		m.answered(ev)
	case algorithms.StoreChanged:
		m.desk.look = m.now
	case algorithms.PeersChanged:
		m.peersChanged(ev)
	case algorithms.PeerProvenDead:
		m.gone(proto.Peer{ID: ev.ID, Incarnation: ev.Incarnation})
	case algorithms.PeerHeardAgain:
		if m.dead[ev.ID] == ev.Incarnation {
			delete(m.dead, ev.ID)
		}
	case algorithms.WorkStopped:
		m.stopped(ev.Term)
	case algorithms.LeaseExpired:
		if m.leads() && m.belief.Term == ev.Term {
			m.leave(whyRanOut.Of())
		}
	case algorithms.Resign:
		m.resign(ev)
	case algorithms.Campaign:
		m.resigned = m.resigned && m.ineligibility != ""
		m.nominate(ev)
	case algorithms.Eligible:
		m.eligible(ev)
	case algorithms.Transfer:
		m.handOver(ev)
	case algorithms.Lend:
		m.lend()
	case algorithms.Timeout:
		m.nominate(ev)
	}
	m.keepLeading()
	m.pursue()
	m.raise()
	return m.output()
}

// start restores the saved state, and starts the nominating Machine. The first ask reads who leads.
func (m *Machine) start(ev algorithms.Start) {
	m.state = ev.Saved
	if vote := m.state.Vote; vote.Term > 0 {
		m.seen = proto.Leadership{Term: vote.Term, Leader: vote.ID, Incarnation: vote.Incarnation}
	}
	m.desk.look, m.desk.vacant = m.now, m.now
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
			m.send(p.ID, m.belief.Term, m.heartbeat())
		}
	}
	m.nominateAmong(ev.Alive, ev.Evidence)
}

// receive passes a message to its handler, or to the nominating Machine.
func (m *Machine) receive(ev algorithms.Receive) {
	msg := ev.Message
	switch body := msg.Body.(type) {
	case proto.Heartbeat:
		m.hear(msg, body)
	case proto.Release:
		m.released(msg, body)
	case proto.Offer:
		m.offered(msg, body)
	case proto.Reply:
		m.offerReplied(msg, body)
	case proto.TakeOver:
		m.takeOver(msg, body)
	default:
		if !body.Kind().Is(proto.Nominates) {
			m.why(whyForeign, body.Kind())
			m.out.Warn = true
			return
		}
		m.nominate(ev)
	}
}

var whyForeign = reasons.Kind("foreign", "%s is no message of an election on a store -> drop it")

// The reasons why nobody leads any more, as far as this node knows.
var (
	whyLeaderDead = reasons.Kind("leader-dead", "leader %d is proven dead -> nobody leads")
	whyReleased   = reasons.Kind("leader-released", "leader %d has removed its entry -> nobody leads")
	whyNotRenewed = reasons.Kind("not-renewed", "no heartbeat of leader %d came in time -> nobody leads",
		algorithms.LeaseEnds{})
	whyRanOut = reasons.Kind("ran-out", "the lease ran out", algorithms.LeaseEnds{})
	// whyRanOutLate is the reason when this process slept, or got no processor, as the lease ran out.
	whyRanOutLate = reasons.Kind("ran-out-late", "the lease ran out at least %d ms ago, while this process did not run",
		algorithms.LeaseEnds{Late: true})
)

// gone handles the proof that a process is dead: its entry may be removed.
func (m *Machine) gone(p proto.Peer) {
	m.dead[p.ID] = p.Incarnation
	if m.belief.ID == p.ID && m.belief.Incarnation == p.Incarnation && !m.leads() {
		m.forget(whyLeaderDead)
	}
	if m.desk.holder.Of(p) {
		m.desk.vacant = m.now
		m.sayLent(algorithms.Entry{})
	}
}

// forget ends the belief that another node leads, and asks the store.
func (m *Machine) forget(why *algorithms.ReasonKind) {
	m.why(why, m.belief.ID)
	m.belief = algorithms.Leader{}
	m.desk.look, m.desk.vacant = m.now, m.now
}

// expire ends a lease, or the belief in a leader, when its time is over.
func (m *Machine) expire() {
	switch until := m.belief.Until; {
	case m.belief.ID == 0 || m.now.Before(until):
	case !m.leads():
		m.forget(whyNotRenewed)
	case m.now.Sub(until) > m.cfg.Delta:
		m.leave(whyRanOutLate.Of(int(lease.ByAnyClock(m.now.Sub(until)).Milliseconds())))
	default:
		m.leave(whyRanOut.Of())
	}
}

// ineligible returns why this node is not eligible, or "" if it is eligible.
func (m *Machine) ineligible() string { return m.ineligibility }

// stands reports whether this node would lead: it has not resigned, and is eligible.
func (m *Machine) stands() bool { return !m.resigned && m.ineligible() == "" }

var (
	whyResign = reasons.Kind("resign", "asked to resign",
		algorithms.Because{Kind: algorithms.HandOver, About: algorithms.Self})
	whyIneligible = reasons.Kind("ineligible", "not eligible: %s")
	whyKeepsTerm  = reasons.Kind("leads-on", "not eligible: %s -> lead term %d on, do not stand again")
)

func (m *Machine) resign(ev algorithms.Resign) {
	m.resigned = true
	m.nominate(ev)
	m.leave(whyResign.Of())
	successor, why := m.refusing(ev.To).Successor(m.others, ev.To)
	if m.leading.left != 0 && why == (algorithms.Refusal{}) {
		m.handing.successor = successor
	}
}

// eligible handles the host's event that this node may lead, or may not lead.
func (m *Machine) eligible(ev algorithms.Eligible) {
	m.ineligibility = ""
	if !ev.OK {
		m.ineligibility = cmp.Or(ev.Why, "no reason was given")
	}
	m.nominate(ev)
	switch {
	case ev.OK:
	case ev.Keep && m.leads():
		m.why(whyKeepsTerm, m.ineligibility, m.belief.Term)
	default:
		m.leave(whyIneligible.Of(m.ineligibility))
	}
}

// output completes the Output of the Step and returns it.
func (m *Machine) output() algorithms.Output {
	if !m.leads() {
		m.loseOffer()
		m.loseLend()
	}
	if m.dirty {
		save := m.state
		m.out.Save, m.dirty = &save, false
	}
	m.out.Leader = m.belief
	if m.belief.ID == 0 {
		m.out.Leader = algorithms.Leader{Term: m.seen.Term}
	}
	m.out.Ineligible, m.out.Round = m.ineligible(), max(m.nominee.Term, m.seen.Term)
	m.out.Ask, m.out.Store = m.desk.open, m.desk.state()
	m.wakeAt(m.wake, m.belief.Until, m.handing.due, m.handOverAt(), m.nextAskAt())
	m.out.Send = m.outbox.Lend(m.out.Send)
	out := m.out
	m.out = algorithms.Output{}
	return out
}

// wakeAt asks for a Timeout at the earliest of these times. A zero time means never.
func (m *Machine) wakeAt(times ...time.Time) {
	for _, at := range times {
		if !at.IsZero() && (m.out.Deadline.IsZero() || at.Before(m.out.Deadline)) {
			m.out.Deadline = at
		}
	}
}

var reasons = algorithms.ReasonsOf("store")

// Reasons returns the reasons of this package.
func Reasons() []*algorithms.ReasonKind { return reasons.All() }

// why adds a reason to the Output: "cause -> decision".
func (m *Machine) why(kind *algorithms.ReasonKind, args ...any) {
	m.out.Why = append(m.out.Why, kind.Of(args...))
}

// send adds a message to the Output.
func (m *Machine) send(to proto.NodeID, term proto.Term, body proto.Body) {
	m.out.Send = append(m.out.Send, proto.Message{From: m.cfg.Self, To: to, Term: term, Body: body})
}

// tell sends a message to all other nodes believed alive.
func (m *Machine) tell(term proto.Term, body proto.Body) {
	for i := range m.alive {
		if id := m.alive[i].ID; id != m.cfg.Self {
			m.send(id, term, body)
		}
	}
}

// jitter returns a random time, evenly drawn from [t, 2t).
func (m *Machine) jitter(t time.Duration) time.Duration {
	return t + time.Duration(m.dice.Int64N(max(int64(t), 1)))
}
