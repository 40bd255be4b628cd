package lease

import (
	"errors"
	"fmt"
	"slices"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/quorum"
	"github.com/ringleader-dev/ringleader/proto"
)

// ErrVoters is the error for a node that must not start with the list of voters that it was given.
var ErrVoters = errors.New("the voters are not those that this node voted under")

// VotersFrom returns the VoterState of a node that saved the state saved and is started with the list
// own, which is "" for a node without voters. The list own must be the saved list; or, if the saved list
// is committed, differ from it by one voter, and then own is its next version. A node that saved no list
// may start with any list. In all other cases VotersFrom returns an error that wraps ErrVoters.
func VotersFrom(saved algorithms.VoterState, own proto.VoterList) (algorithms.VoterState, error) {
	distance, id := saved.List.Distance(own)
	switch {
	case saved.List == "":
		return algorithms.VoterState{List: own}, nil
	case distance == proto.SameVoters:
		return saved, nil
	case distance == proto.OneVoter && saved.Committed:
		return algorithms.VoterState{List: own, Version: saved.Version + 1, Changed: id}, nil
	case distance == proto.OneVoter:
		return saved, fmt.Errorf("%w: it last had %s, which no leader has confirmed yet, and is given %s: "+
			"start it with %s again, start the other nodes with these too, and change the next voter "+
			"once status says that they are confirmed", ErrVoters, saved.List, own, saved.List)
	case distance == proto.OnlyOneVotes:
		return saved, fmt.Errorf("%w: it last had %s and is given %s, so that it might lead beside their leader: "+
			"start it with %s again or, if it is to leave that cluster for good, with an empty data directory",
			ErrVoters, saved.List, own, saved.List)
	}
	return saved, fmt.Errorf("%w: it last had %s and is given %s, which differ by more than one voter, so that "+
		"two majorities might lead: start it with %s again and change one voter at a time, each on all nodes "+
		"before the next", ErrVoters, saved.List, own, saved.List)
}

// listing is this node's list of voters and, until that list is committed, also the list before it.
type listing struct {
	state  algorithms.VoterState
	hash   uint64
	before quorum.Voters                   // the list before; nil once state is committed, or if it is not known
	union  quorum.Voters                   // the voters of both lists
	said   map[proto.NodeID]proto.VoterSet // which list each voter last said that it has
	// follows has the leadership that each voter last said that it follows. Only a node that does not vote notes it.
	follows map[proto.NodeID]proto.Leadership
}

var (
	whyMisled     = reasons.Kind("misled", "%v -> vote for nobody")
	whyListAbsurd = reasons.Kind("list-absurd",
		"%d has these voters as list %d of the cluster, absurdly far above %d -> do not believe it")
	whyListKnown = reasons.Kind("list-known", "%d has these voters as list %d of the cluster -> take them for that")
	whyCommitted = reasons.Kind("committed", "%s -> the list is committed")
	whyTold      = reasons.Kind("told-committed", "%d knows that enough voters have this list")
	whyEnough    = reasons.Kind("enough", "enough voters have this list")
)

// takeList sets this node's list of voters from the saved one. If VotersFrom returns an error, this node
// votes for nobody. The host must call VotersFrom before it starts the node.
func (m *Machine) takeList(saved algorithms.VoterState) {
	own := proto.ListVoters(m.voters)
	state, err := VotersFrom(saved, own)
	if err != nil {
		m.refuse(whyMisled, err)
		state = algorithms.VoterState{List: own}
		m.misled = true
	}
	m.list = listing{
		state: state, hash: own.Hash(), said: map[proto.NodeID]proto.VoterSet{},
		follows: map[proto.NodeID]proto.Leadership{},
	}
	m.setBefore()
}

// setBefore sets the list before the present list, and the union of both lists: this node asks the
// voters of the union.
func (m *Machine) setBefore() {
	l := &m.list
	l.before, l.union = nil, m.voters
	id := l.state.Changed
	if l.state.Committed || id == 0 {
		return
	}
	if m.voters.Has(id) {
		l.before = slices.DeleteFunc(slices.Clone(m.voters), func(v proto.NodeID) bool { return v == id })
		return
	}
	l.before = append(slices.Clone(m.voters), id)
	slices.Sort(l.before)
	l.union = l.before
}

// voterSet returns the description of this node's list of voters that its messages contain.
func (m *Machine) voterSet() proto.VoterSet {
	s := m.list.state
	return proto.VoterSet{Version: s.Version, Hash: m.list.hash, Committed: s.Committed, Changed: s.Changed}
}

// maxListJump is how far above the version of this node's list a version may be that it believes at once. People
// do not change voters so often. Without the bound, a single hostile message could use up all versions.
const maxListJump = 1 << 20

// hearVoters learns, from another node with the same list of voters, the version of the list and whether
// it is committed.
func (m *Machine) hearVoters(from proto.NodeID, heard proto.VoterSet) {
	l := &m.list
	if heard.Hash != l.hash || m.misled || heard.Version < l.state.Version {
		return
	}
	if heard.Version > l.state.Version+maxListJump {
		m.why(whyListAbsurd, from, heard.Version, l.state.Version)
		return
	}
	if heard.Version > l.state.Version {
		m.why(whyListKnown, from, heard.Version)
		l.state = algorithms.VoterState{List: l.state.List, Version: heard.Version, Changed: heard.Changed}
		m.setBefore()
	}
	if heard.Committed && !l.state.Committed {
		m.committed(whyTold.Of(from))
	}
}

// committed notes that the list is committed: from now on the list before does not count. A voter that
// has voted saves this.
func (m *Machine) committed(why algorithms.Reason) {
	if m.list.state.Version > 0 { // the first is no news
		m.why(whyCommitted, why)
	}
	m.list.state.Committed, m.list.state.Changed = true, 0
	m.setBefore()
	m.state.Voters = m.list.state
	m.dirty = m.dirty || m.state.Vote.Term > 0
}

// bind saves this voter's list before this voter answers a node with the same list, since that node may
// then count this voter as one that has the list.
func (m *Machine) bind(to proto.NodeID, has proto.VoterSet) {
	m.hearVoters(to, has)
	if has.Is(m.voterSet()) && m.state.Voters != m.list.state {
		m.state.Voters, m.dirty = m.list.state, true
	}
}

// superseded reports whether this voter gives no vote to a node with the list other: that list differs
// from this voter's own, and its version is the same or an earlier one.
func (m *Machine) superseded(other proto.VoterSet) bool {
	return m.misled || !other.Is(m.voterSet()) && other.Version <= m.list.state.Version
}

// enough reports whether c has a majority of this node's list and, until that list is committed, also of
// the list before it.
func (m *Machine) enough(c *quorum.Count) bool {
	return !m.misled && c.Of(m.voters) && (m.list.before == nil || c.Of(m.list.before))
}

// commit notes that the list is committed when two things are true: in one round of questions enough
// voters have said that they have the list, and the lease that a majority promised in that round has not
// ended.
func (m *Machine) commit() {
	s := &m.candidacy
	if m.list.state.Committed || !m.have(&s.same) || !m.enough(&s.yes) ||
		!m.now.Before(s.noted.Add(Of(m.cfg.Promise))) {
		return
	}
	m.committed(whyEnough.Of())
}

// have reports whether enough voters have this list, so that it may count as committed: a majority of
// this list, and of the list before it. So a voter of the list before that lost its disk hears of this
// list when it asks enough voters: one of those that have the list is among them. If this list has one
// voter and the list before had two, that one voter is enough.
func (m *Machine) have(same *quorum.Count) bool {
	before := m.list.before
	return same.Of(m.voters) && (before == nil || len(m.voters) == 1 || same.Of(before))
}

// concerns reports whether this node must handle a message. The message must be addressed to this node.
// The sender must be a voter of this node's list or of the list before, the node that has this voter's
// vote, or a node that says that it has another list.
func (m *Machine) concerns(msg proto.Message) bool {
	if msg.From == m.cfg.Self || msg.To != m.cfg.Self {
		return false
	}
	if m.list.union.Has(msg.From) || msg.From == m.state.Vote.ID {
		return true
	}
	says, ok := listIn(msg)
	return ok && says.Hash != m.list.hash
}

// listIn returns which list of voters the sender says that it has. ok is false if the message does not say.
func listIn(msg proto.Message) (says proto.VoterSet, ok bool) {
	body, ok := msg.Body.(interface{ VoterSet() proto.VoterSet })
	if ok {
		says = body.VoterSet()
	}
	return says, ok
}

// noteList notes which list another voter has. If the sender is no voter, and no voter is known to have its list,
// noteList asks the voters for theirs. A node without a vote learns here of which number its own list is, and which
// list was before: a voter learns that when it renews its promise.
func (m *Machine) noteList(msg proto.Message) {
	switch says, ok := listIn(msg); {
	case !ok || says == proto.VoterSet{}: // a question that names no list
	case m.list.union.Has(msg.From):
		m.list.said[msg.From] = says
		if !m.votes() {
			m.hearVoters(msg.From, says)
		}
	case !m.mayLead(msg.From, says) && !m.vouchedFor(msg):
		m.askTerms()
	}
}

// mayLead reports whether a node that says that it has the list has may lead, as far as this node knows: the node is
// a voter, or that list is this node's with the node besides, not an earlier one, and a voter has told this node of it.
// A node that is none of the voters leads only by a list that some of them have, too: its word alone does not count.
// Lists that differ by more than one voter exchange no messages.
func (m *Machine) mayLead(id proto.NodeID, has proto.VoterSet) bool {
	told := func(voter proto.NodeID) bool {
		said, ok := m.list.said[voter]
		return ok && said.Is(has)
	}
	return m.list.union.Has(id) || slices.ContainsFunc(m.list.union, told) && m.adds(id, has)
}

// adds reports whether the list has is this node's with the node id besides, and not an earlier one.
func (m *Machine) adds(id proto.NodeID, has proto.VoterSet) bool {
	return has.Version >= m.list.state.Version &&
		has.Hash == proto.ListVoters(append(slices.Clone(m.voters), id)).Hash()
}

// noteVouch notes whom a voter says that it follows, if this node does not vote.
func (m *Machine) noteVouch(msg proto.Message, b proto.VoterState) {
	if !m.votes() && b.Incarnation == m.cfg.Incarnation && m.list.union.Has(msg.From) {
		m.list.follows[msg.From] = b.Follows
	}
}

// vouchedFor reports whether msg is the heartbeat of a leadership that a voter told this node that it follows, by a
// list that adds the leader to this node's. A voter follows only who may lead as far as it knows itself: see mayLead.
// A node that does not vote follows such a leader, too; a voter has to be told of the list, since its vote may come of
// it.
func (m *Machine) vouchedFor(msg proto.Message) bool {
	b, ok := msg.Body.(proto.Heartbeat)
	if !ok || m.votes() || !m.adds(msg.From, b.Voters) {
		return false
	}
	is := leadershipIn(msg, b)
	return slices.ContainsFunc(m.list.union, func(v proto.NodeID) bool { return m.list.follows[v] == is })
}
