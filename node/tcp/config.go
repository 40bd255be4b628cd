package tcp

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/rs/zerolog"

	"github.com/ringleader-dev/ringleader/proto"
)

// Config describes this node to a Transport, and says where messages and evidence go.
type Config struct {
	// Cluster and Algorithm must be the same at both ends of a link. Cluster has at most
	// proto.MaxLabel bytes. Algorithm names all else that must agree: the algorithm,
	// and after " with " its parameters. It may have any length, since the two ends
	// compare a hash of it.
	Cluster   string
	Algorithm string
	// Voters are the nodes whose votes count; empty if nobody votes. The voters of
	// the other end of a link must be the same, or differ by one.
	Voters proto.VoterList
	// ID and Incarnation name this process.
	ID          proto.NodeID
	Incarnation proto.Incarnation
	// Bind is the host:port to listen on. With port 0 the kernel chooses a port.
	Bind string

	// Heartbeat is the time from one PING to a watched peer to the next: at least MinHeartbeat; 0
	// means 100 ms. Misses is how many such intervals a peer may be silent: at least MinMisses; 0
	// means 6.
	Heartbeat time.Duration
	Misses    int
	// Patience is how long connecting to a peer may take. The other time limits are multiples of
	// it: see LimitsFor. 0 means a second.
	Patience time.Duration
	// Busy returns how long the election loop has been working on one event, and zero while the loop waits
	// for the next one. The node answers PINGs only while Busy is below half a Heartbeat, and accepts links
	// only while Busy is below Misses Heartbeats: so its peers notice that the node hangs although its
	// sockets work. The goroutines of the links call Busy, and it must not block. Nil means never busy.
	Busy func() time.Duration

	// SilentPeers are the peers whose death this node must be able to prove. The node keeps a
	// silent connection to each of them, beside the link: see silentConnection.
	SilentPeers []proto.NodeID
	// SilentToAll makes every peer one of SilentPeers.
	SilentToAll bool

	// Kinds are the kinds of messages that this process can read, as its catalogue of
	// algorithms lists them. A message of another kind is refused.
	Kinds *proto.Kinds
	// Receive is called with each message. The goroutines of the links call it: one after the other for the
	// messages of one sender, at the same time for different senders. It must not block for long, or the link
	// of that sender is ended. A message may come twice.
	Receive func(proto.Message)
	// Evidence is called with the evidence of the links, for each peer in the order of the events. Evidence
	// may be nil. The goroutines of the links call it, and it must not block. It may call Send, but neither
	// SetPeers nor Close.
	Evidence func(Evidence)

	Log zerolog.Logger

	// Security proves who is at the other end of a link. Nil means that nobody does: whoever can send packets can
	// say that it is any node.
	Security Security

	// News is called with what a peer tells of itself: see Transport.SetNews. The goroutines of the links call it, one
	// after the other for one link, and it must not block. It owns the bytes. Nil means that nobody may tell anything.
	News func(from proto.NodeID, process proto.Incarnation, news []byte)

	// Network carries the links. Nil means this machine's own TCP.
	Network Network

	// timing and queueLen are for tests: zero means timingFor(Patience) and defaultQueueLen.
	timing   timing
	queueLen int
}

const (
	defaultQueueLen  = 256 // how many messages are kept for one peer, including those that are not acknowledged
	defaultHeartbeat = 100 * time.Millisecond
	defaultMisses    = 6
	defaultPatience  = time.Second

	// MinHeartbeat is the shortest Config.Heartbeat: with a shorter one, delays of schedulers and
	// timers would be as long as the interval.
	MinHeartbeat = 5 * time.Millisecond
	// MinMisses is the least Config.Misses: a single PING may always come late.
	MinMisses = 2
)

// timing has all time limits and delays of a Transport.
type timing struct {
	handshake   time.Duration // from a new connection to the answer to HELLO
	dial        time.Duration // to connect
	write       time.Duration // to hand a batch of frames to the kernel
	ack         time.Duration // until a message that was sent is acknowledged
	ackDelay    time.Duration // how long an acknowledgement may wait for others
	age         time.Duration // how old a message may be when it is sent
	minBackoff  time.Duration // the pause between two dials, doubled after every failure
	maxBackoff  time.Duration
	unreachable time.Duration // how long a peer may give no answer before it is Unreachable
	drain       time.Duration // how long a link that is to end may still empty its queue
}

// Limits are the times that a peer may take.
type Limits struct {
	Dial        time.Duration // until it accepts a connection
	Handshake   time.Duration // until it answers HELLO
	Ack         time.Duration // until it acknowledges a message
	Unreachable time.Duration // until it answers anything, before it is Unreachable
}

// LimitsFor returns the limits for a Config.Patience.
func LimitsFor(patience time.Duration) Limits {
	t := timingFor(patience)
	return Limits{
		Dial: t.dial, Handshake: t.handshake, Ack: t.ack, Unreachable: t.unreachable,
	}
}

// timingFor returns the timing for a patience, which must be far above a round trip. With the limit for
// acknowledgements, a node notices that a peer's machine has vanished although it does not watch the peer.
// The limit is long enough for a garbage collection of the peer.
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

// withDefaults returns c with its defaults, or an error if c cannot work.
func (c Config) withDefaults() (Config, error) {
	c.queueLen = cmp.Or(c.queueLen, defaultQueueLen)
	c.Heartbeat = cmp.Or(c.Heartbeat, defaultHeartbeat)
	c.Misses = cmp.Or(c.Misses, defaultMisses)
	c.Patience = cmp.Or(c.Patience, defaultPatience)
	c.timing = cmp.Or(c.timing, timingFor(c.Patience))
	c.Network = cmp.Or[Network](c.Network, systemNetwork{})
	if c.Evidence == nil {
		c.Evidence = func(Evidence) {}
	}
	if c.Busy == nil {
		c.Busy = func() time.Duration { return 0 }
	}
	switch err := c.ID.Validate(); {
	case err != nil:
		return c, err
	case c.Incarnation.IsZero():
		return c, errors.New("no incarnation: draw one with proto.NewIncarnation")
	case len(c.Cluster) > proto.MaxLabel:
		return c, fmt.Errorf("cluster label above %d bytes", proto.MaxLabel)
	case c.Receive == nil:
		return c, errors.New("no Receive callback: nobody would get the messages")
	case c.Kinds == nil:
		return c, errors.New("no Kinds: no message could be read")
	case c.Heartbeat < MinHeartbeat:
		return c, fmt.Errorf("a heartbeat every %v: want %v or more", c.Heartbeat, MinHeartbeat)
	case c.Misses < MinMisses:
		return c, fmt.Errorf("%d missed heartbeats: want %d or more", c.Misses, MinMisses)
	case c.Patience < 0:
		return c, fmt.Errorf("a patience of %v: want more than 0", c.Patience)
	}
	return c, nil
}

// alive reports whether this node may give a sign of life: its election loop must not be busy. An
// event may wait a moment for the disk, since a node is not missed for one unanswered PING.
func (c Config) alive() bool { return c.Busy() < c.Heartbeat/2 }

// silence returns how long a watched peer may give no sign of life.
func (c Config) silence() time.Duration { return time.Duration(c.Misses) * c.Heartbeat }
