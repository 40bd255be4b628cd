package sim

import (
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/proto"
)

// node is one machine: what outlives its processes.
type node struct {
	id    proto.NodeID
	attr  int64 // as it is now
	clock clock
	disk  algorithms.State
	// promise is what the latest process was configured with, of an office.
	promise time.Duration
	// lost: its disk was lost, and it has saved nothing since.
	lost bool
	// first is the first term that an operator gives it, zero for none: the truth.
	first proto.Term
	life  *life // nil while no process runs
}

// life is one process of a node.
type life struct {
	number   int           // of this process, from 0 in the order in which they start
	born     time.Duration // true time since the run began
	session  proto.Session
	machine  algorithms.Machine
	recorder *trace.Recorder
	records  uint64 // how many were shown
	view     []proto.Peer
	looks    bool // in a crowd: a look at everybody is planned

	belief   algorithms.Leader
	deadline time.Time
	alarms   uint64            // how many deadlines were set: only the last one rings
	aside    bool              // resigned, and not called since
	barred   bool              // told that it is not eligible
	keeps    bool              // but is to lead on if it leads
	unfit    bool              // it says so itself
	drains   bool              // what it did as a leader stops by and by
	fence    *algorithms.Fence // what its fence agent is at
	lapsed   bool              // it believes that it leads, and its lease has run out

	then       algorithms.Event // what its host gives it once it has asked others to take over
	working    []proto.Term     // that it led once, and whose work has not stopped
	reconciles uint64           // the number of the last split that it asked to reconcile

	asleep time.Duration      // paused until then
	doom   *doom              // how the process will crash, nil for not yet
	stun   *stun              // how it will be paused, nil for not yet
	twin   algorithms.Machine // for the check that Steps are pure, nil for none
}

// peer is the running process as others see it; nobody while none runs.
func (n *node) peer() proto.Peer {
	if n.life == nil {
		return proto.Peer{}
	}
	return proto.Peer{ID: n.id, Session: n.life.session, Attr: n.attr, Ineligible: n.life.unfit}
}

// leads reports whether the node's process believes that it leads.
func (n *node) leads() bool { return n.life != nil && n.life.belief.ID == n.id }

// doom crashes a process between the effects of one of its Steps.
type doom struct {
	word  string        // in a Step that sends this kind; "" for one that does anything
	after int           // so many effects: a save counts as one, each message as one
	back  time.Duration // so long after the crash it starts again; 0: see the fault
}

// strikes reports whether the Step with this Output is the one.
func (d *doom) strikes(out algorithms.Output) bool {
	if d == nil {
		return false
	}
	if d.word == "" {
		return out.Save != nil || len(out.Send) > 0
	}
	return sends(out, d.word)
}

// sends reports whether a message that says the word is in the Output.
func sends(out algorithms.Output, word string) bool {
	for _, m := range out.Send {
		if says(m.Body, word) {
			return true
		}
	}
	return false
}

// stun pauses a process right after a Step that sends this kind.
type stun struct {
	word string
	span time.Duration
}

// cut leaves of out what happens before the crash; none when nothing does.
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

// step is one Step as the checkers see it, before the node takes on the new
// belief and deadline.
type step struct {
	cluster  *cluster
	at       time.Duration // true time since the run began
	now      time.Time     // the node's clock
	node     *node
	ev       algorithms.Event
	out      algorithms.Output // with the messages that left the node
	heard    saying            // what the event says to voters
	said     []saying          // what each message that left says to them
	spurious bool              // a Timeout before the deadline
	crashes  bool              // the process ends in it, perhaps before it had sent all
}

// step lets the node's Machine take one event and makes its Output happen, in
// the order that every host keeps: save, send, timer, belief. cause is the
// depth of the event.
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

// begin makes s the Step in progress. There is one at a time, and nobody keeps it: it
// has one place for the whole run.
func (c *cluster) begin(s step) *step {
	s.cluster, s.at, s.said = c, c.now, c.current.said[:0]
	c.current = s
	return &c.current
}

func (c *cluster) perform(s *step, cause depth) {
	c.steps++
	n, l := s.node, s.node.life
	l.heed(s.ev)
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
		if !crashes && !s.out.Deadline.Equal(l.deadline) {
			c.arm(n, s.out.Deadline, last.next())
		}
	}
	if crashes {
		c.crash(n)
		return
	}
	c.aim(n, s.out.Fence)
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
	if l.stun != nil && sends(s.out, l.stun.word) {
		c.pause(n, min(l.stun.span, c.healAt-c.now))
		l.stun = nil
	}
}

// heed notes what the operator asked for.
func (l *life) heed(ev algorithms.Event) {
	switch ev := ev.(type) {
	case algorithms.Resign:
		l.aside = true
	case algorithms.Campaign:
		l.aside = l.aside && l.barred
	case algorithms.Eligible:
		l.barred, l.keeps = !ev.OK, ev.Keep
	}
}

// effects saves and sends. It returns the depth of the last message, or of the
// cause when there is none.
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

// arm sets the process's timer; the zero time stops it.
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

// attend does something with a process: now, when it wakes from a pause, or
// never when it is gone.
func (c *cluster) attend(n *node, l *life, do func()) {
	switch {
	case n.life != l:
	case l.asleep > c.now:
		c.queue.plan(l.asleep, func() { c.attend(n, l, do) })
	default:
		do()
	}
}
