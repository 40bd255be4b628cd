package lease

import (
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/quorum"
	"github.com/ringleader-dev/ringleader/proto"
)

// Rejoin is how a voter that lost its disk comes back. It votes for nobody and stands
// for nothing until enough others have told it what it may have voted in. The papers
// have no such thing: there a server's state is on stable storage, or the server is a
// new one.
type Rejoin struct {
	Active  bool
	Due     time.Time // when to ask, or to ask again
	began   time.Time
	promise time.Duration // the longest that it may have made, as far as it knows
	nonce   uint64
	told    quorum.Count
	voted   proto.Term // the highest that anybody told of
	Round   proto.Term // likewise, of a round without a vote
	// Former are whom any of them has not seen to stop: the latest of each id.
	Former map[proto.NodeID]proto.Epoch
}

// beginRejoin waits first: as long as a promise of the former life may run, a
// candidate may still count a vote that this voter knows nothing of.
func (p *Party) beginRejoin() {
	wait := BootWait(p.Cfg.Promise)
	p.Rejoin = Rejoin{
		Active: true, began: p.Now, promise: p.Cfg.Promise, Due: p.Now.Add(wait),
		Former: map[proto.NodeID]proto.Epoch{},
	}
	p.Why("this voter lost what it voted -> vote for nobody for %v, then ask the others", wait)
}

// PursueRejoin asks those that have not answered, when it is time.
func (p *Party) PursueRejoin() {
	r := &p.Rejoin
	if p.Now.Before(r.Due) {
		return
	}
	if r.nonce == 0 {
		p.Why("no promise of the former life runs any more -> ask the voters what they voted")
		r.nonce = 1
	}
	r.Due = p.Now.Add(p.Jitter(AnswerTimeout(p.Cfg.Delta)))
	for _, id := range p.Voters {
		if id != p.Cfg.Self && !r.told.Has(id) {
			p.Send(id, 0, proto.Return{Session: p.Cfg.Session, Nonce: r.nonce})
		}
	}
}

// Returned answers a voter that lost its disk with this voter's own standing, or one
// that asks whether it did. One that lost its own says nothing.
func (p *Party) Returned(msg proto.Message, b proto.Return, own proto.Standing) {
	switch {
	case p.Rejoin.Active:
	case b.Nonce != 0:
		p.Why("%d lost what it voted -> tell it of term %d", msg.From, p.State.Vote.Term)
		own.Session, own.Nonce, own.Promise, own.Voters = b.Session, b.Nonce, p.State.Promise, p.VoterSet()
		p.Send(msg.From, p.State.Vote.Term, own)
	case p.met[msg.From] > 0:
		p.Send(msg.From, p.met[msg.From], proto.Standing{Session: b.Session})
	}
}

// Stood counts what another voter tells, and reports whether enough have. A longer
// promise than was waited for means waiting on, and asking again; a term told before
// that is not forgotten.
func (p *Party) Stood(msg proto.Message, b proto.Standing) (enough bool) {
	r := &p.Rejoin
	if b.Nonce == 0 && b.Session == p.Cfg.Session && !r.Active {
		p.recognized(msg)
		return false
	}
	if !r.Active || b.Session != p.Cfg.Session || b.Nonce == 0 || b.Nonce > r.nonce {
		return false
	}
	p.HearVoters(msg.From, b.Voters)
	if later := b.Voters.Version; later > p.list.state.Version && !p.misled {
		p.Refuse("%d has other voters, list %d of the cluster -> vote for nobody with these", msg.From, later)
		p.misled = true
	}
	r.voted, r.Round = max(r.voted, msg.Term), max(r.Round, b.Round)
	if b.Promise > r.promise { // what was answered before its end counts for nothing
		p.Why("%d promised up to %v -> wait for that, then ask again", msg.From, b.Promise)
		r.promise, r.Due = b.Promise, r.began.Add(BootWait(b.Promise))
		r.nonce++
		r.told.Reset()
		clear(r.Former)
		return false
	}
	if b.Nonce != r.nonce {
		return false // it answers an older question
	}
	r.told.Add(msg.From)
	for _, e := range b.Former.All() {
		if e.Term > r.Former[e.Leader].Term {
			r.Former[e.Leader] = e
		}
	}
	return r.told.Len() >= p.Voters.Meeting()
}

// Readmit takes the highest term, with no vote in it, and returns what was told. Every
// majority that the former life was part of has one of those who answered in it.
func (p *Party) Readmit() Rejoin {
	r := p.Rejoin
	p.Why("%d other voters know of no term above %d -> vote again, above that", r.told.Len(), r.voted)
	p.Rejoin = Rejoin{}
	p.State = algorithms.State{
		Term: r.Round, Reserved: r.Round, Vote: algorithms.Vote{Term: r.voted}, Promise: r.promise,
		Voters: p.State.Voters,
	}
	p.Known, p.Dirty, p.Fresh = max(p.Known, r.voted), true, false
	return r
}

// A voter of which nothing is saved is either new or has lost its disk. It cannot
// tell; those who met its former life can. So once it hears of a leader it asks all
// voters, and each that knows of a vote of it says in which term. A vote above all
// that it made itself is one of a former life.

// Inquire asks whether anybody has met this voter before: once for each leader.
func (p *Party) Inquire() {
	if p.Votes() && !p.Rejoin.Active && p.Fresh && p.State.Vote.Term == 0 {
		p.Why("nothing is saved of this voter, and there is %s -> ask whether it voted before", p.Words.Leader)
		p.Tell(0, proto.Return{Session: p.Cfg.Session})
	}
}

// Meet notes that a voter has voted in a term, or in a higher one.
func (p *Party) Meet(id proto.NodeID, term proto.Term) {
	if p.met[id] < term {
		p.met[id] = term
	}
}

// recognized hears what this voter is known to have voted in.
func (p *Party) recognized(msg proto.Message) {
	if p.Fresh && msg.Term > p.State.Vote.Term {
		p.Refuse("%d knows of a vote of this voter in term %d, and it has none saved -> "+
			"its disk was lost: end", msg.From, msg.Term)
		p.Out.Forgot = true
	}
}
