package nomination

import (
	"slices"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/proto"
)

// nobody stands for the leader of a term that has none.
var nobody proto.Peer

// zeroTime is the time of a timer that does not run.
var zeroTime time.Time

// timer names one of the Core's timers.
type timer int

const (
	timerRound    timer = iota // the Round's own
	timerCampaign              // call the postponed election
	timerPreempt               // take over from a lower-ranked leader
	timerAnnounce              // repeat who leads
	timerSilence               // the leader has not been heard of
	timerOffer                 // the successor did not answer
	timerKeep                  // the round is over: write its term down
	numTimers
)

// Core is the state that one node has under the shared rules. It is the Machine. Its exported
// methods other than Step are for its Round, which calls them during a Step.
//
// Invariants, between Steps: 1. term never falls, and is never above the reserved term. 2. leader
// leads term. A newly adopted term has no leader. 3. If there is no leader, a timer runs, except on
// a node that stands aside before the first term. 4. timerAnnounce runs exactly while this node
// leads. timerSilence runs while another node leads, or while nobody leads and this node stands
// aside. 5. timerKeep runs while a leader is known whose term is not written to the disk. 6. floor
// is the leadership of leader, or of the last leader before it.
type Core struct {
	cfg     algorithms.Config
	round   Round
	roster  roster
	backOff backOff

	term       proto.Term
	saved      algorithms.State // what is on disk, or will be after this Step
	spent      proto.Term       // the last term in which this node must not stand
	raised     proto.Term       // this node calls elections of terms above this one; see Raise
	bound      proto.Term       // the last term that an earlier process of this node may have taken part in
	self       proto.Peer       // this process, with its attribute frozen for the term
	leader     proto.Peer
	former     proto.Peer // the lost leader because of which this node called its own round
	floor      proto.Leadership
	heard      time.Time         // when the leader, or its election, was last heard of
	doubt      bool              // the leader is silent, and this node has asked the others
	passed     proto.Term        // the last term in which this node passed on a hand-over
	resigned   bool              // the node was asked to resign: it only follows
	ineligible string            // why the host does not let this node stand, "" if it does
	reason     algorithms.Reason // why timerCampaign will call an election
	fresh      bool              // just started: does not know what happened so far
	offer      offer             // the transfer that was offered to a successor
	jumps      jumps
	views      uint64 // how many views were taken

	timers [numTimers]time.Time

	// The Step in progress.
	now    time.Time
	out    algorithms.Output
	outbox *algorithms.Outbox
}

// Init prepares c for its first Step. round is the algorithm's own part.
func (c *Core) Init(cfg algorithms.Config, round Round) {
	c.cfg = cfg
	c.round = round
	c.roster = roster{self: cfg.Self, dead: map[proto.NodeID]death{}}
	c.backOff = newBackOff(cfg.Delta, cfg.Seed)
	c.self = proto.Peer{ID: cfg.Self, Incarnation: cfg.Incarnation}
	if c.outbox = cfg.Outbox; c.outbox == nil {
		c.outbox = &algorithms.Outbox{}
	}
}

// Step implements algorithms.Machine.
func (c *Core) Step(now time.Time, ev algorithms.Event) algorithms.Output {
	c.now, c.out = now, algorithms.Output{Send: c.outbox.Empty()}
	switch ev := ev.(type) {
	case algorithms.Start:
		c.start(ev.Saved)
	case algorithms.Receive:
		c.receive(ev.Message)
	case algorithms.Timeout:
		c.timeout()
	case algorithms.PeersChanged:
		c.peersChanged(ev.Alive)
	case algorithms.Campaign:
		c.campaign(ev)
	case algorithms.Resign:
		c.resign(ev.To)
	case algorithms.Eligible:
		c.eligible(ev)
	case algorithms.Transfer:
		c.transfer(ev)
	}
	c.keepLooking()
	return c.output()
}

func (c *Core) start(saved algorithms.State) {
	c.term, c.saved, c.spent, c.bound = saved.Term, saved, saved.Reserved, saved.Reserved
	c.fresh = true
	c.listen()
}

var whyStart = reasons.Kind("start", "no leader was heard of", algorithms.Caused(algorithms.FirstLeader))

// listen makes a starting node wait for news of a leader before it calls an election.
func (c *Core) listen() {
	c.callAt(c.now.Add(StartDelay(c.cfg.Delta)), whyStart.Of())
}

// timeout handles every timer that is due. A spurious Timeout finds none.
func (c *Core) timeout() {
	for t := range numTimers {
		if due := c.timers[t]; due.IsZero() || due.After(c.now) {
			continue
		}
		c.timers[t] = time.Time{}
		switch t {
		case timerRound:
			c.round.Timeout()
		case timerCampaign:
			c.campaignDue()
		case timerPreempt:
			c.preempt()
		case timerAnnounce:
			c.announceAgain()
		case timerSilence:
			c.silence()
		case timerOffer:
			c.endTransfer(c.offer.to.ID, c.refusing(c.offer.to.ID).Silent())
		case timerKeep:
			c.keep()
		}
	}
}

var whyNotYielded = reasons.Kind("not-yielded", "no better node called an election",
	algorithms.Caused(algorithms.FirstLeader))

// campaignDue calls the postponed election. A starting node waits once more if its view has a better
// node, or if it has no view yet.
func (c *Core) campaignDue() {
	if c.fresh && c.views == 0 {
		c.listen()
		return
	}
	yield := c.fresh && !c.isBest()
	c.fresh = false
	if yield {
		wait := YieldDelay(c.cfg.Delta) + c.backOff.jitter(c.cfg.Delta)
		c.callAt(c.now.Add(wait), whyNotYielded.Of())
		return
	}
	c.Call(c.reason)
}

var (
	whyKeptOn = reasons.Kind("kept-on", "%s, and others do not stand either")
	whyChosen = reasons.Kind("chosen", "%s, and an operator chose this node",
		algorithms.Caused(algorithms.SplitRecovered))
	whyNotEligibleToCall = reasons.Kind("not-eligible-to-call", "%s, but this node is not eligible: %s -> do not stand")
	whyUnderWay          = reasons.Kind("under-way", "%s -> an election is under way already")
)

// campaign handles an operator's request to call an election. The request ends a resignation, and the
// node calls the election without a back-off.
func (c *Core) campaign(ev algorithms.Campaign) {
	switch {
	case c.ineligible != "" && ev.Anew && c.Leading(): // it is to keep what it has
		c.adopt(max(c.term, c.spent, c.raised) + 1)
		c.Win(whyKeptOn.Of(called(ev)))
		return
	case c.ineligible == "" && ev.Anew && c.Leading() && c.leader.Attr == proto.ChosenAttr:
		c.leadChosen(whyChosen.Of(called(ev)))
		return
	case c.ineligible != "":
		c.Why(whyNotEligibleToCall, called(ev), c.ineligible)
		return
	}
	c.resigned = false
	if c.Looking() && c.TimerRuns() {
		c.Why(whyUnderWay, called(ev))
		return
	}
	c.callNow(called(ev))
}

var (
	whyAskedByRecovery = reasons.Kind("asked-by-recovery", "%s", algorithms.Caused(algorithms.SplitRecovered)).
				Follows("4. Re-elect single leader")
	whyAsked = reasons.Kind("asked", "%s", algorithms.Caused(algorithms.Operator))
)

// called returns the reason for an election: the recovery from a split brain, if an outer Machine asks
// for the election; otherwise an operator's request, in the operator's words.
func called(ev algorithms.Campaign) algorithms.Reason {
	if ev.Anew {
		return whyAskedByRecovery.Of(ev.Reason)
	}
	return whyAsked.Of(ev.Reason)
}

var whyNoResult = reasons.Kind("no-result", "the round brought no leader", algorithms.Caused(algorithms.RoundFailed))

// keepLooking ensures invariant 3: a node without a leader never waits for ever. A node that stands
// aside asks now and then who leads.
func (c *Core) keepLooking() {
	switch {
	case !c.Looking():
	case c.Aside():
		if c.term > 0 && c.timers[timerSilence].IsZero() {
			c.timers[timerSilence] = c.now.Add(Silence(c.announceEvery()))
		}
	case !c.TimerRuns() && c.timers[timerCampaign].IsZero():
		c.callAt(c.now.Add(c.backOff.jitter(2*c.round.Patience())), whyNoResult.Of())
	}
}

// keep writes the current term to the disk and reserves the next one.
func (c *Core) keep() {
	c.saved.Term, c.saved.Reserved = c.term, c.term+1
	save := c.saved
	c.out.Save = &save
}

// output completes the Output of the Step. It saves at once a term that is not reserved.
func (c *Core) output() algorithms.Output {
	if !c.Leading() {
		c.dropTransfer()
	}
	if c.term > c.saved.Reserved {
		c.keep()
	}
	if c.saved.Term == c.term {
		c.timers[timerKeep] = zeroTime
	}
	c.out.Deadline = c.deadline()
	c.out.Leader = algorithms.Leader{ID: c.leader.ID, Incarnation: c.leader.Incarnation, Term: c.term}
	c.out.Ineligible = c.ineligible
	c.out.Send = c.outbox.Lend(c.out.Send)
	out := c.out
	c.out = algorithms.Output{}
	return out
}

// deadline returns when the first timer runs out; zero if no timer runs.
func (c *Core) deadline() (first time.Time) {
	for _, at := range c.timers {
		if !at.IsZero() && (first.IsZero() || at.Before(first)) {
			first = at
		}
	}
	return first
}

var (
	whyAsideCall = reasons.Kind("aside-call", "%s -> stand aside, others call the election")
	whyDamped    = reasons.Kind("damped", "%s -> wait %v, %d rounds called of late")
)

// Call calls an election of the next term for this reason: now, or after the back-off if this node
// called too many elections lately.
func (c *Core) Call(reason algorithms.Reason) {
	if c.Aside() {
		c.Why(whyAsideCall, reason)
		return
	}
	if at := c.backOff.next(c.now); at.After(c.now) {
		c.Why(whyDamped,
			reason, at.Sub(c.now).Round(time.Millisecond), c.backOff.series)
		c.callAt(at, reason)
		return
	}
	c.callNow(reason)
}

var whyCall = reasons.Kind("call", "%s -> call an election of term %d", algorithms.Opens{Cause: 0, Term: 1})

// callNow calls an election of the next term at once.
func (c *Core) callNow(reason algorithms.Reason) {
	next := c.nextTerm()
	c.Why(whyCall, reason, next)
	c.begin(next)
}

// callAt plans to call an election at the time at.
func (c *Core) callAt(at time.Time, reason algorithms.Reason) {
	c.timers[timerCampaign], c.reason = at, reason
}

// begin starts the round of the term next, which this node calls.
func (c *Core) begin(next proto.Term) {
	c.backOff.called(c.now)
	c.fresh = false
	lost := c.former
	c.adopt(next)
	c.former = lost
	c.round.Begin()
}

// nextTerm returns the term of the next round that this node calls. The best node takes a term in which
// it may be a candidate. Any other node only asks the best node, so it takes the very next term: the
// best node may be taking the same term at this moment.
func (c *Core) nextTerm() proto.Term {
	if c.isBest() {
		return max(c.term, c.spent, c.raised) + 1
	}
	return max(c.term, c.raised) + 1
}

// isBest reports whether no other node in the view ranks above this node.
func (c *Core) isBest() bool {
	best, ok := c.roster.best(0)
	return !ok || c.self.Rank().Compare(best.Rank()) > 0
}

// adopt enters a higher term. It forgets the state of the round and freezes the ranks for the new
// term.
func (c *Core) adopt(t proto.Term) {
	c.dropTransfer()
	c.term, c.leader = t, nobody
	c.former = nobody
	c.timers = [numTimers]time.Time{}
	c.refreeze()
	c.round.Reset()
}

// refreeze freezes the ranks as they are now.
func (c *Core) refreeze() {
	c.roster.freeze()
	c.self.Attr = c.roster.own
}

// Win makes this node the leader of the current term.
func (c *Core) Win(reason algorithms.Reason) {
	c.WinAs(c.self, reason)
}

var whyLead = reasons.Kind("lead", "%s -> lead term %d", algorithms.Wins{Cause: 0, Term: 1})

// WinAs makes this node the leader of the current term with the rank of self. That rank differs from the
// node's own rank if an operator chose the node: see leadChosen.
func (c *Core) WinAs(self proto.Peer, reason algorithms.Reason) {
	c.Why(whyLead, reason, c.term)
	c.lead(self)
}

var (
	whyStand = reasons.Kind("stand", "asked to lead -> stand for term %d").
			Follows(timeoutNow)
	whyAskedToLead = reasons.Kind("asked-to-lead", "asked to lead").
			Follows(timeoutNow)
)

// assume makes this node, which was asked to lead, lead the current term. If a majority must agree,
// the node becomes a candidate of the term instead.
func (c *Core) assume(self proto.Peer) {
	if s, ok := c.round.(Candidacy); ok {
		c.Why(whyStand, c.term)
		s.Stand(self)
		return
	}
	c.WinAs(self, whyAskedToLead.Of())
}

// Contends reports whether this node is asking a majority of voters for the current term. Only a node
// whose Round is a Candidacy ever asks.
func (c *Core) Contends() bool {
	s, ok := c.round.(Candidacy)
	return ok && s.Contends()
}

// lead makes this node the leader of the current term. self has the rank that the node tells the others.
func (c *Core) lead(self proto.Peer) {
	c.settle(self)
	c.timers[timerAnnounce] = c.now.Add(c.announceEvery())
	c.round.Won()
}

// settle ends the search for a leader: process l leads the current term.
func (c *Core) settle(l proto.Peer) {
	l.Ineligible = false // it leads
	c.leader, c.former, c.fresh = l, nobody, false
	c.floor, c.heard, c.doubt = c.leadership(l), c.now, false
	c.timers = [numTimers]time.Time{}
	c.timers[timerKeep] = c.now.Add(c.round.Patience())
}

// lose ends the belief in the leader, which is another node and is lost, and calls an election.
func (c *Core) lose(reason algorithms.Reason) {
	c.leader, c.former = nobody, c.leader
	c.spend()
	c.timers[timerPreempt], c.timers[timerSilence] = zeroTime, zeroTime
	c.succeed(reason)
}

// succeed calls an election, unless the Round leaves that to another node at first.
func (c *Core) succeed(reason algorithms.Reason) {
	if s, ok := c.round.(Succession); ok && !c.Aside() {
		c.refreeze() // who is next in line, as it will be in the next term
		if s.Lost(reason) {
			return
		}
	}
	c.Call(reason)
}

// spend makes sure that this node is never a candidate of the current term again.
func (c *Core) spend() { c.spent = max(c.spent, c.term) }

// Why adds a reason to the Output of the Step.
func (c *Core) Why(kind *algorithms.ReasonKind, args ...any) {
	c.out.Why = append(c.out.Why, kind.Of(args...))
}

// Refuse adds the reason why a message was dropped, and marks it as a warning: no correct node
// sends such a message.
func (c *Core) Refuse(kind *algorithms.ReasonKind, args ...any) {
	c.Why(kind, args...)
	c.out.Warn = true
}

// Send sends a message of the current term.
func (c *Core) Send(to proto.NodeID, body proto.Body) {
	c.out.Send = append(c.out.Send, proto.Message{
		From: c.cfg.Self, To: to, Term: c.term, Body: body,
	})
}

// SendAll sends a message of the current term to each other process believed alive.
func (c *Core) SendAll(body proto.Body) {
	c.SendWhere(body, nil)
}

// SendWhere sends a message of the current term to each other process believed alive that the function
// wanted accepts, and returns to how many it sent. If wanted is nil, it sends to all. wanted must not
// keep the Peer after it returns.
func (c *Core) SendWhere(body proto.Body, wanted func(*proto.Peer) bool) (sent int) {
	send := slices.Grow(c.out.Send, c.roster.others)
	m := proto.Message{From: c.cfg.Self, Term: c.term, Body: body}
	for p := range c.roster.all() {
		if wanted == nil || wanted(p) {
			send = algorithms.AppendTo(send, &m, p.ID)
		}
	}
	sent = len(send) - len(c.out.Send)
	c.out.Send = send
	return sent
}

// SetTimer makes the Round's Timeout due after d. It replaces the timer set before, and cancels a
// postponed election: from now on the round's own timeouts lead to the next election.
func (c *Core) SetTimer(d time.Duration) {
	c.timers[timerRound], c.timers[timerCampaign] = c.now.Add(d), zeroTime
}

// TimerRuns reports whether the timer of the Round runs.
func (c *Core) TimerRuns() bool { return !c.timers[timerRound].IsZero() }

// StopTimer stops the timer of the Round.
func (c *Core) StopTimer() { c.timers[timerRound] = time.Time{} }

// Now returns the time of the Step.
func (c *Core) Now() time.Time { return c.now }

// Delta returns the planned worst-case one-way latency.
func (c *Core) Delta() time.Duration { return c.cfg.Delta }

// Term returns the current term.
func (c *Core) Term() proto.Term { return c.term }

// Self returns this process, with the rank that it has in the current term.
func (c *Core) Self() proto.Peer { return c.self }

// Leader returns the leader of the current term; the zero Peer if there is none.
func (c *Core) Leader() proto.Peer { return c.leader }

// Former returns the lost leader because of which this node called the present round; the zero Peer if
// there is none.
func (c *Core) Former() proto.Peer { return c.former }

// Vouches reports whether this node leads, or has heard of the leader so recently that it may tell
// others who leads.
func (c *Core) Vouches() bool {
	return c.Leading() || !c.Looking() && c.now.Sub(c.heard) <= 2*c.announceEvery()
}

// Looking reports whether this node knows no leader of the current term.
func (c *Core) Looking() bool { return c.leader.ID == 0 }

// Leading reports whether this node leads.
func (c *Core) Leading() bool { return c.leader.ID == c.cfg.Self }

// Aside reports whether this node only follows: it was asked to resign, or is not eligible.
func (c *Core) Aside() bool { return c.resigned || c.ineligible != "" }

// Out reports whether the process p cannot win the current term, as far as this node knows: p left the
// view during the term, or is not eligible.
func (c *Core) Out(p proto.Peer) bool {
	known, ok := c.roster.find(p.ID)
	return c.Dead(p) || ok && known.Is(p) && known.Ineligible
}

// MayStand reports whether this node may become the leader of the current term. It may not if it
// stands aside, if an earlier process of it may have taken part in the term, if it started during
// the term, or if it lost the term's leader.
func (c *Core) MayStand() bool { return !c.Aside() && c.term > c.spent }

// MayVote reports whether this node may vote where a quorum decides the current term. It may if no
// earlier process of it can have voted in the term. An earlier process sent messages only of terms that
// were reserved on the disk.
func (c *Core) MayVote() bool { return c.term > c.bound }

// Peers calls f for each other process believed alive, in the order of ids.
func (c *Core) Peers(f func(proto.Peer)) {
	for p := range c.roster.all() {
		f(*p)
	}
}

// Lists reports whether a process of the other node id is believed alive.
func (c *Core) Lists(id proto.NodeID) bool {
	_, ok := c.roster.find(id)
	return ok
}

// Dead reports whether this process left the view during the current term.
func (c *Core) Dead(p proto.Peer) bool { return c.roster.diedIn(p, c.term) }

// View returns how many views there were so far. As long as View does not change, the processes of Peers
// do not change either.
func (c *Core) View() uint64 { return c.views }

// Size returns the number of nodes believed alive, this one included.
func (c *Core) Size() int { return c.roster.others + 1 }
