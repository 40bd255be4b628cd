package splitbrain

import (
	"cmp"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/nomination"
	"github.com/ringleader-dev/ringleader/proto"
)

var whyMisrouted = reasons.Kind("misrouted", "%s from %d to %d reached %d -> drop")

// receive sorts a message: of the mending, or of the nomination.
func (m *Machine) receive(ev algorithms.Receive) {
	msg := ev.Message
	kind := msg.Body.Kind()
	switch body := msg.Body.(type) {
	case Account, Truce, Settled:
		if msg.To != m.cfg.Self || msg.From == m.cfg.Self {
			m.refuse(whyMisrouted, kind, msg.From, msg.To, m.cfg.Self)
			return
		}
		switch body := body.(type) {
		case Account:
			m.accountOf(ev, body)
		case Truce:
			m.truceOf(msg, body)
		case Settled:
			m.settledBy(ev, body)
		}
	default:
		m.handedOver(msg)
		m.nominate(ev)
	}
}

// handedOver notes the reign that a hand-over says is over, to this node. That its
// sender leads no more when it says so, and that a reign of this node begins later, no
// clock needs to tell.
func (m *Machine) handedOver(msg proto.Message) {
	switch b := msg.Body.(type) {
	case proto.TakeOver:
		m.after = proto.Epoch{Term: msg.Term, Leader: msg.From, Session: b.Session}
	case nomination.TimeoutNow:
		if m.nominee.ID == msg.From && m.nominee.Term == msg.Term {
			m.after = m.nominee.Epoch()
		}
	}
}

var (
	whyAbsurd  = reasons.Kind("absurd", "term %d is absurdly far above %d -> drop ACCOUNT")
	whyCompare = reasons.Kind("compare", "%d led term %d for %v until %v ago -> compare")
)

// accountOf takes in a reign that this node is told of. It is compared in the same
// Step.
func (m *Machine) accountOf(ev algorithms.Receive, b Account) {
	msg, e := ev.Message, b.Reign
	switch {
	case e.Term > m.nominee.Term+proto.MaxTermJump:
		m.refuse(whyAbsurd, e.Term, m.nominee.Term)
		return
	case e.Leader == m.cfg.Self:
		m.askedOfOwn(msg, b)
		return
	}
	if m.mending != nil {
		m.mending.messages++
	}
	r := m.ledger.find(e)
	if r == nil {
		until := m.now.Add(-b.Ago)
		r = &reign{epoch: e, after: b.After, since: until.Add(-b.Led), until: until, way: wayOf(ev)}
		m.ledger.add(r)
		m.why(whyCompare, e.Leader, e.Term,
			b.Led.Round(time.Millisecond), b.Ago.Round(time.Millisecond))
	}
	r.told = min(r.told+1, patience)
	if until := m.now.Add(-b.Ago); until.Before(r.until) { // it came sooner than the one before
		r.since, r.until, r.way = until.Add(-b.Led), until, wayOf(ev)
	}
	r.stopped, r.after = r.stopped || b.Stopped, cmp.Or(r.after, b.After)
	if msg.From == e.Leader {
		r.heard = m.now
	}
	r.sayAt = m.now.Add(SayEvery(m.cfg.Delta))
	if r.settled && m.nominated() {
		m.settle(r, r.verdict)
		m.send(msg.From, r.verdict)
	}
}

// wayOf is how long a message was on its way, by the hybrid clock: wrong by as much
// as the wall clocks of its sender and this node differ.
func wayOf(ev algorithms.Receive) time.Duration {
	if ev.At.IsZero() || ev.HLC.IsZero() {
		return 0
	}
	return max(0, time.Duration(ev.At.Micros-ev.HLC.Micros)*time.Microsecond)
}

// askedOfOwn answers a nominee that waits for this node's work of a reign to stop.
// What is not settled is told again anyhow. Of a former life's there is nothing left
// to stop, nor of one that this node has forgotten.
func (m *Machine) askedOfOwn(msg proto.Message, b Account) {
	r := m.ledger.find(b.Reign)
	switch {
	case r == nil:
		b.Stopped = true
		m.send(msg.From, b)
	case r.settled && ofSplit(r.verdict):
		m.settle(r, r.verdict)
		m.send(msg.From, r.verdict)
	case r.settled && r.stopped: // it was no part in a split before
		m.send(msg.From, m.account(r))
	}
}

var whyHalt = reasons.Kind("halt", "nominee %d mends a split -> nobody leads until it has")

// truceOf stops believing in the nominee while it mends.
func (m *Machine) truceOf(msg proto.Message, b Truce) {
	if m.nominee.ID != msg.From || m.nominee.Session != b.Session || m.nominee.Term != msg.Term {
		return // it came late, or before the announcement
	}
	if m.truce.of != m.nominee.Epoch() {
		m.why(whyHalt, msg.From)
	}
	m.truce = truce{m.nominee.Epoch(), m.now.Add(TruceLasts(m.cfg.Delta))}
}

var whyNote = reasons.Kind("note", "%d mended a split: %d and %d both led for %v -> note it")

// settledBy ends what this node has to tell of a reign, and takes in the report.
func (m *Machine) settledBy(ev algorithms.Receive, b Settled) {
	msg := ev.Message
	r := m.ledger.find(b.Reign)
	switch {
	case r == nil:
		until := m.now.Add(-b.Ago)
		r = &reign{epoch: b.Reign, after: b.After, since: until.Add(-b.Led), until: until, way: wayOf(ev)}
		m.ledger.add(r)
	case r.until.IsZero():
		return
	}
	r.stopped, r.after = r.stopped || b.Stopped, cmp.Or(r.after, b.After)
	if r.settled && (!ofSplit(b) || ofSplit(r.verdict)) {
		return
	}
	r.settled, r.verdict = true, b
	if !ofSplit(b) {
		return
	}
	if rival := m.ledger.find(b.Rival); rival != nil {
		if rival.verdict.Rival == b.Reign {
			return // it is noted already
		}
		if !rival.until.IsZero() && !rival.settled {
			v := b
			v.Rival = b.Reign
			m.settle(rival, v)
		}
	}
	m.why(whyNote, msg.From,
		b.Reign.Leader, b.Rival.Leader, b.Overlap.Round(time.Millisecond))
	reigns := []algorithms.Reign{r.asTold(m.now, r.way), {Epoch: b.Rival}}
	if rival := m.ledger.find(b.Rival); rival != nil {
		reigns[1] = rival.asTold(m.now, rival.way)
	}
	if b.Rival.Compare(b.Reign) < 0 {
		reigns[0], reigns[1] = reigns[1], reigns[0]
	}
	m.mendedIn = msg.Term
	m.tellOf(algorithms.Split{
		By: msg.From, Stage: algorithms.Electing, Reigns: reigns, Overlap: b.Overlap,
		Outcome: outcomeOf(b),
	})
}

func outcomeOf(b Settled) algorithms.Outcome {
	return algorithms.Outcome{Done: true, Tries: int(b.Tries), Exit: int(b.Exit), Problem: b.Problem}
}

// ofSplit reports whether the reign was part of a split.
func ofSplit(b Settled) bool { return b.Rival != (proto.Epoch{}) }
