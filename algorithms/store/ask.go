package store

import (
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/lease"
	"github.com/ringleader-dev/ringleader/proto"
)

// desk is where this node asks the store.
type desk struct {
	open   *algorithms.Ask // the open ask; nil for none. It is never written to.
	began  time.Time       // when the open ask left, or sooner
	knew   proto.Term      // the highest term that this node had saved when the open ask, or the last one, left
	number uint64
	failed int       // asks in a row that failed
	retry  time.Time // no ask before this time, since the last failed
	why    string    // why the last ask failed
	since  time.Time // when the first of these failures came

	holder, own algorithms.Entry
	given       string            // the key of the last entry that this node asked to remove: it leads no more by that
	at          time.Time         // when the last answer came; zero before the first
	look        time.Time         // when the store is to be read again
	cause       algorithms.Reason // why this node last stood
	vacant      time.Time         // when this node last learned that nobody leads
}

// state returns what people may know of the store.
func (d *desk) state() *algorithms.StoreState {
	return &algorithms.StoreState{Holder: d.holder, At: d.at, Failed: d.why, Since: d.since}
}

// lookDue reports whether the store is to be read now.
func (d *desk) lookDue(now time.Time) bool { return !d.look.IsZero() && !now.Before(d.look) }

// The times of asks, each a part of the TTL.

// MinTTL returns the shortest TTL that makes sense with delta, the planned worst-case one-way latency: an
// ask may fail twice, and the next still comes in time.
func MinTTL(delta time.Duration) time.Duration { return lease.MinPromise(delta) }

// RenewEvery returns how long after one renewal the next begins: "renew at a third of it".
func RenewEvery(ttl time.Duration) time.Duration { return ttl / 3 }

// AskTimeout returns how long a Machine waits for an answer of the store. Two asks in a row may fail, and
// the third still comes before the lease ends.
func AskTimeout(ttl time.Duration) time.Duration { return ttl / 4 }

// Agreement returns an upper bound of the time until a node leads and all nodes know it. The time begins
// when there is no fault any more, the store answers, and all nodes nominate the same node. It is the
// sum of:
//   - the longest time that the store keeps an entry which nobody renews, of a former leader and of a
//     process that stood behind it,
//   - the longest wait until a node reads the store, and until one stands that is not nominated,
//   - the longest wait before a leader hands over to a better node, and two rounds of messages.
func Agreement(ttl, delta time.Duration, nodes int) time.Duration {
	return 2*lease.BootWait(ttl) + 2*RenewEvery(ttl) + standDelay(delta, nodes) + AskTimeout(ttl) +
		lease.PreferAfter(ttl) + lease.MostPenalty(ttl) + 8*lease.AnswerTimeout(delta)
}

// standDelay returns how long nobody must have led before a node stands that is not nominated. above is
// the number of living nodes that rank above it.
func standDelay(delta time.Duration, above int) time.Duration {
	return 16*delta + time.Duration(above)*lease.AnswerTimeout(delta)
}

// removeDelay returns how long a node that does not stand leaves the entry of a dead process to those that
// do.
func removeDelay(delta time.Duration, above int) time.Duration {
	return 2 * delta * time.Duration(1+above)
}

var (
	whyStand = reasons.Kind("stand", "%s -> ask the store for the lead").
			Follows("put if absent with a TTL")
	whyRemove = reasons.Kind("remove", "node %d is proven dead -> remove its entry from the store")
	whyFailed = reasons.Kind("failed", "the store does not answer the request to %s: %s -> ask again in %v",
		algorithms.StoreSays{Kind: algorithms.StoreSilent, About: 1})
	whyBack = reasons.Kind("answers", "the store answers again",
		algorithms.StoreSays{Kind: algorithms.StoreAnswers, About: algorithms.Nobody})
	whyLent = reasons.Kind("lent",
		"the first entry in the store is of node %d, which is proven dead, and is lent -> wait",
		algorithms.StoreSays{Kind: algorithms.StoreLent, About: 0})
)

// pursue makes the ask that is due. An ask that is open stands, unless a more urgent one is due.
func (m *Machine) pursue() {
	d := &m.desk
	if d.open != nil && !m.now.Before(d.began.Add(AskTimeout(m.cfg.Promise))) {
		m.failed(d.open, "no answer came in time")
		d.open = nil
	}
	ask := m.next()
	if d.open != nil && (d.open.Verb != algorithms.AskLook || ask.Verb == algorithms.AskLook) &&
		(ask.Remove.IsZero() || d.open.Remove == ask.Remove || m.leads()) {
		return
	}
	if ask.Verb == "" {
		return
	}
	if d.open == nil && m.now.Before(d.retry) {
		return
	}
	d.number++
	ask.Number = d.number
	d.open, d.began, d.knew = &ask, m.now, m.state.Vote.Term
	switch ask.Verb {
	case algorithms.AskStand:
		d.cause = m.cause()
		m.why(whyStand, d.cause)
		m.handing.chosen = false
	case algorithms.AskLeave:
		d.given = ask.Remove.Key
	case algorithms.AskRemove:
		m.why(whyRemove, ask.Remove.ID)
	}
	d.look = time.Time{}
}

// next returns the ask that is due now; its verb is empty if none is.
func (m *Machine) next() algorithms.Ask {
	d, l := &m.desk, &m.leading
	switch {
	case l.left != 0 && l.stopped:
		return algorithms.Ask{Verb: algorithms.AskLeave, Remove: l.entry}
	case l.left != 0:
		return algorithms.Ask{} // the entry protects work that has not stopped
	case m.leads() && !m.now.Before(l.next), m.leads() && l.lend.due():
		return algorithms.Ask{Verb: algorithms.AskRenew, Lent: l.lend.marks()}
	case m.leads() && !d.lookDue(m.now):
		return algorithms.Ask{}
	case m.leads(): // it was told that the entries changed
		return algorithms.Ask{Verb: algorithms.AskLook}
	case !d.own.IsZero() && (!m.stands() || d.own.Key == d.given):
		return algorithms.Ask{Verb: algorithms.AskLeave, Remove: d.own}
	case !d.own.IsZero() && (d.own.Key == d.holder.Key || !m.now.Before(l.next)):
		return algorithms.Ask{Verb: algorithms.AskRenew} // it leads now, or keeps its place behind others
	case m.mayStand():
		return algorithms.Ask{Verb: algorithms.AskStand, Remove: m.deadHolder()}
	case !m.deadHolder().IsZero() && !m.now.Before(m.removeAt()):
		return algorithms.Ask{Verb: algorithms.AskRemove, Remove: m.deadHolder()}
	case d.lookDue(m.now):
		return algorithms.Ask{Verb: algorithms.AskLook}
	}
	return algorithms.Ask{}
}

// nextAskAt returns when the next ask is due, or when the open one is given up.
func (m *Machine) nextAskAt() (first time.Time) {
	d := &m.desk
	if d.open != nil {
		first = d.began.Add(AskTimeout(m.cfg.Promise))
		if next := m.leading.next; m.leads() && d.open.Verb == algorithms.AskLook && next.Before(first) {
			return next // to renew is more urgent
		}
		return first
	}
	l, times := &m.leading, []time.Time{}
	switch {
	case l.left != 0 && !l.stopped:
		return first
	case l.left != 0, l.lend.due():
		times = append(times, m.now)
	case m.leads():
		times = append(times, l.next, d.look)
	case !d.own.IsZero() && m.stands() && d.own.Key != d.holder.Key && d.own.Key != d.given && m.now.Before(l.next):
		times = append(times, l.next, d.look)
	case !d.own.IsZero():
		times = append(times, m.now)
	default:
		times = append(times, d.look)
	}
	if !m.deadHolder().IsZero() {
		times = append(times, m.removeAt())
	}
	if m.free() && m.stands() {
		times = append(times, m.standAt())
	}
	for _, at := range times {
		if at.IsZero() {
			continue
		}
		if at.Before(d.retry) {
			at = d.retry
		}
		if first.IsZero() || at.Before(first) {
			first = at
		}
	}
	return first
}

// free reports whether this node's entry could be the first, as far as it knows.
func (m *Machine) free() bool {
	d := &m.desk
	return !d.at.IsZero() && m.belief.ID == 0 && d.own.IsZero() &&
		(d.holder.IsZero() || !m.deadHolder().IsZero() || d.holder.Foreign != "")
}

// mayStand reports whether this node asks for the lead now: nobody leads as far as it knows, and its turn
// has come. Behind a stranger, it asks when it would read the store.
func (m *Machine) mayStand() bool {
	return m.stands() && m.free() && !m.now.Before(m.standAt())
}

// standAt returns when this node stands if nobody leads until then.
func (m *Machine) standAt() time.Time {
	d, at := &m.desk, m.now
	if !m.nominated() && !m.handing.chosen {
		at = d.vacant.Add(standDelay(m.cfg.Delta, m.above))
	}
	if m.handing.yield.After(at) {
		at = m.handing.yield
	}
	if d.holder.Foreign != "" && d.look.After(at) {
		at = d.look
	}
	return at
}

func (m *Machine) removeAt() time.Time { return m.desk.vacant.Add(removeDelay(m.cfg.Delta, m.above)) }

// deadHolder returns the first entry if its process is proven dead and the entry may be removed, and the
// zero Entry otherwise.
func (m *Machine) deadHolder() algorithms.Entry {
	h := m.desk.holder
	if m.cfg.AwaitLeases || h.ID == 0 || h.Lent || h.ID == m.cfg.Self {
		return algorithms.Entry{}
	}
	if dead, ok := m.dead[h.ID]; !ok || dead != h.Incarnation {
		return algorithms.Entry{}
	}
	return h
}

// failed notes that an ask failed: the pause before the next one grows with each failure.
func (m *Machine) failed(ask *algorithms.Ask, why string) {
	d := &m.desk
	d.failed++
	if d.failed == 1 {
		d.since = m.now
	}
	m.replyToOpen()
	pause := m.jitter(lease.Pause(RenewEvery(m.cfg.Promise)/2, m.cfg.Delta, d.failed))
	d.retry = m.now.Add(pause)
	d.look = d.retry // whatever it was: the reason to ask for that may be gone by then
	if d.why != why {
		d.why = why
		m.why(whyFailed, ask.Verb, why, pause.Round(time.Millisecond))
	}
}

// answered takes an answer of the store.
func (m *Machine) answered(ev algorithms.Answered) {
	d := &m.desk
	if d.open == nil || d.open.Number != ev.Number {
		return // it was called back when it had just been answered
	}
	ask, began := d.open, d.began
	d.open = nil
	if ev.Failed != "" {
		m.failed(ask, ev.Failed)
		return
	}
	if d.failed > 0 {
		m.why(whyBack)
	}
	d.failed, d.why, d.since, d.retry = 0, "", time.Time{}, time.Time{}
	m.note(ev)
	m.replyToOpen()
	switch {
	case ask.Verb == algorithms.AskLeave:
		m.left()
	case m.leading.left != 0:
	case ask.Verb == algorithms.AskStand || ask.Verb == algorithms.AskRenew:
		m.hold(ask, began, ev)
	case m.leads() && (!ev.Held() || ev.Own.Key != m.leading.entry.Key || ev.Own.ID != m.cfg.Self):
		m.leading.next = m.now // what was read may be old, or overwritten: a renewal tells, and mends it
	}
}

var whyHolds = reasons.Kind("holds", "the store says that the first entry is of %s, and not of a node that leads",
	algorithms.StoreSays{Kind: algorithms.StoreForeign, About: 0})

// note keeps what the store said about the entries, and when it is to be read again.
func (m *Machine) note(ev algorithms.Answered) {
	d := &m.desk
	was := d.holder
	d.holder, d.own, d.at = ev.Holder, ev.Own, m.now
	if d.holder.IsZero() && !was.IsZero() || m.leading.left == 0 && was.Key != d.holder.Key && d.holder.ID == 0 {
		d.vacant = m.now
	}
	others := was.ID != 0 && was.ID != m.cfg.Self && m.dead[was.ID] != was.Incarnation
	if d.holder.IsZero() && others && m.belief.ID == 0 {
		m.handing.yield = m.now.Add(lease.AnswerTimeout(m.cfg.Delta)) // its RELEASE may name a successor
	}
	if was.Key != d.holder.Key && d.holder.Foreign != "" {
		m.why(whyHolds, words(d.holder))
	}
	m.sayLent(was)
	if h := d.holder.Leadership(); h.Leader != 0 && h.Term > m.seen.Term {
		m.seen = h
	}
	d.look = m.now.Add(m.jitter(RenewEvery(m.cfg.Promise) / 2))
	if m.leads() {
		d.look = time.Time{} // it renews
	}
}

// sayLent says that nobody may take the first entry although its process is dead, unless was had told so.
func (m *Machine) sayLent(was algorithms.Entry) {
	h := m.desk.holder
	if dead, ok := m.dead[h.ID]; ok && h.Lent && dead == h.Incarnation && (was.Key != h.Key || !was.Lent) {
		m.why(whyLent, h.ID)
	}
}

// words names who made an entry.
func words(e algorithms.Entry) string {
	switch {
	case e.IsZero():
		return "nobody"
	case e.ID == 0:
		return e.Foreign
	}
	return "node " + e.ID.String()
}

// others iterates over the other nodes that are alive.
func (m *Machine) others(yield func(proto.Peer) bool) {
	for _, other := range m.alive {
		if other.ID != m.cfg.Self && !yield(other) {
			return
		}
	}
}
