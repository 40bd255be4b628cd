package splitbrain

import (
	"slices"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/proto"
)

// Machine is one node's part in finding and recovering from split brains. It is an
// algorithms.Machine.
//
// Invariants, between Steps: 1. belief names this node only while it is the nominee and recovers
// from nothing. 2. The ledger has a leadership that has not ended exactly while belief names this
// node. 3. recovery is nil unless this node is the nominee.
type Machine struct {
	cfg   algorithms.Config
	inner algorithms.Machine
	wake  time.Time // when inner wants its Timeout
	// ineligible is why this node is not eligible, as inner said last.
	ineligible string
	nominee    algorithms.Leader
	alive      []proto.Peer

	ledger      ledger
	belief      algorithms.Leader
	recovery    *recovery
	number      uint64 // counts the splits that this process recovered from
	stop        stop
	reports     []algorithms.Split // reports of splits that lack only the new leader
	recoveredIn proto.Term         // reports wait for the leader of a later term than this
	after       proto.Leadership   // the leadership that this process last took over from
	last        []*leadership      // the leaderships of the last split from which a nominee recovered
	toldBy      proto.NodeID       // who told of that split; 0 once the next nominee knows of it

	// The state of the Step in progress.
	now    time.Time
	out    algorithms.Output
	outbox algorithms.Outbox
}

// stop says until when this node follows nobody, because a nominee asked for that; the field of names
// that nominee. stop is also valid if this node has lost sight of that nominee meanwhile.
type stop struct {
	of    proto.Leadership
	until time.Time
}

// New returns a Machine around the nominating Machine that nominate makes.
func New(
	cfg algorithms.Config, nominate func(algorithms.Config) algorithms.Machine,
) *Machine {
	return &Machine{cfg: cfg, inner: nominate(cfg)}
}

// Step implements algorithms.Machine.
func (m *Machine) Step(now time.Time, ev algorithms.Event) algorithms.Output {
	m.now, m.out = now, algorithms.Output{Send: m.outbox.Empty()}
	if !now.Before(m.stop.until) {
		m.stop = stop{}
	}
	switch ev := ev.(type) {
	case algorithms.Receive:
		m.receive(ev)
	case algorithms.WorkStopped:
		m.workStopped(ev.Term)
	case algorithms.Reconciled:
		m.reconciled(ev)
	case algorithms.PeersChanged:
		m.peersChanged(ev)
	default:
		m.nominate(ev)
	}
	m.compare()
	m.recover()
	m.passOn()
	m.believe()
	m.tell()
	return m.output()
}

// peersChanged handles a new opinion of the failure detector.
func (m *Machine) peersChanged(ev algorithms.PeersChanged) {
	before := m.alive
	m.alive = ev.Alive
	for _, r := range m.ledger {
		was := proto.Peer{ID: r.leadership.Leader, Incarnation: r.leadership.Incarnation}
		if slices.ContainsFunc(before, was.Is) && !m.has(r.leadership) {
			r.heard = time.Time{} // it is gone since
		}
	}
	m.nominate(ev)
	m.tellNewcomers(before)
}

// nominate passes an event to the nominating Machine, and takes over its Output except for its
// belief about who leads.
func (m *Machine) nominate(ev algorithms.Event) {
	out := m.inner.Step(m.now, ev)
	m.out.Send = append(m.out.Send, out.Send...)
	m.out.Why = append(m.out.Why, out.Why...)
	m.out.Warn = m.out.Warn || out.Warn
	m.out.Round = out.Round
	m.wake, m.ineligible = out.Deadline, out.Ineligible
	if out.Transfer != nil {
		m.out.Transfer = out.Transfer
	}
	if out.Save != nil {
		m.out.Save = out.Save
	}
	if out.Leader.Leadership() == m.nominee.Leadership() {
		return
	}
	m.nominee = out.Leader
	m.leave()
	m.tellAnew()
	m.endLeadership()
}

// tellAnew makes this node report to a new nominee all leaderships that are not settled. It also makes
// the latest leaderships of this process itself not settled again, unless an earlier nominee found them
// to be part of a split.
func (m *Machine) tellAnew() {
	own := 0
	for _, r := range slices.Backward(m.ledger) {
		r.sayAt = m.now
		if r.leadership.Incarnation == m.cfg.Incarnation && !ofSplit(r.verdict) {
			own++
			r.settled = r.settled && own > ownLeaderships
		}
	}
}

// ownLeaderships is the number of its own latest leaderships that a process reports again although they
// are settled.
const ownLeaderships = 8

// nominated reports whether this node is the nominee.
func (m *Machine) nominated() bool { return m.nominee.ID == m.cfg.Self }

// believe computes who leads, as this node believes after this Step. If this node now leads, its
// leadership begins.
func (m *Machine) believe() {
	m.belief = m.nominee
	if m.recovery != nil || m.stop.of == m.nominee.Leadership() {
		m.belief = algorithms.Leader{Term: m.nominee.Term}
	}
	m.endLeadership()
	if m.belief.ID == m.cfg.Self && m.own() == nil {
		m.ledger.add(&leadership{leadership: m.belief.Leadership(), after: m.after, since: m.now})
	}
}

// endLeadership ends this node's leadership, unless this node still is the nominee and recovers from no
// split.
func (m *Machine) endLeadership() {
	if r := m.own(); r != nil && (m.recovery != nil || r.leadership != m.nominee.Leadership()) {
		r.until, r.sayAt = m.now, m.now
	}
}

// own returns this node's leadership, the only one that has not ended; nil if this node does not lead.
func (m *Machine) own() *leadership {
	for _, r := range m.ledger {
		if r.until.IsZero() {
			return r
		}
	}
	return nil
}

// workStopped notes that this process's work as the leader of a term has stopped.
func (m *Machine) workStopped(term proto.Term) {
	e := proto.Leadership{Term: term, Leader: m.cfg.Self, Incarnation: m.cfg.Incarnation}
	if r := m.ledger.find(e); r != nil && !r.stopped && !r.until.IsZero() {
		r.stopped, r.sayAt = true, m.now
	}
}

// tell sends the nominee the reports that are due.
func (m *Machine) tell() {
	if m.nominee.ID == 0 || m.nominated() {
		return
	}
	for _, r := range m.ledger {
		if m.owes(r) && !r.sayAt.After(m.now) {
			r.sayAt = m.now.Add(SayEvery(m.cfg.Delta))
			m.send(m.nominee.ID, m.report(r))
			m.tellOthersOf(r)
		}
	}
}

// tellOthersOf passes on reports of other nodes whose leadership overlapped with r, a leadership of
// this process: the nominee may not know them.
func (m *Machine) tellOthersOf(r *leadership) {
	if r.leadership.Incarnation != m.cfg.Incarnation {
		return
	}
	for _, o := range m.ledger {
		if o.settled && o.leadership.Leader != m.cfg.Self && o.leadership.Leader != m.nominee.ID &&
			r.apart(o, m.now) > Relief(m.cfg.Delta) {
			m.send(m.nominee.ID, m.report(o))
		}
	}
}

// owes reports whether the nominee, which is another node, still needs the report of r. The nominee
// needs no report of its own leadership.
func (m *Machine) owes(r *leadership) bool {
	its := r.leadership.Leader == m.nominee.ID && r.leadership.Incarnation == m.nominee.Incarnation
	return !r.settled && !its
}

func (m *Machine) report(r *leadership) Report {
	t := r.asTold(m.now, 0)
	return Report{
		Leadership: t.Leadership, After: r.after, Stopped: r.stopped,
		Led: t.Led.Truncate(time.Microsecond), Ago: t.Ago.Truncate(time.Microsecond),
	}
}

// has reports whether the process of the leadership e is in the view, or is this process.
func (m *Machine) has(e proto.Leadership) bool {
	if e.Incarnation == m.cfg.Incarnation {
		return true
	}
	for _, p := range m.alive {
		if p.ID == e.Leader {
			return p.Incarnation == e.Incarnation
		}
	}
	return false
}

// inReach reports whether the process that led is in the view, or reported its leadership lately: such a
// process may have come back without being in the view yet.
func (m *Machine) inReach(r *leadership) bool {
	return m.has(r.leadership) || !r.heard.IsZero() && m.now.Before(r.heard.Add(StopLasts(m.cfg.Delta)))
}

var whyRecovered = reasons.Kind("recovered", "%d leads term %d -> the split is recovered from")

// output completes the Output of the Step.
func (m *Machine) output() algorithms.Output {
	due := func(at time.Time) {
		if !at.IsZero() && (m.out.Deadline.IsZero() || at.Before(m.out.Deadline)) {
			m.out.Deadline = at
		}
	}
	due(m.wake)
	due(m.stop.until)
	switch {
	case m.recovery != nil:
		due(m.recovery.sayAt)
		due(m.recovery.yieldUntil(m))
		m.out.Reconcile = m.recovery.asked
	case m.nominee.ID != 0 && !m.nominated():
		for _, r := range m.ledger {
			if m.owes(r) {
				due(r.sayAt)
			}
		}
	}
	m.out.Leader, m.out.Ineligible = m.belief, m.ineligible
	if len(m.reports) > 0 && m.belief.ID != 0 && m.belief.Term > m.recoveredIn {
		m.why(whyRecovered, m.belief.ID, m.belief.Term)
		for _, r := range m.reports {
			r.Stage, r.Leader = algorithms.Recovered, m.belief
			m.out.Splits = append(m.out.Splits, r)
		}
		m.reports = nil
	}
	m.out.Send = m.outbox.Lend(m.out.Send)
	out := m.out
	m.out = algorithms.Output{}
	return out
}

// tellOf adds a report of a split to the Output. If only the new leader is missing, the report is
// repeated once that leader is known.
func (m *Machine) tellOf(s algorithms.Split) {
	m.out.Splits = append(m.out.Splits, s)
	if s.Stage == algorithms.Electing {
		m.reports = append(m.reports, s)
	}
}

func (m *Machine) why(kind *algorithms.ReasonKind, args ...any) {
	m.out.Why = append(m.out.Why, kind.Of(args...))
}

func (m *Machine) refuse(kind *algorithms.ReasonKind, args ...any) {
	m.why(kind, args...)
	m.out.Warn = true
}

func (m *Machine) send(to proto.NodeID, body proto.Body) {
	m.out.Send = append(m.out.Send, proto.Message{
		From: m.cfg.Self, To: to, Term: m.nominee.Term, Body: body,
	})
	if m.recovery != nil {
		m.recovery.messages++
	}
}

// tellAll sends a message to every other node believed alive.
func (m *Machine) tellAll(body proto.Body) {
	for _, p := range m.alive {
		if p.ID != m.cfg.Self {
			m.send(p.ID, body)
		}
	}
}
