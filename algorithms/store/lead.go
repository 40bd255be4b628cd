package store

import (
	"fmt"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/lease"
	"github.com/ringleader-dev/ringleader/proto"
)

// leading is this node's leadership, or what is left of it.
type leading struct {
	next    time.Time        // when the entry is to be renewed
	taken   time.Time        // when it began to lead
	entry   algorithms.Entry // by which it leads, or led
	left    proto.Term       // the term that this node leads no more, while its entry may still be in the store
	stopped bool             // all work of that term has stopped
	lend    lending
}

var (
	whyLead = reasons.Kind("lead", "%s, and the first entry in the store is its own, with token %d -> lead",
		algorithms.Stands{Cause: 0, Term: 1}, algorithms.Wins{Cause: algorithms.Self, Term: 1},
		algorithms.Leads{Term: 1}).
		Follows("put if absent with a TTL")
	whyBehind   = reasons.Kind("behind", "the first entry in the store is of %s -> wait")
	whyTooLate  = reasons.Kind("too-late", "the store answered after the lease would have ended -> do not lead yet")
	whyOld      = reasons.Kind("old", "the token %d is below term %d, which was led meanwhile -> ask again")
	whyReplaced = reasons.Kind("replaced", "the entry is gone, and another of this node is the first, with token %d",
		algorithms.StoreSays{Kind: algorithms.StoreTaken, About: algorithms.Nobody})
	whyTaken = reasons.Kind("taken", "the first entry in the store is of %s",
		algorithms.StoreSays{Kind: algorithms.StoreTaken, About: 0})
	whyStepDown = reasons.Kind("step-down", "%s -> lead term %d no more")
	whyStopped  = reasons.Kind("stopped", "the work of term %d has stopped -> remove the entry from the store")
	whyLeft     = reasons.Kind("left", "the entry of term %d is removed -> tell the others",
		algorithms.Releases{Term: 0})
	whyFollow = reasons.Kind("follow", "%d leads term %d -> follow it", algorithms.Follows{Term: 1})
	whyStale  = reasons.Kind("stale", "HEARTBEAT of term %d is below term %d -> do not follow", algorithms.Ignores{})
	whyGone   = reasons.Kind("gone", "%d is proven dead -> do not follow", algorithms.Ignores{})
)

// leads reports whether this node leads.
func (m *Machine) leads() bool { return m.belief.ID == m.cfg.Self }

// hold takes the answer to an ask by which this node stands, or renews: it leads, leads on, or waits. The
// lease runs from before the ask left.
func (m *Machine) hold(ask *algorithms.Ask, began time.Time, ev algorithms.Answered) {
	l := &m.leading
	l.next = began.Add(RenewEvery(m.cfg.Promise))
	until := began.Add(lease.Of(min(ev.Keeps, m.cfg.Promise)))
	switch {
	case !ev.Held():
		if m.leads() {
			m.leave(whyTaken.Of(words(ev.Holder)))
		} else if ask.Verb == algorithms.AskStand {
			m.why(whyBehind, words(ev.Holder))
		}
	case !m.now.Before(until):
		m.why(whyTooLate)
		l.next = m.now
	case m.leads() && ev.Own.Key != l.entry.Key: // made by a request that came late
		m.leave(whyReplaced.Of(ev.Own.Token))
	case m.leads():
		m.belief.Until = until
		m.lent(ask, until)
		m.heartbeatAll()
	case m.forgot(ev.Own):
	case ev.Own.Token <= m.state.Vote.Term:
		m.why(whyOld, ev.Own.Token, m.state.Vote.Term) // another has led since the ask left
		l.next = m.now
	case !m.stands():
	default:
		m.lead(ev.Own, until)
	}
}

// forgot ends this node if the store gave it a token that is not above all tokens that it knew when it
// asked: the store was set back, and what tokens protect is open to leaders of before.
func (m *Machine) forgot(own algorithms.Entry) bool {
	if own.Token > m.desk.knew {
		return false
	}
	m.out.End = fmt.Sprintf("the store gave the token %d, and node %d led with the token %d before: the store was "+
		"set back, perhaps by a backup. Raise its tokens above %d, or tell what checks tokens to forget them, and "+
		"give this node an empty data directory", own.Token, m.state.Vote.ID, m.state.Vote.Term, m.state.Vote.Term)
	return true
}

// lead begins a leadership.
func (m *Machine) lead(own algorithms.Entry, until time.Time) {
	if m.desk.cause.Kind == nil { // an ask that was given up has made the entry
		m.desk.cause = m.cause()
	}
	m.why(whyLead, m.desk.cause, own.Token)
	m.belief = algorithms.Leader{ID: m.cfg.Self, Incarnation: m.cfg.Incarnation, Term: own.Token, Until: until}
	m.saw(m.belief.Leadership())
	m.leading.taken, m.leading.entry, m.leading.lend = m.now, own, lending{}
	m.handing.chosen = false // TIMEOUT_NOW may have come when this node had stood already
	m.handing.yield, m.desk.look = time.Time{}, time.Time{}
	m.heartbeatAll()
}

// saw notes the highest leadership, durably: a token that is not above it shows later that the store was
// set back.
func (m *Machine) saw(is proto.Leadership) {
	if is.Compare(m.seen) > 0 {
		m.seen = is
	}
	if is.Term > m.state.Vote.Term {
		m.state.Vote = algorithms.Vote{Term: is.Term, ID: is.Leader, Incarnation: is.Incarnation}
		m.dirty = true
	}
}

// keepLeading sends heartbeats, and offers to hand over to a better node, when it is time.
func (m *Machine) keepLeading() {
	m.expireOffer()
	if !m.leads() {
		return
	}
	if at := m.handOverAt(); !at.IsZero() && !m.now.Before(at) {
		m.prefer()
	}
}

// heartbeatAll tells all other nodes that this node leads.
func (m *Machine) heartbeatAll() {
	m.tell(m.belief.Term, m.heartbeat())
	m.hearLeader()
}

func (m *Machine) heartbeat() proto.Body {
	return proto.Heartbeat{
		Leader: m.self, Remaining: m.belief.Until.Sub(m.now).Truncate(time.Microsecond), Lent: m.leading.lend.marked,
	}
}

// hear handles HEARTBEAT: this node follows its sender, unless it knows better. The first one of a
// leadership makes this node read the entry, so that it can remove that entry when the leader dies.
func (m *Machine) hear(msg proto.Message, b proto.Heartbeat) {
	is := proto.Leadership{Term: msg.Term, Leader: msg.From, Incarnation: b.Leader.Incarnation}
	switch {
	case msg.From != b.Leader.ID, is.Compare(m.seen) < 0:
		m.why(whyStale, msg.Term, m.seen.Term)
		return
	case m.dead[msg.From] == b.Leader.Incarnation:
		m.why(whyGone, msg.From)
		return
	case m.leads():
		m.desk.look = m.now // only the store can tell
		return
	case is != m.belief.Leadership():
		m.why(whyFollow, msg.From, msg.Term)
		if m.desk.holder.Leadership() != is {
			m.desk.look = m.now
		}
	}
	m.saw(is)
	left := min(b.Remaining, lease.Of(m.cfg.Promise))
	m.belief = algorithms.Leader{ID: msg.From, Incarnation: is.Incarnation, Term: msg.Term, Until: m.now.Add(left)}
	m.handing.drop()
	m.handing.yield = time.Time{}
	// It need not be read as long as heartbeats come, unless this node does not reach the store: it asks on.
	if m.desk.holder.Leadership() == is && !m.desk.look.IsZero() && m.desk.failed == 0 {
		m.desk.look = m.belief.Until.Add(m.jitter(m.cfg.Delta))
	}
	m.hearLeader()
}

// leave ends this node's leadership: from this Step on it does not lead. It removes its entry when all its
// work has stopped.
func (m *Machine) leave(reason algorithms.Reason) {
	if !m.leads() {
		return
	}
	l := &m.leading
	m.why(whyStepDown, reason, m.belief.Term)
	l.left, l.stopped = m.belief.Term, false
	m.belief = algorithms.Leader{}
	m.desk.vacant = m.now
	m.handing.drop()
	if m.desk.open != nil && m.desk.open.Verb == algorithms.AskRenew {
		m.desk.open = nil
	}
}

// stopped notes that the work of this node's leadership has stopped: its entry may go.
func (m *Machine) stopped(term proto.Term) {
	if m.leading.left != 0 && term == m.leading.left {
		m.why(whyStopped, term)
		m.leading.stopped = true
	}
}

// left tells the others that this node has no entry any more, and then tells the successor to stand.
func (m *Machine) left() {
	l := &m.leading
	term := l.left
	if term == 0 {
		return
	}
	l.left, l.stopped = 0, false
	m.why(whyLeft, term)
	m.tell(term, proto.Release{Incarnation: m.cfg.Incarnation, Successor: m.handing.successor.ID})
	m.desk.vacant = m.now
	if m.handing.successor.ID == 0 {
		m.handing.yield = m.now.Add(lease.AnswerTimeout(m.cfg.Delta)) // others first
	}
	m.tellSuccessor(term)
}

// released handles RELEASE: the sender has no entry any more, as it says. The store will tell. While a leader waits for
// the end of a loan, the belief in it may have ended.
func (m *Machine) released(msg proto.Message, b proto.Release) {
	p := proto.Peer{ID: msg.From, Incarnation: b.Incarnation}
	if m.desk.holder.Of(p) && m.desk.holder.Token == msg.Term {
		m.desk.holder, m.desk.vacant = algorithms.Entry{}, m.now
	}
	is := proto.Leadership{Term: msg.Term, Leader: msg.From, Incarnation: b.Incarnation}
	switch {
	case m.leads():
		return
	case m.belief.Leadership() == is:
		m.forget(whyReleased)
	case m.belief.ID != 0 || m.seen != is:
		return
	}
	m.handing.yield = time.Time{}
	m.giveWay(b.Successor)
}
