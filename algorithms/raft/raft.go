package raft

import (
	"math/rand/v2"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/lease"
	"github.com/ringleader-dev/ringleader/proto"
)

// New returns the Machine of Raft's leader election for the server that cfg describes. cfg must name the
// voters, and a promise of at least lease.MinPromise.
func New(cfg algorithms.Config) *lease.Machine {
	return lease.New(cfg, func(c algorithms.Config) algorithms.Machine {
		return &timer{
			cfg: c, self: proto.Peer{ID: c.Self, Incarnation: c.Incarnation},
			dead: map[proto.NodeID]proto.Incarnation{},
			dice: rand.New(rand.NewPCG(c.Seed, ^c.Seed)),
		}
	})
}

// timer decides when this server stands: when nobody has led for an election timeout, as far as this
// server knows. It is an algorithms.Machine that nominates only its own server. With Config.Preempt,
// while its server leads, it nominates the highest-ranked server.
type timer struct {
	cfg    algorithms.Config
	dice   *rand.Rand
	alive  []proto.Peer // the voters, this one among them
	self   proto.Peer   // with its attribute as it is now
	dead   map[proto.NodeID]proto.Incarnation
	aside  bool // asked to resign
	barred bool // not eligible

	leader algorithms.Leader // nobody, as far as this server knows, if its ID is 0
	term   proto.Term        // the highest term in which anybody led

	since time.Time
	wait  time.Duration // how long after the time since this server stands
	// ranked says that this server also waits for its turn. The more living voters rank above this
	// server, the later its turn comes.
	ranked bool
	above  int
	// cause says why this server then stands, and lost is the leader that the cause is about.
	cause cause
	lost  proto.NodeID
}

// Step implements algorithms.Machine.
func (t *timer) Step(now time.Time, ev algorithms.Event) algorithms.Output {
	var why []algorithms.Reason
	switch ev := ev.(type) {
	case algorithms.Start: // "When servers start up, they begin as followers."
		t.term = max(t.term, ev.Saved.Term, ev.Saved.Reserved)
		t.standBy(now, startDelay(t.cfg.Delta), hasStarted, 0)
	case algorithms.PeersChanged:
		t.see(ev.Alive)
	case algorithms.PeerProvenDead:
		t.dead[ev.ID] = ev.Incarnation
		t.countAbove()
	case algorithms.PeerHeardAgain:
		delete(t.dead, ev.ID)
		t.countAbove()
	case algorithms.Campaign:
		why = t.campaign(now)
	case algorithms.Resign:
		t.aside = true
	case algorithms.Eligible:
		t.barred = !ev.OK
	}
	out := t.nominate(now)
	out.Why = why
	return out
}

// see handles a new view of the failure detector. It ignores what the view says about this server's own
// eligibility, which may be out of date.
func (t *timer) see(alive []proto.Peer) {
	t.alive = alive
	for i := range alive {
		if alive[i].ID == t.cfg.Self {
			t.self = alive[i]
			t.self.Ineligible = false
		}
	}
	t.countAbove()
}

var whyLed = reasons.Kind("led", "asked to call an election, and %d leads -> change nothing")

// campaign makes this server stand at once, unless somebody leads: a leader sends heartbeats "to
// establish its authority and prevent new elections".
func (t *timer) campaign(now time.Time) (why []algorithms.Reason) {
	t.aside = t.aside && t.barred
	if t.leader.ID != 0 {
		return []algorithms.Reason{whyLed.Of(t.leader.ID)}
	}
	t.begin(now, 0, wasCalled, 0)
	return nil
}

// Watch implements lease.Watcher.
func (t *timer) Watch(now time.Time, leader algorithms.Leader, news lease.News) {
	t.leader, t.term = leader, max(t.term, leader.Term)
	switch p := t.cfg.Promise; news.Kind {
	case lease.Heard: // "If a follower receives no communication over a period of time called the
		// election timeout, then it assumes there is no viable leader and begins an election"
		t.begin(now, ElectionTimeout(p)+time.Duration(t.dice.Int64N(int64(spread(p)))), fellSilent, leader.ID)
	case lease.Gone: // all are to know at about this time, so that nobody need wait at random
		t.standBy(now, 0, isGone, news.Lost)
	case lease.Vacated:
		t.standBy(now, 0, isVacant, 0)
	case lease.Failed: // "Each candidate restarts its randomized election timeout", and in the order of
		// rank besides: who collided once is not to collide again
		t.standBy(now, news.Wait, hadFailed, 0)
	}
}

// nominate returns the Output that nominates this server once its time to stand has come.
func (t *timer) nominate(now time.Time) algorithms.Output {
	switch {
	case t.leader.ID == t.cfg.Self && t.cfg.Preempt:
		return t.named(t.best())
	case t.leader.ID != 0, t.aside, t.barred:
		return t.named(proto.Peer{})
	}
	if at := t.standAt(); now.Before(at) {
		out := t.named(proto.Peer{})
		out.Deadline = at
		return out
	}
	return t.named(t.self)
}

// named returns the Output that nominates p: for the next term, if nobody leads.
func (t *timer) named(p proto.Peer) algorithms.Output {
	term := t.term
	if p.ID != 0 && t.leader.ID == 0 {
		term++
	}
	return algorithms.Output{Leader: algorithms.Leader{ID: p.ID, Incarnation: p.Incarnation, Term: term}}
}

// best returns the highest-ranked server that may lead. Raft elects the server that stands first. If the
// operator wants the best server to lead, a leader hands over to a server that ranks above it: that is
// one of the uses of a transfer that Ongaro (2014), 3.10, names.
func (t *timer) best() proto.Peer {
	best := t.self
	for i := range t.alive {
		if p := &t.alive[i]; t.mayLead(p) && p.Above(best) {
			best = *p
		}
	}
	return best
}

func (t *timer) mayLead(p *proto.Peer) bool { return !p.Ineligible && t.dead[p.ID] != p.Incarnation }
