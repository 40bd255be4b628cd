package tcp

import (
	"slices"
	"sync"
	"time"

	"github.com/ringleader-dev/ringleader/proto"
)

// batch is how many bytes are passed to the kernel at once.
const batch = 64 << 10

// entry is one message on its way to a peer.
type entry struct {
	kind        proto.Kind
	payload     []byte
	queued      time.Time
	wrote       time.Time         // when it was written to the present connection
	incarnation proto.Incarnation // the process it is for; zero until that is known
}

// moment is how long a message may wait unchanged. If a message waits longer, aged subtracts that time from
// the lease that the message announces.
const moment = 10 * time.Millisecond

// aged returns the payload to write now. If the message announces a lease, aged subtracts the time that the
// message waited from that lease; ok is false if nothing of the lease is left.
func (e *entry) aged(now time.Time) (payload []byte, ok bool) {
	if waited := now.Sub(e.queued); waited > moment {
		return proto.Aged(e.kind, e.payload, waited)
	}
	return e.payload, true
}

// outbox is the queue to one peer. Any goroutine may call its methods; no goroutine waits for another for
// longer than it takes to copy some bytes. Its invariants:
//
//  1. entries are in the order they were put, at most limit of them;
//  2. the first inFlight entries are all that was written to the present connection
//     after its message number acked;
//  3. without a connection inFlight is 0.
type outbox struct {
	limit int
	age   time.Duration
	drop  func(reason, int)
	// ready has a token if there is something to write, or nothing is left.
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

// put queues a message for process s; zero means any process of the peer. It drops the message if
// the queue is full or closed.
func (o *outbox) put(s proto.Incarnation, kind proto.Kind, payload []byte, now time.Time) {
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
		o.entries = append(o.entries, entry{kind: kind, payload: payload, queued: now, incarnation: s})
		signal(o.ready)
	}
}

// begin prepares the queue for a new connection, which reaches process s. All messages are to be written
// again, except those that are too old or meant for another process: a message to a node's earlier process
// must not act on the node's new process.
func (o *outbox) begin(s proto.Incarnation, now time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.acked = 0
	o.expire(now)
	before := len(o.entries)
	o.entries = slices.DeleteFunc(o.entries, func(e entry) bool {
		return !e.incarnation.IsZero() && e.incarnation != s
	})
	o.drop(newLife, before-len(o.entries))
}

// end notes that the connection is lost.
func (o *outbox) end() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.inFlight = 0
}

// take appends to dst the frames to write next to process s, and counts them as written. It stops at a
// message for another process, which waits for a link with that process. But if that process is the one that
// the parameter gone names, the message goes to s: its sender did not know yet that the process is gone.
func (o *outbox) take(dst []byte, s, gone proto.Incarnation, now time.Time) ([]byte, int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.expire(now)
	taken := 0
	for o.inFlight < len(o.entries) && len(dst) < batch {
		e := &o.entries[o.inFlight]
		if !e.incarnation.IsZero() && e.incarnation != s && e.incarnation != gone {
			break
		}
		payload, ok := e.aged(now)
		if !ok {
			o.drop(expired, 1)
			o.entries = slices.Delete(o.entries, o.inFlight, o.inFlight+1)
			continue
		}
		e.incarnation, e.wrote = s, now
		dst = appendFrame(dst, e.kind.Number(), payload)
		taken++
		o.inFlight++
	}
	if len(dst) >= batch && o.inFlight < len(o.entries) {
		signal(o.ready)
	}
	return dst, taken
}

// replaced drops the messages that wait for process s, which is no longer expected.
func (o *outbox) replaced(s proto.Incarnation) {
	o.mu.Lock()
	defer o.mu.Unlock()
	before := len(o.entries)
	rest := slices.DeleteFunc(o.entries[o.inFlight:], func(e entry) bool { return e.incarnation == s })
	o.entries = o.entries[:o.inFlight+len(rest)]
	o.drop(newLife, before-len(o.entries))
	signal(o.ready)
}

// ack removes the first n messages of the connection from the queue: the receiver's callback got them.
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
		signal(o.ready)
	}
	return nil
}

// waitingSince returns when the oldest message without an acknowledgement was written; zero if
// there is none.
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

// close drops all messages. From then on, put drops each message.
func (o *outbox) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.drop(closed, len(o.entries))
	o.entries, o.inFlight, o.closed = nil, 0, true
}

// expire drops the messages that are too old and were not written yet. The caller holds mu.
func (o *outbox) expire(now time.Time) {
	n := o.inFlight
	for n < len(o.entries) && now.Sub(o.entries[n].queued) > o.age {
		n++
	}
	o.drop(expired, n-o.inFlight)
	o.entries = slices.Delete(o.entries, o.inFlight, n)
}

// signal puts a token into c, unless c has a token already. c has room for one.
func signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
