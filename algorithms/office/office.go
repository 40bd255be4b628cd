package office

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

	inner    algorithms.Machine
	watcher  Watcher            // inner, nil unless it is one
	asker    Contender          // likewise
	believer Believer           // likewise
	room     *algorithms.Outbox // that inner has
	wake     time.Time          // when inner wants its Timeout
	nominee  algorithms.Leader
	above    int         // how many living voters rank above this node
	watched  proto.Epoch // what a Watcher was told last
	called   string      // why the operator called an election in a recess, "" if not

	nomineeSince time.Time // since when the nominee is whom it is
	ahead        bool      // asking: it is not this node's turn yet, see Contender
	retryAt      time.Time // this node is not to stand before
	heard        time.Time // of an office, or of an attempt at one
	fencing      fencing
	// releases are what each process last gave back, whoever granted it.
	releases map[proto.NodeID]proto.Epoch
}

// New returns an office around the nominating Machine that nominate makes. cfg
// names the voters, and a promise of at least MinPromise.
func New(
	cfg algorithms.Config, nominate func(algorithms.Config) algorithms.Machine,
) *Machine {
	words := lease.Words{
		Attempts: "claims", Claim: "claim it", Leads: "holds the office", Leader: "an office",
		Grant: "grant %d term %d", Denied: "which this voter did not grant it",
		LeadOn: "hold on", Offer: "offer the office to", Offers: "offers the office",
		Held: "the office as it is now", Prefer: "offer the office to it",
	}
	m := &Machine{
		Party: lease.New(cfg, RenewEvery(cfg.Promise), words),
		room:  &algorithms.Outbox{}, releases: map[proto.NodeID]proto.Epoch{},
	}
	cfg.Outbox = m.room
	m.inner = nominate(cfg)
	m.watcher, _ = m.inner.(Watcher)
	m.asker, _ = m.inner.(Contender)
	m.believer, _ = m.inner.(Believer)
	return m
}

// Step implements algorithms.Machine.
func (m *Machine) Step(now time.Time, ev algorithms.Event) algorithms.Output {
	m.Begin(now)
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
	case algorithms.Heard:
		m.back(proto.Peer{ID: ev.ID, Session: ev.Session})
	case algorithms.Idle:
		m.Stopped(ev.Term)
	case algorithms.Fenced:
		m.fenced(ev)
	case algorithms.Resign:
		m.Resigned, m.called = true, ""
		m.nominate(ev)
		m.leave("asked to resign")
		m.bequeath(ev.To)
	case algorithms.Campaign:
		m.campaign(ev)
	case algorithms.Eligible:
		m.eligible(ev)
	case algorithms.Transfer:
		m.HandOver(ev)
	case algorithms.Lend:
		m.Lend()
	case algorithms.Lapsed:
		m.lapsed(ev.Term)
	case algorithms.Timeout:
		m.nominate(ev)
	}
	m.tellWatcher()
	m.pursue()
	m.AnswerWaiting()
	m.tellWatcher()
	return m.output()
}

// Watcher is a nominating Machine that is told, between two of its Steps, whenever
// another holds the office than before; the zero Leader is nobody. It is for one that
// elects nobody by itself. Its Output is asked for right after.
type Watcher interface {
	Watch(now time.Time, holder algorithms.Leader)
}

// Believer is a nominating Machine that refuses a term which is absurdly far above its own.
// It is told up to which one it may believe others: a majority of the voters took part in
// that, or in a higher one.
type Believer interface{ Believe(term proto.Term) }

// tellWatcher tells the nominating Machine, if it asks for it, who holds the office.
func (m *Machine) tellWatcher() {
	if m.watcher == nil {
		return
	}
	if is := m.Belief.Epoch(); is != m.watched {
		m.watched = is
		m.watcher.Watch(m.Now, m.Belief)
		m.nominate(algorithms.Timeout{})
	}
}

// start takes up what the last run kept.
func (m *Machine) start(ev algorithms.Start) {
	m.heard = m.Now
	if m.Restore(ev.Saved) {
		return
	}
	m.nominate(algorithms.Start{Saved: m.State})
}

// nominate lets the nominating Machine take an event, and takes over what comes
// of it, its opinion on who leads apart. The voters nominate among themselves.
func (m *Machine) nominate(ev algorithms.Event) {
	if !m.Votes() || m.Rejoin.Active {
		return
	}
	m.room.After(m.Out.Send)
	out := m.inner.Step(m.Now, ev)
	m.Out.Send = algorithms.Join(m.Out.Send, out.Send)
	m.Out.Why = append(m.Out.Why, out.Why...)
	m.Out.Warn = m.Out.Warn || out.Warn
	m.wake = out.Deadline
	if out.Save != nil {
		m.State.Term, m.State.Reserved = out.Save.Term, out.Save.Reserved
		m.Dirty = true
	}
	if out.Leader.ID != m.nominee.ID || out.Leader.Session != m.nominee.Session {
		m.nomineeSince = m.Now
	}
	m.nominee = out.Leader
}

func (m *Machine) peersChanged(ev algorithms.PeersChanged) {
	before := m.Alive
	m.Alive = ev.Alive
	for i := range ev.Alive {
		switch p := &ev.Alive[i]; {
		case p.ID == m.Cfg.Self:
			m.Self = *p
		case m.holds() && !algorithms.Lists(before, *p):
			m.announce(*p)
		}
	}
	m.nominateAmong(ev.Alive, ev.Evidence)
	if m.EndRecess() {
		m.tellNomination(false)
	}
	m.MetVoters(before)
}

// nominateAmong tells the nominating Machine which voters are alive.
func (m *Machine) nominateAmong(alive []proto.Peer, evidence string) {
	candidates, own := m.Voters.Among(alive), m.Self.Rank()
	m.above = 0
	for i := range candidates {
		if candidates[i].Rank().Compare(own) > 0 {
			m.above++
		}
	}
	m.nominate(algorithms.PeersChanged{Alive: candidates, Evidence: evidence})
}

// receive sorts a message: the office's own, or the nomination's.
func (m *Machine) receive(ev algorithms.Receive) {
	msg := ev.Message
	if msg.Body.Kind().Is(proto.Nominates) && m.Votes() {
		if msg.Term > max(m.nominee.Term, m.ToldRound())+proto.MaxTermJump {
			m.AskTerms() // the nomination refuses it until then
		}
		m.nominate(ev)
		return
	}
	if m.Absurd(msg) {
		return
	}
	switch body := msg.Body.(type) {
	case proto.Lease:
		m.announced(msg, body)
		return
	case proto.PreVoteReply, proto.Vote, proto.HeartbeatReply, proto.Offer, proto.Reply, proto.VoterState:
	default:
		if !m.Votes() {
			m.Refuse("%s from %d, but this node is no voter -> drop it", msg.Body.Kind(), msg.From)
			return
		}
	}
	if !m.Concerns(msg) {
		m.Refuse("%s from %d to %d, not between voters -> drop it", msg.Body.Kind(), msg.From, msg.To)
		return
	}
	switch body := msg.Body.(type) {
	case proto.PreVote:
		m.WasAsked(msg, lease.Request(body))
	case proto.RequestVote:
		m.claimed(msg, lease.Request(body), false)
	case proto.Renew:
		r := lease.Request{Session: body.Session, Nonce: body.Nonce, Voters: body.Voters}
		m.claimed(msg, r, body.Lent)
	case proto.Release:
		m.released(msg, body)
	case proto.PreVoteReply:
		m.answered(msg, body)
	case proto.Vote:
		m.voted(msg, body)
	case proto.HeartbeatReply:
		r := lease.Request{Session: body.Session, Nonce: body.Nonce, Voters: body.Voters}
		m.replied(msg, r, body.Answer)
	case proto.Offer:
		m.offered(msg, body)
	case proto.Reply:
		m.offerReplied(msg, body)
	case proto.TakeOver:
		m.takeOver(msg, body)
	case proto.Recover:
		m.Returned(msg, body, proto.VoterState{
			Round: max(m.nominee.Term, m.State.Reserved), Former: m.unseen(),
		})
	case proto.VoterState:
		m.stood(msg, body)
	case proto.Unvoted:
		m.heardUnvoted(msg, body)
	}
}

// announced follows the holder of an office, or learns that it still holds it.
func (m *Machine) announced(msg proto.Message, l proto.Lease) {
	epoch := proto.Epoch{Term: msg.Term, Leader: l.Leader.ID, Session: l.Leader.Session}
	switch {
	case msg.From != l.Leader.ID || !m.Concerns(msg):
		m.Refuse("%d announces that %d holds the office -> drop it", msg.From, l.Leader.ID)
		return
	case epoch.Compare(m.Seen) < 0:
		m.Why("LEASE of term %d is below term %d -> drop it", msg.Term, m.Seen.Term)
		return
	case m.Voter.Dead[msg.From] == l.Leader.Session,
		m.Voter.Over && msg.Term == m.State.Vote.Term && m.Bound(msg.From, l.Leader.Session):
		m.Why("%d is gone or released term %d -> drop its LEASE", l.Leader.ID, msg.Term)
		return
	case m.Stale():
		m.Why("this process has just woken, and the LEASE of %d may be as old -> wait for the next", msg.From)
		return
	case m.Stand.Phase >= claiming:
		m.leave(l.Leader.ID.String() + " holds the office")
		m.Why("%d holds the office, term %d -> follow it", l.Leader.ID, msg.Term)
	case epoch != m.Belief.Epoch():
		m.Why("%d holds the office, term %d -> follow it", l.Leader.ID, msg.Term)
	}
	m.settle(msg.Term)
	m.HearVoters(msg.From, l.Voters)
	m.Seen, m.Known, m.heard = epoch, max(m.Known, msg.Term), m.Now
	m.Belief = algorithms.Leader{
		ID: l.Leader.ID, Session: l.Leader.Session, Term: msg.Term,
		Until: m.Now.Add(min(l.Remaining, lease.Of(m.Cfg.Promise))),
	}
	if m.Stand.Phase == asking {
		m.Stand.Stop()
	}
	m.Handing.Drop()
	m.Handing.Yield, m.retryAt = time.Time{}, time.Time{} // they waited for another to lead
}

// gone frees the voter, and ends the belief in a leader, when the process is
// proven dead.
func (m *Machine) gone(p proto.Peer) {
	if believed, _ := m.Died(p); believed {
		m.strike(upTo(proto.Epoch{Term: proto.MaxTerm, Leader: p.ID, Session: p.Session}))
		m.forget(p, "is proven dead")
	}
}

// back takes back that a process is dead. Whoever held an office is again one that was
// not seen to stop.
func (m *Machine) back(p proto.Peer) {
	if m.Heard(p) && m.Cfg.Fence && m.Bound(p.ID, p.Session) && !m.Voter.Over {
		m.State.Stopped, m.Dirty = false, true
	}
}

// forget ends the belief that another process leads.
func (m *Machine) forget(p proto.Peer, why string) {
	if m.Forget(p, why) {
		m.heard = m.Now
	}
}

// expire ends what time has ended.
func (m *Machine) expire() {
	m.ExpireSurvey()
	if m.EndRecess() {
		m.tellNomination(false)
	}
	if m.Belief.ID == 0 || m.Now.Before(m.Belief.Until) {
		return
	}
	if m.holds() {
		m.leave("the lease ran out")
		return
	}
	m.Why("leader %d has not renewed -> nobody holds the office", m.Belief.ID)
	m.Belief = algorithms.Leader{}
}

// lapsed takes the host's word that the lease was renewed too late.
func (m *Machine) lapsed(term proto.Term) {
	if m.holds() && m.Stand.Term == term {
		m.leave("the lease ran out before it was renewed")
	}
}

// output completes the Output of the Step.
func (m *Machine) output() algorithms.Output {
	if !m.holds() {
		m.LoseOffer()
		m.LoseLend()
	}
	m.Wake(m.wake)
	var room [12]time.Time // on the stack
	m.Wake(m.deadlines(room[:0])...)
	if asked := m.fencing.asked; asked != nil {
		m.Out.Fence = new(*asked)
	}
	m.Out.Round = max(m.nominee.Term, m.Known, m.Handing.Given)
	return m.End()
}
