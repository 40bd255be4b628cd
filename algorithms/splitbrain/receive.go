package splitbrain

import (
	"cmp"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/nomination"
	"github.com/ringleader-dev/ringleader/proto"
)

var whyMisrouted = reasons.Kind("misrouted", "%s from %d to %d reached %d -> drop")

// receive handles the messages of the recovery, and passes all other messages to the nominating Machine.
func (m *Machine) receive(ev algorithms.Receive) {
	msg := ev.Message
	kind := msg.Body.Kind()
	switch body := msg.Body.(type) {
	case Report, Stop, Resume:
		if msg.To != m.cfg.Self || msg.From == m.cfg.Self {
			m.refuse(whyMisrouted, kind, msg.From, msg.To, m.cfg.Self)
			return
		}
		switch body := body.(type) {
		case Report:
			m.reportOf(ev, body)
		case Stop:
			m.stopOf(msg, body)
		case Resume:
			m.settledBy(ev, body)
		}
	default:
		m.handedOver(msg)
		m.nominate(ev)
	}
}

// handedOver notes the leadership whose leader hands over to this node. That leader has stopped leading,
// and a leadership of this node begins later: no clock is needed to know this.
func (m *Machine) handedOver(msg proto.Message) {
	switch b := msg.Body.(type) {
	case proto.TakeOver:
		m.after = proto.Leadership{Term: msg.Term, Leader: msg.From, Incarnation: b.Incarnation}
	case nomination.TimeoutNow:
		if m.nominee.ID == msg.From && m.nominee.Term == msg.Term {
			m.after = m.nominee.Leadership()
		}
	}
}

var (
	whyAbsurd  = reasons.Kind("absurd", "term %d is absurdly far above %d -> drop REPORT")
	whyCompare = reasons.Kind("compare", "%d led term %d for %v until %v ago -> compare")
)

// reportOf adds a reported leadership to the ledger. The same Step compares it with the others.
func (m *Machine) reportOf(ev algorithms.Receive, b Report) {
	msg, e := ev.Message, b.Leadership
	switch {
	case e.Term > m.nominee.Term+proto.MaxTermJump:
		m.refuse(whyAbsurd, e.Term, m.nominee.Term)
		return
	case e.Leader == m.cfg.Self:
		m.askedOfOwn(msg, b)
		return
	}
	if m.recovery != nil {
		m.recovery.messages++
	}
	r := m.ledger.find(e)
	if r == nil {
		until := m.now.Add(-b.Ago)
		r = &leadership{leadership: e, after: b.After, since: until.Add(-b.Led), until: until, way: wayOf(ev)}
		m.ledger.add(r)
		m.why(whyCompare, e.Leader, e.Term,
			b.Led.Round(time.Millisecond), b.Ago.Round(time.Millisecond))
	}
	r.told = min(r.told+1, patience)
	if until := m.now.Add(-b.Ago); until.Before(r.until) { // it took less time than the one before
		r.since, r.until, r.way = until.Add(-b.Led), until, min(r.way, wayOf(ev))
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

// wayOf returns how long a message was on its way, by the hybrid clock. The result is wrong by as much
// as the wall clocks of the sender and this node differ.
func wayOf(ev algorithms.Receive) time.Duration {
	if ev.At.IsZero() || ev.HLC.IsZero() {
		return 0
	}
	return max(0, time.Duration(ev.At.Micros-ev.HLC.Micros)*time.Microsecond)
}

// askedOfOwn answers a nominee that waits until this node's work of a leadership has stopped. It does
// not answer if the leadership is not settled, since this node reports such a leadership again anyway.
// If this node does not know the leadership, its work has stopped: an earlier process of this node led,
// or the entry was so old that this node has removed it.
func (m *Machine) askedOfOwn(msg proto.Message, b Report) {
	r := m.ledger.find(b.Leadership)
	switch {
	case r == nil:
		b.Stopped = true
		m.send(msg.From, b)
	case r.settled && ofSplit(r.verdict):
		m.settle(r, r.verdict)
		m.send(msg.From, r.verdict)
	case r.settled && r.stopped: // it was no part in a split before
		m.send(msg.From, m.report(r))
	}
}

var whyHalt = reasons.Kind("halt", "nominee %d recovers from a split -> nobody leads until it has")

// stopOf handles STOP: this node follows nobody while the nominee recovers.
func (m *Machine) stopOf(msg proto.Message, b Stop) {
	of := proto.Leadership{Term: msg.Term, Leader: msg.From, Incarnation: b.Incarnation}
	// A nominee that this node has lost sight of goes on to recover, and may be followed again.
	if m.nominee.Leadership() != of && m.stop.of != of {
		return // it came late, or before the announcement
	}
	if m.stop.of != of {
		m.why(whyHalt, msg.From)
	}
	m.stop = stop{of, m.now.Add(StopLasts(m.cfg.Delta))}
}

var whyNote = reasons.Kind("note", "%d recovered from a split: %d and %d both led for %v -> note it")

// settledBy marks a leadership as settled, and notes the split that it was part of.
func (m *Machine) settledBy(ev algorithms.Receive, b Resume) {
	msg := ev.Message
	r := m.ledger.find(b.Leadership)
	switch {
	case r == nil:
		until := m.now.Add(-b.Ago)
		r = &leadership{
			leadership: b.Leadership, after: b.After, since: until.Add(-b.Led), until: until, way: wayOf(ev),
		}
		m.ledger.add(r)
	case r.until.IsZero():
		return
	}
	r.stopped, r.after = r.stopped || b.Stopped, cmp.Or(r.after, b.After)
	if r.settled && (!ofSplit(b) || ofSplit(r.verdict)) {
		return
	}
	own := r.leadership.Incarnation == m.cfg.Incarnation
	if own && !ofSplit(b) && (msg.From != m.nominee.ID || msg.Term != m.nominee.Term) {
		return // it is of an earlier nominee: the present one may know a rival
	}
	r.settled, r.verdict = true, b
	if !ofSplit(b) {
		return
	}
	if m.recoveredIn != msg.Term {
		m.last = nil // it is of a split before
	}
	m.last, m.toldBy, m.recoveredIn = append(m.last, r), msg.From, msg.Term
	if rival := m.ledger.find(b.Rival); rival != nil {
		if rival.verdict.Rival == b.Leadership {
			return // it is noted already
		}
		if !rival.until.IsZero() && !rival.settled {
			v := b
			v.Rival = b.Leadership
			m.settle(rival, v)
			m.last = append(m.last, rival)
		}
	}
	m.why(whyNote, b.By,
		b.Leadership.Leader, b.Rival.Leader, b.Overlap.Round(time.Millisecond))
	leaderships := []algorithms.Leadership{r.asTold(m.now, r.way), {Leadership: b.Rival}}
	if rival := m.ledger.find(b.Rival); rival != nil {
		leaderships[1] = rival.asTold(m.now, rival.way)
	}
	if b.Rival.Compare(b.Leadership) < 0 {
		leaderships[0], leaderships[1] = leaderships[1], leaderships[0]
	}
	m.tellOf(algorithms.Split{
		By: b.By, Stage: algorithms.Electing, Leaderships: leaderships, Overlap: b.Overlap,
		Outcome: outcomeOf(b),
	})
}

func outcomeOf(b Resume) algorithms.Outcome {
	return algorithms.Outcome{Done: true, Tries: int(b.Tries), Exit: int(b.Exit), Problem: b.Problem}
}

// ofSplit reports whether the leadership was part of a split.
func ofSplit(b Resume) bool { return b.Rival != (proto.Leadership{}) }
