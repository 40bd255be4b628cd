package lease

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/proto"
)

// fencing is the state of a candidate between its election and its leadership. In that time the
// candidate has all former leaders fenced that were not seen to stop.
type fencing struct {
	former  []proto.Leadership // the former leaders that the voters named
	voters  []proto.NodeID     // who voted for this node in its term
	fenced  []proto.Leadership // the former leaders that have stopped, as the fence agent confirmed
	at      time.Time          // the next attempt begins at this time at the earliest
	target  proto.Leadership   // the former leader that the last attempt was for
	attempt int                // the number of the last attempt at this target
	asked   *algorithms.Fence
}

// heardOf adds former leaders that a voter names.
func (f *fencing) heardOf(from proto.NodeID, former []proto.Leadership) {
	if !slices.Contains(f.voters, from) {
		f.voters = append(f.voters, from)
	}
	for _, e := range former {
		if !slices.Contains(f.former, e) {
			f.former = append(f.former, e)
		}
	}
}

// running returns the former leaders that were not seen to stop. This node was seen to stop, and so were
// all nodes that voted for it in this term, since a node's work stops before it stands or votes.
// Processes that released the term, are proven dead or were fenced were seen to stop, too.
func (m *Machine) running() []proto.Leadership {
	f := &m.fencing
	var left []proto.Leadership
	if !m.cfg.Fence {
		return nil
	}
	for _, e := range f.former {
		switch {
		case e.Leader == m.cfg.Self:
		case slices.Contains(f.voters, e.Leader):
		case upTo(m.releases[e.Leader])(e):
		case m.voter.dead[e.Leader] == e.Incarnation:
		case slices.ContainsFunc(f.fenced, func(done proto.Leadership) bool { return upTo(done)(e) }):
		default:
			left = append(left, e)
		}
	}
	slices.SortFunc(left, proto.Leadership.Compare)
	return left
}

var (
	whyFenceFirst = reasons.Kind("fence-first",
		"a majority voted in term %d, but %s not seen to stop -> see to that first",
		algorithms.Unstopped{Former: 1})
	whyFormerStopped = reasons.Kind("former-stopped", "whoever led before has stopped -> lead",
		algorithms.Wins{Cause: algorithms.Self, Term: algorithms.Nobody})
	whyCallBack = reasons.Kind("call-back", "%d was seen to stop -> call the fence agent back",
		algorithms.Fences{Result: algorithms.FenceNoNeed, ID: 0, How: algorithms.Nobody})
	whyFence       = reasons.Kind("fence", "%d may lead term %d and was not seen to stop -> fence it, attempt %d")
	whyPromisesEnd = reasons.Kind("promises-end", "the promises were not renewed")
)

// mayTake acts once a majority has voted for this node: this node leads, or first has former leaders
// fenced.
func (m *Machine) mayTake() {
	s := &m.candidacy
	left := m.running()
	if len(left) == 0 {
		m.why(WhyLead, s.term)
		m.take()
		return
	}
	s.phase = securing
	m.fencing.at = m.now.Add(fenceDelay(m.cfg.Delta, m.above))
	m.why(whyFenceFirst, s.term, named(left))
}

// haveFenced asks the host to fence the first former leader that was not seen to stop. When no such
// leader is left, this node leads.
func (m *Machine) haveFenced() {
	f := &m.fencing
	left := m.running()
	if f.asked != nil && !slices.Contains(left, f.target) {
		m.why(whyCallBack, f.asked.ID)
		f.asked = nil
	}
	switch {
	case len(left) == 0:
		m.why(whyFormerStopped)
		m.take()
	case f.asked == nil && !m.now.Before(f.at):
		e := left[0]
		if e != f.target {
			f.target, f.attempt = e, 0
		}
		f.attempt++
		f.asked = &algorithms.Fence{
			ID: e.Leader, Incarnation: e.Incarnation, Term: e.Term,
			For: m.candidacy.term, Attempt: f.attempt,
			Reason: fmt.Sprintf("it may hold term %d and was not seen to stop", e.Term),
		}
		m.why(whyFence, e.Leader, e.Term, f.attempt)
	}
}

var (
	whyFencedLate = reasons.Kind("fenced-late", "attempt %d at %d for term %d came too late -> drop it")
	whyFenced     = reasons.Kind("fenced", "%d is fenced, %s -> it has stopped",
		algorithms.Fences{Result: algorithms.FenceDone, ID: 0, How: 1})
	whyNotFenced = reasons.Kind("not-fenced", "%d is not fenced, %s -> leave it to others to lead",
		algorithms.Fences{Result: algorithms.FenceFailed, ID: 0, How: 1})
	whyFenceAgain = reasons.Kind("fence-again", "%d is not fenced, %s -> do not lead, try again in %v",
		algorithms.Fences{Result: algorithms.FenceFailed, ID: 0, How: 1})
	whyFencesFailed = reasons.Kind("fences-failed", "%d attempts to fence %d failed")
)

// fenced handles the result of an attempt to fence. It drops the result of an attempt that was called
// back.
func (m *Machine) fenced(ev algorithms.Fenced) {
	f := &m.fencing
	if f.asked == nil || *f.asked != ev.Fence {
		m.why(whyFencedLate, ev.Fence.Attempt, ev.Fence.ID, ev.Fence.For)
		return
	}
	f.asked = nil
	done := proto.Leadership{Term: ev.Fence.Term, Leader: ev.Fence.ID, Incarnation: ev.Fence.Incarnation}
	if ev.OK {
		f.fenced = append(f.fenced, done)
		m.dirty = m.strike(upTo(done)) || m.dirty
		m.why(whyFenced, done.Leader, ev.Detail)
		return
	}
	m.out.Warn = true
	if f.attempt >= fenceAttempts {
		m.why(whyNotFenced, done.Leader, ev.Detail)
		m.giveUp(whyFencesFailed.Of(f.attempt, done.Leader),
			fencePause(m.cfg.Promise, m.cfg.Delta, len(m.voters)))
		return
	}
	pause := m.pause(f.attempt)
	f.at = m.now.Add(pause)
	m.why(whyFenceAgain, done.Leader, ev.Detail, pause.Round(time.Millisecond))
}

// named describes former leaders for a reason: "3 of term 1 was" or "3 of term 1, 4 of term 2 were".
func named(former []proto.Leadership) string {
	words := make([]string, len(former))
	for i, e := range former {
		words[i] = fmt.Sprintf("%d of term %d", e.Leader, e.Term)
	}
	if len(words) == 1 {
		return words[0] + " was"
	}
	return strings.Join(words, ", ") + " were"
}
