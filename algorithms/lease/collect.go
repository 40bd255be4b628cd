package lease

import (
	"slices"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/proto"
)

// A cluster that starts for the first time need not wait for promises that nobody made.
// Its voters find out that none of them ever voted by saying so twice, as one takes a
// snapshot of shared memory by collecting it twice. A voter is *unvoted* while no vote
// was on its disk when its process started, and it voted for nobody since.
//
//  1. Each unvoted voter sends UNVOTED to all others: its session, and for each voter,
//     itself among them, the session in which that one last said that it is unvoted.
//  2. A voter that lists a session for each voter, and has heard the very same list from
//     each of those sessions, votes.
//
// Why that is safe. Let L be the list, and T the instant at which the last process of L
// started.
//
//  1. Each process of L sent L, or holds it, at an instant at which it was unvoted: only
//     such a voter sends, and only such a voter compares.
//  2. That was after T: L has the last process in it, and nobody heard of that before.
//  3. A process is unvoted from its start to its first vote, without a gap. All of L
//     started by T, and were unvoted after T: so at T all N were, in these sessions.
//  4. So at T no disk held a vote. Unless all N disks were lost at a time, nobody ever
//     voted. And if they were: no process of a former life runs beside its next one, so
//     at T nobody led, and nobody claimed to; the terms begin anew, which is what
//     algorithms.Config.FirstTerm is for, and a lease that was lent to a process outside
//     is forgotten. The same is true where only all that ever voted lost their disks; and
//     where those who voted are not on the list at all: whoever is told of other voters
//     takes no part (see neverVoted), but who is cut off from them cannot know.
//  5. A process of L that is still unvoted later has not voted at all, before T or since.
//     So whoever knows L may tell a process of L that it may vote, however late, and
//     whatever the others have voted by then: it needs no promise waited for, since it
//     made none.
//
// A message that is late, or twice, or from a former life changes nothing in that: it
// names the session that sent it, and a list is compared with the one that this voter holds
// now. A voter that starts again in between is another session, and so another list.
//
// A voter that may vote, and has not yet, goes on to answer: else two that start again
// before they learnt that they may, could not find out any more.

// collect is what this voter knows of who is unvoted.
type collect struct {
	heard map[proto.NodeID]proto.Session // of whom it heard it, in its latest session
	said  map[proto.NodeID]proto.Unvoted // the last word of each
	first proto.Term                     // the highest first term that any of them was given
	all   proto.Roll                     // of the one instant, "" while none is known
}

// beginCollect begins with what this voter knows of itself.
func (p *Party) beginCollect() {
	p.collect = collect{
		heard: map[proto.NodeID]proto.Session{p.Cfg.Self: p.Cfg.Session},
		said:  map[proto.NodeID]proto.Unvoted{},
		first: p.Cfg.FirstTerm,
	}
}

// roll is the voters of whom this one heard it: of its list and, while that counts, of the
// one before.
func (p *Party) roll() (l proto.Roll) {
	voters := slices.Sorted(slices.Values(p.list.union))
	for _, id := range voters {
		if s, ok := p.collect.heard[id]; ok {
			l = l.Add(proto.Peer{ID: id, Session: s})
		}
	}
	return l
}

// unvotedNow is what this voter says of itself.
func (p *Party) unvotedNow(asks bool) proto.Unvoted {
	return proto.Unvoted{Session: p.Cfg.Session, Heard: p.roll(), First: p.collect.first, Asks: asks}
}

// sayUnvoted tells all other voters that nothing is saved of this one, and again after a
// while, ever more rarely.
func (p *Party) sayUnvoted() {
	r := &p.Rejoin
	r.said++
	r.again = p.Now.Add(p.Pause(r.said))
	if p.neverVoted() {
		p.Tell(0, p.unvotedNow(true))
	}
}

// MetVoters tells it anew when a voter has just come into view.
func (p *Party) MetVoters(before []proto.Peer) {
	isNew := func(v proto.Peer) bool {
		return v.ID != p.Cfg.Self && p.Voters.Has(v.ID) && !algorithms.Lists(before, v)
	}
	if p.Rejoin.Active && slices.ContainsFunc(p.Alive, isNew) {
		p.Rejoin.said = 0
		p.sayUnvoted()
	}
}

// HeardUnvoted takes another's word that it never voted, and reports whether this voter
// may vote by it.
func (p *Party) HeardUnvoted(msg proto.Message, b proto.Unvoted) (admitted bool) {
	switch {
	case b.Known:
		return p.wasCleared(msg, b)
	case p.collect.all.Lists(proto.Peer{ID: msg.From, Session: b.Session}):
		if b.Asks {
			p.Why("%d never voted, as it was when all had not -> it may vote", msg.From)
			p.Send(msg.From, 0, p.knownNow())
		}
		return false
	case !p.neverVoted() || !p.list.union.Has(msg.From):
		return false
	}
	c := &p.collect
	news := c.heard[msg.From] != b.Session
	c.heard[msg.From], c.first = b.Session, max(c.first, b.First)
	if was := c.said[msg.From]; was.Session != b.Session || was.Heard.Len() <= b.Heard.Len() {
		c.said[msg.From] = b // of two words of a process, the one that lists more is later
	}
	if p.allUnvoted() {
		admitted = p.clear(p.roll())
		p.Tell(0, p.knownNow()) // what one of them missed, it need not find out again
		return admitted
	}
	switch {
	case p.Rejoin.Active && news && len(c.heard) == len(p.list.union):
		p.Rejoin.said = 0
		p.sayUnvoted() // the list that may be the one
	case b.Asks:
		p.Send(msg.From, 0, p.unvotedNow(false))
		p.askUnheard(b.Heard)
	}
	return false
}

// neverVoted reports whether this voter is unvoted, and its list the first, for all that it
// knows: those who voted under another list may be others.
func (p *Party) neverVoted() bool {
	return p.unvoted && p.list.state.Version == 0 && !p.toldOfOthers()
}

// askUnheard lets a voter that votes already, and has nothing to ask for itself, hear of
// those whom another has heard in other sessions than itself, or not at all: they may be
// such voters, too.
func (p *Party) askUnheard(theirs proto.Roll) {
	if p.Rejoin.Active {
		return
	}
	for _, id := range p.list.union {
		mine, heard := p.collect.heard[id]
		if id != p.Cfg.Self && (!heard || theirs.Has(id) && !theirs.Lists(proto.Peer{ID: id, Session: mine})) {
			p.Send(id, 0, p.unvotedNow(true))
		}
	}
}

// knownNow tells a voter of the instant at which it had not voted, as all others.
func (p *Party) knownNow() proto.Unvoted {
	return proto.Unvoted{Session: p.Cfg.Session, Heard: p.collect.all, First: p.collect.first, Known: true}
}

// allUnvoted reports whether all voters have said the list that this one holds.
func (p *Party) allUnvoted() bool {
	list := p.roll()
	for _, id := range p.list.union {
		if said := p.collect.said[id]; id != p.Cfg.Self &&
			(said.Session != p.collect.heard[id] || said.Heard != list || said.Session.IsZero()) {
			return false
		}
	}
	return true
}

// clear notes the instant at which all voters of the list had voted in no term, and lets
// this one vote, if it did not yet.
func (p *Party) clear(list proto.Roll) (admitted bool) {
	p.collect.all = list
	if !p.Rejoin.Active {
		return false
	}
	floor := max(p.collect.first, 1) - 1
	p.Why("all voters say that they never voted -> vote above term %d", floor)
	p.admit(floor, floor)
	return true
}

// wasCleared takes the word of one that knows of such an instant.
func (p *Party) wasCleared(msg proto.Message, b proto.Unvoted) (admitted bool) {
	self := proto.Peer{ID: p.Cfg.Self, Session: p.Cfg.Session}
	if !p.Rejoin.Active || p.toldOfOthers() || !b.Heard.Lists(self) || b.Heard.Len() != len(p.list.union) {
		return false
	}
	for _, id := range p.list.union {
		if !b.Heard.Has(id) {
			return false // other voters than those that this one knows
		}
	}
	p.collect.first = max(p.collect.first, b.First)
	p.Why("%d knows when all voters had never voted, this process among them", msg.From)
	return p.clear(b.Heard)
}
