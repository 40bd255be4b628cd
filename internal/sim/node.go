package sim

import (
	"slices"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/proto"
)

// node is one machine: the state that outlives its processes.
type node struct {
	id    proto.NodeID
	attr  int64 // the present attribute
	clock clock
	disk  algorithms.State
	// promise is the promise with which the latest process was configured, if there are voters.
	promise time.Duration
	// lost says that the disk was lost and that nothing was saved since.
	lost bool
	// first is the first term that an operator gives the node; zero for none. The operator is
	// right: nobody voted in that term or above.
	first proto.Term
	life  *life // nil while no process runs
}

// life is one process of a node.
type life struct {
	number      int           // numbers all processes of the run, from 0 in the order in which they start
	born        time.Duration // true time since the run began
	incarnation proto.Incarnation
	machine     algorithms.Machine
	recorder    *trace.Recorder
	records     uint64 // how many records were shown
	view        []proto.Peer
	looks       bool // a look at all nodes is planned; used if there are many nodes

	belief     algorithms.Leader
	deadline   time.Time
	alarms     uint64             // how many deadlines were set; only the last one counts
	aside      bool               // it resigned, and no election was called at it since
	ineligible bool               // its host told it that it is not eligible
	keeps      bool               // if it leads, it may lead on although it is not eligible
	unfit      bool               // the Machine itself says that it is not eligible
	drains     bool               // its work as a leader has not stopped yet
	fence      *algorithms.Fence  // what its fence agent does at present
	ask        *algorithms.Ask    // what it asks of the store at present
	asked      algorithms.AskVerb // what it asked that was answered last
	trap       *trap              // what happens to it when it next asks that of the store; nil if that is not planned
	lapsed     bool               // it believes that it leads, but its lease has ended

	then       algorithms.Event // the event that follows once it has asked others to take over
	working    []proto.Term     // terms in which it led and its work has not stopped
	reconciles uint64           // the number of the last split that it asked to reconcile

	asleep time.Duration      // true time until which it is paused
	doom   *doom              // how the process will crash; nil if that is not planned
	stun   *stun              // how it will be paused; nil if that is not planned
	twin   algorithms.Machine // gets the same events, to check that Steps are pure; nil for none
}

// peer returns the running process as other nodes see it, or the zero Peer if none runs.
func (n *node) peer() proto.Peer {
	if n.life == nil {
		return proto.Peer{}
	}
	return proto.Peer{ID: n.id, Incarnation: n.life.incarnation, Attr: n.attr, Ineligible: n.life.unfit}
}

// leads reports whether the node's process believes that it leads.
func (n *node) leads() bool { return n.life != nil && n.life.belief.ID == n.id }

// doom is a plan to crash a process between two effects of one of its Steps.
type doom struct {
	word  string        // the crash is in a Step that sends this kind; "" for a Step that has any effect
	after int           // how many effects of that Step happen before the crash: a save, or one message
	back  time.Duration // the time until the node starts again; 0 if the fault itself restarts it
}

// strikes reports whether the process crashes during the Step with this Output.
func (d *doom) strikes(out algorithms.Output) bool {
	if d == nil {
		return false
	}
	if d.word == "" {
		return out.Save != nil || len(out.Send) > 0
	}
	return sends(out, d.word)
}

// sends reports whether the Output has a message whose kind has this name.
func sends(out algorithms.Output, word string) bool {
	return slices.ContainsFunc(out.Send, func(m proto.Message) bool { return says(m.Body, word) })
}

// stun is a plan to pause a process right after a Step that sends a message of this kind.
type stun struct {
	word string
	span time.Duration
}

// cut returns the part of out that happens before the crash. If nothing happens before it, none is
// true.
func (d *doom) cut(out algorithms.Output) (rest algorithms.Output, none bool) {
	left := d.after
	if left == 0 {
		return algorithms.Output{}, true
	}
	if out.Save != nil {
		left--
	}
	out.Send = out.Send[:min(left, len(out.Send))]
	return out, false
}

// step is one Step as the checkers see it, before the node takes over the new belief and deadline.
type step struct {
	cluster  *cluster
	at       time.Duration // true time since the run began
	now      time.Time     // the node's clock
	node     *node
	ev       algorithms.Event
	out      algorithms.Output // with the messages that left the node
	heard    saying            // what its event says to voters
	said     []saying          // what each message that left says to voters
	spurious bool              // it is a Timeout before the deadline
	crashes  bool              // the process ends in it, perhaps before all messages left
}

// step lets the node's Machine take one event and carries out its Output, in the order that every
// host keeps: save, send, timer, belief. cause is the depth of the event.
func (c *cluster) step(n *node, ev algorithms.Event, cause depth) {
	c.perform(c.begin(step{node: n, now: n.clock.read(c.now), ev: ev}), cause)
	if n.life != nil && c.dice.chance(c.spurious) {
		c.interrupt(n)
	}
}

// interrupt delivers a Timeout before the deadline.
func (c *cluster) interrupt(n *node) {
	now, due := n.clock.read(c.now), n.life.deadline
	if due.IsZero() || now.Before(due) {
		c.perform(c.begin(step{node: n, now: now, ev: algorithms.Timeout{}, spurious: true}), c.root)
	}
}

// begin makes s the present Step. There is only one at a time and nobody keeps it, so one variable
// serves the whole run.
func (c *cluster) begin(s step) *step {
	s.cluster, s.at, s.said = c, c.now, c.current.said[:0]
	c.current = s
	return &c.current
}

func (c *cluster) perform(s *step, cause depth) {
	c.steps++
	n, l := s.node, s.node.life
	l.apply(s.ev)
	c.take(s)
	l.recorder.Stamp(s.now, s.ev, &s.out)

	crashes, none := l.doom.strikes(s.out), false
	s.crashes = crashes
	if crashes {
		s.out, none = l.doom.cut(s.out)
	}
	if !none {
		last := c.effects(n, s.out, cause)
		c.check(s)
		c.trace.step(s)
		c.facts.step(s)
		if !crashes && !s.out.Deadline.Equal(l.deadline) {
			c.arm(n, s.out.Deadline, last.next())
		}
	}
	if crashes {
		c.crash(n)
		return
	}
	c.aim(n, s.out.Fence)
	c.askStore(n, s.out.Ask)
	c.census.change(c.now, n, s.out.Leader)
	was := l.belief
	l.belief = s.out.Leader
	if unfit := s.out.Ineligible != ""; unfit != l.unfit {
		l.unfit = unfit
		c.news(n.id)
	}
	c.leave(n, s.out.Transfer)
	c.lent(n, s.out.Lent)
	c.stopWork(n, was)
	c.watchLease(n, was)
	c.reconcile(n, s.out.Reconcile)
	if s.out.End != "" {
		c.end(n, s.out.End)
		return
	}
	if l.stun != nil && sends(s.out, l.stun.word) {
		c.pause(n, min(l.stun.span, c.healAt-c.now))
		l.stun = nil
	}
}

// apply notes what the operator or the host asks of the node.
func (l *life) apply(ev algorithms.Event) {
	switch ev := ev.(type) {
	case algorithms.Resign:
		l.aside = true
	case algorithms.Campaign:
		l.aside = l.aside && l.ineligible
	case algorithms.Eligible:
		l.ineligible, l.keeps = !ev.OK, ev.Keep
	}
}

// effects saves the state and sends the messages that out contains. It returns the depth (see type
// depth) of the last message. If out contains no message, it returns cause.
func (c *cluster) effects(n *node, out algorithms.Output, cause depth) depth {
	if out.Save != nil {
		n.disk = *out.Save
		n.lost = n.lost && !n.saved()
		c.highest = max(c.highest, n.disk.Vote.Term)
	}
	last := cause
	for i, m := range out.Send {
		if i == 0 || !sameBurst(out.Send[i-1], m) {
			last = last.next()
		}
		c.send(n, m, last)
	}
	return last
}

// arm sets the process's timer. The zero time stops it.
func (c *cluster) arm(n *node, deadline time.Time, d depth) {
	l := n.life
	l.alarms++
	l.deadline = deadline
	if deadline.IsZero() {
		return
	}
	alarm := l.alarms
	at := max(c.now, n.clock.when(deadline)) + c.dice.between(0, c.timerLag)
	c.queue.plan(at, func() {
		c.attend(n, l, func() {
			if alarm != l.alarms {
				return
			}
			l.deadline = time.Time{} // it has rung
			if l.belief.ID != 0 {
				d = c.root
			}
			c.step(n, algorithms.Timeout{}, d)
		})
	})
}

// attend calls do: at once, or after the pause if the process l is paused. If l is gone, it never
// calls do.
func (c *cluster) attend(n *node, l *life, do func()) {
	switch {
	case n.life != l:
	case l.asleep > c.now:
		c.queue.plan(l.asleep, func() { c.attend(n, l, do) })
	default:
		do()
	}
}
