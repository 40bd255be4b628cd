package tcp

import (
	"sync"
	"time"

	"github.com/ringleader-dev/ringleader/proto"
)

// ackEvery is how many messages an ACK acknowledges at most.
const ackEvery = 64

// acker acknowledges the messages of one connection, several at a time: after timing.ackDelay, or
// with the PONG to the next PING. By then an election is over, so its messages do not wait behind
// ACKs, and few bytes are on their way to a process that dies. A sender that gets no ACK repeats
// the message on its next link, which does no harm.
type acker struct {
	in     *inbound
	limits timing
	timer  *time.Timer // runs while an ACK is owed

	mu            sync.Mutex
	handed, acked uint64
}

func newAcker(in *inbound, limits timing) *acker {
	a := &acker{in: in, limits: limits}
	a.timer = time.AfterFunc(limits.ackDelay, a.pay)
	a.timer.Stop()
	return a
}

// owe counts a message that was passed to the callback.
func (a *acker) owe() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.handed++
	switch a.handed - a.acked {
	case 1:
		a.timer.Reset(a.limits.ackDelay)
	case ackEvery:
		a.send()
	}
}

// pay sends an ACK if one is owed.
func (a *acker) pay() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.handed > a.acked {
		a.send()
	}
}

// send acknowledges all messages that were passed to the callback. The caller holds mu.
func (a *acker) send() {
	a.acked = a.handed
	a.timer.Stop()
	a.in.say(proto.Ack{Count: a.handed}, a.limits.write)
}
