package proto

import "fmt"

// LinkEvent is one thing that links tell about a process.
type LinkEvent uint8

// The events. Nothing but DialRefused and OtherSession says that a process is
// gone, and they say it only as long as nothing between the nodes answers for
// a live one: no terminating proxy, no firewall that rejects.
const (
	// LinkUp: the process answered this node's HELLO with a WELCOME, on a connection
	// that was dialled after all that was said of it before. Whoever proved it dead
	// was lied to.
	LinkUp LinkEvent = iota + 1
	// LinkClosed: an established link, dialled by the process or by this node, ended
	// cleanly, between two frames. So the kernel ends those of a process that died;
	// one that lives resets what it ends.
	LinkClosed
	// LinkReset: an established link ended in any other way: a reset, a time
	// limit, a frame that no correct peer sends.
	LinkReset
	// DialRefused: all links with the process are gone, and a dial begun after
	// the last of them ended found its address refusing.
	DialRefused
	// Unreachable: for seconds, dials to the peer got no answer at all.
	Unreachable
	// OtherSession: the address of the process was answered, to a dial begun
	// later, by another process with the same id.
	OtherSession
	// HeartbeatMissed: a watched process answered no PING for as long as it may be
	// silent. It may hang, be paused or be cut off; or the network is slow.
	HeartbeatMissed
	// HeartbeatBack: a process that was missed answered.
	HeartbeatBack
	// IndirectAlive: another node hears the process that this one does not. It is
	// borne with for a while longer.
	IndirectAlive
	// IndirectUnreachable: the last link with the process ended, no dial since was
	// answered, and the others that were asked do not hear it either.
	IndirectUnreachable
)

var linkEventNames = map[LinkEvent]string{
	LinkUp:       "link-up",
	LinkClosed:   "link-closed",
	LinkReset:    "link-reset",
	DialRefused:  "dial-refused",
	Unreachable:  "unreachable",
	OtherSession: "other-session",

	HeartbeatMissed: "heartbeat-missed",
	HeartbeatBack:   "heartbeat-back",

	IndirectAlive:       "indirect-alive",
	IndirectUnreachable: "indirect-unreachable",
}

// String is the event's word in records and logs.
func (e LinkEvent) String() string {
	if name, ok := linkEventNames[e]; ok {
		return name
	}
	return fmt.Sprintf("event(%d)", uint8(e))
}
