package lease

import (
	"time"

	"github.com/ringleader-dev/ringleader/algorithms/quorum"
	"github.com/ringleader-dev/ringleader/proto"
)

// Phase is how far this node's own way to leading went.
type Phase int

// The phases. Each algorithm has names of its own for them.
const (
	Idle     Phase = iota
	Asking         // would a majority vote for it?
	Claiming       // it voted for itself, and asked the others to
	Fencing        // a majority did, and former leaders are seen to
	Leading
)

// Stand is this node's own candidacy, or its leadership.
type Stand struct {
	Phase  Phase
	Term   proto.Term // asked for, claimed or led
	Nonce  uint64     // of the last round of questions
	Noted  time.Time  // when that round began, before its first message left
	Yes    quorum.Count
	same   quorum.Count                  // of them, who have this node's list of voters
	denied quorum.Count                  // by these, in that round of a claim or of a leader
	late   quorum.Rounds                 // of a leader, or who is fencing, before that round
	won    uint64                        // the latest round that a majority answered
	Asked  int                           // rounds of questions before a claim, in this candidacy
	no     map[proto.NodeID]proto.Answer // as last recorded, in this candidacy
	Due    time.Time                     // asking, claiming: when the answers should be here
	Failed int                           // candidacies in a row, with recesses or without

	Taken    time.Time // when it began to lead
	LeaseEnd time.Time
	Next     time.Time  // when the next round of questions of a leader is due
	Leaving  proto.Term // led once, and its work has not stopped yet
	lend     lending
}

// Stop forgets a candidacy, or a leadership. What it bound is to be released besides.
func (s *Stand) Stop() {
	s.Phase, s.Asked, s.Due = Idle, 0, time.Time{}
	s.LeaseEnd, s.Next = time.Time{}, time.Time{}
	s.late.Reset()
	clear(s.no)
}

// Ask begins a round of questions: no term is taken before a majority would vote in it
// (Ongaro 2014, 9.6). Who said no says yes unasked, once it can: asking again is for what
// was lost, and grows rare.
func (p *Party) Ask(term proto.Term, cause string) Request {
	s := &p.Stand
	s.Phase = Asking
	s.Asked++
	s.Term = term
	s.Nonce++
	s.Yes.Reset()
	if s.Asked == 1 {
		p.Why("%s -> ask the voters for term %d", cause, s.Term)
	}
	s.Due = p.Now.Add(p.Pause(s.Asked))
	return p.request()
}

// request is this round of questions.
func (p *Party) request() Request { return Request{p.Cfg.Session, p.Stand.Nonce, p.VoterSet()} }

// Answered counts an answer to this round of Ask, and reports whether to ask for a higher
// term instead.
func (p *Party) Answered(msg proto.Message, b proto.PreVoteReply) (again bool) {
	s := &p.Stand
	p.learn(msg)
	p.HearVoters(msg.From, b.Voters)
	if p.surveyed(msg, b) {
		return false
	}
	if s.Phase != Asking || b.Session != p.Cfg.Session || b.Nonce != s.Nonce {
		return false
	}
	switch {
	case b.Granted():
		s.Yes.Add(msg.From)
	case p.Known >= s.Term:
		p.Why("%d knows of term %d -> ask for a higher one", msg.From, p.Known)
		return true
	default:
		p.noteRefusal(msg.From, b.Answer)
		s.Yes.Remove(msg.From)
	}
	return false
}

// noteRefusal records a no that differs from the last one.
func (p *Party) noteRefusal(from proto.NodeID, r proto.Answer) {
	if p.Stand.no[from] == r {
		return
	}
	p.Stand.no[from] = r
	p.Why("%d says %s", from, r)
}

// WouldWin reports whether a majority would vote for this node: its own voter among
// them, which is asked now, or without it while it has just started.
func (p *Party) WouldWin() bool {
	s := &p.Stand
	if s.Phase != Asking || p.Rejoin.Active {
		return false
	}
	own := p.wouldVote(s.Term, p.VoterSet())
	if own.Granted() {
		s.Yes.Add(p.Cfg.Self)
	} else {
		s.Yes.Remove(p.Cfg.Self)
	}
	return p.Enough(&s.Yes) && (own.Granted() || own.Bar == proto.BarBoot)
}

// countOwn begins to count, with this voter's own promise: not while one of its former
// life may run. Then a majority of the others has to promise, and it meets whatever
// majority that former promise belongs to in a voter that is free.
func (p *Party) countOwn() {
	s := &p.Stand
	s.Yes.Reset()
	s.same.Reset()
	s.denied.Reset()
	if !p.Now.Before(p.Voter.boot) {
		s.Yes.Add(p.Cfg.Self)
		s.same.Add(p.Cfg.Self)
	}
}

// learn remembers the highest term that a voter is known to have voted in. It is a hint
// for the next candidacy and adopted for nothing else.
func (p *Party) learn(msg proto.Message) {
	if !p.believes(msg.Term) {
		p.Refuse("term %d is absurdly far above %d -> do not believe it, ask the voters", msg.Term, p.Known)
		p.AskTerms()
		return
	}
	p.Known = max(p.Known, msg.Term)
}

// Claim begins the round in which this node votes for itself, as its Machine does next,
// and asks the others to. The lease will count from now, before anything has left. Where
// answers take longer than planned it waits the longer for them the more claims failed.
func (p *Party) Claim() Request {
	s := &p.Stand
	p.Why("a majority would grant term %d -> %s", s.Term, p.Words.Claim)
	s.Phase, s.Noted = Claiming, p.Now
	s.Nonce++
	s.Due = p.Now.Add(ClaimTimeout(p.Cfg.Promise, p.Cfg.Delta, s.Failed))
	p.countOwn()
	return p.request()
}

// Renew begins a leader's next round of questions. Its own voter promises anew.
func (p *Party) Renew() Request {
	s := &p.Stand
	if !p.Enough(&s.Yes) {
		s.late.Keep(s.Nonce, s.Noted, s.Yes)
	}
	s.Nonce++
	s.Noted = p.Now
	s.Next = p.Now.Add(p.every)
	p.countOwn()
	if s.lend.wanted && s.lend.from == 0 {
		s.lend.from = s.Nonce
	}
	p.Renewed(p.Lending())
	return p.request()
}

// Granted counts the promise of a voter, and reports whether it answers this very round
// of questions.
func (p *Party) Granted(msg proto.Message, r Request) bool {
	s := &p.Stand
	if r.Session != p.Cfg.Session || r.Nonce != s.Nonce || msg.Term != s.Term || s.Phase < Claiming {
		return false
	}
	s.Yes.Add(msg.From)
	if r.Voters.Is(p.VoterSet()) {
		s.same.Add(msg.From)
	}
	p.commit()
	return true
}

// GrantedLate counts the promise of a voter for an earlier round of questions, and reports
// whether the lease ends later by what a majority promised in that round: of a leader, or
// of a candidate that has former leaders fenced.
func (p *Party) GrantedLate(msg proto.Message, r Request) bool {
	s := &p.Stand
	if r.Session != p.Cfg.Session || msg.Term != s.Term || s.Phase < Fencing {
		return false
	}
	noted, ok := s.late.Add(r.Nonce, msg.From, p.Enough)
	if ok {
		s.won = max(s.won, r.Nonce)
	}
	return ok && p.extend(r.Nonce, noted)
}

// Extended reports whether a majority has promised in this round of questions, so that
// the lease ends later. "A candidate wins an election if it receives votes from a
// majority of the servers in the full cluster for the same term."
func (p *Party) Extended() bool {
	s := &p.Stand
	p.commit() // with one voter nobody else is asked
	if !p.Enough(&s.Yes) {
		return false
	}
	s.won = s.Nonce
	return p.extend(s.Nonce, s.Noted)
}

// Unanswered is how many rounds a leader has begun after the latest that a majority answered.
func (p *Party) Unanswered() int { return int(p.Stand.Nonce - p.Stand.won) }

// extend ends the lease later, by a round that began at noted, if the lease that this
// stands for has not ended.
func (p *Party) extend(nonce uint64, noted time.Time) bool {
	s := &p.Stand
	end := noted.Add(Of(p.Cfg.Promise))
	if !p.Now.Before(end) || !end.After(s.LeaseEnd) {
		return false
	}
	s.LeaseEnd = end
	p.lent(nonce, end)
	return true
}

// WasDenied hears that a voter is bound elsewhere, and reports whether the claim in
// progress cannot win any more. In a split vote nobody waits for the end of it who cannot.
func (p *Party) WasDenied(msg proto.Message, r Request, no proto.Answer) (lost bool) {
	s := &p.Stand
	p.learn(msg)
	if r.Session != p.Cfg.Session || r.Nonce != s.Nonce || s.Phase < Claiming {
		return false
	}
	p.Why("%d denies term %d: %s", msg.From, s.Term, no)
	s.denied.Add(msg.From)
	return s.Phase == Claiming && !p.couldWin()
}

// couldWin reports whether those who have promised in this round of questions, or may still
// do so, would be enough. This voter is not one of them in a round that began in its boot wait.
func (p *Party) couldWin() bool {
	var could quorum.Count
	for _, id := range p.list.union {
		if !p.Stand.denied.Has(id) && (id != p.Cfg.Self || p.Stand.Yes.Has(id)) {
			could.Add(id)
		}
	}
	return p.Enough(&could)
}

// GiveUp ends a candidacy that has bound voters, and never claims that term again. What
// they promised is then to be released. It is the chosen one no more.
func (p *Party) GiveUp(reason string, pause time.Duration) {
	p.Why("%s -> release term %d, wait %v", reason, p.Stand.Term, pause.Round(time.Millisecond))
	p.Stand.Stop()
	p.Handing.Drop()
}

// Pause is how long to wait after the n-th attempt that came to nothing.
func (p *Party) Pause(n int) time.Duration { return p.Jitter(Pause(p.every, p.Cfg.Delta, n)) }
