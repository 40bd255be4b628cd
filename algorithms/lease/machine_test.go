package lease_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/lease"
	"github.com/ringleader-dev/ringleader/internal/steptest"
	"github.com/ringleader-dev/ringleader/proto"
)

// scripted is a nominating Machine that keeps its last event and answers it as the
// test says.
type scripted struct {
	got []algorithms.Event
	out algorithms.Output
}

func (s *scripted) Step(_ time.Time, ev algorithms.Event) algorithms.Output {
	s.got = append(s.got, ev)
	return s.out
}

// "It is a Machine around any nominating Machine": what that wants happens, its
// opinion on who leads apart.
func TestNominationUnderneath(t *testing.T) {
	inner := &scripted{}
	r := around(t, 1, nil, inner)
	saved := algorithms.State{
		Term: 4, Reserved: 5, Promise: promise, Voters: algorithms.VoterState{List: "1-3", Committed: true},
	}
	r.Step(0, algorithms.Start{Saved: saved})

	// "The voters nominate among themselves."
	r.Step(0, steptest.Alive(1, 2, 4))
	inner.out = algorithms.Output{
		Save:     &algorithms.State{Term: 6, Reserved: 7},
		Send:     []proto.Message{r.Msg(2, 6, steptest.Foreign{})},
		Deadline: r.In(delta),
		Leader:   steptest.Leads(2, 6),
		Why:      steptest.Why("a reason"),
		Warn:     true,
	}
	election := r.From(2, 6, steptest.Foreign{})
	r.Step(0, election)
	r.Want(algorithms.Output{
		Save:     &algorithms.State{Term: 6, Reserved: 7, Promise: promise},
		Send:     []proto.Message{r.Msg(2, 6, steptest.Foreign{})},
		Deadline: r.In(delta),
		Round:    6,
		Why:      steptest.Why("a reason"),
		Warn:     true,
	})
	want := []algorithms.Event{
		algorithms.Start{Saved: saved}, steptest.Alive(1, 2), election,
	}
	if !reflect.DeepEqual(inner.got, want) {
		t.Errorf("the nomination got\n%v\nwant\n%v", inner.got, want)
	}
	if r.Last.Save.Vote != (algorithms.Vote{}) {
		t.Errorf("voted %+v", r.Last.Save.Vote)
	}
}

// The bound is the longest wait to stand, two claims that failed, each with its longest
// wait and pause, a back-off, a handing over and two rounds.
func TestAgreement(t *testing.T) {
	const pauses, backOff, rounds = 2 * 2 * promise / 4, promise, 16 * delta
	claims := 2 * (leased / 2)
	const handOver = 2*promise + 16*promise // after the longest penalty
	for _, nodes := range []int{1, 3, 7} {
		want := stand + time.Duration(nodes)*4*delta + claims + pauses + backOff + handOver + rounds
		if got := lease.Agreement(promise, delta, nodes); got != want {
			t.Errorf("%d nodes: %v, want %v", nodes, got, want)
		}
	}
}
