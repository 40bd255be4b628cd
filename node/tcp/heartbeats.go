package tcp

import (
	"sync"
	"time"

	"github.com/ringleader-dev/ringleader/proto"
)

const (
	// maxPatience bounds the silence that a peer is allowed after false alarms. The bound is this many times
	// the usual silence.
	maxPatience = 3
	// freeAlarms is how many false alarms add no patience: a node that somebody pauses by hand twice
	// should still be replaced in time.
	freeAlarms = 2
	// alarmMemory is how long a false alarm adds patience.
	alarmMemory = time.Minute
)

// watch says whether this node expects signs of life from a peer, and why.
type watch int

const (
	unwatched watch = iota // no signs of life are expected
	follower               // the peer follows this node
	leading                // the peer leads
	expected               // nobody leads, and this node sent the peer a message
)

// heartbeats counts the beats (ticks of beatTimer) since the last sign of life of one peer's process. Any
// goroutine may call its methods.
//
//  1. Only WELCOME, PING and PONG are signs of life: the other end says them only
//     while its election loop goes on. An ACK shows only that its sockets work.
//  2. A beat counts one interval at most, however late it comes. So a node that got
//     no processor accuses nobody: see beatTimer.
//  3. Before a process is missed, others are asked whether they hear it. If one of
//     them does, more silence is allowed. See indirectProbe.
//  4. A process that has not answered a PING is asked until it answers, watched or not. So a
//     silent leader is missed too after another node missed it first and called an
//     election, and a process that was missed can come back.
type heartbeats struct {
	misses int // how many intervals of silence are allowed before the process is missed
	// say is called with HeartbeatMissed and HeartbeatBack, in the order in which they happen, and
	// with mu held.
	say func(proto.Incarnation, proto.LinkEvent)

	mu          sync.Mutex
	incarnation proto.Incarnation // the process that the link last reached
	sent        uint64            // PINGs sent on the present link
	ponged      uint64            // how many of those were answered
	timed       uint64            // the number of the PING whose round trip is measured
	timedAt     time.Time         // when that PING was sent
	rtt         time.Duration     // the smoothed round trip; zero until the first PONG
	pinged      bool              // the process sent a PING since the last beat
	silent      int               // beats since the last sign of life
	extended    int               // how many more silent beats are allowed, since others heard the process
	missed      bool
	signs       chan struct{} // closed at the next sign of life; nil if nobody waits
	alarms      []time.Time   // false alarms of the last minute
}

// begin resets the counts for a new link, which reaches process s.
func (h *heartbeats) begin(s proto.Incarnation, now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.incarnation != s {
		h.alarms, h.signs = nil, nil // they were of another process
		h.missed = false
	}
	h.incarnation, h.sent, h.ponged, h.timed = s, 0, 0, 0
	h.alive(now)
}

// ping counts a PING that is sent now, and returns its number.
func (h *heartbeats) ping(now time.Time) uint64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.sent++
	if h.timed <= h.ponged { // the last measured PING was answered
		h.timed, h.timedAt = h.sent, now
	}
	return h.sent
}

// pong handles the answer to the first n PINGs.
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

// hear handles a PING of process s, on a link that s dialled. It returns false, and does nothing, if the link
// last reached another process than s.
func (h *heartbeats) hear(s proto.Incarnation, now time.Time) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if s != h.incarnation {
		return false
	}
	h.pinged = true
	h.back(now)
	return true
}

// back notes a sign of life on a link that was up before. The caller holds mu.
func (h *heartbeats) back(now time.Time) {
	if h.missed {
		h.say(h.incarnation, proto.HeartbeatBack)
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

// sign returns a channel that is closed at the next sign of life of process s; nil when the
// link last reached another process.
func (h *heartbeats) sign(s proto.Incarnation) <-chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.incarnation != s {
		return nil
	}
	if h.signs == nil {
		h.signs = make(chan struct{})
	}
	return h.signs
}

// process returns the process that the link last reached; zero for none.
func (h *heartbeats) process() proto.Incarnation {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.incarnation
}

// owes reports whether more than one interval has passed without a sign of life.
func (h *heartbeats) owes() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.silent > 1
}

// heardByOthers notes that another node hears process s. The process may then be silent for misses intervals
// more, but never for longer than the greatest patience allows. heardByOthers reports whether it extended the
// time.
func (h *heartbeats) heardByOthers(s proto.Incarnation) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.incarnation != s || h.missed || h.silent < h.misses {
		return false
	}
	h.extended = min(h.silent+h.misses, h.misses*maxPatience)
	return true
}

// recent returns the false alarms that still count. The caller holds mu.
func (h *heartbeats) recent(now time.Time) []time.Time {
	most := freeAlarms + maxPatience
	for len(h.alarms) > most || len(h.alarms) > 0 && now.Sub(h.alarms[0]) > alarmMemory {
		h.alarms = h.alarms[1:]
	}
	return h.alarms
}

// allowed returns the number of silent intervals after which the process is missed. Usually the number is
// misses. Each false alarm of the last minute beyond freeAlarms adds misses, up to maxPatience times misses.
// The caller holds mu.
func (h *heartbeats) allowed(now time.Time) int {
	return h.misses * min(1+max(0, len(h.recent(now))-freeAlarms), maxPatience)
}

// beat counts the intervals that are over, or starts again at one if this node itself was late. The result
// beats is true if the process is watched, or silent. ask is true if this node should ask the process for a
// sign of life. It need not ask a leader that sent a PING: so of two processes that watch each other only the
// leader asks. doubt is true if the process will be missed at the next beat unless other nodes hear it: this
// node should ask the other nodes now.
func (h *heartbeats) beat(w watch, b beat, now time.Time) (beats, ask, doubt bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	ask = !h.pinged || w == follower
	h.pinged = false
	if h.incarnation.IsZero() || w == unwatched && h.silent == 0 {
		return false, false, false // no link reached it yet, or it is not watched
	}
	h.silent += b.intervals
	if b.anew && !h.missed {
		h.silent = 1
	}
	limit := max(h.allowed(now), h.extended)
	if !h.missed && h.silent > limit {
		h.missed = true
		h.say(h.incarnation, proto.HeartbeatMissed)
	}
	return true, ask, h.silent == limit && limit < h.misses*maxPatience
}

// roundTrip returns the smoothed time from a PING to its PONG; zero if there was none.
func (h *heartbeats) roundTrip() time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.rtt
}
