package node

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/ringleader-dev/ringleader/algorithms"
)

// take reads so many changes after number seq.
func take(ctx context.Context, n *Node, seq uint64, count int) (got []Change) {
	for c := range n.Changes(ctx, seq) {
		if got = append(got, c); len(got) == count {
			break
		}
	}
	return got
}

// Promise: "an ordered, lossless-or-says-so stream of leadership changes": a reader
// that is slow gets each of them, in order, and nothing but them.
func TestChangesInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, follower(beliefs))
		said := []string{"5 leads", "5 leads again", "5 leads again", "nobody", "I lead"}
		for _, say := range said {
			f.campaign(say)
		}
		if err := f.stop(); err != nil {
			t.Error(err)
		}
		var got []algorithms.Leader
		for c := range f.Changes(t.Context(), 0) {
			got = append(got, c.Leader)
			if c.Seq != uint64(len(got)) || c.Missed != 0 {
				t.Errorf("change %d: %+v", len(got), c)
			}
		}
		want := []algorithms.Leader{leads(other, 1), leads(other, 2), {Term: 2}, leads(self, 3), {Term: 3}}
		if !slices.Equal(got, want) {
			t.Errorf("got %+v\nwant %+v", got, want)
		}
	})
}

// Promise: whoever comes back "goes on after the last Seq that it got".
func TestChangesResume(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, follower(beliefs))
		defer func() { _ = f.stop() }()
		f.campaign("5 leads")
		first := take(t.Context(), f.Node, 0, 1)
		f.campaign("5 leads again")
		f.campaign("I lead")
		if got := take(t.Context(), f.Node, first[0].Seq, 2); got[0].Leader != leads(other, 2) ||
			got[1].Leader != leads(self, 3) || got[1].Seq != 3 {
			t.Errorf("%+v", got)
		}
		if last := f.LastChange(); last != 3 {
			t.Errorf("the last change is %d, want 3", last)
		}
	})
}

// Promise: "A number above the last one is from a former process: the reader gets all changes of this one."
func TestChangesAfterARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, follower(beliefs))
		defer func() { _ = f.stop() }()
		f.campaign("5 leads")
		f.campaign("I lead")
		if got := take(t.Context(), f.Node, 1000, 2); got[0].Seq != 1 || got[1].Leader != leads(self, 3) {
			t.Errorf("%+v", got)
		}
	})
}

// Promise: what a reader that is too slow did not get is counted.
func TestChangesMissed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, follower(beliefs))
		defer func() { _ = f.stop() }()
		for range keptChanges {
			f.campaign("5 leads")
			f.campaign("5 leads again")
		}
		got := take(t.Context(), f.Node, 10, keptChanges)
		if got[0].Missed != keptChanges-10 || got[0].Seq != keptChanges+1 || got[1].Missed != 0 {
			t.Errorf("%+v, %+v", got[0], got[1])
		}
		if last := got[len(got)-1]; last.Seq != 2*keptChanges || last.Leader != leads(other, 2) {
			t.Errorf("%+v", last)
		}
	})
}

// Promise: the sequence ends when ctx is done, also while nothing changes.
func TestChangesEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, follower(beliefs))
		defer func() { _ = f.stop() }()
		ctx, cancel := context.WithCancel(t.Context())
		over := make(chan int)
		go func() { over <- len(take(ctx, f.Node, 0, 9)) }()
		synctest.Wait()
		f.campaign("5 leads")
		synctest.Wait()
		cancel()
		if n := <-over; n != 1 {
			t.Errorf("%d changes", n)
		}
	})
}
