package tcp

import (
	"errors"
	"fmt"
	"sync/atomic"
)

// reason says why a message was dropped or a connection ended.
type reason uint8

// The reasons for dropping a message.
const (
	noPeer    reason = iota // its receiver is not in the set of peers
	invalid                 // no correct node sends it
	queueFull               // the queue to its receiver is full
	expired                 // it grew too old before it could be sent
	newLife                 // the process that it was sent to has ended
	closed                  // its receiver left the set, or the Transport was closed

	// The reasons for refusing a connection, or ending it.

	oversized      // a frame above the limit
	otherVersion   // a frame of another protocol version
	badPayload     // a payload that is no valid msgpack of its kind
	unexpected     // a kind that is unknown, or out of place
	otherCluster   // the ends are of different clusters
	otherAlgorithm // the ends run different algorithms
	distantVoters  // the voters of the ends differ by more than one
	otherNode      // another node was dialled than the one that answered
	sameID         // both ends have the same id
	wrongEnvelope  // a message from or to somebody else than the link's ends
	badAck         // an acknowledgement of what was never sent
	tooSlow        // no HELLO or no ACK came in time
	noAnswer       // nothing answered a dial, or a HELLO
	notListening   // nobody listens at the address that was dialled
	crowded        // too many connections
	hung           // the elections of the node that was dialled hang
	unproven       // the other end does not prove who it is
	plaintext      // one of the ends has credentials, the other has none

	reasons

	// The reasons for a mere warning.

	tooOften       // PINGs come too often
	otherHeartbeat // the ends have different heartbeat intervals
)

var reasonNames = [...]string{
	noPeer: "no-peer", invalid: "invalid", queueFull: "queue-full", expired: "expired",
	newLife: "other-incarnation", closed: "closed",
	oversized: "oversized", otherVersion: "version", badPayload: "payload",
	unexpected: "unexpected", otherCluster: "cluster", otherAlgorithm: "algorithm", distantVoters: "voters",
	otherNode: "other-node", sameID: "same-id", wrongEnvelope: "envelope", badAck: "ack",
	tooSlow: "too-slow", noAnswer: "no-answer", notListening: "not-listening",
	crowded: "crowded", hung: "hung", unproven: "unproven", plaintext: "plaintext",
	tooOften: "too-often", otherHeartbeat: "other-heartbeat",
}

func (r reason) String() string { return reasonNames[r] }

// tally counts events by their reason. Any goroutine may use it.
type tally [reasons]atomic.Uint64

func (t *tally) add(r reason, n int) { t[r].Add(uint64(n)) }

// between returns the counts of the reasons from first up to, but not including, end.
func (t *tally) between(first, end reason) map[string]uint64 {
	counts := make(map[string]uint64, end-first)
	for r := first; r < end; r++ {
		counts[r.String()] = t[r].Load()
	}
	return counts
}

// fault is an error for something that the other end of a connection should not have done.
// The text is a sentence for people.
type fault struct {
	reason reason
	text   string
}

func (f *fault) Error() string { return f.text }

func faultf(r reason, format string, args ...any) error {
	return &fault{reason: r, text: fmt.Sprintf(format, args...)}
}

// faultIn returns the fault that err wraps; nil if there is none.
func faultIn(err error) *fault {
	f, _ := errors.AsType[*fault](err)
	return f
}
