// Package steptest helps to test a Machine one Step at a time, comparing the
// whole Output.
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

// Zero is when every Rig's time starts.
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
		Self: self, Session: Session(self), Delta: Delta, Preempt: preempt, Seed: uint64(self),
	})}
}

// Among is create where these nodes vote.
func Among[M algorithms.Machine](
	create func(algorithms.Config) M, voters ...proto.NodeID,
) func(algorithms.Config) M {
	return func(c algorithms.Config) M {
		c.Voters = voters
		return create(c)
	}
}

// Session is the session of node id's first life in tests.
func Session(id proto.NodeID) proto.Session { return proto.Session{byte(id)} }

// Peer is node id's first life, ranked by its id alone.
func Peer(id proto.NodeID) proto.Peer { return proto.Peer{ID: id, Session: Session(id)} }

// Peers are the first lives of the given nodes.
func Peers(ids ...proto.NodeID) []proto.Peer {
	peers := make([]proto.Peer, len(ids))
	for i, id := range ids {
		peers[i] = Peer(id)
	}
	return peers
}

// Alive is the event that these nodes' first lives are alive.
func Alive(ids ...proto.NodeID) algorithms.Event {
	return algorithms.PeersChanged{Alive: Peers(ids...)}
}

// From is the receipt of a message from another node.
func (r *Rig) From(from proto.NodeID, term proto.Term, body proto.Body) algorithms.Event {
	return algorithms.Receive{Message: proto.Message{From: from, To: r.Self, Term: term, Body: body}}
}

// Step steps the Machine, after the given time has passed.
func (r *Rig) Step(after time.Duration, ev algorithms.Event) algorithms.Output {
	r.Now = r.Now.Add(after)
	r.Last = r.Machine.Step(r.Now, ev)
	return r.Last
}

// Start brings the Machine to a quiet start: started with the saved term, and
// these nodes alive.
func (r *Rig) Start(saved proto.Term, alive ...proto.NodeID) {
	r.Step(0, algorithms.Start{Saved: algorithms.State{Term: saved, Reserved: saved}})
	r.Step(0, Alive(alive...))
}

// Fire lets the time of the Machine's own Deadline come.
func (r *Rig) Fire() algorithms.Output {
	r.t.Helper()
	if r.Last.Deadline.IsZero() {
		r.t.Fatal("no Deadline to fire")
	}
	return r.Step(r.Last.Deadline.Sub(r.Now), algorithms.Timeout{})
}

// In is the Deadline that is d from now.
func (r *Rig) In(d time.Duration) time.Time { return r.Now.Add(d) }

// Msg is a message that the Machine under test sends.
func (r *Rig) Msg(to proto.NodeID, term proto.Term, body proto.Body) proto.Message {
	return proto.Message{From: r.Self, To: to, Term: term, Body: body}
}

// Leads is the belief that node id's first life leads term; id 0 is nobody.
func Leads(id proto.NodeID, term proto.Term) algorithms.Leader {
	l := algorithms.Leader{ID: id, Term: term}
	if id != 0 {
		l.Session = Session(id)
	}
	return l
}

// Save is the state that a Step wants durable: the term, and the next one
// reserved.
func Save(term proto.Term) *algorithms.State {
	return &algorithms.State{Term: term, Reserved: term + 1}
}

// Want fails the test unless the last Output is want, as a whole; but for what a voter
// waits for, which tests of that look at.
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

// Why are the reasons that an Output is to give: codes with their arguments, as
// "nomination.follow(5, 1)".
func Why(texts ...string) (why []algorithms.Reason) {
	for _, text := range texts {
		why = append(why, algorithms.Said(text))
	}
	return why
}

// Texts are reasons as codes with their arguments, those without a code as sentences.
func Texts(why []algorithms.Reason) []string {
	list := make([]string, len(why))
	for i, r := range why {
		if list[i] = trace.ReasonOf(r).String(); list[i] == "" {
			list[i] = r.String()
		}
	}
	return list
}

// Unmoved steps the Machine, and fails the test unless that changes nothing: it says why,
// "" for nothing to say, sends these messages, and goes on as it was.
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

// show prints an Output a field a line.
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
