package proto

import "fmt"

// LinkEvent is an event on the links with a process that says something about that process.
type LinkEvent uint8

// The events. Only DialRefused and OtherIncarnation say that a process is gone, and only if nothing
// between the nodes answers for a living process: no terminating proxy, and no firewall that
// rejects.
const (
	// LinkUp: the process answered this node's HELLO with WELCOME, on a connection that was dialled
	// after every earlier event about the process. If an earlier event proved the process dead, that
	// proof was wrong.
	LinkUp LinkEvent = iota + 1
	// LinkClosed: an established link, dialled by either side, ended cleanly between two frames.
	// The kernel ends the links of a dead process in this way. A living process that ends a link
	// resets it.
	LinkClosed
	// LinkReset: an established link ended in any other way: by a reset, by a time limit, or because
	// of a frame that no correct peer sends.
	LinkReset
	// DialRefused: all links with the process have ended, and a later dial was refused. That dial
	// began after the last of the links had ended.
	DialRefused
	// Unreachable: for seconds, no dial to the process was answered or refused.
	Unreachable
	// OtherIncarnation: this node dialled the address of the process again, and another process
	// with the same id answered.
	OtherIncarnation
	// HeartbeatMissed: a watched process answered no PING for longer than it may be silent. The
	// process may hang, be paused or be cut off; or the network is slow.
	HeartbeatMissed
	// HeartbeatBack: a process with a missed heartbeat answered again.
	HeartbeatBack
	// IndirectAlive: another node hears the process, but this node does not. This node waits a while
	// longer for the process.
	IndirectAlive
	// IndirectUnreachable: the last link with the process ended, no dial since then was answered,
	// and the other nodes that were asked do not hear the process either.
	IndirectUnreachable
)

var linkEventNames = map[LinkEvent]string{
	LinkUp:           "link-up",
	LinkClosed:       "link-closed",
	LinkReset:        "link-reset",
	DialRefused:      "dial-refused",
	Unreachable:      "unreachable",
	OtherIncarnation: "other-incarnation",

	HeartbeatMissed: "heartbeat-missed",
	HeartbeatBack:   "heartbeat-back",

	IndirectAlive:       "indirect-alive",
	IndirectUnreachable: "indirect-unreachable",
}

// String returns the event's name in records and logs.
func (e LinkEvent) String() string {
	if name, ok := linkEventNames[e]; ok {
		return name
	}
	return fmt.Sprintf("event(%d)", uint8(e))
}
