package fence_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ringleader-dev/ringleader/fence"
	"github.com/ringleader-dev/ringleader/fence/fencetest"
)

// disk is a tokens whose writes may fail.
type disk struct {
	kept fence.Token
	err  error
}

func (d *disk) Highest() (fence.Token, error) { return d.kept, d.err }

func (d *disk) Seal(t fence.Token) error {
	if d.err == nil {
		d.kept = t
	}
	return d.err
}

func newGuard(t *testing.T, d *disk) *fence.Guard {
	t.Helper()
	g, err := fence.NewGuard(d)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// guarded is a value that only a Guard protects. The lock is for the readers:
// it does not help a write that comes late.
type guarded struct {
	*fence.Guard
	mu    sync.Mutex
	value string
}

func (g *guarded) Write(ctx context.Context, t fence.Token, value string) error {
	leave, err := g.Enter(ctx, t)
	if err != nil {
		return err
	}
	defer leave()
	time.Sleep(100 * time.Microsecond) // "a check followed by a slow act"
	g.mu.Lock()
	defer g.mu.Unlock()
	g.value = value
	return nil
}

func (g *guarded) Read(context.Context) (string, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.value, nil
}

func TestGuard(t *testing.T) {
	t.Run("rules", func(t *testing.T) {
		fencetest.Rules(t, &guarded{Guard: newGuard(t, new(disk))})
	})
	t.Run("race", func(t *testing.T) {
		fencetest.Race(t, &guarded{Guard: newGuard(t, new(disk))})
	})
}

// Promise: the token is "durable before it answers", and a guard that starts
// again goes on from it.
func TestGuardKeepsTheToken(t *testing.T) {
	d := new(disk)
	g := newGuard(t, d)
	six := fencetest.Token(6, 2)
	leave, err := g.Enter(t.Context(), six)
	if err != nil || d.kept != six || g.Highest() != six {
		t.Fatalf("kept %v, %v", d.kept, err)
	}
	leave()
	again := newGuard(t, d)
	if err := again.Seal(t.Context(), fencetest.Token(5, 1)); !errors.Is(err, fence.ErrStaleToken) {
		t.Errorf("after a restart a lower token: %v", err)
	}
	if err := again.CheckRead(six); err != nil {
		t.Errorf("after a restart the same: %v", err)
	}
}

// A token that cannot be kept lets nobody in.
func TestGuardWithoutDisk(t *testing.T) {
	broken := errors.New("input/output error")
	if _, err := fence.NewGuard(&disk{err: broken}); !errors.Is(err, broken) {
		t.Errorf("a guard without its token: %v", err)
	}
	d := new(disk)
	g := newGuard(t, d)
	five, six := fencetest.Token(5, 1), fencetest.Token(6, 2)
	if err := g.Seal(t.Context(), five); err != nil {
		t.Fatal(err)
	}
	d.err = broken
	if err := g.Seal(t.Context(), six); !errors.Is(err, broken) {
		t.Errorf("the disk fails: %v", err)
	}
	if err := g.Seal(t.Context(), five); err != nil {
		t.Errorf("the token that is kept needs no disk: %v", err)
	}
	want := fence.Counts{Accepted: 2, Failed: 1}
	if got := g.Meter.Counts(); got != want {
		t.Errorf("counted %+v, want %+v", got, want)
	}
}

// Promise: when a new leader's first call returns, no write of a former leader
// is under way, nor will be.
func TestGuardWaitsForOlderWrites(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGuard(t, new(disk))
		five, six := fencetest.Token(5, 1), fencetest.Token(6, 2)
		leave, err := g.Enter(t.Context(), five)
		if err != nil {
			t.Fatal(err)
		}
		sealed := make(chan error, 1)
		go func() { sealed <- g.Seal(t.Context(), six) }()
		synctest.Wait()
		select {
		case err := <-sealed:
			t.Fatalf("sealed beside an older write: %v", err)
		default:
		}
		if err := g.Seal(t.Context(), five); !errors.Is(err, fence.ErrStaleToken) {
			t.Errorf("a lower token while the higher one waits: %v", err)
		}
		leave()
		leave() // a second time is nothing
		synctest.Wait()
		if err := <-sealed; err != nil {
			t.Error(err)
		}
		if leave, err := g.Enter(t.Context(), six); err != nil {
			t.Error(err)
		} else {
			leave()
		}
	})
}

// A write that never ends does not keep the next leader waiting for ever, and
// stays refused; nor does a leader that waits stand in a later one's way.
func TestGuardWaitIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGuard(t, new(disk))
		five, six, seven := fencetest.Token(5, 1), fencetest.Token(6, 2), fencetest.Token(7, 3)
		leave, err := g.Enter(t.Context(), five)
		if err != nil {
			t.Fatal(err)
		}
		seal := func(token fence.Token) <-chan error {
			ended := make(chan error, 1)
			go func() {
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				ended <- g.Seal(ctx, token)
			}()
			synctest.Wait()
			return ended
		}
		sixth := seal(six)
		seventh := seal(seven)
		if err := <-seventh; !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the highest one: %v", err)
		}
		if err := <-sixth; !errors.Is(err, fence.ErrStaleToken) {
			t.Errorf("the one that was overtaken: %v", err)
		}
		if got := g.Highest(); got != seven {
			t.Errorf("the highest token is %v, want %v", got, seven)
		}
		leave()
		if err := g.Seal(t.Context(), seven); err != nil {
			t.Errorf("again, when the write has ended: %v", err)
		}
	})
}

// The meter tells the kinds of refusals apart.
func TestMeter(t *testing.T) {
	var m fence.Meter
	highest := fencetest.Token(5, 1)
	for _, err := range []error{
		nil, fence.Admit(highest, fencetest.Token(4, 1)), fence.Admit(highest, fencetest.Token(5, 1)),
		fence.ErrNoToken, fence.Admit(highest, fence.Token{}), errors.New("disk"), nil,
	} {
		m.Record(err)
	}
	want := fence.Counts{Accepted: 2, Stale: 1, OtherHolder: 1, Missing: 1, Malformed: 1, Failed: 1}
	if got := m.Counts(); got != want {
		t.Errorf("counted %+v, want %+v", got, want)
	}
}
