package algorithms_test

import (
	"slices"
	"testing"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/proto"
)

// "What stands right behind it, as After has it, is not copied"; and what does not is
// not lost.
func TestJoin(t *testing.T) {
	first, second := proto.Message{To: 1}, proto.Message{To: 2}
	for room := range 4 {
		send := append(make([]proto.Message, 0, room), first)
		var inner algorithms.Outbox
		inner.After(send)
		more := inner.Lend(append(inner.Empty(), second))
		joined := algorithms.Join(send, more)
		if !slices.Equal(joined, []proto.Message{first, second}) {
			t.Errorf("room for %d: %v", room, joined)
		}
		if fits := cap(send) > 1; fits != (&joined[1] == &more[0]) {
			t.Errorf("room for %d: copied: %v", room, fits)
		}
		if again := algorithms.Join(joined, nil); len(again) != 2 {
			t.Errorf("nothing joined makes %v", again)
		}
	}
}

// "A copy of m, for one more receiver."
func TestAppendTo(t *testing.T) {
	m := proto.Message{From: 3, Term: 5, Body: proto.Offer{}}
	send := algorithms.AppendTo(algorithms.AppendTo(nil, &m, 1), &m, 2)
	want := []proto.Message{
		{From: 3, To: 1, Term: 5, Body: proto.Offer{}},
		{From: 3, To: 2, Term: 5, Body: proto.Offer{}},
	}
	if !slices.Equal(send, want) || m.To != 0 {
		t.Errorf("got %v and %v, want %v", send, m, want)
	}
}
