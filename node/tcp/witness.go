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

// witness turns what happens to the links of one peer into Evidence. Any
// goroutine may use it; Evidence comes out in the order of the calls.
//
// Once a process is gone nothing more is said about it: its other link ends
// a moment later, and that is no news. Only the proof, if that comes late, is.
type witness struct {
	id        proto.NodeID
	patience  time.Duration // without an answer, before the peer is unreachable
	emit      func(Evidence)
	linksToMe func(proto.Session) int // links that the process itself dialled

	mu     sync.Mutex
	told   process       // as SetPeers has it
	seen   process       // as the last WELCOME had it
	mine   proto.Session // the process that my own link reaches; zero for no link
	lost   loss          // the latest, if nothing is proven since
	silent proto.Session // the process that the silent connection reaches
	quiet  proto.Session // the process whose silent connection ended cleanly
	losses uint64        // so far
	gone   proto.Session // known to be gone
	unsure process       // the same, while that is not proven
	mute   time.Time     // since when nobody answers; zero while somebody does
	said   bool          // that it is unreachable
	heard  uint64        // how often somebody answered
}

// loss is the end of a link with a process.
type loss struct {
	process
	number uint64
	at     time.Time
	left   int  // links with it
	clean  bool // this link or the one before ended between two frames, and none came up since
}

// attempt is what was known when a dial began: the dial can only prove
// something about what came before.
type attempt struct {
	began      time.Time
	told, seen process
	lost       loss
	quiet      proto.Session
}

// tell takes what SetPeers says about the peer.
func (w *witness) tell(s proto.Session, home netip.AddrPort) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.told = process{session: s, home: home}
}

// begin is called before each dial.
func (w *witness) begin(now time.Time) attempt {
	w.mu.Lock()
	defer w.mu.Unlock()
	return attempt{began: now, told: w.told, seen: w.seen, lost: w.lost, quiet: w.quiet}
}

// up says that process s answered the dial at address home: the link is
// established, and whoever listened there when the dial began is gone.
func (w *witness) up(a attempt, s proto.Session, home netip.AddrPort) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.gone == s {
		w.gone = proto.Session{} // it did answer: whatever proved its death was a lie
	}
	if w.unsure.session == s {
		w.unsure = process{}
	}
	if a.quiet == s && w.quiet == s {
		w.quiet = proto.Session{} // its silent connection ended before this dial, and it lives
	}
	w.proveLate(a, home, proto.OtherSession) // before what is news of a later process
	for _, old := range []process{a.seen, a.told} {
		if old.home == home && !old.session.IsZero() && old.session != s {
			clean := a.lost == w.lost && w.lost.session == old.session && w.clean(a)
			w.bury(old.session, proto.OtherSession, clean && w.links(old.session) == 0)
		}
	}
	w.seen, w.mine = process{session: s, home: home}, s
	w.lost, w.mute, w.said = loss{}, time.Time{}, false
	w.heard++
	w.say(s, proto.LinkUp)
}

// dropped says that my own link is ended, by this node itself.
func (w *witness) dropped() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.mine = proto.Session{}
}

// ended says that my own link ended, how being LinkClosed or LinkReset.
func (w *witness) ended(how proto.LinkEvent) {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.mine
	w.mine = proto.Session{}
	w.lose(s, how)
}

// endedByPeer says the same of the link that process s had dialled. lost takes
// the link out of the count and reports whether that is a loss, in one step
// with the evidence: between the two, a refusal would prove too much.
func (w *witness) endedByPeer(s proto.Session, how proto.LinkEvent, lost func() bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if lost() {
		w.lose(s, how)
	}
}

// refused says that a dial found its address refusing. That proves the end of
// a process if it listened there, its last link had ended before the dial
// began, and it has none now. Otherwise it may live, behind an address that is
// wrong or shut to this node: then it cannot be reached, as with no answer.
// That has lasted for longer than the patience if refused reports true. Where only
// resets were seen, the end of the silent connection is waited for.
func (w *witness) refused(a attempt, at netip.AddrPort, now time.Time) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.proveLate(a, at, proto.DialRefused)
	s := a.lost.session
	if s.IsZero() || a.lost != w.lost || a.lost.home != at || w.links(s) > 0 {
		w.miss(a, now)
		return w.said
	}
	clean := w.clean(a)
	if !clean && w.willProve(s, now) {
		return false
	}
	w.lost, w.mute, w.said = loss{}, time.Time{}, false
	w.bury(s, proto.DialRefused, clean)
	if !clean {
		w.unsure = process{session: s, home: at}
	}
	return false
}

// proveLate says once more, and now for certain, that a process is gone of which only
// resets were seen at first: on a busy machine the clean end of its silent connection may
// be read later than all else. The dial that how is the answer to began after that. The
// caller holds mu.
func (w *witness) proveLate(a attempt, at netip.AddrPort, how proto.LinkEvent) {
	s := w.unsure.session
	if s.IsZero() || a.quiet != s || w.unsure.home != at || w.links(s) > 0 {
		return
	}
	w.unsure = process{}
	w.emit(Evidence{Peer: w.id, Session: s, Event: how, Proven: true})
}

// clean reports whether one of the connections with the process that was lost ended
// cleanly before the dial began. The caller holds mu.
func (w *witness) clean(a attempt) bool {
	return w.lost.clean || a.quiet == w.lost.session
}

// willProve reports whether the silent connection may yet prove the end of process s:
// it is still to end, or has ended since the dial began. The caller holds mu.
func (w *witness) willProve(s proto.Session, now time.Time) bool {
	return w.quiet == s || w.silent == s && now.Sub(w.lost.at) < quietPatience
}

// watched says that a silent connection to process s is up.
func (w *witness) watched(s proto.Session) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.silent, w.quiet = s, proto.Session{}
}

// unwatched says that the silent connection ended, clean being how.
func (w *witness) unwatched(clean bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if clean {
		w.quiet = w.silent
	}
	w.silent = proto.Session{}
}

// answered says that a dial found somebody, if only to be refused a link.
func (w *witness) answered() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.mute, w.said = time.Time{}, false
	w.heard++
}

// unanswered says that a dial got no answer. The first since the last answer
// counts from its beginning.
func (w *witness) unanswered(a attempt, now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.miss(a, now)
}

// miss counts the time without an answer. The caller holds mu.
func (w *witness) miss(a attempt, now time.Time) {
	if w.mute.IsZero() {
		w.mute = a.began
	}
	if w.said || now.Sub(w.mute) < w.patience {
		return
	}
	w.said = true
	s := a.told.session
	if s.IsZero() {
		s = a.seen.session
	}
	if s.IsZero() || s != w.gone {
		w.say(s, proto.Unreachable)
	}
}

// inDoubt is the process whose last link ended and of which nothing is known since;
// zero when there is none, or when it was said to be unreachable.
func (w *witness) inDoubt() proto.Session {
	w.mu.Lock()
	defer w.mu.Unlock()
	if s := w.lost.session; !w.said && w.links(s) == 0 {
		return s
	}
	return proto.Session{}
}

// buried is the process that was last known to be gone.
func (w *witness) buried() proto.Session {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.gone
}

// answersSoFar counts the dials that somebody answered.
func (w *witness) answersSoFar() uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.heard
}

// unheard says that the others that were asked do not hear process s either. It is
// unreachable then, unless there is a link or there was an answer since the
// question was put, after as many as answers.
func (w *witness) unheard(s proto.Session, answers uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.said || w.heard != answers || w.lost.session != s || w.links(s) > 0 {
		return
	}
	w.said = true
	w.say(s, proto.IndirectUnreachable)
}

// vouched says that another node hears process s, which this one does not.
func (w *witness) vouched(s proto.Session) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if s != w.gone {
		w.say(s, proto.IndirectAlive)
	}
}

// beat says that process s answers no PING, e being HeartbeatMissed, or does
// again, e being HeartbeatBack.
func (w *witness) beat(s proto.Session, e proto.LinkEvent) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if s != w.gone {
		w.say(s, e)
	}
}

// lose records the end of a link with process s. The caller holds mu.
func (w *witness) lose(s proto.Session, how proto.LinkEvent) {
	if s == w.gone {
		return
	}
	w.say(s, how)
	w.losses++
	left := w.links(s)
	// A kernel resets the link on which the dead process left bytes unread, and
	// closes the other.
	before := w.lost.session == s && w.lost.clean && left < w.lost.left
	w.lost = loss{process{session: s}, w.losses, time.Now(), left, how == proto.LinkClosed || before}
	switch s {
	case w.seen.session:
		w.lost.home = w.seen.home
	case w.told.session:
		w.lost.home = w.told.home
	}
}

// bury says once that process s is gone, and whether that is proven. The caller
// holds mu.
func (w *witness) bury(s proto.Session, how proto.LinkEvent, proven bool) {
	if s == w.gone {
		return
	}
	w.gone = s
	w.emit(Evidence{Peer: w.id, Session: s, Event: how, Links: w.links(s), Proven: proven})
}

// links counts the established links with process s. The caller holds mu.
func (w *witness) links(s proto.Session) int {
	n := w.linksToMe(s)
	if s == w.mine && !s.IsZero() {
		n++
	}
	return n
}

// say hands out evidence. The caller holds mu, which keeps the order.
func (w *witness) say(s proto.Session, e proto.LinkEvent) {
	w.emit(Evidence{Peer: w.id, Session: s, Event: e, Links: w.links(s)})
}
