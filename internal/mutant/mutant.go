// Package mutant makes Machines that lack a rule, out of Machines that have it.
//
// It changes no algorithm. A Machine around the real one watches what that one is told and does, and does in
// addition what a process without the rule would do: it passes on what the rule dropped, counts the silence of
// a voter as its vote, or takes a detector's opinion for a proof. The mutants of an algorithm are in the package
// without in its folder. Only the simulator makes them: no node leads there.
package mutant

import (
	"slices"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/proto"
)

// Rule is a rule of the lecture notes that can be left out.
type Rule struct {
	Name     string
	Sentence string // of the lecture notes
	Of       string // what has the rule, in words
	Prevents string
	// Takes returns the Machine without the rule. Nil is for a rule of the store.
	Takes func(algorithms.Config, algorithms.Machine) algorithms.Machine
	Story string // a scenario that shows the harm
}

// Machine is a Machine without a rule.
type Machine struct {
	algorithms.Machine
	Self proto.NodeID
	// Undo does, after each Step of the real Machine, what a process without the rule would do in addition.
	Undo func(now time.Time, ev algorithms.Event, out *algorithms.Output)
	// Hides reports whether the real Machine gets a Timeout that is not due, in place of the event. Nil hides
	// nothing.
	Hides func(algorithms.Event) bool

	View   []proto.Peer // the last view, this process included
	Gone   []proto.Peer // who left the view in this Step
	Leader proto.NodeID // whom this process believed to lead after its last Step

	saved algorithms.State // what is on the disk
}

// Step implements algorithms.Machine.
func (m *Machine) Step(now time.Time, ev algorithms.Event) algorithms.Output {
	m.Gone = nil
	switch ev := ev.(type) {
	case algorithms.Start:
		m.saved = ev.Saved
	case algorithms.PeersChanged:
		for _, p := range m.View {
			if !slices.ContainsFunc(ev.Alive, p.Is) {
				m.Gone = append(m.Gone, p)
			}
		}
		m.View = slices.Clone(ev.Alive)
	}
	real := ev
	if m.Hides != nil && m.Hides(ev) {
		real = algorithms.Timeout{}
	}
	out := m.Machine.Step(now, real)
	m.Undo(now, ev, &out)
	m.Leader = out.Leader.ID
	if out.Save != nil {
		m.saved = *out.Save
	}
	return out
}

// Reserve saves that this process takes part in a term that the real Machine has not entered.
func (m *Machine) Reserve(t proto.Term, out *algorithms.Output) {
	if t > m.saved.Reserved && out.Save == nil {
		save := m.saved
		save.Reserved, out.Save = t, &save
	}
}

// Also lets the real Machine take one more event in the same Step.
func (m *Machine) Also(now time.Time, ev algorithms.Event, out *algorithms.Output) {
	was := *out
	was.Send = slices.Clone(was.Send) // what the Machine lent is its own again
	*out = m.Machine.Step(now, ev)
	if out.Save == nil {
		out.Save = was.Save
	}
	if out.Transfer == nil {
		out.Transfer = was.Transfer
	}
	if out.Lent == nil {
		out.Lent = was.Lent
	}
	out.Send = append(was.Send, out.Send...)
	out.Splits = append(was.Splits, out.Splits...)
	out.Why = append(was.Why, out.Why...)
	out.Warn = out.Warn || was.Warn
}

// Peer returns the process of that id in the view; the zero Peer if there is none.
func (m *Machine) Peer(id proto.NodeID) proto.Peer {
	for _, p := range m.View {
		if p.ID == id {
			return p
		}
	}
	return proto.Peer{}
}

// Send sends one message more.
func Send(out *algorithms.Output, msg proto.Message) { out.Send = append(slices.Clone(out.Send), msg) }

// Received returns the body of a message of this type that arrives.
func Received[T proto.Body](ev algorithms.Event) (b T, ok bool) {
	r, ok := ev.(algorithms.Receive)
	if ok {
		b, ok = r.Body.(T)
	}
	return b, ok
}

// Sends reports whether the Output has a message of this type.
func Sends[T proto.Body](out algorithms.Output) bool {
	return slices.ContainsFunc(out.Send, func(m proto.Message) bool { _, ok := m.Body.(T); return ok })
}

// Gives reports whether the Output has a reason with one of these codes.
func Gives(out algorithms.Output, codes ...string) bool {
	return slices.ContainsFunc(out.Why, func(r algorithms.Reason) bool { return slices.Contains(codes, r.Kind.Code) })
}
