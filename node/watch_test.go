package node

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/internal/trace"
)

var beliefs = map[string]algorithms.Leader{
	"5 leads":       leads(other, 1),
	"5 leads again": leads(other, 2),
	"nobody":        {Term: 2},
	"I lead":        leads(self, 3),
}

// Promise: observers are told of every change in order, starting with what is
// believed now, and "no leader" as promptly as a name.
func TestWatchInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, follower(beliefs), func(_ *fixture, c *Config) { c.Saved.Term = 1 })
		f.campaign("5 leads")
		ch := f.Watch(context.Background())
		var got []algorithms.Leader
		go func() {
			for l := range ch {
				got = append(got, l)
			}
		}()
		synctest.Wait()
		for _, say := range []string{"5 leads again", "5 leads again", "nobody", "I lead"} {
			f.campaign(say)
			f.Deliver(message(1)) // changes no belief
			synctest.Wait()
		}
		if err := f.stop(); err != nil {
			t.Error(err)
		}
		synctest.Wait()
		want := []algorithms.Leader{
			leads(other, 1), leads(other, 2),
			{Term: 2},
			leads(self, 3),
			{Term: 3}, // the node has ended
		}
		if !slices.Equal(got, want) {
			t.Errorf("watched %+v\nwant %+v", got, want)
		}
	})
}

// Promise: "another end of the lease" is a change: a renewal reaches who watches.
func TestWatchRenewal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first, renewed := leads(other, 1), leads(other, 1)
		first.Until = time.Now().Add(2 * time.Second)
		renewed.Until = time.Now().Add(4 * time.Second)
		f := start(t, follower(map[string]algorithms.Leader{"first": first, "renewed": renewed}))
		f.campaign("first")
		ch := f.Watch(context.Background())
		for _, want := range []algorithms.Leader{first, renewed} {
			select {
			case got := <-ch:
				if got != want {
					t.Errorf("read %+v, want %+v", got, want)
				}
			default:
				t.Fatalf("nothing to read, want %+v", want)
			}
			f.campaign("renewed")
		}
	})
}

// Promise: before the first Step the belief is "nobody", in the saved term.
func TestWatchBeforeRun(t *testing.T) {
	cfg := config(new(journal), silent)
	cfg.Saved.Term = 7
	n, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if l := <-n.Watch(t.Context()); l != (algorithms.Leader{Term: 7}) {
		t.Errorf("believes %+v", l)
	}
}

// Promise: "a slow reader gets the latest", and does not hold up the node.
func TestSlowWatcher(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, follower(beliefs))
		ch := f.Watch(context.Background())
		for _, say := range []string{"5 leads", "nobody", "I lead"} {
			f.campaign(say)
		}
		if l := <-ch; l != leads(self, 3) {
			t.Errorf("read %+v first, want the latest", l)
		}
		select {
		case l := <-ch:
			t.Errorf("then read %+v, want nothing more", l)
		default:
		}
	})
}

// Promise: "The channel is closed when ctx is done or the Node has ended; in the
// latter case the last belief is nobody."
func TestWatchEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, follower(beliefs))
		f.campaign("I lead")
		ctx, cancel := context.WithCancel(context.Background())
		cancelled, running := f.Watch(ctx), f.Watch(context.Background())
		<-cancelled
		cancel()
		if l, ok := <-cancelled; ok {
			t.Errorf("read %+v after cancel", l)
		}
		if err := f.stop(); err != nil {
			t.Error(err)
		}
		late := f.Watch(context.Background())
		for name, ch := range map[string]<-chan algorithms.Leader{"running": running, "late": late} {
			if l, ok := <-ch; !ok || l != (algorithms.Leader{Term: 3}) {
				t.Errorf("%s watcher read %+v, %v at the end, want nobody", name, l, ok)
			}
			if l, ok := <-ch; ok {
				t.Errorf("%s watcher read %+v after the end", name, l)
			}
		}
		<-f.Watch(ctx) // long done: closed, not leaked
	})
}

// Promise: a lease ends by the clock, read at use: a loop that hangs past its
// lease does not go on leading.
func TestStatusReadsTheClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lease := leads(self, 3)
		lease.Until = time.Now().Add(2 * time.Second)
		f := start(t, follower(map[string]algorithms.Leader{"I lead": lease}))
		f.campaign("I lead")
		time.Sleep(2*time.Second - 1)
		if s := f.Status(); s.Leader != lease || s.Role != trace.Leading {
			t.Errorf("just before the lease's end: %+v", s)
		}
		time.Sleep(time.Nanosecond)
		s := f.Status()
		if s.Leader != (algorithms.Leader{Term: 3}) || s.Role != trace.Looking {
			t.Errorf("at the lease's end: %+v", s)
		}
	})
}
