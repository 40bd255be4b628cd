package lease

import (
	"slices"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/quorum"
	"github.com/ringleader-dev/ringleader/proto"
)

// A voter without a vote is a voter that may have lost one, whatever else its disk holds,
// at its first start or its third. It votes for nobody, promises nothing and stands for
// nothing until one of these has let it vote:
//
//   - All voters say that they never voted: see collect.go.
//   - It waited for as long as any promise of a former life may run, and then enough other
//     voters, of which something is saved, told it what it may have voted in: N - majority
//     + 1, for then one of them is in every majority that it may have been part of. It
//     takes the highest term that it was told of, with no vote in it. The voters may have
//     been changed since its former life, or just now: see counts and toldEnough.
//   - An operator vouches for a first term: see algorithms.Config.FirstTerm.
//
// The papers have no such thing: there a server's state is on stable storage, or the
// server is a new one.

// Rejoin is how far such a voter is.
type Rejoin struct {
	Active  bool
	due     time.Time // when to ask, or to ask again
	again   time.Time // when to say again that nothing is saved
	said    int       // how often that was said since it last brought anything new
	began   time.Time
	promise time.Duration // the longest that it may have made, as far as it knows
	nonce   uint64
	told    map[proto.NodeID]proto.VoterSet // in answer to the question of that nonce: the voters of each
	lost    quorum.Count                    // these answered it, and have lost all themselves
	voted   proto.Term                      // the highest that anybody told of
	Round   proto.Term                      // likewise, of a round without a vote
	// Former are whom any of them has not seen to stop: the latest of each id.
	Former map[proto.NodeID]proto.Epoch
}

// At is when the voter wants to be woken for it; the zero time is never.
func (r *Rejoin) At() time.Time {
	if r.again.Before(r.due) {
		return r.again
	}
	return r.due
}

// beginRejoin waits first: as long as a promise of the former life may run, a
// candidate may still count a vote that this voter knows nothing of.
func (p *Party) beginRejoin() {
	wait := BootWait(p.Cfg.Promise)
	p.Rejoin = Rejoin{
		Active: true, began: p.Now, promise: p.Cfg.Promise, due: p.Now.Add(wait),
		told: map[proto.NodeID]proto.VoterSet{}, Former: map[proto.NodeID]proto.Epoch{},
	}
	p.Why("nothing is saved of this voter -> vote for nobody until all voters say the same, "+
		"or for %v, and then ask them what they voted", wait)
	p.sayUnvoted()
}

// PursueRejoin asks those that have not answered, when it is time, and reports whether
// this voter may vote now, on the word of an operator.
func (p *Party) PursueRejoin() (readmitted bool) {
	r := &p.Rejoin
	if !p.Now.Before(r.again) {
		p.sayUnvoted()
	}
	if p.Now.Before(r.due) {
		return false
	}
	if p.vouched() {
		p.Why("an operator says that nobody voted in term %d or above -> vote above term %d",
			p.Cfg.FirstTerm, p.Cfg.FirstTerm-1)
		p.readmit(p.Cfg.FirstTerm - 1)
		return true
	}
	if r.nonce == 0 {
		p.Why("no promise of the former life runs any more -> ask the voters what they voted")
		r.nonce = 1
	}
	r.due = p.Now.Add(p.Jitter(AnswerTimeout(p.Cfg.Delta)))
	for _, id := range p.list.union {
		if id != p.Cfg.Self && !p.toldBy(id) {
			p.Send(id, 0, proto.Recover{Session: p.Cfg.Session, Nonce: r.nonce})
		}
	}
	return false
}

// vouched reports whether the first term that an operator gave lets this voter vote: it
// asked, the answers had time to come, and nobody tells of a vote in that term or above.
// With fewer than make a majority with it, its vote would be of no use to anybody: they
// have answered, be it that they lost all, too. So an operator's word that is no longer
// true does no harm as long as one of a majority can gainsay it: a vote, or other voters.
func (p *Party) vouched() bool {
	r, first := &p.Rejoin, p.Cfg.FirstTerm
	if first == 0 || r.nonce == 0 || r.voted >= first {
		return false
	}
	return !p.toldOfOthers() && 1+len(r.told)+r.lost.Len() >= p.Voters.Majority()
}

// counts reports whether what a voter with this list told counts: it has the same list as
// this voter, or one of an earlier version. Of those whom this voter may have helped to
// commit another list, or to lead under a later one, enough tell of that: none of them counts.
func (p *Party) counts(has proto.VoterSet) bool {
	own := p.VoterSet()
	return has.Version < own.Version || has.Is(own)
}

// toldOfOthers reports whether a voter told something that does not count.
func (p *Party) toldOfOthers() bool {
	for _, has := range p.Rejoin.told {
		if !p.counts(has) {
			return true
		}
	}
	return false
}

// toldBy reports whether the voter told something that counts.
func (p *Party) toldBy(id proto.NodeID) bool {
	has, ok := p.Rejoin.told[id]
	return ok && p.counts(has)
}

// toldEnough reports whether one of those who told is in every majority that this voter may
// have been part of: of its list and, until that is committed, of the one before, in which
// whoever leads under a list of this version needs one, too. Why lists before that, and
// later ones, do not matter is in docs/VOTERS.md.
func (p *Party) toldEnough() bool {
	before := p.list.before
	return len(p.toldOf(p.Voters)) >= p.Voters.Meeting() && (before == nil || len(p.toldOf(before)) >= before.Meeting())
}

// toldOf are those of the voters who told something that counts.
func (p *Party) toldOf(v quorum.Voters) quorum.Voters {
	return slices.DeleteFunc(slices.Clone(v), func(id proto.NodeID) bool { return !p.toldBy(id) })
}

// Returned answers a voter that asks what this one voted in, with this voter's own
// standing, and any node that asks for its term. One that may have lost its own vote
// tells a voter that likewise did no more than that.
func (p *Party) Returned(msg proto.Message, b proto.Recover, own proto.VoterState) {
	own.Session, own.Nonce = b.Session, b.Nonce
	switch {
	case p.Rejoin.Active && b.Nonce != 0:
		p.Send(msg.From, 0, proto.VoterState{Session: b.Session, Nonce: b.Nonce, Lost: true})
	case p.Rejoin.Active:
	case b.Nonce != 0:
		p.Why("%d lost what it voted -> tell it of term %d", msg.From, p.State.Vote.Term)
		own.Promise, own.Voters = p.State.Promise, p.VoterSet()
		p.Send(msg.From, p.State.Vote.Term, own)
	default:
		p.Send(msg.From, p.State.Vote.Term, proto.VoterState{Session: b.Session, Round: own.Round})
	}
}

// Stood counts what another voter tells, and reports whether enough have, and this voter
// votes again. A longer promise than was waited for means waiting on, and asking again; a
// term told before that is not forgotten.
func (p *Party) Stood(msg proto.Message, b proto.VoterState) (readmitted bool) {
	r := &p.Rejoin
	if !r.Active || b.Session != p.Cfg.Session || b.Nonce == 0 || b.Nonce > r.nonce {
		return false
	}
	if b.Lost {
		if _, told := r.told[msg.From]; b.Nonce == r.nonce && p.Voters.Has(msg.From) && !told {
			r.lost.Add(msg.From)
		}
		return false
	}
	p.HearVoters(msg.From, b.Voters)
	if first := p.Cfg.FirstTerm; first > 0 && msg.Term >= first && r.voted < first {
		p.Refuse("%d voted in term %d, and an operator says that nobody did in term %d or above -> "+
			"do not believe that, wait for the voters", msg.From, msg.Term, first)
	}
	r.voted, r.Round = max(r.voted, msg.Term), max(r.Round, b.Round)
	if b.Promise > r.promise { // what was answered before its end counts for nothing
		p.Why("%d promised up to %v -> wait for that, then ask again", msg.From, b.Promise)
		r.promise, r.due = b.Promise, r.began.Add(BootWait(b.Promise))
		r.nonce++
		clear(r.told)
		r.lost.Reset()
		clear(r.Former)
		return false
	}
	if b.Nonce != r.nonce || !p.list.union.Has(msg.From) {
		return false // it answers an older question, or votes for others
	}
	r.told[msg.From] = b.Voters
	if !p.counts(b.Voters) {
		p.Why("%d has other voters, list %d of the cluster -> its word does not count for list %d",
			msg.From, b.Voters.Version, p.list.state.Version)
	}
	r.lost.Remove(msg.From)
	for _, e := range b.Former.All() {
		if e.Term > r.Former[e.Leader].Term {
			r.Former[e.Leader] = e
		}
	}
	if !p.toldEnough() {
		return false
	}
	p.Why("%d other voters know of no term above %d -> vote again, above that",
		len(p.toldOf(p.list.union)), r.voted)
	p.readmit(0)
	return true
}

// readmit lets this voter vote again, above the highest term that it was told of and not
// below floor. Every majority that the former life was part of has one of those who
// answered in it.
func (p *Party) readmit(floor proto.Term) {
	p.unvoted = false // it may have
	p.admit(max(p.Rejoin.voted, floor), max(p.Rejoin.Round, floor))
}

// admit lets this voter vote above floor, and take part in rounds above another one. It is
// durable: what is saved from now on is all that this voter ever voted, and under which
// voters. What was told to it stays, until the next Step.
func (p *Party) admit(floor, round proto.Term) {
	p.Told = p.Rejoin
	p.Rejoin = Rejoin{}
	p.State = algorithms.State{
		Term: max(p.State.Term, round), Reserved: max(p.State.Reserved, round),
		Vote: algorithms.Vote{Term: floor}, Promise: max(p.Told.promise, p.Cfg.Promise),
		Voters: p.list.state,
	}
	p.Known, p.Dirty = max(p.Known, floor), true
}

// recovery is what this voter waits for, nil once it votes.
func (p *Party) recovery() *algorithms.Recovery {
	r := &p.Rejoin
	if !r.Active {
		return nil
	}
	out := &algorithms.Recovery{
		Until: r.began.Add(BootWait(r.promise)), Asked: r.nonce > 0, Need: p.Voters.Meeting(), Voted: r.voted,
	}
	for _, id := range p.list.union {
		_, unvoted := p.collect.heard[id]
		_, told := r.told[id]
		switch {
		case p.toldBy(id):
			out.Told = append(out.Told, id)
		case told:
			out.Others = append(out.Others, id)
		case unvoted || r.lost.Has(id):
			out.Lost = append(out.Lost, id)
		default:
			out.Silent = append(out.Silent, id)
		}
	}
	return out
}
