package splitbrain

import (
	"slices"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/proto"
)

// mending is a split that this node, the nominee, mends.
type mending struct {
	number   uint64
	began    time.Time
	reigns   []*reign
	overlap  time.Duration
	asked    *algorithms.Split // what the host reconciles; nil before
	sayAt    time.Time         // when TRUCE is said again
	messages int
}

// patience is after how many accounts of a reign the nominee takes it that those are
// not late, but the wall clocks differ: the next one will be on time. One that another
// passed on may have been late on its way to that one: who led will tell itself.
const patience = 3

var whyMendedByAnother = reasons.Kind("mended-by-another", "another mended the split meanwhile -> elect a leader of a new term")

// compare looks for a split among the reigns that the nominee knows of, and
// answers the accounts of those that were no part in any.
//
// Lecture notes: "1. Stop all leaders 2. Compare states".
func (m *Machine) compare() {
	if !m.nominated() {
		return
	}
	in, overlap := m.ledger.split(m.now, Relief(m.cfg.Delta))
	switch {
	case len(in) == 0 && m.mending != nil && m.mending.asked == nil:
		m.why(whyMendedByAnother)
		m.elect()
		m.compare() // a new nominee looks at its own reigns anew
		return
	case len(in) == 0:
	case m.mending == nil:
		m.begin(in, overlap)
	default:
		m.mending.overlap = max(m.mending.overlap, overlap)
		if m.mending.asked == nil {
			m.mending.reigns = in // one more may have told of itself
		}
	}
	for _, r := range m.ledger {
		passedOn := r.heard.IsZero() && m.has(r.epoch)
		late := r.late(Relief(m.cfg.Delta)) || passedOn && r.told < patience
		if !r.settled && !r.until.IsZero() && r.epoch.Leader != m.cfg.Self && !late && !slices.Contains(in, r) {
			m.settle(r, Settled{})
			m.send(r.epoch.Leader, r.verdict)
		}
	}
}

var whyStopAll = reasons.Kind("stop-all", "split brain: %d led term %d and %d led term %d at once for %v -> stop all leaders")

// begin stops this node, if it leads, and asks all others to follow nobody.
func (m *Machine) begin(in []*reign, overlap time.Duration) {
	m.number++
	m.mending = &mending{
		number: m.number, began: m.now, reigns: in, overlap: overlap, sayAt: m.now,
		messages: 1, // the account that told of it
	}
	for i, a := range in {
		for _, b := range in[:i] {
			if m.ledger.overlapped(a, b, m.now, Relief(m.cfg.Delta)) {
				m.why(whyStopAll,
					b.epoch.Leader, b.epoch.Term, a.epoch.Leader, a.epoch.Term,
					a.overlap(b, m.now).Round(time.Millisecond))
			}
		}
	}
	m.endReign()
	m.tellOf(*m.split(algorithms.Stopping))
}

var whyReconcile = reasons.Kind("reconcile", "all who led have stopped -> reconcile").
	Follows("3. Reconcile conflicts")

// mend goes on with the mending: it repeats TRUCE, and asks the host to reconcile
// once all have stopped.
func (m *Machine) mend() {
	c := m.mending
	if c == nil {
		return
	}
	if !m.now.Before(c.sayAt) {
		c.sayAt = m.now.Add(SayEvery(m.cfg.Delta))
		m.tellAll(Truce{Session: m.cfg.Session})
		m.tellRivals()
	}
	if c.asked != nil || m.now.Before(c.yieldUntil(m)) {
		return
	}
	for _, r := range c.reigns {
		if !r.stopped && m.inReach(r) {
			return
		}
	}
	m.why(whyReconcile)
	c.asked = m.split(algorithms.Reconciling)
	m.tellOf(*c.asked)
}

// tellRivals tells those who led of the others, so that the split is not forgotten
// with this node, and asks those whose work goes on whether it still does.
func (m *Machine) tellRivals() {
	for _, to := range m.mending.reigns {
		for _, r := range m.mending.reigns {
			itself := to.epoch.Leader == r.epoch.Leader
			if to.epoch.Leader != m.cfg.Self && m.inReach(to) && (!itself || !r.stopped) {
				m.send(to.epoch.Leader, m.account(r))
			}
		}
	}
}

// yieldUntil is until when a better node is given the time to take over; zero when
// none is in sight.
func (c *mending) yieldUntil(m *Machine) time.Time {
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
	whyNotMine    = reasons.Kind("not-mine", "split %d is no longer this node's to mend -> forget how reconciling went")
	whyReconciled = reasons.Kind("reconciled", "reconciled -> the reigns are settled")
	whyFailed     = reasons.Kind("failed", "reconciling failed: %s -> the reigns are settled all the same")
)

// reconciled ends the mending: the reigns are settled, and a leader is elected.
//
// Lecture notes: "3. Reconcile conflicts 4. Re-elect single leader".
func (m *Machine) reconciled(ev algorithms.Reconciled) {
	c := m.mending
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
	for _, r := range c.reigns {
		rival, overlap := m.ledger.rival(r, c.reigns, m.now)
		m.settle(r, Settled{
			Rival: rival.epoch, Overlap: overlap.Truncate(time.Microsecond),
			Tries: uint64(ev.Outcome.Tries), Exit: int64(ev.Outcome.Exit), Problem: ev.Outcome.Problem,
		})
		m.tellAll(r.verdict)
		for _, to := range c.reigns {
			if !m.has(to.epoch) && to.epoch.Leader != m.cfg.Self { // it may be there, and not be listed yet
				m.send(to.epoch.Leader, r.verdict)
			}
		}
	}
	m.last = c.reigns
	report := m.split(algorithms.Electing)
	report.Outcome = ev.Outcome
	m.mendedIn = m.nominee.Term
	m.tellOf(*report)
	if in, _ := m.ledger.split(m.now, Relief(m.cfg.Delta)); len(in) > 0 {
		m.mending = nil
		return // another told of itself meanwhile: that is the next split
	}
	m.elect()
}

// elect calls for a leader of a new term. While the cluster is not to elect, the
// nominee, which leads on all the same, leads that term.
func (m *Machine) elect() {
	m.mending = nil
	m.nominate(algorithms.Campaign{Reason: "a split is mended", Anew: true})
}

// tellNewcomers tells those who were out of reach of the last split that this node
// mended, while it leads.
func (m *Machine) tellNewcomers(before []proto.Peer) {
	if !m.nominated() || m.mending != nil {
		return
	}
	for _, p := range m.alive {
		if p.ID == m.cfg.Self || algorithms.Lists(before, p) {
			continue
		}
		for _, r := range m.last {
			m.settle(r, r.verdict)
			m.out.Send = append(m.out.Send, proto.Message{
				From: m.cfg.Self, To: p.ID, Term: m.mendedIn, Body: r.verdict,
			})
		}
	}
}

// settle ends what is to be told of a reign, with a verdict.
func (m *Machine) settle(r *reign, v Settled) {
	t := r.asTold(m.now, 0)
	v.Reign, v.Led, v.Ago = t.Epoch, t.Led.Truncate(time.Microsecond), t.Ago.Truncate(time.Microsecond)
	v.Stopped, v.After = r.stopped, r.after
	r.settled, r.verdict = true, v
}

var whyLeave = reasons.Kind("leave", "this node is the nominee no more -> leave split %d to the next one")

// leave gives the mending up: another is nominated, or nobody.
func (m *Machine) leave() {
	c := m.mending
	if c == nil {
		return
	}
	m.why(whyLeave, c.number)
	m.tellOf(*m.split(algorithms.Left))
	m.mending = nil
}

// split is the report as it stands.
func (m *Machine) split(stage algorithms.SplitStage) *algorithms.Split {
	c := m.mending
	s := &algorithms.Split{
		Number: c.number, By: m.cfg.Self, Stage: stage, Overlap: c.overlap, Messages: c.messages,
	}
	for _, r := range c.reigns {
		s.Reigns = append(s.Reigns, r.asTold(m.now, r.way))
	}
	return s
}
