package sim

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// What is planned happens by time and, within one instant, in the order in which
// it was planned.
func TestQueueOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type entry struct {
			at    time.Duration
			order int
		}
		var q queue
		var want, got []entry
		for i, at := range rapid.SliceOf(rapid.IntRange(0, 9)).Draw(t, "times") {
			e := entry{time.Duration(at), i}
			want = append(want, e)
			q.plan(e.at, func() { got = append(got, e) })
		}
		slices.SortStableFunc(want, func(a, b entry) int { return int(a.at - b.at) })
		for range want {
			next, _ := q.peek()
			p := q.pop()
			if p.at != next {
				t.Fatalf("peek said %v, pop %v", next, p.at)
			}
			p.do()
		}
		if !slices.Equal(got, want) {
			t.Fatalf("got %v, want %v", got, want)
		}
		if _, ok := q.peek(); ok {
			t.Fatal("the queue is not empty")
		}
	})
}
