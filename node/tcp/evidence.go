package tcp

import (
	"fmt"

	"github.com/ringleader-dev/ringleader/proto"
)

// Evidence is what a link observed about a peer's process.
type Evidence struct {
	Peer proto.NodeID
	// Incarnation is the process that the event is about; zero if the peer was unreachable before
	// any answer said which process it is.
	Incarnation proto.Incarnation
	Event       proto.LinkEvent
	// Links is how many established links with that process remain, in both directions. A process
	// with a link has not died.
	Links int
	// Proven says that the process is dead. All links with it have ended. The last one, the one
	// before it, or the silent connection ended cleanly. And a dial that began after that was
	// refused, or was answered by another process.
	Proven bool
}

// String returns the event and the peer: "link-closed 5".
func (e Evidence) String() string { return fmt.Sprintf("%v %v", e.Event, e.Peer) }
