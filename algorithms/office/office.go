package office

import (
	"fmt"
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
//  2. belief names this node exactly while it holds, and then until leaseEnd.
//  3. While this node claims, holds or has work that must stop, its own voter
//     is bound to it.
type Machine struct {
	cfg    algorithms.Config
	voters quorum.Voters
	random *rand.Rand

	inner   algorithms.Machine
	wake    time.Time // when inner wants its Timeout
	nominee algorithms.Leader
	alive   []proto.Peer
	self    proto.Peer

	resigned bool      // asked to, and not called since: never stand
	barred   string    // why the host does not let this node stand, "" if it does
	recess   time.Time // until then this node does not stand: too many claims failed
	called   string    // why the operator called an election meanwhile, "" if not

	state     algorithms.State
	dirty     bool
	voter     voter
	stand     stand
	handing   transfer
	rejoin    rejoin
	new       bool                        // nothing was saved of this voter when it started
	met       map[proto.NodeID]proto.Term // the highest that each voter is known to have voted in
	preferred preference
	belief    algorithms.Leader
	known     proto.Term  // the highest that a voter is known to have voted for
	seen      proto.Epoch // the highest leadership that was announced
	heard     time.Time   // of an office, or of an attempt at one
	watched   proto.Epoch // what a Watcher was told last

	// The Step in progress.
	now time.Time
	out algorithms.Output
}

// New returns an office around the nominating Machine that nominate makes. cfg
// names the voters, and a promise of at least MinPromise.
func New(
	cfg algorithms.Config, nominate func(algorithms.Config) algorithms.Machine,
) *Machine {
	m := &Machine{
		cfg: cfg, voters: cfg.Voters, inner: nominate(cfg),
		random: rand.New(rand.NewPCG(cfg.Seed, ^cfg.Seed)),
		self:   proto.Peer{ID: cfg.Self, Session: cfg.Session},
	}
	m.voter.dead = map[proto.NodeID]proto.Session{}
	m.voter.waiting = map[proto.NodeID]question{}
	m.voter.released = map[proto.NodeID]proto.Epoch{}
	m.stand.no = map[proto.NodeID]refusal{}
	m.met = map[proto.NodeID]proto.Term{}
	return m
}

// Step implements algorithms.Machine.
func (m *Machine) Step(now time.Time, ev algorithms.Event) algorithms.Output {
	m.now, m.out = now, algorithms.Output{}
	m.expire()
	switch ev := ev.(type) {
	case algorithms.Start:
		m.start(ev)
	case algorithms.Receive:
		m.receive(ev)
	case algorithms.PeersChanged:
		m.peersChanged(ev)
	case algorithms.Gone:
		m.gone(proto.Peer{ID: ev.ID, Session: ev.Session})
	case algorithms.Idle:
		m.idle(ev.Term)
	case algorithms.Fenced:
		m.fenced(ev)
	case algorithms.Resign:
		m.resigned, m.called = true, ""
		m.nominate(ev)
		m.leave("asked to resign")
		m.bequeath(ev.To)
	case algorithms.Campaign:
		m.campaign(ev)
	case algorithms.Eligible:
		m.eligible(ev)
	case algorithms.Transfer:
		m.transfer(ev)
	case algorithms.Timeout:
		m.nominate(ev)
	}
	m.tellWatcher()
	m.pursue()
	m.answerWaiting()
	m.tellWatcher()
	return m.output()
}

// Watcher is a nominating Machine that is told, between two of its Steps, whenever
// another holds the office than before; the zero Leader is nobody. It is for one that
// elects nobody by itself. Its Output is asked for right after.
type Watcher interface {
	Watch(now time.Time, holder algorithms.Leader)
}

// tellWatcher tells the nominating Machine, if it asks for it, who holds the office.
func (m *Machine) tellWatcher() {
	w, ok := m.inner.(Watcher)
	if is := m.belief.Epoch(); ok && is != m.watched {
		m.watched = is
		w.Watch(m.now, m.belief)
		m.nominate(algorithms.Timeout{})
	}
}

// start takes up what the last run kept.
func (m *Machine) start(ev algorithms.Start) {
	m.state = ev.Saved
	m.known = m.state.Vote.Term
	m.new = m.state == algorithms.State{}
	if v := m.state.Vote; v.ID != 0 {
		m.meet(v.ID, v.Term) // who claims a term has voted for itself
	}
	m.heard = m.now
	if p := m.state.Promise; p > 0 {
		m.voter.boot = m.now.Add(BootWait(p))
	}
	if m.cfg.Rejoin && m.votes() && m.state == (algorithms.State{}) {
		m.beginRejoin()
		return
	}
	m.nominate(ev)
}

// nominate lets the nominating Machine take an event, and takes over what comes
// of it, its opinion on who leads apart. The voters nominate among themselves.
func (m *Machine) nominate(ev algorithms.Event) {
	if !m.votes() || m.rejoin.active {
		return
	}
	out := m.inner.Step(m.now, ev)
	m.out.Send = append(m.out.Send, out.Send...)
	m.out.Why = append(m.out.Why, out.Why...)
	m.out.Warn = m.out.Warn || out.Warn
	m.wake = out.Deadline
	if out.Save != nil {
		m.state.Term, m.state.Reserved = out.Save.Term, out.Save.Reserved
		m.dirty = true
	}
	if out.Leader.ID != m.nominee.ID || out.Leader.Session != m.nominee.Session {
		m.stand.preferred = m.now
	}
	m.nominee = out.Leader
}

func (m *Machine) peersChanged(ev algorithms.PeersChanged) {
	before := m.alive
	m.alive = ev.Alive
	for _, p := range ev.Alive {
		switch {
		case p.ID == m.cfg.Self:
			m.self = p
		case m.holds() && !slices.ContainsFunc(before, p.Is):
			m.announce(p)
		}
	}
	m.nominateAmong(ev.Alive, ev.Evidence)
}

// nominateAmong tells the nominating Machine which voters are alive.
func (m *Machine) nominateAmong(alive []proto.Peer, evidence string) {
	candidates := make([]proto.Peer, 0, len(alive))
	for _, p := range alive {
		if m.voters.Has(p.ID) {
			candidates = append(candidates, p)
		}
	}
	m.nominate(algorithms.PeersChanged{Alive: candidates, Evidence: evidence})
}

// receive sorts a message: the office's own, or the nomination's.
func (m *Machine) receive(ev algorithms.Receive) {
	msg := ev.Message
	if msg.Body.Kind().Nominates() && m.votes() {
		m.nominate(ev)
		return
	}
	if m.absurd(msg) {
		m.refuse("term %d is absurdly far above %d -> drop %s", msg.Term, m.known, msg.Body.Kind())
		return
	}
	switch body := msg.Body.(type) {
	case proto.Lease:
		m.announced(msg, body)
		return
	case proto.Answer, proto.Grant, proto.Deny, proto.Offer, proto.Reply, proto.Standing:
	default:
		if !m.votes() {
			m.refuse("%s from %d, but this node is no voter -> drop it", msg.Body.Kind(), msg.From)
			return
		}
	}
	if !m.voters.Has(msg.From) || msg.From == m.cfg.Self || msg.To != m.cfg.Self {
		m.refuse("%s from %d to %d, not between voters -> drop it", msg.Body.Kind(), msg.From, msg.To)
		return
	}
	switch body := msg.Body.(type) {
	case proto.Ask:
		m.asked(msg, body)
	case proto.Claim:
		m.claimed(msg, request(body))
	case proto.Renew:
		m.claimed(msg, request(body))
	case proto.Release:
		m.released(msg, body)
	case proto.Answer:
		m.answered(msg, body)
	case proto.Grant:
		m.granted(msg, body)
	case proto.Deny:
		m.denied(msg, body)
	case proto.Offer:
		m.offered(msg, body)
	case proto.Reply:
		m.replied(msg, body)
	case proto.TakeOver:
		m.takeOver(msg, body)
	case proto.Return:
		m.returned(msg, body)
	case proto.Standing:
		m.stood(msg, body)
	}
}

// absurd reports whether a message would use up more terms at once than any
// sequence of real elections does. What a voter hints at is judged where it is used,
// and a voter that comes back with nothing asks for a term of any height.
func (m *Machine) absurd(msg proto.Message) bool {
	switch msg.Body.(type) {
	case proto.Answer, proto.Deny, proto.Standing:
		return false
	}
	return msg.Term > m.known+maxTermJump
}

// announced follows the holder of an office, or learns that it still holds it.
func (m *Machine) announced(msg proto.Message, l proto.Lease) {
	epoch := proto.Epoch{Term: msg.Term, Leader: l.Leader.ID, Session: l.Leader.Session}
	switch {
	case msg.From != l.Leader.ID || !m.voters.Has(msg.From) || msg.From == m.cfg.Self:
		m.refuse("%d announces that %d holds the office -> drop it", msg.From, l.Leader.ID)
		return
	case epoch.Compare(m.seen) < 0:
		m.why("LEASE of term %d is below term %d -> drop it", msg.Term, m.seen.Term)
		return
	case m.voter.dead[msg.From] == l.Leader.Session,
		m.voter.over && msg.Term == m.state.Vote.Term && m.bound(msg.From, l.Leader.Session):
		m.why("%d is gone or released term %d -> drop its LEASE", l.Leader.ID, msg.Term)
		return
	case m.stand.phase >= claiming:
		m.leave(l.Leader.ID.String() + " holds the office")
		m.why("%d holds the office, term %d -> follow it", l.Leader.ID, msg.Term)
	case epoch != m.belief.Epoch():
		m.why("%d holds the office, term %d -> follow it", l.Leader.ID, msg.Term)
		m.inquire()
	}
	m.settle(msg.Term)
	m.meet(msg.From, msg.Term)
	m.seen, m.known, m.heard = epoch, max(m.known, msg.Term), m.now
	m.belief = algorithms.Leader{
		ID: l.Leader.ID, Session: l.Leader.Session, Term: msg.Term,
		Until: m.now.Add(min(l.Remaining, LeaseOf(m.cfg.Promise))),
	}
	if m.stand.phase == asking {
		m.stand.stop()
	}
	m.handing.chosen, m.handing.stays, m.handing.yield = false, false, time.Time{}
}

// gone frees the voter, and ends the belief in a leader, when the process is
// proven dead.
func (m *Machine) gone(p proto.Peer) {
	if m.cfg.KeepPromises {
		m.why("%d is proven dead, promises are kept all the same -> wait", p.ID)
		return
	}
	m.voter.dead[p.ID] = p.Session
	m.strike(upTo(proto.Epoch{Term: proto.MaxTerm, Leader: p.ID, Session: p.Session}))
	delete(m.voter.waiting, p.ID)
	if m.bound(p.ID, p.Session) {
		m.why("%d is proven dead -> the promise to it is over", p.ID)
		m.voter.over = true
	}
	m.forget(p, "is proven dead")
}

// forget ends the belief that another process leads.
func (m *Machine) forget(p proto.Peer, why string) {
	if p.ID != 0 && m.belief.ID == p.ID && m.belief.Session == p.Session && p.ID != m.cfg.Self {
		m.why("leader %d %s -> nobody holds the office", p.ID, why)
		m.belief = algorithms.Leader{}
		m.heard = m.now
	}
}

// expire ends what time has ended.
func (m *Machine) expire() {
	if !m.recess.IsZero() && !m.now.Before(m.recess) {
		m.endRecess()
	}
	if m.belief.ID == 0 || m.now.Before(m.belief.Until) {
		return
	}
	if m.holds() {
		m.leave("the lease ran out")
		return
	}
	m.why("leader %d has not renewed -> nobody holds the office", m.belief.ID)
	m.belief = algorithms.Leader{}
}

// votes reports whether this node is a voter.
func (m *Machine) votes() bool { return m.voters.Has(m.cfg.Self) }

// output completes the Output of the Step.
func (m *Machine) output() algorithms.Output {
	if !m.holds() {
		m.endTransfer("the leader lost the office meanwhile")
	}
	if m.dirty {
		save := m.state
		m.out.Save, m.dirty = &save, false
	}
	for _, at := range append(m.deadlines(), m.wake) {
		if !at.IsZero() && (m.out.Deadline.IsZero() || at.Before(m.out.Deadline)) {
			m.out.Deadline = at
		}
	}
	if asked := m.stand.fencing.asked; asked != nil {
		m.out.Fence = new(*asked)
	}
	m.out.Leader = m.belief
	if m.belief.ID == 0 {
		m.out.Leader = algorithms.Leader{Term: m.seen.Term}
	}
	m.out.Ineligible = m.ineligible()
	m.out.Round = max(m.nominee.Term, m.known, m.handing.given)
	out := m.out
	m.out = algorithms.Output{}
	return out
}

func (m *Machine) why(format string, args ...any) {
	m.out.Why = append(m.out.Why, fmt.Sprintf(format, args...))
}

func (m *Machine) refuse(format string, args ...any) {
	m.why(format, args...)
	m.out.Warn = true
}

func (m *Machine) send(to proto.NodeID, term proto.Term, body proto.Body) {
	m.out.Send = append(m.out.Send, proto.Message{From: m.cfg.Self, To: to, Term: term, Body: body})
}

// tell sends to every other voter.
func (m *Machine) tell(term proto.Term, body proto.Body) {
	if len(m.voters) > 1 {
		m.out.Send = slices.Grow(m.out.Send, len(m.voters))
	}
	for _, id := range m.voters {
		if id != m.cfg.Self {
			m.send(id, term, body)
		}
	}
}
