package steptest

import (
	"reflect"
	"slices"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/proto"
)

// listed wraps a Machine whose cluster has exactly one list of voters, and that list is committed.
// It hides the list from the tests that do not concern it.
type listed struct {
	algorithms.Machine
	state algorithms.VoterState
}

func withList(m algorithms.Machine, voters []proto.NodeID) algorithms.Machine {
	return listed{m, algorithms.VoterState{List: proto.ListVoters(voters), Committed: true}}
}

func (l listed) set() proto.VoterSet {
	return proto.VoterSet{Hash: l.state.List.Hash(), Committed: true}
}

// Step adds the list to each event that names no list, and removes the list from each output that
// names it.
func (l listed) Step(now time.Time, ev algorithms.Event) algorithms.Output {
	switch e := ev.(type) {
	case algorithms.Start:
		if e.Saved.Voters == (algorithms.VoterState{}) {
			e.Saved.Voters = l.state
		}
		ev = e
	case algorithms.Receive:
		e.Body = exchange(e.Body, proto.VoterSet{}, l.set())
		ev = e
	}
	out := l.Machine.Step(now, ev)
	out.Send = slices.Clone(out.Send)
	for i := range out.Send {
		out.Send[i].Body = exchange(out.Send[i].Body, l.set(), proto.VoterSet{})
	}
	if out.Save != nil && out.Save.Voters == l.state {
		out.Save.Voters = algorithms.VoterState{}
	}
	if out.Voters == l.state {
		out.Voters = algorithms.VoterState{}
	}
	return out
}

// exchange returns the body. If the body has a field Voters with the value was, the result has the
// value is there.
func exchange(body proto.Body, was, is proto.VoterSet) proto.Body {
	copied := reflect.New(reflect.TypeOf(body)).Elem()
	copied.Set(reflect.ValueOf(body))
	voters := copied.FieldByName("Voters")
	if !voters.IsValid() || voters.Interface() != was {
		return body
	}
	voters.Set(reflect.ValueOf(is))
	return copied.Interface().(proto.Body)
}
