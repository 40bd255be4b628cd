package sim

import (
	"cmp"
	"slices"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/internal/scenario"
	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/proto"
)

// cluster is a run in progress. Only one goroutine uses it.
type cluster struct {
	algo    Algorithm
	delta   time.Duration
	preempt bool
	place   func(proto.NodeID) uint64 // on the ring; nil for the order of the ids

	dice    dice
	queue   queue
	now     time.Duration // true time since the run began
	steps   int
	limit   int  // most Steps of the run
	current step // the present Step, or the last one

	nodes    []*node              // in the order of their ids
	index    map[proto.NodeID]int // of nodes
	lives    int                  // how many processes were started so far
	network  network
	detector detector

	// What hosts do to Machines: timers are late, and some Timeouts come too early.
	timerLag time.Duration
	spurious permille

	leasePlan
	highest proto.Term // the highest term that any voter ever voted in

	healAt time.Duration // when the faults of the plan end
	healed bool

	// transferred says that an operator chose a leader. That leader need not be the best node.
	transferred bool

	stayIneligible []proto.NodeID // nodes that are not eligible after everything healed

	loans []loan // leases lent to others; some that have ended are removed

	// reranked says that an attribute changed during the run. Ranks are frozen for a term, so the
	// leader need not be the best node.
	reranked bool

	leaderships  *trueOverlap // nil if the algorithm does not recover from split brains
	longestPause time.Duration
	hook         hook
	shelf        *shelf // the store; nil for none

	root       depth // the depth of an event without a cause
	tally      tally
	flying     int           // how many measured messages are under way
	lastNotice time.Duration // when the last planned look will be
	lastMail   time.Duration // when the last message under way will arrive
	lastCrash  time.Duration // when the last planned crash of an analysis will be
	census     census
	checkers   []checker
	violations []Violation
	sample     func(*node) bool // which processes have a twin
	trace      *tracer
	facts      *Truth // nil if nobody asks
}

// newCluster returns a cluster of these members, all of them down.
func newCluster(o Options, members []scenario.Member, preempt bool, w weather) *cluster {
	d := newDice(o.Seed, streamRun)
	c := &cluster{
		algo: o.Algorithm, delta: o.delta(), preempt: preempt,
		dice:     d,
		limit:    stepLimit(len(members)),
		network:  newNetwork(w, d),
		detector: detector{sight: seesCrashes, lies: map[link]lie{}},
		census:   newCensus(),
		checkers: safetyCheckers(),
		sample:   func(*node) bool { return false },
		trace:    newTracer(o),
		index:    make(map[proto.NodeID]int, len(members)),
		facts:    o.Truth,
	}
	c.facts.begin()
	if o.Algorithm.Guarantee == algorithms.Quorum {
		c.checkers = append(c.checkers, quorumCheckers()...)
	}
	if o.Algorithm.Leased {
		c.leasePlan = plainLease(c.delta)
		c.fencePlan = plainAgents(o.Fence, c.delta)
		if o.Algorithm.Store {
			c.shelf = &shelf{cut: map[proto.NodeID]int{}, lost: map[proto.Leadership]bool{}}
			c.checkers = append(c.checkers, storeCheckers()...)
		} else {
			c.checkers = append(c.checkers, leaseCheckers()...)
		}
	}
	if o.Algorithm.Recovers {
		c.leaderships = &trueOverlap{cluster: c, leaderships: map[proto.Leadership]*span{}}
		c.checkers = append(c.checkers, recoveryCheckers(c)...)
		c.hook, c.Drain = takes(0), c.delta
	}
	for _, m := range members {
		c.nodes = append(c.nodes, &node{id: m.ID, attr: m.Attr})
	}
	slices.SortFunc(c.nodes, func(a, b *node) int { return cmp.Compare(a.id, b.id) })
	for i, n := range c.nodes {
		c.index[n.id] = i
	}
	return c
}

// stepLimit returns a number of Steps that no correct run of n nodes reaches. A run that reaches it
// would not end.
func stepLimit(n int) int { return 50_000 + 20*n*n }

func (c *cluster) node(id proto.NodeID) *node { return c.nodes[c.index[id]] }

func (c *cluster) has(id proto.NodeID) bool {
	_, ok := c.index[id]
	return ok
}

// leader returns the node that believes that it leads the highest term; nil if there is none.
func (c *cluster) leader() *node {
	var leader *node
	for _, n := range c.nodes {
		if n.leads() && (leader == nil || leader.life.belief.Term < n.life.belief.Term) {
			leader = n
		}
	}
	return leader
}

// start starts a process on the node. The detectors notice it after a while.
func (c *cluster) start(n *node) {
	l := &life{number: c.lives, born: c.now, incarnation: c.dice.incarnation()}
	c.lives++
	cfg := algorithms.Config{
		Self: n.id, Incarnation: l.incarnation, Delta: c.delta, Preempt: c.preempt,
		Seed: c.dice.Uint64(), Place: c.place,
	}
	if c.algo.Guarantee == algorithms.Quorum {
		for _, voter := range c.nodes {
			cfg.Voters = append(cfg.Voters, voter.id)
		}
	}
	if c.algo.Leased {
		cfg.Voters, cfg.Promise, cfg.AwaitLeases = c.Voters, c.Promise, c.Keep
		cfg.Fence = c.Agents
		if n.first > 0 && !n.saved() {
			n.first = c.highest + firstMargin // it is no longer what it was
		}
		cfg.FirstTerm = n.first
		n.promise = c.Promise
	}
	l.machine = c.algo.New(cfg)
	l.recorder = trace.NewRecorder(trace.RecorderConfig{
		Node: n.id, Incarnation: l.incarnation, Algorithm: c.algo.Name,
		Guarantee: c.algo.Guarantee,
	})
	if c.sample(n) {
		l.twin = c.algo.New(cfg)
	}
	n.life = l
	c.facts.start(c, n)
	c.detector.regions = nil
	c.census.join(c.now)
	c.step(n, algorithms.Start{Saved: n.disk}, c.root)
	if c.detector.off {
		return
	}
	c.tell(n, []proto.Peer{n.peer()}, "alone", c.root)
	c.news(n.id)
	c.noticeLater(n, 0)
}

// crash ends the node's process at once. The detectors notice it after a while.
func (c *cluster) crash(n *node) {
	if d := n.life.doom; d != nil && d.back > 0 {
		c.later(d.back, func() { c.restart(n) })
	}
	c.census.leave(c.now, n)
	c.facts.crash(c, n)
	c.proveDeath(n, n.life)
	n.life = nil
	c.detector.regions = nil
	c.trace.death(c.now, n.id)
	c.news(n.id)
}

// origin is the process that sent a message, and the promise with which it is configured.
type origin struct {
	incarnation proto.Incarnation // zero if no process sent it
	promise     time.Duration
}

func (n *node) origin() origin {
	by := origin{promise: n.promise}
	if n.life != nil {
		by.incarnation = n.life.incarnation
	}
	return by
}

// send gives a node's message to the network.
func (c *cluster) send(n *node, m proto.Message, d depth) {
	c.tally.sent(m, d)
	c.forge(n, m)
	by := n.origin()
	delays, copies := c.network.fate(m)
	for i := range copies {
		at := c.now + delays[i]
		c.lastMail = max(c.lastMail, at)
		if d != apart {
			c.flying++
		}
		c.queue.plan(at, func() { c.arrive(m, by, d) })
	}
}

// arrive gives a message to the process that the receiving node runs now. That may be a later
// process than the sender meant. If the sender and this process are configured with different
// promises, the message is lost: real processes would have no link.
func (c *cluster) arrive(m proto.Message, by origin, d depth) {
	if d != apart {
		c.flying--
	}
	if !c.has(m.To) {
		return
	}
	n := c.node(m.To)
	if n.life == nil || n.promise != by.promise {
		return
	}
	if n.life.asleep > c.now {
		c.attend(n, n.life, func() { c.receive(n, m, by, d) })
		return
	}
	c.receive(n, m, by, d)
}

// receive hands a message to the process that the node runs.
func (c *cluster) receive(n *node, m proto.Message, by origin, d depth) {
	c.facts.receive(c, n, m, by)
	m.Sender = by.incarnation
	at := n.life.recorder.Receipt(m, n.clock.read(c.now))
	c.step(n, algorithms.Receive{Message: m, At: at}, d)
}

// endless reports whether the run has taken more Steps than any run should.
func (c *cluster) endless() bool { return c.steps >= c.limit }

// runUntil carries out all events up to time t.
func (c *cluster) runUntil(t time.Duration) {
	c.runTo(t, func() bool { return false })
}

// runTo carries out events up to time t, or until done returns true after one of them. It reports
// whether done returned true.
func (c *cluster) runTo(t time.Duration, done func() bool) bool {
	for !c.endless() {
		at, ok := c.queue.peek()
		if !ok || at > t {
			break
		}
		p := c.queue.pop()
		c.now = p.at
		p.do()
		if done() {
			return true
		}
	}
	c.now = max(c.now, t)
	return false
}
