package membership

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/ringleader-dev/ringleader/proto"
)

// Member is one process of the cluster and where it is reached.
type Member struct {
	proto.Peer
	// GossipAddr and ElectionAddr are host:port. HTTPAddr is too, or empty when
	// the process serves no HTTP.
	GossipAddr, ElectionAddr, HTTPAddr string
	// Voters are what the process said of its own.
	Voters Voters
}

// Voters are the voters that a process was started with, an empty List where it has none.
// The rest is how far that list has come; see proto.VoterSet.
type Voters struct {
	List      proto.VoterList
	Version   uint64
	Committed bool
}

// GivesWay reports whether a process with these voters leads nobody while it sees one with the
// others: their majorities need not meet. Voters go before none; of two lists the one that a
// leader has confirmed, else the later. Where neither is to be preferred both give way.
func (v Voters) GivesWay(other Voters) bool {
	switch d, _ := v.List.Distance(other.List); d {
	case proto.OnlyOneVotes:
		return v.List == ""
	case proto.OtherVoters:
		if v.Committed != other.Committed {
			return other.Committed
		}
		return other.Version >= v.Version
	}
	return false
}

func (v Voters) validate() error {
	if v.Version > proto.MaxVoterVersion {
		return fmt.Errorf("version %d of the voters: at most %d", v.Version, proto.MaxVoterVersion)
	}
	return v.List.Validate()
}

// View is the membership as one node believes it to be at one moment.
type View struct {
	// Alive are the processes believed alive, this one among them, by id.
	Alive []Member
	// Evidence is what changed since the view before: "joined 3", "left 2",
	// "link-closed 5", "dial-refused 5".
	Evidence []string
}

// What gossip says.
const (
	joined     = "joined"
	gossipDead = "gossip-dead"
	left       = "left"
	newSession = "new-session"
	attr       = "attr"
	ineligible = "ineligible"
	eligible   = "eligible"
	moved      = "moved"
)

// Evidence is what a detector other than gossip says about one process.
type Evidence struct {
	ID      proto.NodeID
	Session proto.Session
	Event   proto.LinkEvent
}

// says is a piece of evidence as views tell it.
func says(word string, id proto.NodeID) string { return fmt.Sprintf("%s %d", word, id) }

// sortByID orders members in place and returns them.
func sortByID(ms []Member) []Member {
	slices.SortFunc(ms, func(a, b Member) int { return cmp.Compare(a.ID, b.ID) })
	return ms
}
