package sim

import (
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms/nomination"
	"github.com/ringleader-dev/ringleader/proto"
)

func message(from, to proto.NodeID, body proto.Body) proto.Message {
	return proto.Message{From: from, To: to, Term: 1, Body: body}
}

func arrives(n *network, m proto.Message) bool {
	_, copies := n.fate(m)
	return copies > 0
}

// Cuts overlap: a link is open again when the last fault that blocks it ends.
func TestCutsOverlap(t *testing.T) {
	n := newNetwork(weather{}, newDice(1, streamRun))
	there, back := message(1, 2, toyOK{}), message(2, 1, toyOK{})
	n.cut(oneWay(1, 2))
	n.cut(bothWays(1, 2))
	if arrives(&n, there) || arrives(&n, back) {
		t.Error("a cut link lets a message through")
	}
	n.uncut(bothWays(1, 2))
	if arrives(&n, there) || !arrives(&n, back) {
		t.Error("1>2 alone should be cut")
	}
	n.uncut(oneWay(1, 2))
	if !arrives(&n, there) {
		t.Error("1>2 should be open again")
	}
}

func TestDoomedMessagesAreLostOnce(t *testing.T) {
	n := newNetwork(weather{}, newDice(1, streamRun))
	n.doomed = []doomed{{word: "OK", from: 1, left: 2}}
	for i, c := range []struct {
		m    proto.Message
		want bool
	}{
		{message(2, 3, toyOK{}), true},
		{message(1, 3, nomination.Coordinator{}), true},
		{message(1, 3, toyOK{}), false},
		{message(1, 2, toyOK{}), false},
		{message(1, 2, toyOK{}), true},
	} {
		if got := arrives(&n, c.m); got != c.want {
			t.Errorf("message %d arrives: %v, want %v", i, got, c.want)
		}
	}
}

// The weather does what it says, about as often as it says.
func TestWeather(t *testing.T) {
	w := weather{
		MinDelay: 10, MaxDelay: 20, Loss: 100, Duplicate: 200, Straggle: 50, Straggler: 1000,
	}
	n := newNetwork(w, newDice(1, streamRun))
	const messages = 10_000
	var lost, twice, late int
	for range messages {
		delays, copies := n.fate(message(1, 2, toyOK{}))
		switch copies {
		case 0:
			lost++
		case 2:
			twice++
		}
		for _, d := range delays[:copies] {
			if d < w.MinDelay || d > w.MaxDelay+w.Straggler {
				t.Fatalf("delay %d", d)
			}
			if d > w.MaxDelay {
				late++
			}
		}
	}
	near := func(what string, got, want int) {
		if got < want*8/10 || got > want*12/10 {
			t.Errorf("%s: %d of %d, want about %d", what, got, messages, want)
		}
	}
	near("lost", lost, messages*100/1000)
	near("twice", twice, messages*900/1000*200/1000)
	near("late", late, messages*900/1000*1200/1000*50/1000)
}

// The delays that Machines plan for leave them time to work and clocks to drift.
func TestCalmWeatherIsWithinDelta(t *testing.T) {
	w := calm(100 * time.Millisecond)
	if w.Loss+w.Duplicate+w.Straggle != 0 || w.MaxDelay > 90*time.Millisecond {
		t.Errorf("%+v is not calm", w)
	}
}
