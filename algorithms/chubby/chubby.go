package chubby

import (
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/office"
	"github.com/ringleader-dev/ringleader/proto"
)

// StartDelay is how long a starting server listens for a master before it stands.
func StartDelay(delta time.Duration) time.Duration { return 10 * delta }

// Stagger is how much later each server stands than the one that ranks above it:
// until that one has asked, was answered, and its claim binds the voters, with as
// much again as one message takes.
func Stagger(delta time.Duration) time.Duration { return 4 * delta }

// New returns a Machine for the server that cfg describes. cfg names the voters, and a
// promise of at least lease.MinPromise.
func New(cfg algorithms.Config) algorithms.Machine {
	return office.New(cfg, func(c algorithms.Config) algorithms.Machine {
		return &candidate{cfg: c, self: proto.Peer{ID: c.Self, Session: c.Session}}
	})
}

// candidate decides when this server stands. It is an algorithms.Machine that
// nominates nobody but itself, as long as the office is vacant.
type candidate struct {
	cfg    algorithms.Config
	alive  []proto.Peer // the voters, this one among them
	self   proto.Peer   // with its attribute as it is now
	aside  bool         // asked to resign
	barred bool         // not eligible

	holder proto.Peer // of the office, nobody while it is vacant
	last   proto.Peer // who held it before that
	term   proto.Term // in which it was held last, as far as this server knows
	vacant time.Time  // since when it is
	called bool       // an operator calls an election
	stood  bool       // this server's turn came since then
	above  int        // how many that stand rank above this server, last left out
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

// see takes a view. What it says of this server's own being eligible may be late, and
// is not read.
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

// Watch implements office.Watcher.
//
// Lecture notes: "After election, master has an election 'term' where no other
// elections will be run. […] Also guarantees a new election will be run at end of
// lease."
func (c *candidate) Watch(now time.Time, holder algorithms.Leader) {
	c.last, c.term = c.holder, max(c.term, holder.Term)
	c.holder = proto.Peer{ID: holder.ID, Session: holder.Session}
	c.vacant, c.called, c.stood = now, false, false
	c.countAbove()
}

var whyTurn = reasons.Kind("turn", "nobody leads, and it is this server's turn -> stand").
	Follows(triesToGetVotes)

// nominate names this server once it is its turn to stand.
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

// turn is when this server may stand: any may, the better ones a little sooner, so
// that votes are not split.
func (c *candidate) turn() time.Time {
	if c.called {
		return time.Time{}
	}
	return c.vacant.Add(time.Duration(c.above) * Stagger(c.cfg.Delta))
}

// best is the highest living server that stands.
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

// named is the nomination of p: for the next term, once the office is vacant.
func (c *candidate) named(p proto.Peer) algorithms.Output {
	term := c.term
	if c.holder.ID == 0 {
		term++
	}
	return algorithms.Output{Leader: algorithms.Leader{ID: p.ID, Session: p.Session, Term: term}}
}
