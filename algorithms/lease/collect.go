package lease

import (
	"slices"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/proto"
)

// A cluster that starts for the first time need not wait for promises that nobody made. Its voters find
// out that none of them ever voted by saying so twice, as a snapshot of shared memory is taken by
// collecting it twice. A voter is *unvoted* if no vote was on its disk when its process started, and it
// has voted for nobody since.
//
//  1. Each unvoted voter sends UNVOTED to all others: its incarnation, and for each voter,
//     itself among them, the incarnation in which that one last said that it is unvoted.
//  2. A voter that lists an incarnation for each voter, and has heard the very same list from
//     each of those incarnations, votes.
//
// Why that is safe: let L be the list, and T the instant at which the last process of L started.
//
//  1. Each process of L sent L, or holds it, at an instant at which it was unvoted: only
//     such a voter sends, and only such a voter compares.
//  2. That was after T: L contains the last process to start, and nobody heard of that process before.
//  3. A process is unvoted from its start to its first vote, without a gap. All of L
//     started by T, and were unvoted after T: so at T all N were, in these incarnations.
//  4. So at T no disk held a vote. Unless all N disks were lost at a time, nobody ever
//     voted. And if they were: no process of a former life runs beside its next one, so
//     at T nobody led, and nobody claimed to; the terms begin anew, which is what
//     algorithms.Config.FirstTerm is for, and a lease that was lent to a process outside
//     is forgotten. The same is true if only all that ever voted lost their disks; and
//     where those who voted are not on the list at all: whoever is told of other voters
//     takes no part (see neverVoted), but who is cut off from them cannot know.
//  5. A process of L that is still unvoted later has not voted at all, before T or since.
//     So whoever knows L may tell a process of L that it may vote, however late, and
//     whatever the others have voted by then: it needs no promise waited for, since it
//     made none.
//
// A message that is late, comes twice, or is from a former life does no harm: it names the incarnation
// that sent it, and this voter compares the message's list with the list that it has now. A voter that
// starts again in between has another incarnation, so the list is another one, too.
//
// A voter that may vote, and has not voted yet, still answers UNVOTED. Otherwise two voters that start
// again before they have learnt that they may vote could never learn it.

// collect is what this voter knows about which voters are unvoted, that is, had no saved vote when their
// process started and have voted for nobody since.
type collect struct {
	heard map[proto.NodeID]proto.Incarnation // the last process of each voter that said it is unvoted
	said  map[proto.NodeID]proto.Unvoted     // the last UNVOTED of each voter
	first proto.Term                         // the highest first term that an operator gave to any voter
	all   proto.Roll                         // the list L once it is known, "" before
}

// beginCollect sets collect to what this voter knows about itself.
func (m *Machine) beginCollect() {
	m.collect = collect{
		heard: map[proto.NodeID]proto.Incarnation{m.cfg.Self: m.cfg.Incarnation},
		said:  map[proto.NodeID]proto.Unvoted{},
		first: m.cfg.FirstTerm,
	}
}

// roll returns the list of the voters that are unvoted as far as this voter has heard, with their
// incarnations.
func (m *Machine) roll() proto.Roll {
	var heard []proto.Peer
	for _, id := range slices.Sorted(slices.Values(m.list.union)) {
		if s, ok := m.collect.heard[id]; ok {
			heard = append(heard, proto.Peer{ID: id, Incarnation: s})
		}
	}
	return proto.RollOf(heard)
}

// unvotedNow returns the UNVOTED that this voter sends now. asks says whether it asks for an answer.
func (m *Machine) unvotedNow(asks bool) proto.Unvoted {
	return proto.Unvoted{Incarnation: m.cfg.Incarnation, Heard: m.roll(), First: m.collect.first, Asks: asks}
}

// sayUnvoted sends UNVOTED to all other voters if this voter is unvoted, and sets when to send it again:
// ever more rarely.
func (m *Machine) sayUnvoted() {
	r := &m.rejoin
	r.said++
	r.again = m.now.Add(m.pause(r.said))
	if m.neverVoted() {
		m.tell(0, m.unvotedNow(true))
	}
}

// metVoters sends UNVOTED again when a voter has just come into view.
func (m *Machine) metVoters(before []proto.Peer) {
	isNew := func(v proto.Peer) bool {
		return v.ID != m.cfg.Self && m.voters.Has(v.ID) && !algorithms.Lists(before, v)
	}
	if m.rejoin.active && slices.ContainsFunc(m.alive, isNew) {
		m.rejoin.said = 0
		m.sayUnvoted()
	}
}

var (
	whyMayVote = reasons.Kind("may-vote", "%d never voted, as it was when all had not -> it may vote")
	whyUnvoted = reasons.Kind("unvoted", "all voters say that they never voted -> vote above term %d",
		algorithms.Voteless{Over: true})
	whyCleared = reasons.Kind("cleared", "%d knows when all voters had never voted, this process among them")
)

// countUnvoted counts the UNVOTED of another voter, and reports whether this voter may vote now.
func (m *Machine) countUnvoted(msg proto.Message, b proto.Unvoted) (admitted bool) {
	switch {
	case b.Known:
		return m.wasCleared(msg, b)
	case m.collect.all.Lists(proto.Peer{ID: msg.From, Incarnation: b.Incarnation}):
		if b.Asks {
			m.why(whyMayVote, msg.From)
			m.send(msg.From, 0, m.knownNow())
		}
		return false
	case !m.neverVoted() || !m.list.union.Has(msg.From):
		return false
	}
	c := &m.collect
	news := c.heard[msg.From] != b.Incarnation
	c.heard[msg.From], c.first = b.Incarnation, max(c.first, b.First)
	if was := c.said[msg.From]; was.Incarnation != b.Incarnation || was.Heard.Len() <= b.Heard.Len() {
		c.said[msg.From] = b // of two messages of a process, the one with the longer list is later
	}
	if m.allUnvoted() {
		admitted = m.clear(m.roll())
		m.tell(0, m.knownNow()) // a voter that missed a message learns the result from this
		return admitted
	}
	switch {
	case m.rejoin.active && news && len(c.heard) == len(m.list.union):
		m.rejoin.said = 0
		m.sayUnvoted() // the list is complete: it may be L
	case b.Asks:
		m.send(msg.From, 0, m.unvotedNow(false))
		m.askUnheard(b.Heard)
	}
	return false
}

// neverVoted reports whether this voter is unvoted and, as far as it knows, its list of voters is the
// first one. Under another list, other voters may have voted.
func (m *Machine) neverVoted() bool {
	return m.unvoted && m.list.state.Version == 0 && !m.toldOfOthers()
}

// askUnheard asks voters that may be unvoted, too: those that this voter has not heard at all, or that
// the list theirs of another voter names with another incarnation. Only a voter that may vote already
// asks here, since the others ask all voters anyway.
func (m *Machine) askUnheard(theirs proto.Roll) {
	if m.rejoin.active {
		return
	}
	for _, id := range m.list.union {
		mine, heard := m.collect.heard[id]
		if id != m.cfg.Self && (!heard || theirs.Has(id) && !theirs.Lists(proto.Peer{ID: id, Incarnation: mine})) {
			m.send(id, 0, m.unvotedNow(true))
		}
	}
}

// knownNow returns the UNVOTED that names the processes of all voters, and says that all these processes
// were unvoted at one instant.
func (m *Machine) knownNow() proto.Unvoted {
	return proto.Unvoted{Incarnation: m.cfg.Incarnation, Heard: m.collect.all, First: m.collect.first, Known: true}
}

// allUnvoted reports whether all other voters have sent the same list as this voter has.
func (m *Machine) allUnvoted() bool {
	if len(m.collect.said) < len(m.list.union)-1 {
		return false // somebody has sent no list yet
	}
	list := m.roll()
	for _, id := range m.list.union {
		if said := m.collect.said[id]; id != m.cfg.Self &&
			(said.Incarnation != m.collect.heard[id] || said.Heard != list || said.Incarnation.IsZero()) {
			return false
		}
	}
	return true
}

// clear notes that all processes of the list were unvoted at one instant, and lets this voter vote. It
// reports whether this changed anything: the voter could not vote before.
func (m *Machine) clear(list proto.Roll) (admitted bool) {
	m.collect.all = list
	if !m.rejoin.active {
		return false
	}
	floor := max(m.collect.first, 1) - 1
	m.why(whyUnvoted, floor)
	m.admit(floor, floor)
	return true
}

// wasCleared handles the UNVOTED of a voter that knows that all voters were unvoted at one instant. If
// the message names this process and exactly this node's voters, this voter may vote, and wasCleared
// reports true.
func (m *Machine) wasCleared(msg proto.Message, b proto.Unvoted) (admitted bool) {
	self := proto.Peer{ID: m.cfg.Self, Incarnation: m.cfg.Incarnation}
	if !m.rejoin.active || m.toldOfOthers() || !b.Heard.Lists(self) || b.Heard.Len() != len(m.list.union) {
		return false
	}
	for _, id := range m.list.union {
		if !b.Heard.Has(id) {
			return false // L has other voters than this one's list
		}
	}
	m.collect.first = max(m.collect.first, b.First)
	m.why(whyCleared, msg.From)
	return m.clear(b.Heard)
}
