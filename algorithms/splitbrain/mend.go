package splitbrain

import (
	"slices"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/proto"
)

// Machine is one node's part. It is an algorithms.Machine.
//
// Invariants, between Steps:
//  1. belief names this node only while it is the nominee and mends nothing.
//  2. A reign goes on in the ledger exactly while belief names this node.
//  3. mending is nil unless this node is the nominee.
type Machine struct {
	cfg   algorithms.Config
	inner algorithms.Machine
	wake  time.Time // when inner wants its Timeout
	// ineligible is why this node is not eligible, as inner said last.
	ineligible string
	nominee    algorithms.Leader
	alive      []proto.Peer

	ledger   ledger
	belief   algorithms.Leader
	mending  *mending
	number   uint64 // of the last split that this process mended
	truce    truce
	reports  []algorithms.Split // of splits that wait for the leader
	mendedIn proto.Term         // of a later term than this
	after    proto.Epoch        // the reign that was handed over to this process last
	last     []*reign           // those of the last split that this process mended

	// The Step in progress.
	now    time.Time
	out    algorithms.Output
	outbox algorithms.Outbox
}

// truce is until when nobody leads, as the nominee has it that mends. It holds for that
// nominee also when it was out of sight meanwhile.
type truce struct {
	of    proto.Epoch
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
	if !now.Before(m.truce.until) {
		m.truce = truce{}
	}
	switch ev := ev.(type) {
	case algorithms.Receive:
		m.receive(ev)
	case algorithms.Idle:
		m.idle(ev.Term)
	case algorithms.Reconciled:
		m.reconciled(ev)
	case algorithms.PeersChanged:
		m.peersChanged(ev)
	default:
		m.nominate(ev)
	}
	m.compare()
	m.mend()
	m.believe()
	m.tell()
	return m.output()
}

// peersChanged takes the detector's new opinion.
func (m *Machine) peersChanged(ev algorithms.PeersChanged) {
	before := m.alive
	m.alive = ev.Alive
	for _, r := range m.ledger {
		was := proto.Peer{ID: r.epoch.Leader, Session: r.epoch.Session}
		if slices.ContainsFunc(before, was.Is) && !m.has(r.epoch) {
			r.heard = time.Time{} // it is gone since
		}
	}
	m.nominate(ev)
	m.tellNewcomers(before)
}

// nominate lets the nominating Machine take an event, and takes over what comes of
// it, its opinion on who leads apart.
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
	if out.Leader.Epoch() == m.nominee.Epoch() {
		return
	}
	m.nominee = out.Leader
	m.leave()
	m.tellAnew()
	m.endReign()
}

// tellAnew lets another nominee hear of what is not settled, and of this process's
// own latest reigns again that were no part in a split as the nominees before could
// tell.
func (m *Machine) tellAnew() {
	own := 0
	for _, r := range slices.Backward(m.ledger) {
		r.sayAt = m.now
		if r.epoch.Session == m.cfg.Session && !ofSplit(r.verdict) {
			own++
			r.settled = r.settled && own > ownReigns
		}
	}
}

// ownReigns is how many of its reigns a process tells of again.
const ownReigns = 8

// nominated reports whether this node is the nominee.
func (m *Machine) nominated() bool { return m.nominee.ID == m.cfg.Self }

// believe is the belief after this Step. A reign begins with it.
func (m *Machine) believe() {
	m.belief = m.nominee
	if m.mending != nil || m.truce.of == m.nominee.Epoch() {
		m.belief = algorithms.Leader{Term: m.nominee.Term}
	}
	m.endReign()
	if m.belief.ID == m.cfg.Self && m.own() == nil {
		m.ledger.add(&reign{epoch: m.belief.Epoch(), after: m.after, since: m.now})
	}
}

// endReign ends this node's reign, unless it is the nominee still and mends
// nothing.
func (m *Machine) endReign() {
	if r := m.own(); r != nil && (m.mending != nil || r.epoch != m.nominee.Epoch()) {
		r.until, r.sayAt = m.now, m.now
	}
}

// own is the reign that goes on; nil when this node does not lead.
func (m *Machine) own() *reign {
	for _, r := range m.ledger {
		if r.until.IsZero() {
			return r
		}
	}
	return nil
}

// idle notes that the work of this process as the leader of a term has stopped.
func (m *Machine) idle(term proto.Term) {
	e := proto.Epoch{Term: term, Leader: m.cfg.Self, Session: m.cfg.Session}
	if r := m.ledger.find(e); r != nil && !r.stopped && !r.until.IsZero() {
		r.stopped, r.sayAt = true, m.now
	}
}

// tell gives the nominee the accounts that are due.
func (m *Machine) tell() {
	if m.nominee.ID == 0 || m.nominated() {
		return
	}
	for _, r := range m.ledger {
		if m.owes(r) && !r.sayAt.After(m.now) {
			r.sayAt = m.now.Add(SayEvery(m.cfg.Delta))
			m.send(m.nominee.ID, m.account(r))
			m.tellOthersOf(r)
		}
	}
}

// tellOthersOf passes on what this node was told of others that led at the same time
// as it: the nominee may not know of them.
func (m *Machine) tellOthersOf(r *reign) {
	if r.epoch.Session != m.cfg.Session {
		return
	}
	for _, o := range m.ledger {
		if o.settled && o.epoch.Leader != m.cfg.Self && o.epoch.Leader != m.nominee.ID &&
			r.apart(o, m.now) > Relief(m.cfg.Delta) {
			m.send(m.nominee.ID, m.account(o))
		}
	}
}

// owes reports whether the nominee, another node, is to be told of a reign. Of its
// own it knows.
func (m *Machine) owes(r *reign) bool {
	its := r.epoch.Leader == m.nominee.ID && r.epoch.Session == m.nominee.Session
	return !r.settled && !its
}

func (m *Machine) account(r *reign) Account {
	t := r.asTold(m.now, 0)
	return Account{
		Reign: t.Epoch, After: r.after, Stopped: r.stopped,
		Led: t.Led.Truncate(time.Microsecond), Ago: t.Ago.Truncate(time.Microsecond),
	}
}

// has reports whether the process that led is in the view, or is this one.
func (m *Machine) has(e proto.Epoch) bool {
	if e.Session == m.cfg.Session {
		return true
	}
	for _, p := range m.alive {
		if p.ID == e.Leader {
			return p.Session == e.Session
		}
	}
	return false
}

// inReach reports whether the process that led is in the view, or told of itself of
// late: it may have come back and not be listed yet.
func (m *Machine) inReach(r *reign) bool {
	return m.has(r.epoch) || !r.heard.IsZero() && m.now.Before(r.heard.Add(TruceLasts(m.cfg.Delta)))
}

var whyMended = reasons.Kind("mended", "%d leads term %d -> the split is mended")

// output completes the Output of the Step.
func (m *Machine) output() algorithms.Output {
	due := func(at time.Time) {
		if !at.IsZero() && (m.out.Deadline.IsZero() || at.Before(m.out.Deadline)) {
			m.out.Deadline = at
		}
	}
	due(m.wake)
	due(m.truce.until)
	switch {
	case m.mending != nil:
		due(m.mending.sayAt)
		due(m.mending.yieldUntil(m))
		m.out.Reconcile = m.mending.asked
	case m.nominee.ID != 0 && !m.nominated():
		for _, r := range m.ledger {
			if m.owes(r) {
				due(r.sayAt)
			}
		}
	}
	m.out.Leader, m.out.Ineligible = m.belief, m.ineligible
	if len(m.reports) > 0 && m.belief.ID != 0 && m.belief.Term > m.mendedIn {
		m.why(whyMended, m.belief.ID, m.belief.Term)
		for _, r := range m.reports {
			r.Stage, r.Leader = algorithms.Mended, m.belief
			m.out.Splits = append(m.out.Splits, r)
		}
		m.reports = nil
	}
	m.out.Send = m.outbox.Lend(m.out.Send)
	out := m.out
	m.out = algorithms.Output{}
	return out
}

// tellOf adds a report to the Output. One that is done with, but for its leader, is
// told again with that one.
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
	if m.mending != nil {
		m.mending.messages++
	}
}

// tellAll sends to every other node believed alive.
func (m *Machine) tellAll(body proto.Body) {
	for _, p := range m.alive {
		if p.ID != m.cfg.Self {
			m.send(p.ID, body)
		}
	}
}
