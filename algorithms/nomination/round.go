package nomination

import (
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/proto"
)

// Round is the part in which nominating algorithms differ: how the nodes of one term find the best
// of them. The Core calls its methods during a Step, and they call the Core's methods in turn. A
// Round is used by the goroutine that steps the Core, and by no other.
type Round interface {
	// Begin starts this node's part in the round of the current term.
	Begin()
	// Receive handles a message of the current term and of the algorithm's own kinds. Announcements
	// do not come here; the Core handles them.
	Receive(m proto.Message)
	// Timeout tells the Round that the timer set with Core.SetTimer has run out.
	Timeout()
	// PeersChanged tells the Round that the view changed, and which processes left it. The leader, if
	// there is one, is still in the view.
	PeersChanged(gone []proto.Peer)
	// Reset forgets the state of the round: the term changed, or this node stands aside.
	Reset()
	// Won tells the Round that this node leads now. The Round announces this node.
	Won()
	// Heard tells the Round that this node follows the announcement in m, or that m is this node's own
	// announcement that came back.
	Heard(m proto.Message)
	// Announcement returns the message body that tells another node who leads.
	Announcement(leader proto.Peer) proto.Body
	// Question returns the message body that asks another node who leads. A node that vouches for the
	// leader answers with its announcement.
	Question() proto.Body
	// Patience returns the longest time that a round can take from its first message to its last, with
	// the present number of nodes and without failures.
	Patience() time.Duration
}

// Succession is the part of a Round in which only some nodes call an election at once when the leader, or
// the best of the round, is lost.
type Succession interface {
	// Lost tells the Round why that one is lost. It reports whether this node waits for others
	// to call the election. If so, the Round has set its timer, and calls the election after it.
	Lost(reason algorithms.Reason) (waits bool)
}

// Candidacy is the part of a Round that asks a majority of voters who leads: nobody leads
// without their consent.
type Candidacy interface {
	// Stand makes this node a candidate of the current term, which has just begun: the node was
	// asked to lead. self has the rank that the others are to be told.
	Stand(self proto.Peer)
	// Contends reports whether this node is a candidate now.
	Contends() bool
}
