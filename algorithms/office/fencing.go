package office

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/proto"
)

// fencing is what a candidacy does between the grant of a term and the office:
// it has every former holder stopped that was not seen to stop.
type fencing struct {
	former   []proto.Epoch  // as the voters that granted this term name them
	granters []proto.NodeID // of this term
	fenced   []proto.Epoch  // the agent confirmed that they have stopped
	at       time.Time      // not before
	target   proto.Epoch    // of the last attempt
	attempt  int            // at it
	asked    *algorithms.Fence
}

// heardOf adds former holders that a voter names.
func (f *fencing) heardOf(from proto.NodeID, former []proto.Epoch) {
	if !slices.Contains(f.granters, from) {
		f.granters = append(f.granters, from)
	}
	for _, e := range former {
		if !slices.Contains(f.former, e) {
			f.former = append(f.former, e)
		}
	}
}

// running are the former holders that were not seen to stop. Seen are: this very
// node, whose work stops before it stands; whoever granted this term, for the
// same reason; who released the term, or is proven dead, or fenced.
func (m *Machine) running() []proto.Epoch {
	f := &m.fencing
	var left []proto.Epoch
	if !m.Cfg.Fence {
		return nil
	}
	for _, e := range f.former {
		switch {
		case e.Leader == m.Cfg.Self:
		case slices.Contains(f.granters, e.Leader):
		case upTo(m.releases[e.Leader])(e):
		case m.Voter.Dead[e.Leader] == e.Session:
		case slices.ContainsFunc(f.fenced, func(done proto.Epoch) bool { return upTo(done)(e) }):
		default:
			left = append(left, e)
		}
	}
	slices.SortFunc(left, proto.Epoch.Compare)
	return left
}

// mayTake takes the office that a majority granted, or has the former holders
// fenced first.
func (m *Machine) mayTake() {
	s := &m.Stand
	left := m.running()
	if len(left) == 0 {
		m.Why("a majority granted term %d -> hold the office", s.Term)
		m.take()
		return
	}
	s.Phase = fence
	m.fencing.at = m.Now.Add(fenceDelay(m.Cfg.Delta, m.above))
	m.Why("a majority granted term %d, but %s not seen to stop -> see to that first",
		s.Term, named(left))
}

// haveFenced sees to it that the agent is at the first who still runs. It takes
// the office when nobody is left.
func (m *Machine) haveFenced() {
	f := &m.fencing
	left := m.running()
	if f.asked != nil && !slices.Contains(left, f.target) {
		m.Why("%d was seen to stop -> call the fence agent back", f.asked.ID)
		f.asked = nil
	}
	switch {
	case len(left) == 0:
		m.Why("whoever held the office before has stopped -> hold the office")
		m.take()
	case f.asked == nil && !m.Now.Before(f.at):
		e := left[0]
		if e != f.target {
			f.target, f.attempt = e, 0
		}
		f.attempt++
		f.asked = &algorithms.Fence{
			ID: e.Leader, Session: e.Session, Term: e.Term,
			For: m.Stand.Term, Attempt: f.attempt,
			Reason: fmt.Sprintf("it may hold term %d and was not seen to stop", e.Term),
		}
		m.Why("%d may hold term %d and was not seen to stop -> fence it, attempt %d",
			e.Leader, e.Term, f.attempt)
	}
}

// fenced takes what came of an attempt. Of one that is not under way any more it
// says nothing: who was called back may have done it or not.
func (m *Machine) fenced(ev algorithms.Fenced) {
	f := &m.fencing
	if f.asked == nil || *f.asked != ev.Fence {
		m.Why("attempt %d at %d for term %d came too late -> drop it",
			ev.Fence.Attempt, ev.Fence.ID, ev.Fence.For)
		return
	}
	f.asked = nil
	done := proto.Epoch{Term: ev.Fence.Term, Leader: ev.Fence.ID, Session: ev.Fence.Session}
	if ev.OK {
		f.fenced = append(f.fenced, done)
		m.Dirty = m.strike(upTo(done)) || m.Dirty
		m.Why("%d is fenced, %s -> it has stopped", done.Leader, ev.Detail)
		return
	}
	m.Out.Warn = true
	if f.attempt >= fenceAttempts {
		m.Why("%d is not fenced, %s -> leave the office to others", done.Leader, ev.Detail)
		m.giveUp(fmt.Sprintf("%d attempts to fence %d failed", f.attempt, done.Leader),
			fencePause(m.Cfg.Promise, m.Cfg.Delta, len(m.Voters)))
		return
	}
	pause := m.Pause(f.attempt)
	f.at = m.Now.Add(pause)
	m.Why("%d is not fenced, %s -> do not take the office, try again in %v",
		done.Leader, ev.Detail, pause.Round(time.Millisecond))
}

// named is "3 of term 1 was" or "3 of term 1, 4 of term 2 were".
func named(former []proto.Epoch) string {
	words := make([]string, len(former))
	for i, e := range former {
		words[i] = fmt.Sprintf("%d of term %d", e.Leader, e.Term)
	}
	if len(words) == 1 {
		return words[0] + " was"
	}
	return strings.Join(words, ", ") + " were"
}
