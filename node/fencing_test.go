package node

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
)

// fenceFunc is a Fencer.
type fenceFunc func(context.Context, algorithms.Fence) (string, error)

func (f fenceFunc) Fence(ctx context.Context, fence algorithms.Fence) (string, error) {
	return f(ctx, fence)
}

// aims is a Machine that wants fenced what each Campaign's reason says, and goes
// on wanting it until the next.
func aims(wants map[string]*algorithms.Fence, came *[]algorithms.Fenced) func(
	time.Time, algorithms.Event) (algorithms.Output, bool) {
	var want *algorithms.Fence
	return func(_ time.Time, ev algorithms.Event) (algorithms.Output, bool) {
		switch ev := ev.(type) {
		case algorithms.Campaign:
			want = wants[ev.Reason]
		case algorithms.Fenced:
			*came = append(*came, ev)
			want = nil
		}
		return algorithms.Output{Fence: want}, true
	}
}

// "The host answers it with Fenced, once": what the Fencer says of it, and yes
// only without an error.
func TestFencerAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first := &algorithms.Fence{ID: other, Incarnation: ownIncarnation, Term: 1, For: 2, Attempt: 1}
		second := &algorithms.Fence{ID: other, Incarnation: ownIncarnation, Term: 1, For: 2, Attempt: 2}
		var came []algorithms.Fenced
		f := start(t, aims(map[string]*algorithms.Fence{"1": first, "2": second}, &came),
			func(f *fixture, cfg *Config) {
				cfg.Fencer = fenceFunc(func(_ context.Context, fence algorithms.Fence) (string, error) {
					time.Sleep(time.Second)
					if fence.Attempt == 1 {
						return "exit 1", errors.New("not confirmed")
					}
					return "exit 0", nil
				})
			})
		for _, reason := range []string{"1", "2"} {
			f.campaign(reason)
			f.Deliver(message(1)) // another Step in between changes nothing
			time.Sleep(2 * time.Second)
		}
		synctest.Wait()
		want := []algorithms.Fenced{{Fence: *first, Detail: "exit 1"}, {Fence: *second, OK: true, Detail: "exit 0"}}
		if err := f.stop(); err != nil || !slices.Equal(came, want) {
			t.Errorf("got %+v, want %+v (%v)", came, want, err)
		}
	})
}

// "Whatever else the agent is at, for a Step before, the host ends and does not
// answer"; and one attempt at a time.
func TestFencerIsCalledBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &algorithms.Fence{ID: other, Incarnation: ownIncarnation, Term: 1, For: 2, Attempt: 1}
		b := &algorithms.Fence{ID: 1, Incarnation: ownIncarnation, Term: 1, For: 2, Attempt: 1}
		var came []algorithms.Fenced
		f := start(t, aims(map[string]*algorithms.Fence{"a": a, "b": b}, &came),
			func(f *fixture, cfg *Config) {
				cfg.Fencer = fenceFunc(func(ctx context.Context, fence algorithms.Fence) (string, error) {
					f.journal.add("fence %d", fence.ID)
					<-ctx.Done()
					time.Sleep(time.Second) // it takes a while to end
					f.journal.add("end %d", fence.ID)
					return "", nil
				})
			})
		f.journal.take()
		f.campaign("a")
		synctest.Wait()
		f.campaign("b")
		synctest.Wait()
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if err := f.stop(); err != nil || len(came) > 0 {
			t.Errorf("called back, it answered %+v (%v)", came, err)
		}
		var lines []string
		for _, l := range f.journal.take() {
			if l[:3] == "fen" || l[:3] == "end" {
				lines = append(lines, l)
			}
		}
		if want := []string{"fence 5", "end 5", "fence 1", "end 1"}; !slices.Equal(lines, want) {
			t.Errorf("got %q, want %q", lines, want)
		}
	})
}

// Without a Fencer nothing is confirmed.
func TestNoFencer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		want := &algorithms.Fence{ID: other, Incarnation: ownIncarnation, Term: 1, For: 2, Attempt: 1}
		var came []algorithms.Fenced
		f := start(t, aims(map[string]*algorithms.Fence{"": want}, &came))
		f.campaign("")
		synctest.Wait()
		if err := f.stop(); err != nil || len(came) != 1 || came[0].OK || came[0].Detail == "" {
			t.Errorf("got %+v (%v)", came, err)
		}
	})
}
