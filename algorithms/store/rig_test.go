package store_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/lease"
	"github.com/ringleader-dev/ringleader/algorithms/store"
	"github.com/ringleader-dev/ringleader/internal/steptest"
	"github.com/ringleader-dev/ringleader/proto"
)

const (
	delta = steptest.Delta
	ttl   = 3 * time.Second
)

// leased is what a leader makes of a TTL.
var leased = lease.Of(ttl)

// rig is a machine on a store, of three nodes, around a nomination that the test decides.
type rig struct {
	*testing.T
	*steptest.Rig
	nominee algorithms.Leader
	raised  proto.Term
}

// nomination is a nominating Machine that says what the rig says.
type nomination struct{ *rig }

func (n nomination) Step(time.Time, algorithms.Event) algorithms.Output {
	return algorithms.Output{Leader: n.nominee}
}

func (n nomination) Raise(term proto.Term) { n.raised = term }

func newRig(t *testing.T, self proto.NodeID, change func(*algorithms.Config)) *rig {
	r := &rig{T: t}
	r.Rig = steptest.New(t, self, false, func(c algorithms.Config) algorithms.Machine {
		c.Promise = ttl
		if change != nil {
			change(&c)
		}
		return store.New(c, func(algorithms.Config) algorithms.Machine { return nomination{r} })
	})
	return r
}

// started is node 3 with all three alive, which has begun to read the store.
func started(t *testing.T, change func(*algorithms.Config)) *rig {
	r := newRig(t, 3, change)
	r.Start(0, 1, 2, 3)
	r.wantAsk(algorithms.AskLook, algorithms.Entry{})
	return r
}

// entry is the entry of a node's first process.
func entry(id proto.NodeID, token proto.Term) algorithms.Entry {
	return algorithms.Entry{
		Key: fmt.Sprintf("key %d of %d", token, id), Token: token, ID: id, Incarnation: steptest.Incarnation(id),
	}
}

// answer is the store's answer to the open ask.
func (r *rig) answer(after time.Duration, holder, own algorithms.Entry) algorithms.Output {
	r.T.Helper()
	if r.Last.Ask == nil {
		r.Fatal("nothing is asked")
	}
	a := algorithms.Answered{Number: r.Last.Ask.Number, Holder: holder, Own: own}
	if verb := r.Last.Ask.Verb; verb == algorithms.AskStand || verb == algorithms.AskRenew {
		a.Keeps = ttl
	}
	return r.Step(after, a)
}

func (r *rig) fail(after time.Duration) algorithms.Output {
	r.T.Helper()
	return r.Step(after, algorithms.Answered{Number: r.Last.Ask.Number, Failed: "connection refused"})
}

// nominate makes the nomination choose a node.
func (r *rig) nominate(after time.Duration, id proto.NodeID) algorithms.Output {
	r.nominee = steptest.Leads(id, 1)
	return r.Step(after, algorithms.Timeout{})
}

// wantAsk fails the test unless this is the open ask; "" is none.
func (r *rig) wantAsk(verb algorithms.AskVerb, remove algorithms.Entry) {
	r.T.Helper()
	is := r.Last.Ask
	switch {
	case is == nil && verb == "":
	case is == nil || is.Verb != verb || is.Remove != remove:
		r.Fatalf("asks %+v, want to %s and remove %+v; reasons %v", is, verb, remove, steptest.Texts(r.Last.Why))
	}
}

func (r *rig) wantLeader(want algorithms.Leader) {
	r.T.Helper()
	if r.Last.Leader != want {
		r.Fatalf("believes %+v, want %+v; reasons %v", r.Last.Leader, want, steptest.Texts(r.Last.Why))
	}
}

// leads is the belief that this node leads for the time left.
func (r *rig) leads(token proto.Term, left time.Duration) algorithms.Leader {
	l := steptest.Leads(r.Self, token)
	l.Until = r.In(left)
	return l
}

// heartbeat is that of the first process of a node.
func (r *rig) heartbeat(id proto.NodeID, token proto.Term, left time.Duration) algorithms.Event {
	return r.From(id, token, proto.Heartbeat{Leader: steptest.Peer(id), Remaining: left})
}

// wantWhy fails the test unless these are the reasons of the last Step.
func (r *rig) wantWhy(why ...string) {
	r.T.Helper()
	if got := steptest.Texts(r.Last.Why); !slices.Equal(got, why) {
		r.Errorf("gives %v, want %v", got, why)
	}
}

// sends reports whether the last Output has a message of this kind.
func (r *rig) sends(kind proto.Kind) bool {
	for _, m := range r.Last.Send {
		if m.Body.Kind() == kind {
			return true
		}
	}
	return false
}

// standing is node 3, nominated and standing for the lead.
func standing(t *testing.T, change func(*algorithms.Config)) *rig {
	r := started(t, change)
	r.answer(delta, algorithms.Entry{}, algorithms.Entry{})
	r.nominate(delta, 3)
	r.wantAsk(algorithms.AskStand, algorithms.Entry{})
	return r
}

// leading is node 3, which leads by the token 7 since a Delta ago.
func leading(t *testing.T, change func(*algorithms.Config)) *rig {
	r := standing(t, change)
	r.answer(delta, entry(3, 7), entry(3, 7))
	r.wantLeader(r.leads(7, leased-delta))
	return r
}

// following is node 3, which has read that node 1 leads by the token 5.
func following(t *testing.T, change func(*algorithms.Config)) *rig {
	r := started(t, change)
	r.answer(delta, entry(1, 5), algorithms.Entry{})
	r.Step(delta, r.heartbeat(1, 5, leased))
	r.wantAsk("", algorithms.Entry{})
	return r
}
