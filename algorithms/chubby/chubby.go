package chubby

import (
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/lease"
	"github.com/ringleader-dev/ringleader/proto"
)

// StartDelay returns how long a starting server listens for a master before it becomes a candidate.
func StartDelay(delta time.Duration) time.Duration { return 10 * delta }

// Stagger returns how much later a server becomes a candidate than the server that ranks next above it.
// In that time the higher server can ask the voters, get their answers and bind them with its claim, and
// one more message can be sent.
func Stagger(delta time.Duration) time.Duration { return 4 * delta }

// New returns a Machine for the server that cfg describes. cfg must name the voters, and a promise
// of at least lease.MinPromise.
func New(cfg algorithms.Config) algorithms.Machine {
	return lease.New(cfg, func(c algorithms.Config) algorithms.Machine {
		return &candidate{cfg: c, self: proto.Peer{ID: c.Self, Incarnation: c.Incarnation}}
	})
}

// candidate decides when this server is a candidate. It is an algorithms.Machine that nominates its
// own server and no other, as long as there is no master.
type candidate struct {
	cfg    algorithms.Config
	alive  []proto.Peer // the voters, this one among them
	self   proto.Peer   // this server, with its attribute as it is now
	aside  bool         // this server was asked to resign
	barred bool         // this server is not eligible

	holder  proto.Peer // the master; nobody while there is none
	watched proto.Leadership
	last    proto.Peer // the master before the present holder
	term    proto.Term // the last term that had a master, as far as this server knows
	vacant  time.Time  // the time since which there is no master
	called  bool       // an operator asked for an election
	stood   bool       // this server's turn has come since the time vacant
	above   int        // how many other candidates rank above this server, not counting last
}

// Step implements algorithms.Machine.
func (c *candidate) Step(now time.Time, ev algorithms.Event) algorithms.Output {
	switch ev := ev.(type) {
	case algorithms.Start:
		c.term = max(c.term, ev.Saved.Term)
		c.vacant = now.Add(StartDelay(c.cfg.Delta))
	case algorithms.PeersChanged:
		c.see(ev.Alive)
	case algorithms.Campaign:
		c.aside, c.called = false, true
	case algorithms.Resign:
		c.aside = true
	case algorithms.Eligible:
		c.barred = !ev.OK
	}
	return c.nominate(now)
}

// see handles a new view of the failure detector. It ignores what the view says about this server's own
// eligibility, which may be out of date.
func (c *candidate) see(alive []proto.Peer) {
	c.alive = alive
	for i := range alive {
		if alive[i].ID == c.cfg.Self {
			c.self = alive[i]
			c.self.Ineligible = false
		}
	}
	c.countAbove()
}

func (c *candidate) countAbove() {
	c.above = 0
	for i := range c.alive {
		if p := &c.alive[i]; !p.Ineligible && !p.Is(c.last) && p.Above(c.self) {
			c.above++
		}
	}
}

// Cause implements lease.Watcher.
func (c *candidate) Cause() algorithms.Reason { return lease.WhyNominated.Of() }

// Watch implements lease.Watcher. It acts when there is a new master, or when there is none any more.
//
// Lecture notes: "After election, master has an election 'term' where no other elections will be
// run. […] Also guarantees a new election will be run at end of lease."
func (c *candidate) Watch(now time.Time, holder algorithms.Leader, _ lease.News) {
	if holder.Leadership() == c.watched {
		return
	}
	c.watched = holder.Leadership()
	c.last, c.term = c.holder, max(c.term, holder.Term)
	c.holder = proto.Peer{ID: holder.ID, Incarnation: holder.Incarnation}
	c.vacant, c.called, c.stood = now, false, false
	c.countAbove()
}

var whyTurn = reasons.Kind("turn", "nobody leads, and it is this server's turn -> stand").
	Follows(triesToGetVotes)

// nominate returns the Output that nominates this server once its turn has come. While there is a master
// and the best server should lead, it nominates the best server.
func (c *candidate) nominate(now time.Time) algorithms.Output {
	switch {
	case c.holder.ID != 0 && c.cfg.Preempt:
		return c.named(c.best())
	case c.holder.ID != 0 || !c.stands():
		return c.named(proto.Peer{})
	}
	if turn := c.turn(); now.Before(turn) {
		out := c.named(proto.Peer{})
		out.Deadline = turn
		return out
	}
	out := c.named(c.self)
	if !c.stood {
		out.Why = []algorithms.Reason{whyTurn.Of()}
	}
	c.stood = true
	return out
}

// turn returns when this server may be a candidate. Every server may be one, the higher-ranked servers a
// little sooner, so that votes are not split.
func (c *candidate) turn() time.Time {
	if c.called {
		return time.Time{}
	}
	return c.vacant.Add(time.Duration(c.above) * Stagger(c.cfg.Delta))
}

// best returns the highest-ranked living server that may be a candidate; nobody if there is no such
// server.
func (c *candidate) best() (best proto.Peer) {
	for i := range c.alive {
		p := &c.alive[i]
		out := p.Ineligible
		if p.ID == c.cfg.Self {
			p, out = &c.self, !c.stands()
		}
		if !out && (best.ID == 0 || p.Above(best)) {
			best = *p
		}
	}
	return best
}

func (c *candidate) stands() bool { return !c.aside && !c.barred }

// named returns the Output that nominates p: in the master's term, or in the next term if there is no
// master.
func (c *candidate) named(p proto.Peer) algorithms.Output {
	term := c.term
	if c.holder.ID == 0 {
		term++
	}
	return algorithms.Output{Leader: algorithms.Leader{ID: p.ID, Incarnation: p.Incarnation, Term: term}}
}
