// Package steptest helps to test a Machine one Step at a time. Tests compare the whole Output.
package steptest

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/proto"
)

// Delta is the planned one-way latency of every Rig.
const Delta = 100 * time.Millisecond

// Zero is the time at which every Rig starts.
var Zero = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// Rig is one Machine under test, with its clock.
type Rig struct {
	t       testing.TB
	Self    proto.NodeID
	Now     time.Time
	Machine algorithms.Machine
	Last    algorithms.Output
}

// New makes a Rig around the Machine that create returns for node self.
func New[M algorithms.Machine](
	t testing.TB, self proto.NodeID, preempt bool, create func(algorithms.Config) M,
) *Rig {
	return &Rig{t: t, Self: self, Now: Zero, Machine: create(algorithms.Config{
		Self: self, Incarnation: Incarnation(self), Delta: Delta, Preempt: preempt, Seed: uint64(self),
	})}
}

// Among returns a function that does what create does, with these nodes as the voters.
func Among[M algorithms.Machine](
	create func(algorithms.Config) M, voters ...proto.NodeID,
) func(algorithms.Config) M {
	return func(c algorithms.Config) M {
		c.Voters = voters
		return create(c)
	}
}

// Incarnation returns the incarnation of the first process of node id in tests.
func Incarnation(id proto.NodeID) proto.Incarnation { return proto.Incarnation{byte(id)} }

// Peer returns the first process of node id, ranked by its id alone.
func Peer(id proto.NodeID) proto.Peer { return proto.Peer{ID: id, Incarnation: Incarnation(id)} }

// Peers returns the first processes of these nodes.
func Peers(ids ...proto.NodeID) []proto.Peer {
	peers := make([]proto.Peer, len(ids))
	for i, id := range ids {
		peers[i] = Peer(id)
	}
	return peers
}

// Alive returns the event that the first processes of these nodes are alive.
func Alive(ids ...proto.NodeID) algorithms.Event {
	return algorithms.PeersChanged{Alive: Peers(ids...)}
}

// From returns the event that a message from another node is received.
func (r *Rig) From(from proto.NodeID, term proto.Term, body proto.Body) algorithms.Event {
	return algorithms.Receive{Message: proto.Message{From: from, To: r.Self, Term: term, Body: body}}
}

// Step advances the time by after, and then gives ev to the Machine.
func (r *Rig) Step(after time.Duration, ev algorithms.Event) algorithms.Output {
	r.Now = r.Now.Add(after)
	r.Last = r.Machine.Step(r.Now, ev)
	return r.Last
}

// Start starts the Machine with the saved term and tells it that these nodes are alive.
func (r *Rig) Start(saved proto.Term, alive ...proto.NodeID) {
	r.Step(0, algorithms.Start{Saved: algorithms.State{Term: saved, Reserved: saved}})
	r.Step(0, Alive(alive...))
}

// Fire advances the time to the Machine's Deadline and gives it Timeout.
func (r *Rig) Fire() algorithms.Output {
	r.t.Helper()
	if r.Last.Deadline.IsZero() {
		r.t.Fatal("no Deadline to fire")
	}
	return r.Step(r.Last.Deadline.Sub(r.Now), algorithms.Timeout{})
}

// In returns the time d after now.
func (r *Rig) In(d time.Duration) time.Time { return r.Now.Add(d) }

// Msg returns a message that the Machine under test sends.
func (r *Rig) Msg(to proto.NodeID, term proto.Term, body proto.Body) proto.Message {
	return proto.Message{From: r.Self, To: to, Term: term, Body: body}
}

// Leads returns the belief that the first process of node id leads term; id 0 is nobody.
func Leads(id proto.NodeID, term proto.Term) algorithms.Leader {
	l := algorithms.Leader{ID: id, Term: term}
	if id != 0 {
		l.Incarnation = Incarnation(id)
	}
	return l
}

// Save returns the state that a Step wants to be durable: the term, and the next one reserved.
func Save(term proto.Term) *algorithms.State {
	return &algorithms.State{Term: term, Reserved: term + 1}
}

// Want fails the test unless the whole last Output is equal to want. It does not compare Recovery,
// which other tests look at.
func (r *Rig) Want(want algorithms.Output) {
	r.t.Helper()
	want.Recovery = r.Last.Recovery
	if slices.Equal(Texts(r.Last.Why), Texts(want.Why)) {
		want.Why = r.Last.Why
	}
	if !reflect.DeepEqual(r.Last, want) {
		r.t.Fatalf("got\n%s\nwant\n%s", r.show(r.Last), r.show(want))
	}
}

// Why returns the reasons that an Output should give, from codes with arguments such as
// "nomination.follow(5, 1)".
func Why(texts ...string) (why []algorithms.Reason) {
	for _, text := range texts {
		why = append(why, algorithms.Said(text))
	}
	return why
}

// Texts writes reasons as codes with arguments. It writes a reason without a code as its sentence.
func Texts(why []algorithms.Reason) []string {
	list := make([]string, len(why))
	for i, r := range why {
		if list[i] = trace.ReasonOf(r).String(); list[i] == "" {
			list[i] = r.String()
		}
	}
	return list
}

// Gives steps the Machine, and fails the test unless its reasons, as codes with arguments, are
// equal to why.
func (r *Rig) Gives(after time.Duration, ev algorithms.Event, why ...string) algorithms.Output {
	r.t.Helper()
	r.Step(after, ev)
	if told := Texts(r.Last.Why); !slices.Equal(told, why) {
		r.t.Errorf("gives %v, want %v", told, why)
	}
	return r.Last
}

// Unmoved steps the Machine, and fails the test unless nothing changes except that the Machine
// gives the reason why ("" for none) and sends these messages.
func (r *Rig) Unmoved(after time.Duration, ev algorithms.Event, why string, send ...proto.Message) {
	r.t.Helper()
	was := r.Last
	r.Step(after, ev)
	want := algorithms.Output{
		Send: send, Deadline: was.Deadline, Leader: was.Leader, Round: was.Round, Ineligible: was.Ineligible,
	}
	if why != "" {
		want.Why = Why(why)
	}
	r.Want(want)
}

// Sends fails the test unless an Output sends these messages, in this order.
func (r *Rig) Sends(out algorithms.Output, want ...proto.Message) {
	r.t.Helper()
	if !slices.Equal(out.Send, want) {
		r.t.Errorf("sent %v, want %v: %v", out.Send, want, out.Why)
	}
}

// show prints an Output, each field on its own line.
func (r *Rig) show(out algorithms.Output) string {
	var b strings.Builder
	if out.Save != nil {
		fmt.Fprintf(&b, "  save %+v\n", *out.Save)
	}
	for _, m := range out.Send {
		fmt.Fprintf(&b, "  send %d>%d term %d: %v\n", m.From, m.To, m.Term, m.Body)
	}
	if !out.Deadline.IsZero() {
		fmt.Fprintf(&b, "  deadline in %v\n", out.Deadline.Sub(r.Now))
	}
	fmt.Fprintf(&b, "  leader %d of term %d\n", out.Leader.ID, out.Leader.Term)
	if out.Ineligible != "" {
		fmt.Fprintf(&b, "  not eligible: %s\n", out.Ineligible)
	}
	for _, why := range Texts(out.Why) {
		fmt.Fprintf(&b, "  why %s\n", why)
	}
	if out.Fence != nil {
		fmt.Fprintf(&b, "  fence %+v\n", *out.Fence)
	}
	if out.Warn {
		b.WriteString("  warn\n")
	}
	return b.String()
}
