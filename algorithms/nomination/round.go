package nomination

import (
	"time"

	"github.com/ringleader-dev/ringleader/proto"
)

// Round is the part in which nominating algorithms differ: how the nodes of
// one term find the best of them. The Core calls it within a Step; it answers
// by calling the Core's methods.
type Round interface {
	// Begin starts this node's own part in the round of the current term.
	Begin()
	// Receive handles a message of the current term, of the algorithm's own
	// kinds; announcements go to the Core.
	Receive(m proto.Message)
	// Timeout says that the timer armed with SetTimer passed.
	Timeout()
	// PeersChanged says that the view changed and the leader, if any, stayed.
	PeersChanged(gone []proto.Peer)
	// Reset forgets everything: the term changed, or this node stands aside.
	Reset()
	// Won lets the new leader announce itself.
	Won()
	// Heard says that the announcement in m was followed, or was one's own
	// that came back.
	Heard(m proto.Message)
	// Announcement is the body that tells one node who leads.
	Announcement(leader proto.Peer) proto.Body
	// Question is the body that asks another node who leads: one that vouches
	// for the leader answers with its announcement.
	Question() proto.Body
	// Patience is the longest that a round can take from its first message to
	// its last, with the present number of nodes and no failure.
	Patience() time.Duration
}

// Stander is a Round in which nobody leads without the consent of others.
type Stander interface {
	// Stand stands for the current term, which has just begun, because this node was
	// asked to lead: self is with the rank that others are to be told.
	Stand(self proto.Peer)
}
