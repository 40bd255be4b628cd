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

// Kind is what a piece of evidence says about a process.
type Kind string

// What a link between two processes can say about the other end.
const (
	// LinkUp: the process answered on a link, as this session.
	LinkUp Kind = "link-up"
	// LinkClosed: the link read a clean end of stream.
	LinkClosed Kind = "link-closed"
	// LinkReset: the link broke in any other way.
	LinkReset Kind = "link-reset"
	// DialRefused: nobody listens at the process's election address any more.
	DialRefused Kind = "dial-refused"
	// Unreachable: the process cannot be reached, alive or not.
	Unreachable Kind = "unreachable"
	// OtherSession: another process answers as this id, so this one is gone.
	OtherSession Kind = "other-session"
	// HeartbeatMissed: the process answers no heartbeat, alive or not.
	HeartbeatMissed Kind = "heartbeat-missed"
	// HeartbeatBack: it answers again, on the link that it had.
	HeartbeatBack Kind = "heartbeat-back"
	// IndirectAlive: another node hears the process, which this one does not.
	IndirectAlive Kind = "indirect-alive"
	// IndirectUnreachable: neither this node nor those that it asked hear it.
	IndirectUnreachable Kind = "indirect-unreachable"
)

// What gossip says.
const (
	joined     Kind = "joined"
	gossipDead Kind = "gossip-dead"
	left       Kind = "left"
	newSession Kind = "new-session"
	attr       Kind = "attr"
	ineligible Kind = "ineligible"
	eligible   Kind = "eligible"
	moved      Kind = "moved"
)

// Evidence is what a detector other than gossip says about one process.
type Evidence struct {
	ID      proto.NodeID
	Session proto.Session
	Kind    Kind
}

// says is a piece of evidence as views tell it.
func (k Kind) says(id proto.NodeID) string { return fmt.Sprintf("%s %d", k, id) }

// sortByID orders members in place and returns them.
func sortByID(ms []Member) []Member {
	slices.SortFunc(ms, func(a, b Member) int { return cmp.Compare(a.ID, b.ID) })
	return ms
}
