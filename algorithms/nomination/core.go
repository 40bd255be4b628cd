package nomination

import (
	"slices"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/proto"
)

// nobody is the leader of a term that has none.
var nobody proto.Peer

// zeroTime stops a timer.
var zeroTime time.Time

// timer is one of the Core's alarm clocks.
type timer int

const (
	timerRound    timer = iota // the Round's own
	timerCampaign              // call the election that was put off
	timerPreempt               // take over from a lower-ranked leader
	timerAnnounce              // repeat who leads
	timerSilence               // the leader has not been heard of
	timerOffer                 // the successor did not answer
	timerKeep                  // the round is over: write its term down
	numTimers
)

// Core is a node's state under the shared rules. Its exported methods other
// than Step are for the Round, within a Step.
//
// Invariants, between Steps:
//  1. term never falls, and is never above what is reserved.
//  2. leader is of term; a term this node adopts begins with nobody.
//  3. leader nobody implies a timer running, but for a node that stands aside
//     before the first term.
//  4. timerAnnounce runs exactly while this node leads, timerSilence while
//     another does, or nobody and this node stands aside.
//  5. timerKeep runs while a leader is known whose term is not written down.
//  6. floor is the epoch of leader, or of the last one before it.
type Core struct {
	cfg    algorithms.Config
	round  Round
	roster roster
	damper damper

	term     proto.Term
	saved    algorithms.State // durable, or in the Output of this Step
	spent    proto.Term       // the last term this node must not stand in
	bound    proto.Term       // the last that a former life may have taken part in
	self     proto.Peer       // with the attribute frozen for the term
	leader   proto.Peer
	former   proto.Peer // the leader whose loss this node's own round is about
	floor    proto.Epoch
	heard    time.Time         // of the leader itself, or of its election
	doubt    bool              // the leader is silent, the others were asked
	passed   proto.Term        // in which a hand-over was passed on
	resigned bool              // asked to: follow, never stand
	barred   string            // why the host does not let this node stand, "" if it does
	reason   algorithms.Reason // of the election that timerCampaign will call
	fresh    bool              // just started: does not know what happened so far
	offer    offer             // of a transfer
	jumps    jumps
	views    uint64 // how many were taken

	timers [numTimers]time.Time

	// The Step in progress.
	now    time.Time
	out    algorithms.Output
	outbox *algorithms.Outbox
}

// Init makes c ready for its first Step. round is the algorithm's own part.
func (c *Core) Init(cfg algorithms.Config, round Round) {
	c.cfg = cfg
	c.round = round
	c.roster = roster{self: cfg.Self, dead: map[proto.NodeID]death{}}
	c.damper = newDamper(cfg.Delta, cfg.Seed)
	c.self = proto.Peer{ID: cfg.Self, Session: cfg.Session}
	if c.outbox = cfg.Outbox; c.outbox == nil {
		c.outbox = &algorithms.Outbox{}
	}
}

// Step is the Machine's Step.
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

// listen waits for a leader to be heard of before a starting node calls an election.
func (c *Core) listen() {
	c.callAt(c.now.Add(StartDelay(c.cfg.Delta)), whyStart.Of())
}

// timeout runs what is due. A spurious Timeout finds nothing due.
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

// campaignDue calls the election that was put off. A starting node that sees
// a better one yields to it once; one that has no view yet listens on.
func (c *Core) campaignDue() {
	if c.fresh && c.views == 0 {
		c.listen()
		return
	}
	yield := c.fresh && !c.isBest()
	c.fresh = false
	if yield {
		wait := YieldDelay(c.cfg.Delta) + c.damper.jitter(c.cfg.Delta)
		c.callAt(c.now.Add(wait), whyNotYielded.Of())
		return
	}
	c.Call(c.reason)
}

var (
	whyKeptOn = reasons.Kind("kept-on", "%s, and others do not stand either")
	whyChosen = reasons.Kind("chosen", "%s, and an operator chose this node",
		algorithms.Caused(algorithms.SplitMended))
	whyNotEligibleToCall = reasons.Kind("not-eligible-to-call", "%s, but this node is not eligible: %s -> do not stand")
	whyUnderWay          = reasons.Kind("under-way", "%s -> an election is under way already")
)

// campaign is the operator's wish: it ends standing aside and is not damped.
func (c *Core) campaign(ev algorithms.Campaign) {
	switch {
	case c.barred != "" && ev.Anew && c.Leading(): // it is to keep what it has
		c.adopt(max(c.term, c.spent) + 1)
		c.Win(whyKeptOn.Of(called(ev)))
		return
	case c.barred == "" && ev.Anew && c.Leading() && c.leader.Attr == proto.ChosenAttr:
		c.leadChosen(whyChosen.Of(called(ev)))
		return
	case c.barred != "":
		c.Why(whyNotEligibleToCall, called(ev), c.barred)
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
	whyAskedByMending = reasons.Kind("asked-by-mending", "%s", algorithms.Caused(algorithms.SplitMended)).
				Follows("4. Re-elect single leader")
	whyAsked = reasons.Kind("asked", "%s", algorithms.Caused(algorithms.Operator))
)

// called is why an election is called: on an operator's wish, in whose words, or since a
// split brain was mended, which a Machine around this one says.
func called(ev algorithms.Campaign) algorithms.Reason {
	if ev.Anew {
		return whyAskedByMending.Of(ev.Reason)
	}
	return whyAsked.Of(ev.Reason)
}

var whyNoResult = reasons.Kind("no-result", "the round brought no leader", algorithms.Caused(algorithms.RoundFailed))

// keepLooking holds invariant 3: whatever happened, a node without a leader
// does not wait for ever. One that stands aside asks who leads, now and then.
func (c *Core) keepLooking() {
	switch {
	case !c.Looking():
	case c.Aside():
		if c.term > 0 && c.timers[timerSilence].IsZero() {
			c.timers[timerSilence] = c.now.Add(Silence(c.announceEvery()))
		}
	case !c.TimerRuns() && c.timers[timerCampaign].IsZero():
		c.callAt(c.now.Add(c.damper.jitter(2*c.round.Patience())), whyNoResult.Of())
	}
}

// keep writes the current term down, and reserves the one after it.
func (c *Core) keep() {
	c.saved.Term, c.saved.Reserved = c.term, c.term+1
	save := c.saved
	c.out.Save = &save
}

// output completes the Output of the Step. A term that is not reserved cannot
// wait to be written down.
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
	for _, at := range c.timers {
		if !at.IsZero() && (c.out.Deadline.IsZero() || at.Before(c.out.Deadline)) {
			c.out.Deadline = at
		}
	}
	c.out.Leader = algorithms.Leader{ID: c.leader.ID, Session: c.leader.Session, Term: c.term}
	c.out.Ineligible = c.barred
	c.out.Send = c.outbox.Lend(c.out.Send)
	out := c.out
	c.out = algorithms.Output{}
	return out
}

var (
	whyAsideCall = reasons.Kind("aside-call", "%s -> stand aside, others call the election")
	whyDamped    = reasons.Kind("damped", "%s -> wait %v, %d rounds called of late")
)

// Call calls an election of the next term for the given reason, now or, if
// this node called too many of late, after a pause.
func (c *Core) Call(reason algorithms.Reason) {
	if c.Aside() {
		c.Why(whyAsideCall, reason)
		return
	}
	if at := c.damper.next(c.now); at.After(c.now) {
		c.Why(whyDamped,
			reason, at.Sub(c.now).Round(time.Millisecond), c.damper.series)
		c.callAt(at, reason)
		return
	}
	c.callNow(reason)
}

var whyCall = reasons.Kind("call", "%s -> call an election of term %d", algorithms.Opens{Cause: 0, Term: 1})

// callNow calls an election of the next term.
func (c *Core) callNow(reason algorithms.Reason) {
	next := c.nextTerm()
	c.Why(whyCall, reason, next)
	c.begin(next)
}

// callAt puts an election off.
func (c *Core) callAt(at time.Time, reason algorithms.Reason) {
	c.timers[timerCampaign], c.reason = at, reason
}

// begin opens the next term, which it is given, with an own round.
func (c *Core) begin(next proto.Term) {
	c.damper.called(c.now)
	c.fresh = false
	lost := c.former
	c.adopt(next)
	c.former = lost
	c.round.Begin()
}

// nextTerm is the term of this node's next own round. The best node takes one in
// which it may stand. Another only asks, and need not leap over a term that the
// best may be taking at this moment.
func (c *Core) nextTerm() proto.Term {
	if c.isBest() {
		return max(c.term, c.spent) + 1
	}
	return c.term + 1
}

// isBest reports whether nobody in the view ranks above this node.
func (c *Core) isBest() bool {
	best, ok := c.roster.best(0)
	return !ok || c.self.Rank().Compare(best.Rank()) > 0
}

// adopt enters a higher term: the round's state is forgotten, the ranks are
// frozen anew.
func (c *Core) adopt(t proto.Term) {
	c.dropTransfer()
	c.term, c.leader = t, nobody
	c.former = nobody
	c.timers = [numTimers]time.Time{}
	c.roster.freeze()
	c.self.Attr = c.roster.own
	c.round.Reset()
}

// Win makes this node the leader of the current term.
func (c *Core) Win(reason algorithms.Reason) {
	c.WinAs(c.self, reason)
}

var whyLead = reasons.Kind("lead", "%s -> lead term %d", algorithms.Wins{Cause: 0, Term: 1})

// WinAs is Win for a node that stood with another rank than its own: one that was
// asked to lead, see Stander.
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

// assume lets this node, which was asked to lead, lead the current term, or stand for
// it where that takes more.
func (c *Core) assume(self proto.Peer) {
	if s, ok := c.round.(Stander); ok {
		c.Why(whyStand, c.term)
		s.Stand(self)
		return
	}
	c.WinAs(self, whyAskedToLead.Of())
}

// lead makes this node the leader of the current term, with the rank that others
// are told.
func (c *Core) lead(self proto.Peer) {
	c.settle(self)
	c.timers[timerAnnounce] = c.now.Add(c.announceEvery())
	c.round.Won()
}

// settle ends the search: l leads the current term.
func (c *Core) settle(l proto.Peer) {
	l.Ineligible = false // it leads
	c.leader, c.former, c.fresh = l, nobody, false
	c.floor, c.heard, c.doubt = c.epoch(l), c.now, false
	c.timers = [numTimers]time.Time{}
	c.timers[timerKeep] = c.now.Add(c.round.Patience())
}

// lose ends the leadership of another: it is gone.
func (c *Core) lose(reason algorithms.Reason) {
	c.leader, c.former = nobody, c.leader
	c.spend()
	c.timers[timerPreempt], c.timers[timerSilence] = zeroTime, zeroTime
	c.Call(reason)
}

// spend gives up standing in the current term.
func (c *Core) spend() { c.spent = max(c.spent, c.term) }

// Why records a reason.
func (c *Core) Why(kind *algorithms.ReasonKind, args ...any) {
	c.out.Why = append(c.out.Why, kind.Of(args...))
}

// Refuse records, as a warning, why a message was dropped that no correct node
// sends.
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

// SendWhere sends it to those that are wanted, nil meaning all, and returns to how
// many. A Peer is only lent.
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

// SetTimer makes the Round's Timeout due after d. It replaces the one before,
// and any election put off: the round's own timeouts lead on from here.
func (c *Core) SetTimer(d time.Duration) {
	c.timers[timerRound], c.timers[timerCampaign] = c.now.Add(d), zeroTime
}

// TimerRuns reports whether the Round's Timeout is to come.
func (c *Core) TimerRuns() bool { return !c.timers[timerRound].IsZero() }

// StopTimer takes the Round's Timeout back.
func (c *Core) StopTimer() { c.timers[timerRound] = time.Time{} }

// Now is the time of the Step.
func (c *Core) Now() time.Time { return c.now }

// Delta is the planned worst-case one-way latency.
func (c *Core) Delta() time.Duration { return c.cfg.Delta }

// Term is the current term.
func (c *Core) Term() proto.Term { return c.term }

// Self is this process with its rank for the term.
func (c *Core) Self() proto.Peer { return c.self }

// Leader is who leads the current term, the zero Peer for nobody.
func (c *Core) Leader() proto.Peer { return c.leader }

// Former is the leader whose loss called this node's own round, the zero Peer
// for none.
func (c *Core) Former() proto.Peer { return c.former }

// Vouches reports whether this node has heard enough of the leader, of late, to
// tell others that it leads.
func (c *Core) Vouches() bool {
	return c.Leading() || !c.Looking() && c.now.Sub(c.heard) <= 2*c.announceEvery()
}

// Looking reports whether nobody is known to lead the current term.
func (c *Core) Looking() bool { return c.leader.ID == 0 }

// Leading reports whether this node leads.
func (c *Core) Leading() bool { return c.leader.ID == c.cfg.Self }

// Aside reports whether this node follows and never stands: it was asked to
// resign, or is not eligible.
func (c *Core) Aside() bool { return c.resigned || c.barred != "" }

// Out reports whether this process cannot win the current term, as far as this
// node knows: it left the view in it, or does not stand.
func (c *Core) Out(p proto.Peer) bool {
	known, ok := c.roster.find(p.ID)
	return c.Dead(p) || ok && known.Is(p) && known.Ineligible
}

// MayStand reports whether this node may become the leader of the current
// term: it does not stand aside, no former life of it can have taken part in the
// term, its start did not fall into it, and its leader, if any, was not lost.
func (c *Core) MayStand() bool { return !c.Aside() && c.term > c.spent }

// MayVote reports whether this node may take part in deciding the current term by a
// quorum: no former life of it can have. What is reserved is durable before any message
// of a term leaves, so whatever a former life said was of a term up to that.
func (c *Core) MayVote() bool { return c.term > c.bound }

// Peers calls f for each other process believed alive, in the order of ids.
func (c *Core) Peers(f func(proto.Peer)) {
	for p := range c.roster.all() {
		f(*p)
	}
}

// Lists reports whether a process of this node, be it another life of it, is
// believed alive.
func (c *Core) Lists(id proto.NodeID) bool {
	_, ok := c.roster.find(id)
	return ok
}

// Dead reports whether this process left the view in the current term.
func (c *Core) Dead(p proto.Peer) bool { return c.roster.diedIn(p, c.term) }

// View counts the views taken so far: it changes when Peers may have.
func (c *Core) View() uint64 { return c.views }

// Size is the number of nodes believed alive, this one included.
func (c *Core) Size() int { return c.roster.others + 1 }
