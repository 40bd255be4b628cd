package tcp

import (
	"slices"
	"sync"
	"time"

	"github.com/ringleader-dev/ringleader/proto"
)

// batch bounds what is handed to the kernel at once, in bytes.
const batch = 64 << 10

// entry is one message on its way to a peer.
type entry struct {
	kind    proto.Kind
	payload []byte
	queued  time.Time
	wrote   time.Time     // to the present connection
	session proto.Session // the process it is for, zero until that is known
}

// moment is how long a message may wait without a word of that.
const moment = 10 * time.Millisecond

// aged is what is to be written of the message now; ok is false for nothing.
func (e *entry) aged(now time.Time) (payload []byte, ok bool) {
	if waited := now.Sub(e.queued); waited > moment {
		return proto.Aged(e.kind, e.payload, waited)
	}
	return e.payload, true
}

// outbox is the queue to one peer. Any goroutine may use it; none waits for
// another longer than a copy of some bytes takes. Its invariants:
//
//  1. entries are in the order they were put, at most limit of them;
//  2. the first inFlight of them were written to the present connection and
//     nothing else was, since its acked-th message;
//  3. without a connection inFlight is 0.
type outbox struct {
	limit int
	age   time.Duration
	drop  func(reason, int)
	// ready has a token when there is something to write, or nothing is left.
	ready chan struct{}

	mu       sync.Mutex
	entries  []entry
	inFlight int
	acked    uint64
	closed   bool
}

func newOutbox(limit int, age time.Duration, drop func(reason, int)) *outbox {
	return &outbox{limit: limit, age: age, drop: drop, ready: make(chan struct{}, 1)}
}

// put queues a message for process s, zero for whichever answers, or drops it
// when that is not possible.
func (o *outbox) put(s proto.Session, kind proto.Kind, payload []byte, now time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.entries) == o.limit {
		o.expire(now)
	}
	switch {
	case o.closed:
		o.drop(closed, 1)
	case len(o.entries) == o.limit:
		o.drop(queueFull, 1)
	default:
		o.entries = append(o.entries, entry{kind: kind, payload: payload, queued: now, session: s})
		o.signal()
	}
}

// begin says that a connection to process s is up: everything is written
// again, but what was meant for another process, or is too old. A message for
// a node's former life must not act on its new one.
func (o *outbox) begin(s proto.Session, now time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.acked = 0
	o.expire(now)
	before := len(o.entries)
	o.entries = slices.DeleteFunc(o.entries, func(e entry) bool {
		return !e.session.IsZero() && e.session != s
	})
	o.drop(newLife, before-len(o.entries))
}

// end says that the connection is lost.
func (o *outbox) end() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.inFlight = 0
}

// take appends to dst the frames to write next to process s, and counts them
// as written. What is for another process waits for a link with that one, unless it
// is gone: then the view lags behind, and s is who is meant.
func (o *outbox) take(dst []byte, s, gone proto.Session, now time.Time) ([]byte, int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.expire(now)
	taken := 0
	for o.inFlight < len(o.entries) && len(dst) < batch {
		e := &o.entries[o.inFlight]
		if !e.session.IsZero() && e.session != s && e.session != gone {
			break
		}
		payload, ok := e.aged(now)
		if !ok {
			o.drop(expired, 1)
			o.entries = slices.Delete(o.entries, o.inFlight, o.inFlight+1)
			continue
		}
		e.session, e.wrote = s, now
		dst = appendFrame(dst, e.kind.Number(), payload)
		taken++
		o.inFlight++
	}
	if len(dst) >= batch && o.inFlight < len(o.entries) {
		o.signal()
	}
	return dst, taken
}

// replaced says that process s is not expected any more: what waits for it is dropped.
func (o *outbox) replaced(s proto.Session) {
	o.mu.Lock()
	defer o.mu.Unlock()
	before := len(o.entries)
	rest := slices.DeleteFunc(o.entries[o.inFlight:], func(e entry) bool { return e.session == s })
	o.entries = o.entries[:o.inFlight+len(rest)]
	o.drop(newLife, before-len(o.entries))
	o.signal()
}

// ack says that the connection's first n messages were handed up.
func (o *outbox) ack(n uint64) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if n < o.acked || n-o.acked > uint64(o.inFlight) {
		return faultf(badAck, "%d messages acknowledged: between %d and %d were sent",
			n, o.acked, o.acked+uint64(o.inFlight))
	}
	done := int(n - o.acked)
	o.entries = slices.Delete(o.entries, 0, done)
	o.inFlight -= done
	o.acked = n
	if len(o.entries) == 0 {
		o.signal()
	}
	return nil
}

// waitingSince is when the oldest message without an acknowledgement was
// written, zero when there is none.
func (o *outbox) waitingSince() time.Time {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.inFlight == 0 {
		return time.Time{}
	}
	return o.entries[0].wrote
}

func (o *outbox) len() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.entries)
}

// close drops what is left and whatever comes later.
func (o *outbox) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.drop(closed, len(o.entries))
	o.entries, o.inFlight, o.closed = nil, 0, true
}

// expire drops what is too old and not on its way. The caller holds mu.
func (o *outbox) expire(now time.Time) {
	n := o.inFlight
	for n < len(o.entries) && now.Sub(o.entries[n].queued) > o.age {
		n++
	}
	o.drop(expired, n-o.inFlight)
	o.entries = slices.Delete(o.entries, o.inFlight, n)
}

// signal leaves a token in ready. The caller holds mu.
func (o *outbox) signal() {
	select {
	case o.ready <- struct{}{}:
	default:
	}
}
