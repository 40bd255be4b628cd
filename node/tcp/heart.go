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

// heart counts the beats since one peer's process last answered a PING. Any
// goroutine may use it.
//
//  1. Only WELCOME, PING and PONG are signs of life: the other end says them only
//     while its elections go on. An ACK shows that its sockets work, no more.
//  2. A beat counts one interval at most, however late it comes. So a node that
//     got no processor itself counts few, and none with Transport.pace's help.
//  3. Who owes an answer is asked until it answers, watched or not. A leader that
//     is silent is not forgotten because another node missed it first and called
//     an election; and nothing else would clear one that was missed.
type heart struct {
	misses int // intervals without an answer before the process is missed
	// say takes HeartbeatMissed and HeartbeatBack, in the order of occurrence.
	// It is called with mu held.
	say func(proto.Session, Event)

	mu      sync.Mutex
	session proto.Session // of the process that the link last reached
	sent    uint64        // PINGs on the present link
	ponged  uint64        // of those, how many were answered
	timed   uint64        // the PING whose round trip is measured,
	timedAt time.Time     // when it was sent,
	rtt     time.Duration // and the smoothed measure; zero until the first PONG
	pinged  bool          // by the process, since the last beat
	silent  int           // beats since the last sign of life
	missed  bool
	alarms  []time.Time // false ones, of late
}

// begin says that a link to process s is up.
func (h *heart) begin(s proto.Session, now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.session != s {
		h.alarms = nil // they were another's
		h.missed = false
	}
	h.session, h.sent, h.ponged, h.timed = s, 0, 0, 0
	h.alive(now)
}

// ping counts a PING that is sent now, and returns its number.
func (h *heart) ping(now time.Time) uint64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.sent++
	if h.timed <= h.ponged { // the one before was answered
		h.timed, h.timedAt = h.sent, now
	}
	return h.sent
}

// pong takes the answer to the first n PINGs.
func (h *heart) pong(n uint64, now time.Time) error {
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

// hear takes a PING of process s, on a link that it dialled.
func (h *heart) hear(s proto.Session, now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if s == h.session {
		h.pinged = true
		h.back(now)
	}
}

// back notes a sign of life on a link that was there before. The caller holds
// mu.
func (h *heart) back(now time.Time) {
	if h.missed {
		h.say(h.session, HeartbeatBack)
	}
	h.alive(now)
}

// measure smooths the round trips as TCP does. The caller holds mu.
func (h *heart) measure(trip time.Duration) {
	if h.rtt == 0 {
		h.rtt = trip
	}
	h.rtt += (trip - h.rtt) / 8
}

// alive notes a sign of life. The caller holds mu.
func (h *heart) alive(now time.Time) {
	// An alarm was false if the most patient of hearts had not raised it.
	if h.missed && h.silent <= h.misses*maxPatience {
		h.alarms = append(h.recent(now), now)
	}
	h.silent, h.missed = 0, false
}

// recent are the false alarms that still count. The caller holds mu.
func (h *heart) recent(now time.Time) []time.Time {
	most := freeAlarms + maxPatience
	for len(h.alarms) > most || len(h.alarms) > 0 && now.Sub(h.alarms[0]) > alarmMemory {
		h.alarms = h.alarms[1:]
	}
	return h.alarms
}

// allowed is how many silent intervals are borne: each false alarm within a
// minute beyond the free ones adds as many as are usual, up to three times as
// many. The caller holds mu.
func (h *heart) allowed(now time.Time) int {
	return h.misses * min(1+max(0, len(h.recent(now))-freeAlarms), maxPatience)
}

// beat counts an interval that is over; anew says that the node itself was
// late. It reports whether the process is to be asked for a sign of life: not if
// it asked for one itself, so that of two who watch each other only one asks.
func (h *heart) beat(watched, anew bool, now time.Time) (ask bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	ask = !h.pinged
	h.pinged = false
	if h.session.IsZero() || !watched && h.silent == 0 {
		return false // it was never heard of, or nobody cares
	}
	if anew && !h.missed {
		h.silent = 0
	}
	h.silent++
	if !h.missed && h.silent > h.allowed(now) {
		h.missed = true
		h.say(h.session, HeartbeatMissed)
	}
	return ask
}

// roundTrip is the smoothed time from a PING to its PONG, zero when there was
// none.
func (h *heart) roundTrip() time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.rtt
}
