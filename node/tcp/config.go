package tcp

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/rs/zerolog"

	"github.com/ringleader-dev/ringleader/proto"
)

// Config says whose messages a Transport carries, and to whom it hands them.
type Config struct {
	// Cluster and Algorithm must be the same at both ends of a link. Cluster has at most
	// proto.MaxLabel bytes. Algorithm names all else that must agree, as long as that
	// is: the algorithm, and after " with " its parameters. A hash of it is compared.
	Cluster   string
	Algorithm string
	// Voters are whose votes count, empty where none do. Those of the other end of a
	// link must be the same, or differ by one.
	Voters proto.VoterList
	// ID and Session are this process.
	ID      proto.NodeID
	Session proto.Session
	// Bind is the host:port to listen on. Port 0 takes any free one.
	Bind string
	// QueueLen bounds the messages kept for one peer, sent but not
	// acknowledged ones included. 0 means 256.
	QueueLen int

	// Heartbeat is the time from one PING to a watched peer to the next: at
	// least MinHeartbeat, 0 means 100 ms. Misses is how many of those intervals
	// it may let pass without an answer: at least MinMisses, 0 means 6.
	Heartbeat time.Duration
	Misses    int
	// Patience scales every limit on what a peer may take to do: it is how long
	// connecting may take, and the others are multiples. 0 means a second.
	Patience time.Duration
	// Busy is for how long this node's elections have been at one event, zero while
	// they wait for the next. PINGs are answered only below half a Heartbeat, and
	// links accepted only below Misses of them, so that a process that hangs while
	// its sockets work is found out. It is called from the goroutines of the links
	// and must not block. Nil means never busy.
	Busy func() time.Duration

	// SilentPeers are the peers whose deaths this node has to prove. The node keeps a
	// silent connection to each of them, beside the link: when the process dies, that
	// connection ends cleanly, whatever the process left unread on others.
	SilentPeers []proto.NodeID

	// Kinds are those that this process can read, as its catalogue of algorithms lists
	// them. A message of another is refused.
	Kinds *proto.Kinds
	// Receive takes each message. It is called from the goroutines of the
	// links: in order for one sender, at the same time for several. It must not
	// block for long, or that sender's link is given up. A message may come
	// twice.
	Receive func(proto.Message)
	// Evidence, unless nil, takes what links tell, for one peer in the order of
	// occurrence. It is called from the goroutines of the links and must not
	// block. It may call Send, but neither SetPeers nor Close.
	Evidence func(Evidence)

	Log zerolog.Logger

	// Network carries the links. Nil means this machine's own TCP.
	Network Network

	timing timing // zero for timingFor; tests hurry it
}

const (
	defaultQueueLen  = 256
	defaultHeartbeat = 100 * time.Millisecond
	defaultMisses    = 6
	defaultPatience  = time.Second

	// MinHeartbeat is the shortest Config.Heartbeat: below it the noise of
	// schedulers and timers is as large as what is measured.
	MinHeartbeat = 5 * time.Millisecond
	// MinMisses is the least of Config.Misses: a single PING may always come
	// late.
	MinMisses = 2
)

// timing is every duration a Transport lives by.
type timing struct {
	handshake   time.Duration // from accepting or connecting to HELLO's answer
	dial        time.Duration // to connect
	write       time.Duration // to hand a batch of frames to the kernel
	ack         time.Duration // for a message sent to be acknowledged
	ackDelay    time.Duration // for which an acknowledgement may wait for others
	age         time.Duration // after which a message is not worth sending
	minBackoff  time.Duration // between two dials, doubled with every failure
	maxBackoff  time.Duration
	unreachable time.Duration // without any answer before it is said
	drain       time.Duration // for the queue of a link that is given up
}

// Limits are what a peer may take, by default or for a given Config.Patience.
type Limits struct {
	Dial        time.Duration // to accept a connection,
	Handshake   time.Duration // to answer HELLO,
	Ack         time.Duration // to acknowledge a message;
	Unreachable time.Duration // and to answer anything, before it is Unreachable
}

// LimitsFor are the limits for a patience.
func LimitsFor(patience time.Duration) Limits {
	t := timingFor(patience)
	return Limits{
		Dial: t.dial, Handshake: t.handshake, Ack: t.ack, Unreachable: t.unreachable,
	}
}

// timingFor is the timing for a patience, which has to be far above a round
// trip. The acknowledgement limit is the one that notices an unwatched peer
// whose machine vanished: it must not be taken for gone while its garbage is
// collected.
func timingFor(patience time.Duration) timing {
	return timing{
		handshake:   2 * patience,
		dial:        patience,
		write:       2 * patience,
		ack:         5 * patience,
		ackDelay:    min(patience/4, 200*time.Millisecond),
		age:         5 * patience,
		minBackoff:  10 * time.Millisecond,
		maxBackoff:  max(10*time.Millisecond, min(patience, time.Second)),
		unreachable: 3 * patience,
		drain:       500 * time.Millisecond,
	}
}

// withDefaults fills in what was left out and refuses what cannot be.
func (c Config) withDefaults() (Config, error) {
	if err := c.ID.Validate(); err != nil {
		return c, err
	}
	if c.Session.IsZero() {
		return c, errors.New("no session: draw one with proto.NewSession")
	}
	if len(c.Cluster) > proto.MaxLabel {
		return c, fmt.Errorf("cluster label above %d bytes", proto.MaxLabel)
	}
	if c.Receive == nil {
		return c, errors.New("no Receive callback: nobody would get the messages")
	}
	if c.Kinds == nil {
		return c, errors.New("no Kinds: no message could be read")
	}
	if c.QueueLen < 0 {
		return c, fmt.Errorf("a queue of %d messages: want 1 or more, or 0 for %d",
			c.QueueLen, defaultQueueLen)
	}
	if c.QueueLen == 0 {
		c.QueueLen = defaultQueueLen
	}
	if c.Evidence == nil {
		c.Evidence = func(Evidence) {}
	}
	if c.Network == nil {
		c.Network = systemNetwork{}
	}
	if c.Busy == nil {
		c.Busy = func() time.Duration { return 0 }
	}
	return c.withTimes()
}

// alive reports whether this node may give a sign of life. An event may well take
// the disk a moment; one PING of several that goes unanswered accuses nobody.
func (c Config) alive() bool { return c.Busy() < c.Heartbeat/2 }

// silence is how long a watched peer may give no sign of life.
func (c Config) silence() time.Duration { return time.Duration(c.Misses) * c.Heartbeat }

// withTimes does the same for what is about time.
func (c Config) withTimes() (Config, error) {
	c.Heartbeat = cmp.Or(c.Heartbeat, defaultHeartbeat)
	c.Misses = cmp.Or(c.Misses, defaultMisses)
	c.Patience = cmp.Or(c.Patience, defaultPatience)
	switch {
	case c.Heartbeat < MinHeartbeat:
		return c, fmt.Errorf("a heartbeat every %v: want %v or more", c.Heartbeat, MinHeartbeat)
	case c.Misses < MinMisses:
		return c, fmt.Errorf("%d missed heartbeats: want %d or more", c.Misses, MinMisses)
	case c.Patience < 0:
		return c, fmt.Errorf("a patience of %v: want more than 0", c.Patience)
	}
	if c.timing == (timing{}) {
		c.timing = timingFor(c.Patience)
	}
	return c, nil
}
