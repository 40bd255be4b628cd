package tcp

import (
	"fmt"

	"github.com/ringleader-dev/ringleader/proto"
)

// Evidence is what a link told about a peer's process.
type Evidence struct {
	Peer proto.NodeID
	// Session is the process that the event is about; zero when the peer was
	// unreachable before anybody said which process it is.
	Session proto.Session
	Event   proto.LinkEvent
	// Links is how many established links with that process remain: a process
	// with a link, in either direction, has not died.
	Links int
	// Proven: of the links with the process, now all gone, the last or the one before
	// ended cleanly, and this event is the answer to a dial begun after that. No more
	// can be known from here.
	Proven bool
}

// String is the event and the peer: "link-closed 5".
func (e Evidence) String() string { return fmt.Sprintf("%v %v", e.Event, e.Peer) }
