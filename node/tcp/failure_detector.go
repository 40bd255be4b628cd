package tcp

import (
	"net/netip"
	"sync"
	"time"

	"github.com/ringleader-dev/ringleader/proto"
)

// process is one process of a peer and where it listens. A process holds its
// address alone, from before its session is known to anybody until it ends.
type process struct {
	session proto.Session
	home    netip.AddrPort
}

// failureDetector turns what happens to the links of one peer into Evidence. Any
// goroutine may call its methods; it tells Evidence in the order of the calls.
//
// Once a process is gone, the detector tells nothing more about it: that its other link
// ends a moment later is no news. It tells only a proof that comes late.
type failureDetector struct {
	id        proto.NodeID
	patience  time.Duration // without an answer, before the peer is unreachable
	emit      func(Evidence)
	linksToMe func(proto.Session) int // links that the process itself dialled

	mu       sync.Mutex
	told     process       // as SetPeers has it
	seen     process       // as the last WELCOME had it
	mine     proto.Session // the process that my own link reaches; zero for no link
	lost     loss          // the latest, if nothing is proven since
	silent   proto.Session // the process that the silent connection reaches
	cleanEnd proto.Session // the process whose silent connection ended cleanly
	losses   uint64        // so far
	gone     proto.Session // known to be gone
	// unproven is the same process as gone while its death is not proven.
	unproven process
	// unansweredSince is since when nobody answers the dials; zero while somebody does.
	unansweredSince time.Time
	saidUnreachable bool
	answers         uint64 // how many dials somebody answered
}

// loss is the end of a link with a process.
type loss struct {
	process
	number uint64
	at     time.Time
	left   int  // links with it
	clean  bool // this link or the one before ended between two frames, and none came up since
}

// attempt is what was known when a dial began. A dial proves something only about what
// came before it.
type attempt struct {
	began      time.Time
	told, seen process
	lost       loss
	cleanEnd   proto.Session
}

// tell takes what SetPeers says about the peer.
func (d *failureDetector) tell(s proto.Session, home netip.AddrPort) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.told = process{session: s, home: home}
}

// begin is called before each dial.
func (d *failureDetector) begin(now time.Time) attempt {
	d.mu.Lock()
	defer d.mu.Unlock()
	return attempt{began: now, told: d.told, seen: d.seen, lost: d.lost, cleanEnd: d.cleanEnd}
}

// up says that process s answered the dial at address home: the link is
// established, and whoever listened there when the dial began is gone.
func (d *failureDetector) up(a attempt, s proto.Session, home netip.AddrPort) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.gone == s {
		d.gone = proto.Session{} // it did answer: whatever proved its death was a lie
	}
	if d.unproven.session == s {
		d.unproven = process{}
	}
	if a.cleanEnd == s && d.cleanEnd == s {
		d.cleanEnd = proto.Session{} // its silent connection ended before this dial, and it lives
	}
	d.proveLate(a, home, proto.OtherSession) // before what is news of a later process
	for _, old := range []process{a.seen, a.told} {
		if old.home == home && !old.session.IsZero() && old.session != s {
			clean := a.lost == d.lost && d.lost.session == old.session && d.clean(a)
			d.concludeGone(old.session, proto.OtherSession, clean && d.links(old.session) == 0)
		}
	}
	d.seen, d.mine = process{session: s, home: home}, s
	d.lost, d.unansweredSince, d.saidUnreachable = loss{}, time.Time{}, false
	d.answers++
	d.say(s, proto.LinkUp)
}

// dropped says that my own link is ended, by this node itself.
func (d *failureDetector) dropped() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.mine = proto.Session{}
}

// ended says that my own link ended, how being LinkClosed or LinkReset.
func (d *failureDetector) ended(how proto.LinkEvent) {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := d.mine
	d.mine = proto.Session{}
	d.lose(s, how)
}

// endedByPeer says the same of the link that process s had dialled. lost takes
// the link out of the count and reports whether that is a loss, in one step
// with the evidence: between the two, a refusal would prove too much.
func (d *failureDetector) endedByPeer(s proto.Session, how proto.LinkEvent, lost func() bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if lost() {
		d.lose(s, how)
	}
}

// refused says that a dial found its address refusing. That proves the end of
// a process if it listened there, its last link had ended before the dial
// began, and it has none now. Otherwise it may live, behind an address that is
// wrong or shut to this node: then it cannot be reached, as with no answer.
// That has lasted for longer than the patience if refused reports true. Where only
// resets were seen, the end of the silent connection is waited for.
func (d *failureDetector) refused(a attempt, at netip.AddrPort, now time.Time) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.proveLate(a, at, proto.DialRefused)
	s := a.lost.session
	if s.IsZero() || a.lost != d.lost || a.lost.home != at || d.links(s) > 0 {
		d.miss(a, now)
		return d.saidUnreachable
	}
	clean := d.clean(a)
	if !clean && d.willProve(s, now) {
		return false
	}
	d.lost, d.unansweredSince, d.saidUnreachable = loss{}, time.Time{}, false
	d.concludeGone(s, proto.DialRefused, clean)
	if !clean {
		d.unproven = process{session: s, home: at}
	}
	return false
}

// proveLate says once more, and now for certain, that a process is gone of which only
// resets were seen at first: on a busy machine the clean end of its silent connection may
// be read later than all else. The dial that how is the answer to began after that. The
// caller holds mu.
func (d *failureDetector) proveLate(a attempt, at netip.AddrPort, how proto.LinkEvent) {
	s := d.unproven.session
	if s.IsZero() || a.cleanEnd != s || d.unproven.home != at || d.links(s) > 0 {
		return
	}
	d.unproven = process{}
	d.emit(Evidence{Peer: d.id, Session: s, Event: how, Proven: true})
}

// clean reports whether one of the connections with the process that was lost ended
// cleanly before the dial began. The caller holds mu.
func (d *failureDetector) clean(a attempt) bool {
	return d.lost.clean || a.cleanEnd == d.lost.session
}

// willProve reports whether the silent connection may yet prove the end of process s:
// it is still to end, or has ended since the dial began. The caller holds mu.
func (d *failureDetector) willProve(s proto.Session, now time.Time) bool {
	return d.cleanEnd == s || d.silent == s && now.Sub(d.lost.at) < silentPatience
}

// silentUp says that a silent connection to process s is up.
func (d *failureDetector) silentUp(s proto.Session) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.silent, d.cleanEnd = s, proto.Session{}
}

// silentEnded says that the silent connection ended, clean being how.
func (d *failureDetector) silentEnded(clean bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if clean {
		d.cleanEnd = d.silent
	}
	d.silent = proto.Session{}
}

// answered says that a dial found somebody, if only to be refused a link.
func (d *failureDetector) answered() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.unansweredSince, d.saidUnreachable = time.Time{}, false
	d.answers++
}

// unanswered says that a dial got no answer. The first since the last answer
// counts from its beginning.
func (d *failureDetector) unanswered(a attempt, now time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.miss(a, now)
}

// miss counts the time without an answer. The caller holds mu.
func (d *failureDetector) miss(a attempt, now time.Time) {
	if d.unansweredSince.IsZero() {
		d.unansweredSince = a.began
	}
	if d.saidUnreachable || now.Sub(d.unansweredSince) < d.patience {
		return
	}
	d.saidUnreachable = true
	s := a.told.session
	if s.IsZero() {
		s = a.seen.session
	}
	if s.IsZero() || s != d.gone {
		d.say(s, proto.Unreachable)
	}
}

// inDoubt is the process whose last link ended and of which nothing is known since;
// zero when there is none, or when it was said to be unreachable.
func (d *failureDetector) inDoubt() proto.Session {
	d.mu.Lock()
	defer d.mu.Unlock()
	if s := d.lost.session; !d.saidUnreachable && d.links(s) == 0 {
		return s
	}
	return proto.Session{}
}

// goneProcess is the latest process that is known to be gone, zero for none.
func (d *failureDetector) goneProcess() proto.Session {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.gone
}

// answersSoFar counts the dials that somebody answered.
func (d *failureDetector) answersSoFar() uint64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.answers
}

// unheardByOthers says that the others that were asked do not hear process s either. It is
// unreachable then, unless there is a link or there was an answer since the
// question was put, after as many as answers.
func (d *failureDetector) unheardByOthers(s proto.Session, answers uint64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.saidUnreachable || d.answers != answers || d.lost.session != s || d.links(s) > 0 {
		return
	}
	d.saidUnreachable = true
	d.say(s, proto.IndirectUnreachable)
}

// heardByOthers says that another node hears process s, which this one does not.
func (d *failureDetector) heardByOthers(s proto.Session) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if s != d.gone {
		d.say(s, proto.IndirectAlive)
	}
}

// beat says that process s answers no PING, e being HeartbeatMissed, or does
// again, e being HeartbeatBack.
func (d *failureDetector) beat(s proto.Session, e proto.LinkEvent) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if s != d.gone {
		d.say(s, e)
	}
}

// lose records the end of a link with process s. The caller holds mu.
func (d *failureDetector) lose(s proto.Session, how proto.LinkEvent) {
	if s == d.gone {
		return
	}
	d.say(s, how)
	d.losses++
	left := d.links(s)
	// A kernel resets the link on which the dead process left bytes unread, and
	// closes the other.
	before := d.lost.session == s && d.lost.clean && left < d.lost.left
	d.lost = loss{process{session: s}, d.losses, time.Now(), left, how == proto.LinkClosed || before}
	switch s {
	case d.seen.session:
		d.lost.home = d.seen.home
	case d.told.session:
		d.lost.home = d.told.home
	}
}

// concludeGone says once that process s is gone, and whether that is proven. The caller
// holds mu.
func (d *failureDetector) concludeGone(s proto.Session, how proto.LinkEvent, proven bool) {
	if s == d.gone {
		return
	}
	d.gone = s
	d.emit(Evidence{Peer: d.id, Session: s, Event: how, Links: d.links(s), Proven: proven})
}

// links counts the established links with process s. The caller holds mu.
func (d *failureDetector) links(s proto.Session) int {
	n := d.linksToMe(s)
	if s == d.mine && !s.IsZero() {
		n++
	}
	return n
}

// say hands out evidence. The caller holds mu, which keeps the order.
func (d *failureDetector) say(s proto.Session, e proto.LinkEvent) {
	d.emit(Evidence{Peer: d.id, Session: s, Event: e, Links: d.links(s)})
}
