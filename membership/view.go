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
	// GossipAddr and ElectionAddr are host:port. HTTPAddr is host:port too, or empty if the process serves no
	// HTTP.
	GossipAddr, ElectionAddr, HTTPAddr string
	// Voters is the process's list of voters, as the process told it.
	Voters Voters
	// Store is the store on which the process elects, as the process told it.
	Store Store
}

// Store says on which store a process elects; it is zero for a process without one.
type Store struct {
	Place uint32 // a digest of the kind of the store and of the place in it, which show no secret so
	TTL   uint32 // in milliseconds
}

// Voters is a process's list of voters; List is empty if it has none. Version and Committed are the
// state of the list; see proto.VoterSet.
type Voters struct {
	List      proto.VoterList
	Version   uint64
	Committed bool
}

// GivesWay reports whether a process with these voters must not lead while it sees a process with the other
// voters, because the majorities of the two lists need not meet. A process without voters gives way to one
// with voters. Of two lists that differ too much, the one gives way of which the last list that a leader has confirmed
// is the earlier one, or else the one that is not confirmed itself, or else that of fewer voters. If neither list is
// preferred, both processes give way.
func (v Voters) GivesWay(other Voters) bool {
	switch d, _ := v.List.Distance(other.List); d {
	case proto.OnlyOneVotes:
		return v.List == ""
	case proto.OtherVoters:
		if own, others := v.confirmed(), other.confirmed(); own != others {
			return own < others
		}
		if v.Committed != other.Committed {
			return other.Committed
		}
		return v.List.Count() <= other.List.Count()
	}
	return false
}

// confirmed returns how many lists leaders have confirmed, up to this one: a node moves on only from a confirmed list.
func (v Voters) confirmed() uint64 {
	if v.Committed {
		return v.Version + 1
	}
	return v.Version
}

func (v Voters) validate() error {
	if v.Version > proto.MaxVoterVersion {
		return fmt.Errorf("version %d of the voters: at most %d", v.Version, proto.MaxVoterVersion)
	}
	return v.List.Validate()
}

// View is the membership as one node believes it to be at one moment.
type View struct {
	// Alive are the processes believed alive, this one included, in the order of their ids.
	Alive []Member
	// Evidence tells what changed since the view before: "joined 3", "left 2",
	// "link-closed 5", "dial-refused 5".
	Evidence []string
}

// The words of gossip's evidence.
const (
	joined         = "joined"
	gossipDead     = "gossip-dead"
	left           = "left"
	newIncarnation = "new-incarnation"
	attr           = "attr"
	ineligible     = "ineligible"
	eligible       = "eligible"
	moved          = "moved"
)

// Evidence is an observation about one process by a detector other than gossip.
type Evidence struct {
	ID          proto.NodeID
	Incarnation proto.Incarnation
	Event       proto.LinkEvent
}

// says formats a piece of evidence as views show it.
func says(word string, id proto.NodeID) string { return fmt.Sprintf("%s %d", word, id) }

// sortByID orders members in place and returns them.
func sortByID(ms []Member) []Member {
	slices.SortFunc(ms, func(a, b Member) int { return cmp.Compare(a.ID, b.ID) })
	return ms
}
