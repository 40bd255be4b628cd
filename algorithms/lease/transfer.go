package lease

import (
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/quorum"
	"github.com/ringleader-dev/ringleader/proto"
)

// Transfer is this node's part in handing over, or in taking over.
type Transfer struct {
	// The leader: to whom it has offered to hand over, to nobody while there is no
	// offer, and who is to be told once the work has stopped.
	to     proto.Peer
	nonce  uint64
	Due    time.Time    // when the answer should be here
	asked  bool         // by an operator, or its host, who waits for the outcome
	leaves bool         // its host, which leaves: whoever could win will do
	vain   quorum.Count // who then was asked before, and would not lead
	Heir   proto.Peer
	told   bool // by an operator

	// The successor: it stands at once, and, if an operator chose it, no preference
	// takes the leadership from it.
	Chosen, Stays bool
	Given         proto.Term // that it was told to take last
	survey        survey

	// Another than the two: it does not stand before, so that the successor stands
	// alone.
	Yield time.Time

	// A voter: until then it tells nobody but the successor that it would vote now, of those
	// that it told no before.
	favored proto.NodeID
	favors  time.Time
}

// survey is the question of a node that a leader offers to hand over to, before it says
// yes: would a majority vote for it, but for their promise to that leader?
type survey struct {
	offer Request    // that it is about, and whose leader is to be told
	from  proto.Peer // that leader, nobody while there is no survey
	led   proto.Term // the term that it leads
	term  proto.Term // asked for
	nonce uint64     // of the question
	yes   quorum.Count
	due   time.Time // when the answers should be here
}

// Drop ends what a successor that does not stand, or another that waits for it, was told.
func (h *Transfer) Drop() { h.Chosen, h.Stays = false, false }

// HandOver takes the wish to hand over: an operator's, or that of a host which leaves.
func (p *Party) HandOver(wish algorithms.Transfer) {
	heir, why := p.successor(wish.To)
	if wish.Leaves && why != (algorithms.Refusal{}) {
		heir, why = p.successor(0)
	}
	if why != (algorithms.Refusal{}) {
		p.refuseTransfer(wish.To, why)
		return
	}
	p.Why("asked to hand over -> %s %d", p.Words.Offer, heir.ID)
	p.Handing.asked, p.Handing.leaves = true, wish.Leaves
	p.Handing.vain.Reset()
	p.offer(heir)
}

// offerNext has a leader that leaves ask the best of those that it has not asked yet, and
// reports whether there is one.
func (p *Party) offerNext(why string) bool {
	h := &p.Handing
	if !h.leaves || p.Stand.Phase != Leading {
		return false
	}
	h.vain.Add(h.to.ID)
	var next proto.Peer
	for other := range p.others {
		if !other.Ineligible && !h.vain.Has(other.ID) && (next.ID == 0 || other.Above(next)) {
			next = other
		}
	}
	if next.ID == 0 {
		return false
	}
	p.Why("%d does not take over: %s -> %s %d", h.to.ID, why, p.Words.Offer, next.ID)
	p.offer(next)
	return true
}

// offer asks another whether it would lead. Nothing changes until it said yes: one that
// is dead, or behind, costs nobody the leader.
func (p *Party) offer(heir proto.Peer) {
	h := &p.Handing
	h.to = heir
	h.nonce++
	h.Due = p.Now.Add(OfferTimeout(p.Cfg.Delta))
	p.Send(heir.ID, p.Stand.Term, proto.Offer{Session: p.Cfg.Session, Nonce: h.nonce, To: heir.Session})
}

// successor is to whom this leader may hand over, or why it may not.
func (p *Party) successor(to proto.NodeID) (heir proto.Peer, why algorithms.Refusal) {
	leads, no := p.Stand.Phase == Leading, p.refusing(to)
	switch {
	case !leads && p.Belief.ID == 0:
		return heir, no.Nobody()
	case !leads:
		return heir, no.Elsewhere(p.Belief.ID)
	case p.Handing.to.ID != 0:
		return heir, no.UnderWay(p.Handing.to.ID)
	case to == p.Cfg.Self:
		return heir, no.Self()
	case to != 0 && !p.Voters.Has(to):
		return heir, no.NoVoter()
	}
	return no.Successor(p.others, to)
}

// others goes over the other voters that are alive.
func (p *Party) others(yield func(proto.Peer) bool) {
	for _, other := range p.Alive {
		if other.ID != p.Cfg.Self && p.Voters.Has(other.ID) && !yield(other) {
			return
		}
	}
}

// refusing words why there is no transfer to a node.
func (p *Party) refusing(to proto.NodeID) algorithms.Refusing {
	return algorithms.Refuse(p.Words.Leads, p.others, to)
}

// Offered takes the question of a leader whether this node would lead after it. Where
// nothing speaks against that it asks the voters first, as before any candidacy: it returns
// the question, and the term that this is for. The leader leads on meanwhile, and one that a
// majority does not answer costs nobody the leader.
func (p *Party) Offered(msg proto.Message, b proto.Offer) (ask Request, term proto.Term, asks bool) {
	no := proto.NoDecline
	switch {
	case b.To != p.Cfg.Session:
		no = proto.DeclineSession
	case !p.Votes():
		no = proto.DeclineNonVoter
	case p.Rejoin.Active:
		no = proto.DeclineVoteless
	case !p.Stands():
		no = proto.DeclineAside
	case p.Belief.ID != msg.From || p.Belief.Session != b.Session || p.Belief.Term != msg.Term:
		no = proto.DeclineBehind
	}
	if no != proto.NoDecline {
		p.Why("%d %s -> %v", msg.From, p.Words.Offers, no)
		p.Send(msg.From, msg.Term, proto.Reply{Session: b.Session, Nonce: b.Nonce, No: no})
		return ask, term, false
	}
	p.Stand.Nonce++
	s := &p.Handing.survey
	*s = survey{
		offer: Request{Session: b.Session, Nonce: b.Nonce}, from: proto.Peer{ID: msg.From, Session: b.Session},
		led: msg.Term, term: p.Known + 1, nonce: p.Stand.Nonce, due: p.Now.Add(AnswerTimeout(p.Cfg.Delta)),
	}
	p.Why("%d %s -> ask the voters whether they would vote in term %d but for it",
		msg.From, p.Words.Offers, s.term)
	if wouldAfter(p.wouldAnswer(s.term, p.VoterSet()), msg.From) {
		s.yes.Add(p.Cfg.Self)
	}
	return p.request(), s.term, true
}

// wouldAfter reports whether a voter that gives this answer votes for whoever asked once the
// leader has released its term: nothing else binds it, and a higher term is soon found.
func wouldAfter(r proto.Answer, leader proto.NodeID) bool {
	switch r.Bar {
	case proto.NoBar, proto.BarVoted:
		return true
	case proto.BarPromise, proto.BarSelf:
		return r.Holder == leader
	}
	return false
}

// surveyed counts an answer to the question of Offered, and reports whether it is one.
func (p *Party) surveyed(msg proto.Message, b proto.PreVoteReply) bool {
	s := &p.Handing.survey
	if s.from.ID == 0 || b.Session != p.Cfg.Session || b.Nonce != s.nonce {
		return false
	}
	p.Why("%d says %s", msg.From, b.Answer)
	if wouldAfter(b.Answer, s.from.ID) {
		s.yes.Add(msg.From)
	}
	if p.Enough(&s.yes) {
		p.endSurvey()
	}
	return true
}

// endSurvey answers the leader that offered: with yes once a majority would vote for this
// node, and it follows that leader still.
func (p *Party) endSurvey() {
	s, no := &p.Handing.survey, proto.NoDecline
	switch {
	case !p.Enough(&s.yes):
		no = proto.DeclineMajority
	case p.Belief.Epoch() != (proto.Epoch{Term: s.led, Leader: s.from.ID, Session: s.from.Session}):
		no = proto.DeclineBehind
	case !p.Stands():
		no = proto.DeclineAside
	}
	p.Why("%d %s -> %v", s.from.ID, p.Words.Offers, no)
	p.Send(s.from.ID, s.led, proto.Reply{Session: s.offer.Session, Nonce: s.offer.Nonce, No: no})
	*s = survey{}
}

// ExpireSurvey ends the question of Offered when its time is over.
func (p *Party) ExpireSurvey() {
	if due := p.Handing.survey.due; !due.IsZero() && !p.Now.Before(due) {
		p.endSurvey()
	}
}

// Replied takes the successor's answer, and reports whether it would lead. The leader is
// then to leave.
func (p *Party) Replied(msg proto.Message, b proto.Reply) bool {
	h := &p.Handing
	if p.Stand.Phase != Leading || msg.From != h.to.ID || msg.Term != p.Stand.Term ||
		b.Session != p.Cfg.Session || b.Nonce != h.nonce {
		return false
	}
	if b.No != proto.NoDecline {
		p.endTransfer(p.refusing(h.to.ID).Declined(b.No))
		return false
	}
	heir, told := h.to, h.asked && !h.leaves
	p.endTransfer(algorithms.Refusal{})
	h.Heir, h.told = heir, told
	return true
}

// ExpireOffer ends an offer that was not answered. A Step tells the end of one transfer:
// this may be that of another.
func (p *Party) ExpireOffer() {
	if due := p.Handing.Due; !due.IsZero() && !p.Now.Before(due) && p.Out.Transfer == nil {
		p.endTransfer(p.refusing(p.Handing.to.ID).Silent())
	}
}

// LoseOffer ends the offer of a leader that leads no more. Of two transfers that end in
// one Step, this one ends in the next.
func (p *Party) LoseOffer() {
	switch {
	case !p.Offering():
	case p.Out.Transfer != nil:
		p.Handing.Due = p.Now
	default:
		p.endTransfer(p.refusing(p.Handing.to.ID).Lost())
	}
}

// endTransfer ends an offer, unless there is another to make. Who asked for it is told.
func (p *Party) endTransfer(refused algorithms.Refusal) {
	h := &p.Handing
	to, asked, taken := h.to.ID, h.asked, refused == algorithms.Refusal{}
	if to == 0 || !taken && p.offerNext(refused.Why) {
		return
	}
	h.to, h.Due, h.asked, h.leaves = proto.Peer{}, time.Time{}, false, false
	switch {
	case asked && taken:
		p.Out.Transfer = &algorithms.TransferEnd{To: to}
	case asked:
		p.refuseTransfer(to, refused)
	case !taken:
		p.Why("%d does not take over: %s -> %s", to, refused.Why, p.Words.LeadOn)
	}
}

func (p *Party) refuseTransfer(to proto.NodeID, why algorithms.Refusal) {
	p.Out.Transfer = &algorithms.TransferEnd{To: to, Refused: why.String()}
	p.Why("%s", p.Out.Transfer.Reason())
}

// Offering reports whether an offer is not answered yet.
func (p *Party) Offering() bool { return p.Handing.to.ID != 0 }

// Leave ends a leadership: this node leads no more from this Step on. RELEASE follows
// when its host says that all its work has stopped. An offer of its own is over at the
// end of the Step.
func (p *Party) Leave() {
	s, h := &p.Stand, &p.Handing
	p.Belief = algorithms.Leader{}
	s.Leaving = s.Term
	h.Drop()
	h.Due, h.Yield = time.Time{}, time.Time{}
	s.Stop()
}

// Stopped releases the term once what was done in it has stopped, and tells the successor
// to stand after that.
func (p *Party) Stopped(term proto.Term) {
	s := &p.Stand
	if s.Leaving == 0 || term != s.Leaving {
		return
	}
	s.Leaving = 0
	p.Why("the work of term %d has stopped -> release it", term)
	p.Release(term)
	p.tellHeir(term)
}

func (p *Party) tellHeir(term proto.Term) {
	h := &p.Handing
	heir, chosen := h.Heir, h.told
	h.Heir, h.told = proto.Peer{}, false
	if heir.ID == 0 {
		return
	}
	p.Send(heir.ID, term, proto.TakeOver{Session: p.Cfg.Session, To: heir.Session, Chosen: chosen})
	p.GiveWay(heir.ID)
}

// GiveWay holds this node back for a moment, so that the one that was chosen to lead
// stands alone.
func (p *Party) GiveWay(to proto.NodeID) {
	if to == 0 {
		return
	}
	p.Handing.favored, p.Handing.favors = to, p.Now.Add(p.every)
	if to == p.Cfg.Self {
		return
	}
	p.Why("%d is to take over -> do not stand for a moment", to)
	p.Handing.Yield = p.Now.Add(p.every)
}

// TakeOver makes this node stand at once, for the given term, and reports whether it
// does: the last leader leads no more and chose this process. A message that is late, or
// from a former life, or to one, does nothing; nor one to a node that is not idle.
func (p *Party) TakeOver(msg proto.Message, b proto.TakeOver, idle bool, term proto.Term) bool {
	h, led := &p.Handing, proto.Epoch{Term: msg.Term, Leader: msg.From, Session: b.Session}
	switch {
	case b.To != p.Cfg.Session:
		p.Why("%d hands over to a former life of this node -> drop it", msg.From)
		return false
	case p.Seen != led || !idle:
		p.Why("%d does not hand over %s -> drop its TIMEOUT_NOW", msg.From, p.Words.Held)
		return false
	case !p.Stands():
		p.Why("%d hands over, this node does not stand -> do nothing", msg.From)
		return false
	}
	h.Given = term
	p.Why("%d hands over -> take term %d", msg.From, h.Given)
	p.GiveWay(p.Cfg.Self)
	if p.Bound(msg.From, b.Session) && p.State.Vote.Term == msg.Term {
		p.Voter.Over, p.Voter.Kept = true, time.Time{} // it comes after its RELEASE
	}
	h.Chosen, h.Stays, h.Yield = true, b.Chosen, time.Time{}
	return true
}

// Preference is how calm a leader is about a node that ranks above it.
type Preference struct {
	times int       // it was offered to such a node of late
	until time.Time // it is not offered again before
}

// PreferAt is when the leader hands over to a node that has been the better choice since
// then: long enough, the leader leading, and not too soon after the last time. After that it
// has to be the better choice for as long, without a break: one whose links come and go each
// few seconds never is.
func (p *Party) PreferAt(since time.Time) time.Time {
	if p.Stand.Taken.After(since) {
		since = p.Stand.Taken
	}
	stable := PreferAfter(p.Cfg.Promise)
	if n := p.preferred.times; n > 0 {
		stable = preferPenalty(p.Cfg.Promise, n)
	}
	at := since.Add(stable)
	if calm := p.preferred.until; calm.After(at) {
		return calm
	}
	return at
}

// Prefer offers the leadership to the better node. Whether that takes it or not, the
// next time is far off, and ever farther while the ranks flap.
func (p *Party) Prefer(best proto.Peer) {
	f := &p.preferred
	if p.Now.Sub(f.until) > forgetPenalty(p.Cfg.Promise) {
		f.times = 0
	}
	f.times++
	f.until = p.Now.Add(preferPenalty(p.Cfg.Promise, f.times))
	p.Why("%d has ranked above this node for long -> %s, and to nobody again for %v",
		best.ID, p.Words.Prefer, f.until.Sub(p.Now))
	p.offer(best)
}
