package lease

import (
	"errors"
	"fmt"
	"slices"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/quorum"
	"github.com/ringleader-dev/ringleader/proto"
)

// ErrVoters says that a node must not start with the voters that it was given.
var ErrVoters = errors.New("the voters are not those that this node voted under")

// VotersFrom is what a node that is started with the voters own makes of those that it
// saved: the same, or the next list, which differs by one voter from a committed one.
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
	}
	return saved, fmt.Errorf("%w: it last had %s and is given %s, which differ by more than one voter, so that "+
		"two majorities might lead: start it with %s again and change one voter at a time, each on all nodes "+
		"before the next", ErrVoters, saved.List, own, saved.List)
}

// listing is this node's list of voters, and the one before it while that counts.
type listing struct {
	state  algorithms.VoterState
	hash   uint64
	before quorum.Voters // nil once state is committed, and where it is not known
	union  quorum.Voters // of both
}

// takeList takes up what is saved of the voters. A host that starts a node checks that
// before: a Machine of voters that do not follow from what is saved votes for nobody.
func (p *Party) takeList(saved algorithms.VoterState) {
	own := proto.ListVoters(p.Voters)
	state, err := VotersFrom(saved, own)
	if err != nil {
		p.Refuse("%v -> vote for nobody", err)
		state = algorithms.VoterState{List: own}
		p.misled = true
	}
	p.list = listing{state: state, hash: own.Hash()}
	p.setBefore()
}

// setBefore finds the list before the present one, and whom this node asks: the voters of
// both.
func (p *Party) setBefore() {
	l := &p.list
	l.before, l.union = nil, p.Voters
	id := l.state.Changed
	if l.state.Committed || id == 0 {
		return
	}
	if p.Voters.Has(id) {
		l.before = slices.DeleteFunc(slices.Clone(p.Voters), func(v proto.NodeID) bool { return v == id })
		return
	}
	l.before = append(slices.Clone(p.Voters), id)
	slices.Sort(l.before)
	l.union = l.before
}

// VoterSet is what this node's messages say of its voters.
func (p *Party) VoterSet() proto.VoterSet {
	s := p.list.state
	return proto.VoterSet{Version: s.Version, Hash: p.list.hash, Committed: s.Committed, Changed: s.Changed}
}

// Changing is the voter by which the list differs from the one before, while that counts.
func (p *Party) Changing() proto.NodeID { return p.list.state.Changed }

// HearVoters learns from another node with the same list of how far that has come: which
// version it is, and that it is committed.
func (p *Party) HearVoters(from proto.NodeID, heard proto.VoterSet) {
	l := &p.list
	if heard.Hash != l.hash || p.misled || heard.Version < l.state.Version {
		return
	}
	if heard.Version > l.state.Version {
		p.Why("%d has these voters as list %d of the cluster -> take them for that", from, heard.Version)
		l.state = algorithms.VoterState{List: l.state.List, Version: heard.Version, Changed: heard.Changed}
		p.setBefore()
	}
	if heard.Committed && !l.state.Committed {
		p.committed(fmt.Sprintf("%d knows that enough voters have this list", from))
	}
}

// committed notes that the list is: the one before it counts no more. Who never voted
// keeps it in mind only: what it has not voted needs no place on its disk.
func (p *Party) committed(why string) {
	if p.list.state.Version > 0 { // the first is no news
		p.Why("%s -> the list is committed", why)
	}
	p.list.state.Committed, p.list.state.Changed = true, 0
	p.setBefore()
	p.State.Voters = p.list.state
	p.Dirty = p.Dirty || p.State.Vote.Term > 0
}

// bind keeps this voter's list on its disk, before it tells one with the same list that it
// has it: from then on that one may count on it.
func (p *Party) bind(to proto.NodeID, has proto.VoterSet) {
	p.HearVoters(to, has)
	if has.Is(p.VoterSet()) && p.State.Voters != p.list.state {
		p.State.Voters, p.Dirty = p.list.state, true
	}
}

// superseded reports whether a voter with this node's list gives no vote under the other:
// it is an earlier one, or no successor of the one before.
func (p *Party) superseded(other proto.VoterSet) bool {
	return p.misled || !other.Is(p.VoterSet()) && other.Version <= p.list.state.Version
}

// Enough reports whether the set has a majority of the voters: of this node's list and,
// until that is committed, of the one before.
func (p *Party) Enough(c *quorum.Count) bool {
	return !p.misled && c.Of(p.Voters) && (p.list.before == nil || c.Of(p.list.before))
}

// commit notes that the list is committed, once enough of its voters have said in one round
// of questions that they have it, and enough have promised in that round what is still valid.
func (p *Party) commit() {
	s := &p.Stand
	if p.list.state.Committed || !p.have(&s.same) || !p.Enough(&s.Yes) ||
		!p.Now.Before(s.Noted.Add(Of(p.Cfg.Promise))) {
		return
	}
	p.committed("enough voters have this list")
}

// have reports whether those who have this list are enough for it to be committed: a majority
// of it, and of the list before. So whoever is told by enough voters of the list before, and
// lost what it had itself, is told by one of them. Of two voters one that stays is enough: it
// is then the only one.
func (p *Party) have(same *quorum.Count) bool {
	before := p.list.before
	return same.Of(p.Voters) && (before == nil || len(p.Voters) == 1 || same.Of(before))
}

// Concerns reports whether a message is of a voter: of this node's list, of the one before,
// of another list as it says itself, or of whoever has this node's vote.
func (p *Party) Concerns(msg proto.Message) bool {
	if msg.From == p.Cfg.Self || msg.To != p.Cfg.Self {
		return false
	}
	said, ok := VotersOf(msg.Body)
	return p.list.union.Has(msg.From) || msg.From == p.State.Vote.ID || ok && said.Hash != p.list.hash
}

// VotersOf is what a message says of its sender's voters.
func VotersOf(body proto.Body) (s proto.VoterSet, ok bool) {
	if b, says := body.(interface{ VoterSet() proto.VoterSet }); says {
		return b.VoterSet(), true
	}
	return s, false
}
