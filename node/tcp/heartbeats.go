package tcp

import (
	"sync"
	"time"

	"github.com/ringleader-dev/ringleader/proto"
)

const (
	// maxPatience bounds how many times as long a peer that was accused in
	// vain may be silent before it is accused again.
	maxPatience = 3
	// freeAlarms is how many false alarms do not make for patience: somebody who
	// pauses a node by hand, once and again, should see it replaced in time.
	freeAlarms = 2
	// alarmMemory is how long a false alarm makes for patience.
	alarmMemory = time.Minute
)

// watch is how this node watches a peer.
type watch int

const (
	unwatched watch = iota
	follower        // of this node
	leading         // this node follows it
	expected        // nobody leads, and this node sent it a message
)

// heartbeats counts the beats since the last sign of life of one peer's process. Any
// goroutine may call its methods.
//
//  1. Only WELCOME, PING and PONG are signs of life: the other end says them only
//     while its elections go on. An ACK shows that its sockets work, no more.
//  2. A beat counts one interval at most, however late it comes. So a node that got
//     no processor accuses nobody: see beatTimer.
//  3. Before a process is missed others are asked whether they hear it; if one of
//     them does, more silence is allowed. See indirectProbe.
//  4. Who owes an answer is asked until it answers, watched or not. A leader that
//     is silent is not forgotten because another node missed it first and called
//     an election; and nothing else would clear one that was missed.
type heartbeats struct {
	misses int // intervals without an answer before the process is missed
	// say takes HeartbeatMissed and HeartbeatBack, in the order of occurrence.
	// It is called with mu held.
	say func(proto.Session, proto.LinkEvent)

	mu       sync.Mutex
	session  proto.Session // of the process that the link last reached
	sent     uint64        // PINGs on the present link
	ponged   uint64        // of those, how many were answered
	timed    uint64        // the PING whose round trip is measured,
	timedAt  time.Time     // when it was sent,
	rtt      time.Duration // and the smoothed measure; zero until the first PONG
	pinged   bool          // by the process, since the last beat
	silent   int           // beats since the last sign of life
	extended int           // how many of those are allowed since others heard the process
	missed   bool
	signs    chan struct{} // closed at the next sign of life; nil when nobody waits
	alarms   []time.Time   // false ones, of late
}

// begin says that a link to process s is up.
func (h *heartbeats) begin(s proto.Session, now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.session != s {
		h.alarms, h.signs = nil, nil // they were another's
		h.missed = false
	}
	h.session, h.sent, h.ponged, h.timed = s, 0, 0, 0
	h.alive(now)
}

// ping counts a PING that is sent now, and returns its number.
func (h *heartbeats) ping(now time.Time) uint64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.sent++
	if h.timed <= h.ponged { // the one before was answered
		h.timed, h.timedAt = h.sent, now
	}
	return h.sent
}

// pong takes the answer to the first n PINGs.
func (h *heartbeats) pong(n uint64, now time.Time) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if n <= h.ponged || n > h.sent {
		return faultf(unexpected, "PONG %d: PINGs %d to %d were not answered",
			n, h.ponged+1, h.sent)
	}
	if n >= h.timed && h.ponged < h.timed && !h.missed { // a pause is no round trip
		h.measure(now.Sub(h.timedAt))
	}
	h.ponged = n
	h.back(now)
	return nil
}

// hear takes a PING of process s, on a link that it dialled. It reports whether
// these are the heartbeats of that process.
func (h *heartbeats) hear(s proto.Session, now time.Time) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if s != h.session {
		return false
	}
	h.pinged = true
	h.back(now)
	return true
}

// back notes a sign of life on a link that was there before. The caller holds
// mu.
func (h *heartbeats) back(now time.Time) {
	if h.missed {
		h.say(h.session, proto.HeartbeatBack)
	}
	h.alive(now)
}

// measure smooths the round trips as TCP does. The caller holds mu.
func (h *heartbeats) measure(trip time.Duration) {
	if h.rtt == 0 {
		h.rtt = trip
	}
	h.rtt += (trip - h.rtt) / 8
}

// alive notes a sign of life. The caller holds mu.
func (h *heartbeats) alive(now time.Time) {
	// An alarm was false if the greatest patience would have prevented it.
	if h.missed && h.silent <= h.misses*maxPatience {
		h.alarms = append(h.recent(now), now)
	}
	h.silent, h.extended, h.missed = 0, 0, false
	if h.signs != nil {
		close(h.signs)
		h.signs = nil
	}
}

// sign is closed at the next sign of life of process s; nil when s is not the
// process that the link last reached.
func (h *heartbeats) sign(s proto.Session) <-chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.session != s {
		return nil
	}
	if h.signs == nil {
		h.signs = make(chan struct{})
	}
	return h.signs
}

// process is the one that the link last reached, zero for none.
func (h *heartbeats) process() proto.Session {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.session
}

// owes reports whether more than one interval passed without a sign of life.
func (h *heartbeats) owes() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.silent > 1
}

// heardByOthers says that another node hears process s. As many intervals of silence as
// are usual are then allowed on top, but never more than the greatest patience allows. It
// reports whether that makes a difference.
func (h *heartbeats) heardByOthers(s proto.Session) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.session != s || h.missed || h.silent < h.misses {
		return false
	}
	h.extended = min(h.silent+h.misses, h.misses*maxPatience)
	return true
}

// recent are the false alarms that still count. The caller holds mu.
func (h *heartbeats) recent(now time.Time) []time.Time {
	most := freeAlarms + maxPatience
	for len(h.alarms) > most || len(h.alarms) > 0 && now.Sub(h.alarms[0]) > alarmMemory {
		h.alarms = h.alarms[1:]
	}
	return h.alarms
}

// allowed is after how many silent intervals the process is missed. The usual number is
// misses; each false alarm of the last minute, beyond the free ones, adds as many again, up
// to maxPatience times as many in all. The caller holds mu.
func (h *heartbeats) allowed(now time.Time) int {
	return h.misses * min(1+max(0, len(h.recent(now))-freeAlarms), maxPatience)
}

// beat counts the intervals that are over, or starts anew when this node itself was late.
// It reports three things. beats: there is something to count. ask: the process is to be
// asked for a sign of life; a leader that asked this node is not, so that of two who watch
// each other only the leader asks. doubt: the next beat misses the process, unless other
// nodes hear it, which are to be asked now.
func (h *heartbeats) beat(w watch, b beat, now time.Time) (beats, ask, doubt bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	ask = !h.pinged || w == follower
	h.pinged = false
	if h.session.IsZero() || w == unwatched && h.silent == 0 {
		return false, false, false // it was never heard of, or nobody cares
	}
	h.silent += b.intervals
	if b.anew && !h.missed {
		h.silent = 1
	}
	limit := max(h.allowed(now), h.extended)
	if !h.missed && h.silent > limit {
		h.missed = true
		h.say(h.session, proto.HeartbeatMissed)
	}
	return true, ask, h.silent == limit && limit < h.misses*maxPatience
}

// roundTrip is the smoothed time from a PING to its PONG, zero when there was
// none.
func (h *heartbeats) roundTrip() time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.rtt
}
