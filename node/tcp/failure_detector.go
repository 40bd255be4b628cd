package tcp

import (
	"cmp"
	"net/netip"
	"sync"
	"time"

	"github.com/ringleader-dev/ringleader/proto"
)

// process is one process of a peer, with the address where it listens. No other process has that
// address until the process ends.
type process struct {
	incarnation proto.Incarnation
	home        netip.AddrPort
}

// failureDetector turns what happens to the links of one peer into Evidence. Any goroutine may call its
// methods. The detector emits the Evidence in the order of these calls.
//
// Once a process is gone, the detector tells nothing more about that process, since the end of its other link
// a moment later is no news. The only exception is a proof that comes late.
type failureDetector struct {
	id        proto.NodeID
	patience  time.Duration // how long dials may get no answer before the peer is unreachable
	emit      func(Evidence)
	linksToMe func(proto.Incarnation) int // returns how many links the process dialled

	mu       sync.Mutex
	told     process           // the process that SetPeers named
	seen     process           // the process that the last WELCOME named
	mine     proto.Incarnation // the process that this node's own link reaches; zero if there is no link
	lost     loss              // the latest loss; zero once it is known what became of the process
	silent   proto.Incarnation // the process that the silent connection reaches
	cleanEnd proto.Incarnation // the process whose silent connection ended cleanly
	losses   uint64            // counts the losses
	gone     proto.Incarnation // the latest process that is known to be gone
	// unproven is the process that is gone, but whose death is not proven; zero for none.
	unproven process
	// unansweredSince is the time since which no dial got an answer; zero if the last dial got one.
	unansweredSince time.Time
	saidUnreachable bool
	answers         uint64 // how many dials got an answer
}

// loss is the end of a link with a process.
type loss struct {
	process
	number uint64
	at     time.Time
	left   int  // how many links with the process were left
	clean  bool // this link or the link before it ended between two frames, and no link came up since
}

// attempt records what was known when a dial began. A dial proves something only about events before the dial
// began.
type attempt struct {
	began      time.Time
	told, seen process
	lost       loss
	cleanEnd   proto.Incarnation
}

// tell stores which process of the peer SetPeers named: its incarnation s and its address home.
func (d *failureDetector) tell(s proto.Incarnation, home netip.AddrPort) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.told = process{incarnation: s, home: home}
}

// begin returns what the detector knows when a dial begins. It is called before each dial.
func (d *failureDetector) begin(now time.Time) attempt {
	d.mu.Lock()
	defer d.mu.Unlock()
	return attempt{began: now, told: d.told, seen: d.seen, lost: d.lost, cleanEnd: d.cleanEnd}
}

// up tells the detector that process s answered the dial at address home, so that the link is established.
// Any other process that listened there before the dial began is gone.
func (d *failureDetector) up(a attempt, s proto.Incarnation, home netip.AddrPort) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.gone == s {
		d.gone = proto.Incarnation{} // it answers: what proved its death was wrong
	}
	if d.unproven.incarnation == s {
		d.unproven = process{}
	}
	if a.cleanEnd == s && d.cleanEnd == s {
		d.cleanEnd = proto.Incarnation{} // its silent connection ended before this dial, and it lives
	}
	d.proveLate(a, home, proto.OtherIncarnation) // before the news of a later process
	for _, old := range []process{a.seen, a.told} {
		if old.home == home && !old.incarnation.IsZero() && old.incarnation != s {
			clean := a.lost == d.lost && d.lost.incarnation == old.incarnation && d.clean(a)
			d.concludeGone(old.incarnation, proto.OtherIncarnation, clean && d.links(old.incarnation) == 0)
		}
	}
	d.seen, d.mine = process{incarnation: s, home: home}, s
	d.lost, d.unansweredSince, d.saidUnreachable = loss{}, time.Time{}, false
	d.answers++
	d.say(s, proto.LinkUp)
}

// dropped tells the detector that this node itself ended its own link.
func (d *failureDetector) dropped() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.mine = proto.Incarnation{}
}

// ended tells the detector that this node's own link ended. The parameter how is LinkClosed or LinkReset.
func (d *failureDetector) ended(how proto.LinkEvent) {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := d.mine
	d.mine = proto.Incarnation{}
	d.lose(s, how)
}

// endedByPeer tells the detector that a link which process s had dialled ended. The function lost removes the
// link from the count, and reports whether the link was counted. The detector keeps mu from the call of lost
// until it has recorded the end of the link: a dial that was refused between the two would prove too much.
func (d *failureDetector) endedByPeer(s proto.Incarnation, how proto.LinkEvent, lost func() bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if lost() {
		d.lose(s, how)
	}
}

// refused tells the detector that a dial was refused at the address at. The process that listened there is
// gone if its last link had ended before the dial began, and it has no link now. If its links were reset, the
// detector first waits for the end of the silent connection. Otherwise the process may live, behind an
// address that is wrong or closed to this node: then the refusal counts like a dial without an answer.
// refused reports whether such dials have lasted for longer than the patience.
func (d *failureDetector) refused(a attempt, at netip.AddrPort, now time.Time) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.proveLate(a, at, proto.DialRefused)
	s := a.lost.incarnation
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
		d.unproven = process{incarnation: s, home: at}
	}
	return false
}

// proveLate proves the death of a process that was reported as gone without proof, since only resets had been
// read. On a busy machine the clean end of its silent connection may be read last. The parameter how is the
// answer to a dial that began after that end. The caller holds mu.
func (d *failureDetector) proveLate(a attempt, at netip.AddrPort, how proto.LinkEvent) {
	s := d.unproven.incarnation
	if s.IsZero() || a.cleanEnd != s || d.unproven.home != at || d.links(s) > 0 {
		return
	}
	d.unproven = process{}
	d.emit(Evidence{Peer: d.id, Incarnation: s, Event: how, Proven: true})
}

// clean reports whether one of the connections with the lost process ended cleanly before
// the dial began. The caller holds mu.
func (d *failureDetector) clean(a attempt) bool {
	return d.lost.clean || a.cleanEnd == d.lost.incarnation
}

// willProve reports whether the silent connection may still prove that process s ended: the connection has
// not ended, or it ended after the dial began. The caller holds mu.
func (d *failureDetector) willProve(s proto.Incarnation, now time.Time) bool {
	return d.cleanEnd == s || d.silent == s && now.Sub(d.lost.at) < silentPatience
}

// silentUp tells the detector that a silent connection to process s is up.
func (d *failureDetector) silentUp(s proto.Incarnation) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.silent, d.cleanEnd = s, proto.Incarnation{}
}

// silentEnded tells the detector that the silent connection ended, and whether it ended cleanly.
func (d *failureDetector) silentEnded(clean bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if clean {
		d.cleanEnd = d.silent
	}
	d.silent = proto.Incarnation{}
}

// answered tells the detector that a dial got an answer. A refusal of the link is an answer, too.
func (d *failureDetector) answered() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.unansweredSince, d.saidUnreachable = time.Time{}, false
	d.answers++
}

// unanswered tells the detector that a dial got no answer.
func (d *failureDetector) unanswered(a attempt, now time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.miss(a, now)
}

// miss reports the peer as unreachable once dials have had no answer for as long as the patience. The time
// counts from the beginning of the first such dial. The caller holds mu.
func (d *failureDetector) miss(a attempt, now time.Time) {
	if d.unansweredSince.IsZero() {
		d.unansweredSince = a.began
	}
	if d.saidUnreachable || now.Sub(d.unansweredSince) < d.patience {
		return
	}
	d.saidUnreachable = true
	s := cmp.Or(a.told.incarnation, a.seen.incarnation)
	if s.IsZero() || s != d.gone {
		d.say(s, proto.Unreachable)
	}
}

// linked reports whether a link with process s is up, in either direction.
func (d *failureDetector) linked(s proto.Incarnation) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.links(s) > 0
}

// inDoubt returns the process whose last link ended, if this node does not know yet what became of that
// process. It returns zero if there is no such process, or after the peer was reported as unreachable.
func (d *failureDetector) inDoubt() proto.Incarnation {
	d.mu.Lock()
	defer d.mu.Unlock()
	if s := d.lost.incarnation; !d.saidUnreachable && d.links(s) == 0 {
		return s
	}
	return proto.Incarnation{}
}

// goneProcess returns the latest process that is known to be gone; zero for none.
func (d *failureDetector) goneProcess() proto.Incarnation {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.gone
}

// answersSoFar returns how many dials got an answer.
func (d *failureDetector) answersSoFar() uint64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.answers
}

// unheardByOthers tells the detector that the other nodes do not hear process s either. The process is then
// unreachable, unless it has a link, or a dial got an answer since the other nodes were asked. The parameter
// answers is what answersSoFar returned when they were asked.
func (d *failureDetector) unheardByOthers(s proto.Incarnation, answers uint64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.saidUnreachable || d.answers != answers || d.lost.incarnation != s || d.links(s) > 0 {
		return
	}
	d.saidUnreachable = true
	d.say(s, proto.IndirectUnreachable)
}

// heardByOthers tells the detector that another node hears process s, although this node does not.
func (d *failureDetector) heardByOthers(s proto.Incarnation) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if s != d.gone {
		d.say(s, proto.IndirectAlive)
	}
}

// beat tells the detector that process s does not answer PINGs (HeartbeatMissed), or answers again
// (HeartbeatBack).
func (d *failureDetector) beat(s proto.Incarnation, e proto.LinkEvent) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if s != d.gone {
		d.say(s, e)
	}
}

// lose records the end of a link with process s. The caller holds mu.
func (d *failureDetector) lose(s proto.Incarnation, how proto.LinkEvent) {
	if s == d.gone {
		return
	}
	d.say(s, how)
	d.losses++
	left := d.links(s)
	// A kernel resets the link on which the dead process left bytes unread, and
	// closes the other.
	before := d.lost.incarnation == s && d.lost.clean && left < d.lost.left
	d.lost = loss{process{incarnation: s}, d.losses, time.Now(), left, how == proto.LinkClosed || before}
	switch s {
	case d.seen.incarnation:
		d.lost.home = d.seen.home
	case d.told.incarnation:
		d.lost.home = d.told.home
	}
}

// concludeGone reports once that process s is gone, and whether its death is proven. The caller holds mu.
func (d *failureDetector) concludeGone(s proto.Incarnation, how proto.LinkEvent, proven bool) {
	if s == d.gone {
		return
	}
	d.gone = s
	d.emit(Evidence{Peer: d.id, Incarnation: s, Event: how, Links: d.links(s), Proven: proven})
}

// links counts the established links with process s. The caller holds mu.
func (d *failureDetector) links(s proto.Incarnation) int {
	n := d.linksToMe(s)
	if s == d.mine && !s.IsZero() {
		n++
	}
	return n
}

// say passes evidence to Config.Evidence. The caller holds mu, so that the order is kept.
func (d *failureDetector) say(s proto.Incarnation, e proto.LinkEvent) {
	d.emit(Evidence{Peer: d.id, Incarnation: s, Event: e, Links: d.links(s)})
}
