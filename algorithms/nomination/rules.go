package nomination

import (
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"

	"github.com/ringleader-dev/ringleader/proto"
)

var (
	whyMisrouted = reasons.Kind("misrouted", "%s from %d to %d reached %d -> drop")
	whyStranger  = reasons.Kind("stranger",
		"%s of term %d by a node that is not believed alive, and %d leads -> tell it")
	whyAdopt = reasons.Kind("adopt", "term %d is above %d -> adopt it", algorithms.Enters{Term: 0, Above: 1})
)

// receive handles a message, first by its term, then by its kind.
func (c *Core) receive(m proto.Message) {
	kind := m.Body.Kind()
	switch {
	case m.To != c.cfg.Self || m.From == c.cfg.Self:
		c.Refuse(whyMisrouted, kind, m.From, m.To, c.cfg.Self)
		return
	case c.asksTerm(m), c.absurd(m):
		return
	case m.Term < c.term:
		c.stale(m)
		return
	case m.Term > c.term && c.Vouches() && c.askedByStranger(m):
		c.Why(whyStranger,
			kind, m.Term, c.leader.ID)
		c.Tell(m.From)
		return
	case m.Term > c.term:
		c.Why(whyAdopt, m.Term, c.term)
		c.adopt(m.Term)
		if c.fresh {
			c.spend() // it may have had its leader already
		}
	}
	leader, announces := announcedBy(m)
	switch {
	case announces:
		c.announced(m, leader)
	default:
		c.handle(m)
	}
}

// handle handles a message of the current term that is no announcement.
func (c *Core) handle(m proto.Message) {
	switch body := m.Body.(type) {
	case TimeoutNow:
		c.takeOver(m)
	case proto.Offer:
		c.offered(m, body)
	case proto.Reply:
		c.replied(m, body)
	case proto.TakeOver:
		c.takeOverFrom(m, body)
	default:
		c.round.Receive(m)
	}
}

// The shared rules know these two properties of message bodies, for all algorithms. A body with neither
// property is an answer.
type (
	// call is a body that calls an election, or passes such a call on. It asks a question: a node that
	// knows better answers it.
	call interface {
		// Caller returns the node that called the election.
		Caller() proto.NodeID
	}
	// announcement is a body that tells who leads its term.
	announcement interface {
		// Announced returns the leader that the body names. ok is false if that node does not lead yet.
		Announced() (leader proto.Peer, ok bool)
	}
)

// askedByStranger reports whether m calls an election for a node that is not in the view. Without this
// rule, a node that can send to others but that nobody can reach could depose every leader, again and
// again, and never lead.
func (c *Core) askedByStranger(m proto.Message) bool {
	body, ok := m.Body.(call)
	return ok && body.Caller() != c.cfg.Self && !c.Lists(body.Caller())
}

var (
	whyStaleMustTake = reasons.Kind("stale-must-take", "%s of term %d is below term %d -> %d must take the next",
		algorithms.Drops{Term: 1})
	whyStale     = reasons.Kind("stale", "%s of term %d is below term %d -> drop it", algorithms.Drops{Term: 1})
	whyStaleTell = reasons.Kind("stale-tell", "%s of term %d is below term %d -> drop it, tell %d that %d leads",
		algorithms.Drops{Term: 1})
)

// stale drops a message of a lower term. It tells the sender who leads, so that a node that missed later
// terms learns of them. It does not reply to answers, such as OK: their sender asked nothing.
func (c *Core) stale(m proto.Message) {
	kind := m.Body.Kind()
	leader, announces := announcedBy(m)
	_, calls := m.Body.(call)
	asks := calls || kind == proto.KindOffer
	switch {
	case c.Looking() && c.Aside() && (asks || leader.ID == m.From):
		// Its term is over here, and nobody here will call another.
		c.Why(whyStaleMustTake, kind, m.Term, c.term, m.From)
		c.Send(m.From, TimeoutNow{})
	case c.Looking() || kind != KindTimeoutNow && !asks && !announces || m.From == c.leader.ID:
		c.Why(whyStale, kind, m.Term, c.term)
	default:
		c.Why(whyStaleTell,
			kind, m.Term, c.term, m.From, c.leader.ID)
		c.Tell(m.From)
	}
}

// announcedBy returns the leader that m announces; ok is false if m is no announcement.
func announcedBy(m proto.Message) (leader proto.Peer, ok bool) {
	if body, announces := m.Body.(announcement); announces {
		return body.Announced()
	}
	return nobody, false
}

// announced handles the announcement that l leads the current term.
func (c *Core) announced(m proto.Message, l proto.Peer) {
	switch {
	case l.ID == c.cfg.Self:
		c.announcedSelf(m, l)
	case l.Is(c.leader):
		c.heardAgain(m)
	case c.leadership(l).Compare(c.floor) < 0:
		c.announcedBelow(m, l)
	case m.From != l.ID && c.Dead(l):
		c.announcedDead(l)
	default:
		c.follow(m, l)
	}
}

// heardAgain notes that the known leader was announced again, by itself or by another node.
func (c *Core) heardAgain(m proto.Message) {
	if m.From == c.leader.ID {
		c.heard = c.now
	}
	c.doubt = false
	c.timers[timerSilence] = c.now.Add(Silence(c.announceEvery()))
}

var (
	whyStandsOver    = reasons.Kind("stands-over", "%d leads term %d, which stands over %d -> tell %d")
	whyStoodOverTake = reasons.Kind("stood-over-take", "%d led term %d, which stood over %d -> it must take the next")
	whyStoodOver     = reasons.Kind("stood-over", "%d led term %d, which stood over %d -> do not follow")
)

// announcedBelow handles the announcement of a leader when this node knows a higher leadership.
func (c *Core) announcedBelow(m proto.Message, l proto.Peer) {
	switch {
	case !c.Looking():
		c.Why(whyStandsOver,
			c.leader.ID, c.term, l.ID, m.From)
		c.Tell(m.From)
	case c.Aside() && m.From == l.ID:
		c.Why(whyStoodOverTake,
			c.floor.Leader, c.term, l.ID)
		c.Send(m.From, TimeoutNow{})
	default:
		c.Why(whyStoodOver, c.floor.Leader, c.term, l.ID)
	}
}

var (
	whyElectedDead = reasons.Kind("elected-dead", "%d was elected but is dead",
		algorithms.Caused(algorithms.RoundFailed))
	whyAnnouncedDead = reasons.Kind("announced-dead", "%d is dead -> go on with leader %d")
)

// announcedDead handles an announcement that another node passed on, and that names a process which this
// node saw die in the same term. This node does not follow that process: if it looks for a leader, it
// calls an election; otherwise it keeps its leader.
//
// A death that this node saw in an earlier term does not count: the other nodes elected the process
// after it, so they know more than this node.
//
// Lecture notes: "Or if it gets an (Elected:80) message, but knows 80 has failed".
func (c *Core) announcedDead(l proto.Peer) {
	if c.Looking() {
		c.Call(whyElectedDead.Of(l.ID))
		return
	}
	c.Why(whyAnnouncedDead, l.ID, c.leader.ID)
}

var (
	whyFormerLife    = reasons.Kind("former-life", "%s names a former life of this node -> drop it")
	whyLeadsNoLonger = reasons.Kind("leads-no-longer", "this node no longer leads term %d -> tell %d that %d does")
)

// announcedSelf handles an announcement that names this node.
func (c *Core) announcedSelf(m proto.Message, l proto.Peer) {
	switch {
	case l.Incarnation != c.cfg.Incarnation:
		c.Why(whyFormerLife, m.Body.Kind())
	case c.Leading():
		c.round.Heard(m)
	case !c.Looking():
		c.Why(whyLeadsNoLonger,
			c.term, m.From, c.leader.ID)
		c.Tell(m.From)
	}
}

var (
	whyTwoLeaders = reasons.Kind("two-leaders", "two leaders of term %d meet, %d stands over %d -> step down",
		algorithms.Deposes(2, 1))
	whyFollow = reasons.Kind("follow", "%d leads term %d -> follow it", algorithms.Follows{Term: 1})
)

// follow accepts l as the leader of the current term.
func (c *Core) follow(m proto.Message, l proto.Peer) {
	if c.Leading() {
		c.Why(whyTwoLeaders,
			c.term, l.ID, c.cfg.Self)
	}
	c.Why(whyFollow, l.ID, c.term)
	c.settle(l)
	c.timers[timerSilence] = c.now.Add(Silence(c.announceEvery()))
	c.round.Heard(m)
	c.considerPreempt()
}

var (
	whyAskOthers = reasons.Kind("ask-others", "no leader was heard of -> ask the others")
	whySilent    = reasons.Kind("silent", "nobody has heard leader %d of late",
		algorithms.Because{Kind: algorithms.LeaderSilent, About: 0})
	whyDoubt = reasons.Kind("doubt", "leader %d is silent -> ask the others")
)

// silence acts when this node has heard no announcement for a while. The leader may hang, may have
// resigned, or may only be out of this node's reach. The node asks the others; if none of them has heard
// the leader either, the leader is lost.
func (c *Core) silence() {
	l := c.leader
	switch {
	case c.Looking():
		c.Why(whyAskOthers)
		c.askOthers(l)
		return
	case c.doubt:
		c.lose(whySilent.Of(l.ID))
		return
	}
	c.Why(whyDoubt, l.ID)
	c.doubt = true
	c.timers[timerSilence] = c.now.Add(2 * c.cfg.Delta)
	c.askOthers(l)
}

// askOthers asks every other node except the node but who leads.
func (c *Core) askOthers(but proto.Peer) {
	c.SendWhere(c.round.Question(), func(p *proto.Peer) bool { return p.ID != but.ID })
}

var (
	whyTakeOverNotLeader = reasons.Kind("take-over-not-leader", "%d does not lead term %d -> drop its STAND_NOW")
	whyAskedForNext      = reasons.Kind("asked-for-next", "%d asks for a leader of the next term",
		algorithms.Because{Kind: algorithms.HandOver, About: 0})
	whyTakeNext = reasons.Kind("take-next", "%d asks for a leader of the next term -> take term %d",
		algorithms.Because{Kind: algorithms.HandOver, About: 0}, algorithms.Opens{Cause: algorithms.Self, Term: 1})
)

// takeOver handles the request to lead the next term at once. It comes from the leader, or, if this
// node leads, from a node that stands aside and knows that this node's term is over.
//
// Lecture notes: "L1 sends TimeoutNow to L2 (start election immediately)".
func (c *Core) takeOver(m proto.Message) {
	switch {
	case !c.Looking() && !c.Leading() && m.From != c.leader.ID:
		c.Why(whyTakeOverNotLeader, m.From, c.term)
	case c.Aside():
		c.passOn(m.From)
	case c.Looking():
		c.callNow(whyAskedForNext.Of(m.From))
	default:
		next := max(c.term, c.spent, c.raised) + 1
		c.Why(whyTakeNext, m.From, next)
		c.adopt(next)
		c.assume(c.self)
	}
}

var (
	whyPassOnNobody = reasons.Kind("pass-on-nobody", "%d hands over, this node stands aside -> do nothing")
	whyPassOn       = reasons.Kind("pass-on", "%d hands over, this node stands aside -> pass it on to %d")
)

// passOn passes a hand-over on to another node, because this node stands aside. It does so once in a
// term, so that two such nodes do not send the hand-over to and fro for ever.
func (c *Core) passOn(from proto.NodeID) {
	successor, ok := c.roster.best(from)
	if c.leader.ID == from || c.Leading() && ok && c.passed != c.term { // who hands over leads no more
		c.leader = nobody
		c.spend()
		c.timers[timerSilence], c.timers[timerAnnounce] = zeroTime, zeroTime
	}
	if !ok || c.passed == c.term {
		c.Why(whyPassOnNobody, from)
		return
	}
	c.Why(whyPassOn, from, successor.ID)
	c.passed = c.term
	c.Send(successor.ID, TimeoutNow{})
}

var (
	whyJoined = reasons.Kind("joined", "%d joined -> tell it who leads")
	whyGone   = reasons.Kind("gone", "leader %d is gone", algorithms.Because{Kind: algorithms.LeaderLost, About: 0})
)

// peersChanged handles a new opinion of the failure detector.
func (c *Core) peersChanged(alive []proto.Peer) {
	came, went := c.roster.update(alive, c.term)
	c.views++
	first := len(came) > 0 && len(came) == c.roster.others
	if first && c.fresh && !c.timers[timerCampaign].IsZero() {
		c.listen() // from now on the others can tell who leads
	}
	if c.views == 1 || c.Looking() && !c.TimerRuns() {
		c.self.Attr = c.roster.own // no round has used the old one
	}
	if c.Leading() {
		for _, id := range came {
			c.Why(whyJoined, id)
			c.Tell(id)
		}
	}
	for _, p := range went {
		if p.Is(c.leader) {
			c.lose(whyGone.Of(p.ID))
			return
		}
	}
	c.round.PeersChanged(went)
	c.considerPreempt()
}

var whyPreemptSoon = reasons.Kind("preempt-soon",
	"this node ranks above leader %d -> take over in %v unless that changes")

// considerPreempt plans that this node takes over from a lower-ranked leader after the time HoldDown, if
// it is the best node. The leader's rank is the rank that it announced.
func (c *Core) considerPreempt() {
	above := c.self.Rank().Compare(c.leader.Rank()) > 0
	switch {
	case c.Looking():
		c.timers[timerPreempt] = zeroTime
	case !c.cfg.Preempt || c.Aside() || !above || !c.isBest():
		c.timers[timerPreempt], c.timers[timerCampaign] = zeroTime, zeroTime
	case c.timers[timerPreempt].IsZero():
		hold := HoldDown(c.cfg.Delta)
		c.Why(whyPreemptSoon,
			c.leader.ID, hold)
		c.timers[timerPreempt] = c.now.Add(hold)
	}
}

var whyPreempt = reasons.Kind("preempt", "this node ranks above leader %d", algorithms.Caused(algorithms.HigherRank))

func (c *Core) preempt() {
	c.Call(whyPreempt.Of(c.leader.ID))
}

// announceAgain announces the leader again: a lost announcement must not leave a node behind for
// long.
func (c *Core) announceAgain() {
	c.TellAll()
	c.timers[timerAnnounce] = c.now.Add(c.announceEvery())
}

// HearLeader notes that the process leader, which leads under the lease around this Machine, was heard
// just now. If it is this Machine's leader, too, it need not repeat its announcement: the heartbeats of
// the lease come at least twice in a promise. HearLeader returns when the Machine wants its next
// Timeout.
func (c *Core) HearLeader(now time.Time, leader proto.Peer) (deadline time.Time) {
	switch {
	case !c.leader.Is(leader):
	case c.Leading():
		c.timers[timerAnnounce] = now.Add(max(c.announceEvery(), c.cfg.Promise))
	default:
		c.heard, c.doubt = now, false
		c.timers[timerSilence] = now.Add(max(Silence(c.announceEvery()), c.cfg.Promise))
	}
	return c.deadline()
}

func (c *Core) announceEvery() time.Duration {
	return AnnounceEvery(c.cfg.Delta, c.round.Patience())
}

// Tell tells one node who leads the current term.
func (c *Core) Tell(to proto.NodeID) { c.Send(to, c.round.Announcement(c.leader)) }

// TellAll tells every node believed alive who leads the current term.
func (c *Core) TellAll() { c.SendAll(c.round.Announcement(c.leader)) }

func (c *Core) leadership(l proto.Peer) proto.Leadership {
	return proto.Leadership{Term: c.term, Leader: l.ID, Incarnation: l.Incarnation}
}
