package splitbrain

import (
	"slices"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/proto"
)

// recovery is the present recovery from a split, by this node, the nominee.
type recovery struct {
	number      uint64
	began       time.Time
	leaderships []*leadership
	overlap     time.Duration
	asked       *algorithms.Split // what the host was asked to reconcile; nil before that
	sayAt       time.Time         // when STOP is sent again
	messages    int
}

// patience is the number of late reports of one leadership after which the nominee concludes that the
// wall clocks differ, since three messages in a row are hardly late. The nominee waits for the same
// number of reports if another process passes them on. The first report may have reached that process
// late; meanwhile the process that led may report its leadership itself.
const patience = 3

var whyRecoveredByAnother = reasons.Kind("recovered-by-another",
	"another recovered from the split meanwhile -> elect a leader of a new term")

// compare looks for a split among the leaderships that the nominee knows. It settles the leaderships
// that were part of no split.
//
// Lecture notes: "1. Stop all leaders 2. Compare states".
func (m *Machine) compare() {
	if !m.nominated() {
		return
	}
	in, overlap := m.ledger.split(m.now, Relief(m.cfg.Delta))
	switch {
	case len(in) == 0 && m.recovery != nil && m.recovery.asked == nil:
		m.why(whyRecoveredByAnother)
		m.elect()
		m.compare() // a new nominee looks at its own leaderships anew
		return
	case len(in) == 0:
	case m.recovery == nil:
		m.begin(in, overlap)
	default:
		m.recovery.overlap = max(m.recovery.overlap, overlap)
		if m.recovery.asked == nil {
			m.recovery.leaderships = in // one more may have told of itself
		}
	}
	for _, r := range m.ledger {
		passedOn := r.heard.IsZero() && m.has(r.leadership)
		late := r.late(Relief(m.cfg.Delta)) || passedOn && r.told < patience
		if !r.settled && !r.until.IsZero() && r.leadership.Leader != m.cfg.Self && !late && !slices.Contains(in, r) {
			m.settle(r, Resume{})
			m.send(r.leadership.Leader, r.verdict)
		}
	}
}

var whyStopAll = reasons.Kind("stop-all",
	"split brain: %d led term %d and %d led term %d at once for %v -> stop all leaders")

// begin starts a recovery: this node stops leading, and asks all others to follow nobody.
func (m *Machine) begin(in []*leadership, overlap time.Duration) {
	m.number++
	m.recovery = &recovery{
		number: m.number, began: m.now, leaderships: in, overlap: overlap, sayAt: m.now,
		messages: 1, // the report that told of it
	}
	for i, a := range in {
		for _, b := range in[:i] {
			if m.ledger.overlapped(a, b, m.now, Relief(m.cfg.Delta)) {
				m.why(whyStopAll,
					b.leadership.Leader, b.leadership.Term, a.leadership.Leader, a.leadership.Term,
					a.overlap(b, m.now).Round(time.Millisecond))
			}
		}
	}
	m.endLeadership()
	m.tellOf(*m.split(algorithms.Stopping))
}

var whyReconcile = reasons.Kind("reconcile", "all who led have stopped -> reconcile").
	Follows("3. Reconcile conflicts")

// recover continues the recovery: it repeats STOP, and asks the host to reconcile once all have
// stopped.
func (m *Machine) recover() {
	c := m.recovery
	if c == nil {
		return
	}
	if !m.now.Before(c.sayAt) {
		c.sayAt = m.now.Add(SayEvery(m.cfg.Delta))
		m.tellAll(Stop{Incarnation: m.cfg.Incarnation})
		m.tellRivals()
	}
	if c.asked != nil || m.now.Before(c.yieldUntil(m)) {
		return
	}
	for _, r := range c.leaderships {
		if !r.stopped && m.inReach(r) {
			return
		}
	}
	m.why(whyReconcile)
	c.asked = m.split(algorithms.Reconciling)
	m.tellOf(*c.asked)
}

// tellRivals tells the former leaders about each other, so that the split is not forgotten if this node
// fails. It also asks each leader whose work has not stopped, as far as this node knows, whether the
// work has stopped.
func (m *Machine) tellRivals() {
	for _, to := range m.recovery.leaderships {
		for _, r := range m.recovery.leaderships {
			itself := to.leadership.Leader == r.leadership.Leader
			if to.leadership.Leader != m.cfg.Self && m.inReach(to) && (!itself || !r.stopped) {
				m.send(to.leadership.Leader, m.report(r))
			}
		}
	}
}

// yieldUntil returns the time until which this nominee waits for a better node to take over; zero if it
// does not wait.
func (c *recovery) yieldUntil(m *Machine) time.Time {
	if !m.cfg.Preempt || c.asked != nil {
		return time.Time{}
	}
	var self proto.Peer
	for _, p := range m.alive {
		if p.ID == m.cfg.Self {
			self = p
		}
	}
	better := func(p proto.Peer) bool { return !p.Ineligible && p.Above(self) }
	until := c.began.Add(YieldFor(m.cfg.Delta, len(m.alive)))
	if !slices.ContainsFunc(m.alive, better) || !m.now.Before(until) {
		return time.Time{}
	}
	return until
}

var (
	whyNotMine = reasons.Kind("not-mine",
		"split %d is no longer this node's to recover from -> forget how reconciling went")
	whyReconciled = reasons.Kind("reconciled", "reconciled -> the leaderships are settled")
	whyFailed     = reasons.Kind("failed", "reconciling failed: %s -> the leaderships are settled all the same")
)

// reconciled handles the host's outcome of reconciling, and ends the recovery: it settles the
// leaderships and starts the election of a leader.
//
// Lecture notes: "3. Reconcile conflicts 4. Re-elect single leader".
func (m *Machine) reconciled(ev algorithms.Reconciled) {
	c := m.recovery
	if c == nil || c.asked == nil || ev.Number != c.number {
		m.why(whyNotMine, ev.Number)
		return
	}
	if ev.Outcome.OK() {
		m.why(whyReconciled)
	} else {
		m.why(whyFailed, ev.Outcome.Problem)
		m.out.Warn = true
	}
	for _, r := range c.leaderships {
		rival, overlap := m.ledger.rival(r, c.leaderships, m.now)
		m.settle(r, Resume{
			Rival: rival.leadership, By: m.cfg.Self, Overlap: overlap.Truncate(time.Microsecond),
			Tries: uint64(ev.Outcome.Tries), Exit: int64(ev.Outcome.Exit), Problem: ev.Outcome.Problem,
		})
		m.tellAll(r.verdict)
		for _, to := range c.leaderships {
			if !m.has(to.leadership) && to.leadership.Leader != m.cfg.Self { // it may be there, and not be listed yet
				m.send(to.leadership.Leader, r.verdict)
			}
		}
	}
	m.last, m.toldBy = c.leaderships, m.cfg.Self
	report := m.split(algorithms.Electing)
	report.Outcome = ev.Outcome
	m.recoveredIn = m.nominee.Term
	m.tellOf(*report)
	if in, _ := m.ledger.split(m.now, Relief(m.cfg.Delta)); len(in) > 0 {
		m.recovery = nil
		return // another told of itself meanwhile: that is the next split
	}
	m.elect()
}

// elect starts the election of a leader for a new term. While the cluster is paused, there is no
// election: the nominee, which keeps its leadership, leads the new term.
func (m *Machine) elect() {
	m.recovery = nil
	m.nominate(algorithms.Campaign{Reason: "recovered from a split", Anew: true})
}

// tellNewcomers tells nodes that were out of reach about the last split, if this node is the nominee and
// does not recover.
func (m *Machine) tellNewcomers(before []proto.Peer) {
	if !m.nominated() || m.recovery != nil {
		return
	}
	for _, p := range m.alive {
		if !algorithms.Lists(before, p) {
			m.tellOfLast(p)
		}
	}
}

// passOn tells a new nominee about the last split, unless that nominee is the node that told this node.
// The new nominee may have been out of reach when the split was recovered from. If this node is the new
// nominee, it tells all, for the same reason.
func (m *Machine) passOn() {
	if m.toldBy == 0 || m.nominee.ID == 0 || m.nominee.ID == m.toldBy {
		return
	}
	for _, p := range m.alive {
		if m.nominated() || p.ID == m.nominee.ID {
			m.tellOfLast(p)
		}
	}
	m.toldBy = 0
}

func (m *Machine) tellOfLast(p proto.Peer) {
	if p.ID == m.cfg.Self {
		return
	}
	for _, r := range m.last {
		m.settle(r, r.verdict)
		m.out.Send = append(m.out.Send, proto.Message{
			From: m.cfg.Self, To: p.ID, Term: m.recoveredIn, Body: r.verdict,
		})
	}
}

// settle marks a leadership as settled, with a verdict.
func (m *Machine) settle(r *leadership, v Resume) {
	t := r.asTold(m.now, 0)
	v.Leadership, v.Led, v.Ago = t.Leadership, t.Led.Truncate(time.Microsecond), t.Ago.Truncate(time.Microsecond)
	v.Stopped, v.After = r.stopped, r.after
	r.settled, r.verdict = true, v
}

var whyLeave = reasons.Kind("leave", "this node is the nominee no more -> leave split %d to the next one")

// leave gives up the recovery, if there is one, because this node is no longer the nominee.
func (m *Machine) leave() {
	c := m.recovery
	if c == nil {
		return
	}
	m.why(whyLeave, c.number)
	m.tellOf(*m.split(algorithms.Left))
	m.recovery = nil
}

// split returns the present state of the recovery, for the Output.
func (m *Machine) split(stage algorithms.SplitStage) *algorithms.Split {
	c := m.recovery
	s := &algorithms.Split{
		Number: c.number, By: m.cfg.Self, Stage: stage, Overlap: c.overlap, Messages: c.messages,
	}
	for _, r := range c.leaderships {
		s.Leaderships = append(s.Leaderships, r.asTold(m.now, r.way))
	}
	return s
}
