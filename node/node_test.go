package node

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/nomination"
	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/proto"
)

// wins answers a Campaign by all that a Step can ask for.
func wins(_ time.Time, ev algorithms.Event) (algorithms.Output, bool) {
	if _, ok := ev.(algorithms.Campaign); !ok {
		return algorithms.Output{}, false
	}
	return algorithms.Output{
		Save: &algorithms.State{Term: 2},
		Send: []proto.Message{
			{From: self, To: 9, Term: 2, Body: nomination.TimeoutNow{}},
			{From: self, To: 1, Term: 2, Body: nomination.TimeoutNow{}},
		},
		Leader: leads(self, 2),
	}, true
}

// Promise: "What the runtime does after a Step, in this order: Save, durable
// before anything below leaves the node; Send; the belief; the record." The
// fakes look at what is published while they are called.
func TestOrderOfAStep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, wins, func(f *fixture, c *Config) {
			save, send, record := c.Disk, c.Transport, c.Record
			c.Disk = diskFunc(func(s algorithms.State) error {
				f.journal.add("leader is %d", f.Status().Leader.ID)
				return save.Save(s)
			})
			c.Transport = sendFunc(func(m proto.Message) {
				send.Send(m)
				f.journal.add("leader is %d", f.Status().Leader.ID)
			})
			c.Record = func(r trace.Record) {
				f.journal.add("leader is %d", f.Status().Leader.ID)
				record(r)
			}
		})
		f.journal.take()
		f.campaign("now")
		want := []string{
			"leader is 0", "save 2",
			"send STAND_NOW>9#3:1", "leader is 0", // in the Machine's order,
			"send STAND_NOW>1#3:2", "leader is 0", // numbered from 1
			"leader is 3", "record campaign, leader 3",
		}
		if got := f.journal.take(); !slices.Equal(got, want) {
			t.Errorf("a Step went\n%s\nwant\n%s",
				strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		if c := f.Status().Counters; c != (Counters{Steps: 2, Saves: 1, Sent: 2}) {
			t.Errorf("counters %+v", c)
		}
	})
}

// Promise: "A failed Save ends the node. It never goes on with a term it could
// not keep": nothing of the Step leaves.
func TestFailedSaveEndsTheNode(t *testing.T) {
	full := errors.New("disk full")
	synctest.Test(t, func(t *testing.T) {
		f := start(t, wins, func(_ *fixture, c *Config) {
			c.Disk = diskFunc(func(algorithms.State) error { return full })
		})
		beliefs := f.Watch(context.Background())
		f.journal.take()
		err := f.Campaign(context.Background(), "now")
		if !errors.Is(err, ErrStopped) {
			t.Errorf("Campaign = %v, want ErrStopped", err)
		}
		if err := <-f.result; !errors.Is(err, ErrDisk) || !errors.Is(err, full) {
			t.Errorf("Run = %v, want ErrDisk and its cause", err)
		}
		if got := f.journal.take(); len(got) != 0 {
			t.Errorf("after the failed Save: %q", got)
		}
		for l := range beliefs {
			if l.ID != 0 {
				t.Errorf("after the failed Save node %d was said to lead", l.ID)
			}
		}
		s := f.Status()
		if s.Running || s.Leader.ID != 0 || s.Role != trace.Looking {
			t.Errorf("after the failed Save: %+v", s)
		}
		if err := f.Resign(context.Background(), 0, "told to"); !errors.Is(err, ErrStopped) {
			t.Errorf("Resign = %v, want ErrStopped", err)
		}
		f.Deliver(message(1)) // neither blocks nor panics
		f.PeersChanged(nil, "")
	})
}

// Promise: "The first event is Start, with what survived the last run."
func TestStartComesFirst(t *testing.T) {
	saved := algorithms.State{Term: 7, Vote: algorithms.Vote{Term: 6, ID: other}}
	synctest.Test(t, func(t *testing.T) {
		var events []algorithms.Event
		f := start(t, func(_ time.Time, ev algorithms.Event) (algorithms.Output, bool) {
			events = append(events, ev)
			return algorithms.Output{}, false
		}, func(f *fixture, c *Config) {
			c.Saved = saved
		})
		f.Deliver(message(1))
		synctest.Wait()
		want := []algorithms.Event{
			algorithms.Start{Saved: saved}, algorithms.Receive{
				Message: message(1), At: proto.HLC{}.Tick(time.Now()).Tick(time.Now()),
			},
		}
		if !slices.Equal(events, want) {
			t.Errorf("events %+v, want %+v", events, want)
		}
	})
}

// Promise: Run returns nil when ctx is done, and the node leads nobody then.
func TestShutdown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, wins)
		f.campaign("now")
		if s := f.Status(); !s.Running || s.Role != trace.Leading {
			t.Fatalf("before: %+v", s)
		}
		if err := f.stop(); err != nil {
			t.Errorf("Run = %v, want nil", err)
		}
		s := f.Status()
		if s.Running || s.Leader != (algorithms.Leader{Term: 2}) || s.Role != trace.Looking {
			t.Errorf("after: %+v", s)
		}
		if err := f.Run(context.Background()); !errors.Is(err, ErrConfig) {
			t.Errorf("a second Run = %v, want it refused", err)
		}
	})
}

func TestNewRefuses(t *testing.T) {
	for name, spoil := range map[string]func(*Config){
		"node id":     func(c *Config) { c.ID = 0 },
		"incarnation": func(c *Config) { c.Incarnation = proto.Incarnation{} },
		"machine":     func(c *Config) { c.Machine = nil },
		"disk":        func(c *Config) { c.Disk = nil },
		"transport":   func(c *Config) { c.Transport = nil },
		"guarantee":   func(c *Config) { c.Guarantee = "" },
		"recorder":    func(c *Config) { c.Recorder = nil },
	} {
		cfg := config(new(journal), silent)
		spoil(&cfg)
		_, err := New(cfg)
		if !errors.Is(err, ErrConfig) || !strings.Contains(err.Error(), name) {
			t.Errorf("New without %s: %v, want ErrConfig that names it", name, err)
		}
	}
}

// Promise: every method may be called from any goroutine, whatever the loop
// does. The race detector is the judge.
func TestManyGoroutines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, wins)
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan struct{})
		callers := []func(){
			func() { f.Deliver(message(1)) },
			func() { f.Deliver(proto.Message{From: other, To: 9, Body: nomination.TimeoutNow{}}) },
			func() { f.PeersChanged([]proto.Peer{{ID: self}}, "gossip-dead 5") },
			func() { _ = f.Campaign(ctx, "now") },
			func() { _ = f.Resign(ctx, 0, "told to") },
			func() { f.Status() },
			func() {
				for range f.Watch(ctx) {
					f.Status()
				}
			},
		}
		for _, call := range callers {
			go func() {
				for range 200 {
					call()
				}
				done <- struct{}{}
			}()
		}
		for range len(callers) - 1 { // all but the watcher
			<-done
		}
		if err := f.stop(); err != nil {
			t.Error(err)
		}
		<-done
		cancel()
	})
}
