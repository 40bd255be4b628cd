package stoller

import (
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/nomination"
	"github.com/ringleader-dev/ringleader/proto"
)

// HaltTimeout returns how long a process that sent NOT_NORM waits for HALT: the way of NOT_NORM, the way
// of HALT, and the way of one message more, since the asked process may see another process above
// itself.
func HaltTimeout(delta time.Duration) time.Duration { return 3 * delta }

// AckTimeout returns how long a candidate waits before it sends HALT again: the way of HALT and the way
// of ACK.
func AckTimeout(delta time.Duration) time.Duration { return 2 * delta }

// LeaderTimeout returns how long a halted process waits for LEADER. It adds the way of this process's
// ACK, the time to repeat a lost HALT and ACK, and the way of LEADER.
func LeaderTimeout(delta time.Duration) time.Duration {
	return delta + AckTimeout(delta) + 2*delta
}

// Patience bounds a whole round without failures: NOT_NORM, HALT, ACK, LEADER.
func Patience(delta time.Duration, _ int) time.Duration { return 4 * delta }

// phase says how far this node has come in the round of the current term.
type phase int

const (
	idle    phase = iota // no part yet, or the round is over
	asking               // NOT_NORM sent to the highest, no HALT so far
	halting              // HALT sent to all, ACKs to come
	waiting              // halted, no LEADER so far
)

// round is one node's part in Stoller's bully. It is the nomination.Round of core.
type round struct {
	core  nomination.Core
	phase phase
	again bool       // asking, waiting: this node has asked once more
	top   proto.Peer // asking: who was asked; waiting: who halted this node
	// halted is used while halting: it has each process that this node sent HALT to, and says whether
	// that process has answered ACK. acks counts the processes that have answered.
	halted map[proto.NodeID]bool
	acks   int
	aside  map[proto.NodeID]bool // processes that are no candidates in this term
}

// New returns the Machine of the node that cfg describes.
func New(cfg algorithms.Config) algorithms.Machine {
	r := &round{halted: map[proto.NodeID]bool{}, aside: map[proto.NodeID]bool{}}
	r.core.Init(cfg, r)
	return &r.core
}

func (r *round) Heard(proto.Message)     { r.Reset() }
func (r *round) Patience() time.Duration { return Patience(r.core.Delta(), r.core.Size()) }
func (r *round) Question() proto.Body    { return NotNorm{Self: r.core.Self()} }
func (r *round) Announcement(leader proto.Peer) proto.Body {
	return Leads{Leader: leader}
}

func (r *round) Reset() {
	r.enter(idle, proto.Peer{})
	clear(r.aside)
}

func (r *round) enter(p phase, top proto.Peer) {
	r.phase, r.top, r.again, r.acks = p, top, false, 0
	clear(r.halted)
}

var whyHighest = reasons.Kind("highest", "no higher node is alive")

// Begin starts this node's part in an election.
//
// After Garcia-Molina, stage 1: whoever sees a higher process gives it the chance to
// lead.
func (r *round) Begin() {
	if top := r.highest(); top.ID != 0 {
		r.ask(top)
		return
	}
	r.halt(whyHighest.Of())
}

// highest returns the highest-ranked eligible process above this node; nobody if no such process is
// above this node.
func (r *round) highest() proto.Peer {
	top, found := r.core.Self(), proto.Peer{}
	r.core.Peers(func(p proto.Peer) {
		if !p.Ineligible && !r.aside[p.ID] && p.Above(top) {
			top, found = p, p
		}
	})
	return found
}

var whyAskHighest = reasons.Kind("ask-highest", "%d is the highest -> ask it to stand",
	algorithms.Outranks(algorithms.Self, 0)).
	Follows("(after Garcia-Molina) whoever sees a higher process gives it the chance to lead")

// ask asks a higher node to become a candidate.
func (r *round) ask(top proto.Peer) {
	r.core.Why(whyAskHighest, top.ID)
	r.await(top)
	r.core.Send(top.ID, r.Question())
}

// await waits for the HALT of a higher node.
func (r *round) await(top proto.Peer) {
	r.enter(asking, top)
	r.core.SetTimer(HaltTimeout(r.core.Delta()))
}

var whyHalt = reasons.Kind("halt", "%s -> halt all others").
	Follows("(after Stoller) the candidate halts all below it")

// halt sends HALT to all other nodes: those that rank below this node, and those that are not eligible,
// because one of them may still lead.
//
// After Stoller, stage 2: the candidate halts all below it.
func (r *round) halt(reason algorithms.Reason) {
	if r.core.Spent(reason) {
		return
	}
	r.enter(halting, proto.Peer{})
	if r.core.Size() > 1 {
		r.core.Why(whyHalt, reason)
	}
	r.haltWhere(func(*proto.Peer) bool { return true })
	r.leadIfAll(reason)
}

// haltWhere sends HALT to the processes that wanted accepts, and waits for their ACKs.
func (r *round) haltWhere(wanted func(*proto.Peer) bool) {
	r.core.SendWhere(Halt{Candidate: r.core.Self()}, func(p *proto.Peer) bool {
		if !wanted(p) {
			return false
		}
		if _, asked := r.halted[p.ID]; !asked {
			r.halted[p.ID] = false
		}
		return true
	})
	r.core.SetTimer(AckTimeout(r.core.Delta()))
}

// leadIfAll makes this node lead once all other living processes have stopped.
//
// After Stoller: nobody leads before every process below it has stopped or is dead, so
// that none of them leads, or may come to lead.
func (r *round) leadIfAll(reason algorithms.Reason) {
	all := r.acks >= r.core.Size()-1
	if !all {
		return
	}
	r.core.Peers(func(p proto.Peer) { all = all && r.halted[p.ID] })
	if all {
		r.core.Win(reason)
	}
}

// Won announces this node to all.
func (r *round) Won() {
	r.Reset()
	r.core.TellAll()
}

var (
	whyHaltAgain = reasons.Kind("halt-again", "ACKs are missing -> send HALT again").
			Follows("(after Stoller) only the failure detector ends the wait for an answer, " +
			"no time that passes does")
	whyAskHigher = reasons.Kind("ask-higher", "no HALT came in time -> ask all that are higher")
	whyNoHalt    = reasons.Kind("no-halt", "no HALT came in time", algorithms.Caused(algorithms.RoundFailed))
	whyAskLeader = reasons.Kind("ask-leader", "no LEADER came in time -> ask %d")
	whyNoLeader  = reasons.Kind("no-leader", "no LEADER came in time", algorithms.Caused(algorithms.RoundFailed))
)

// Timeout handles the end of a wait. Only the failure detector ends the wait for an ACK.
func (r *round) Timeout() {
	switch {
	case r.phase == halting:
		r.core.Why(whyHaltAgain)
		r.haltWhere(func(p *proto.Peer) bool { return !r.halted[p.ID] })
	case r.phase == asking && !r.again:
		r.core.Why(whyAskHigher)
		r.again = true
		r.core.SendWhere(r.Question(), func(p *proto.Peer) bool { return p.Above(r.core.Self()) })
		r.core.SetTimer(HaltTimeout(r.core.Delta()))
	case r.phase == asking:
		r.core.Call(whyNoHalt.Of())
	case r.phase == waiting && !r.again:
		r.core.Why(whyAskLeader, r.top.ID)
		r.again = true
		r.core.Send(r.top.ID, r.Question())
		r.core.SetTimer(LeaderTimeout(r.core.Delta()))
	case r.phase == waiting:
		r.core.Call(whyNoLeader.Of())
	}
}

// PeersChanged stops waiting for processes that the failure detector calls dead.
func (r *round) PeersChanged([]proto.Peer) {
	switch r.phase {
	case idle:
	case asking:
		r.stillAsking(r.core.Out(r.top))
	case waiting:
		// After Stoller: whoever waits for a process that dies begins anew.
		if r.core.Out(r.top) {
			r.core.CallWithout(r.top)
		}
	case halting:
		r.stillHalting()
	}
}

var whyNoneStands = reasons.Kind("none-stands", "no higher node stands any more")

// stillAsking asks the next higher node if out says that the asked node cannot win. It makes this node a
// candidate if no higher node is left.
func (r *round) stillAsking(out bool) {
	switch top := r.highest(); {
	case top.ID == 0:
		r.halt(whyNoneStands.Of())
	case out:
		r.ask(top)
	}
}

var whyStoppedOrDead = reasons.Kind("stopped-or-dead", "all others have stopped or are dead").
	Follows(allStopped)

// stillHalting halts nodes that joined, or gives way to a higher node. It leads once all remaining
// nodes have answered.
func (r *round) stillHalting() {
	if top := r.highest(); top.ID != 0 {
		r.ask(top)
		return
	}
	joined := func(p *proto.Peer) bool {
		_, asked := r.halted[p.ID]
		return !asked
	}
	r.haltWhere(joined)
	r.leadIfAll(whyStoppedOrDead.Of())
}
