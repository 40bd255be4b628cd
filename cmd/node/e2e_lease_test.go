package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/internal/testcluster"
	"github.com/ringleader-dev/ringleader/node/clock"
	"github.com/ringleader-dev/ringleader/node/httpapi"
	"github.com/ringleader-dev/ringleader/proto"
)

// borrowedFrom is a lease as a process that borrows it sees it: by its own clock, from
// before it asked.
type borrowedFrom struct {
	httpapi.Lease
	asked, answered, until time.Time
}

func (b borrowedFrom) String() string {
	return fmt.Sprintf("node %v, term %d, answered %v, for %d ms", b.Self, b.Term,
		b.answered.Format("05.000"), b.ValidForMS)
}

// borrow asks a node for its lease.
func (e e2e) borrow(ctx context.Context, id proto.NodeID) (b borrowedFrom, err error) {
	b.asked = clock.Now()
	b.Lease, err = httpapi.Client{Addr: e.Node(id).HTTP}.Lend(ctx, 0)
	b.answered, b.until = clock.Now(), b.asked.Add(b.ValidFor())
	return b, err
}

// borrows waits until a node lends.
func (e e2e) borrows(id proto.NodeID) (b borrowedFrom) {
	e.Helper()
	e.eventually(func() string {
		var err error
		if b, err = e.borrow(e.ctx, id); err != nil {
			return err.Error()
		}
		return ""
	})
	return b
}

// next asks all nodes but one for a lease, as fast as they answer, until one lends.
func (e e2e) next(but proto.NodeID) borrowedFrom {
	e.Helper()
	ctx, cancel := context.WithCancel(e.ctx)
	defer cancel()
	got := make(chan borrowedFrom, len(e.Nodes()))
	var all sync.WaitGroup
	for _, n := range e.Nodes() {
		if n.ID == but {
			continue
		}
		all.Go(func() {
			for ; ctx.Err() == nil; time.Sleep(time.Millisecond) { // it can only be asked again
				if b, err := e.borrow(ctx, n.ID); err == nil {
					got <- b
					cancel()
				}
			}
		})
	}
	all.Wait()
	select {
	case b := <-got:
		return b
	default:
		e.Fatal("no other node ever lent its lease")
		return borrowedFrom{}
	}
}

// "An answer is a permission. Whoever is told "valid until T" may act until T: so nothing
// that frees a voter earlier (proof of death, RELEASE) may happen before T." A process
// beside the leader borrows its lease; then the leader is killed, or told to hand over,
// and the others are asked each millisecond.
func TestLentLeaseOutlivesItsLeader(t *testing.T) {
	t.Parallel()
	for _, algorithm := range []string{"bully", "raft"} {
		t.Run(algorithm, func(t *testing.T) {
			t.Parallel()
			for what, ends := range map[string]func(e2e, proto.NodeID){
				"killed": func(e e2e, leader proto.NodeID) {
					_, err := e.Kill(leader)
					e.check(err)
				},
				"transferred": func(e e2e, leader proto.NodeID) {
					go func() { // it takes as long as the loan does
						_, _ = e.transfer(leader, httpapi.Order{})
					}()
				},
				"told to stop": func(e e2e, leader proto.NodeID) { e.check(e.Terminate(leader)) },
			} {
				t.Run(what, func(t *testing.T) {
					e := newE2E(t, algorithm, 3, "--voters", "1-3", "--lease", "4s")
					e.check(e.StartAll())
					first := e.agreed()
					b := e.borrows(first.Leader)
					ends(e, first.Leader)
					next := e.next(first.Leader)
					t.Logf("%v; then %v, %v after the first one's end", b, next, next.answered.Sub(b.until))
					if next.answered.Before(b.until) || next.Term <= b.Term {
						t.Errorf("%v is valid for %v more, and is lent anew: %v", b, b.until.Sub(next.answered), next)
					}
					if led := e.beganToLead(next.Self, next.Term); what == "killed" && led.Time.Before(wall(b.until)) {
						t.Errorf("node %v leads at %v, before %v ends", next.Self, led.Time, b)
					}
				})
			}
		})
	}
}

// wall is a reading of package clock by the clock of records.
func wall(t time.Time) time.Time { return time.Now().Add(t.Sub(clock.Now())) }

// "Failover stays in milliseconds" where nothing is lent: what was lent and has been given
// back, or has ended, costs nothing.
func TestReturnedLeaseCostsNothing(t *testing.T) {
	t.Parallel()
	for what, ends := range map[string]func(e2e, testcluster.Belief){
		"transferred": func(e e2e, was testcluster.Belief) {
			e.handsOver(was.Leader, httpapi.Order{})
		},
		"killed after a transfer": func(e e2e, was testcluster.Belief) {
			e.handsOver(was.Leader, httpapi.Order{})
			next := e.agreed()
			_, err := e.Kill(next.Leader)
			e.check(err)
		},
	} {
		t.Run(what, func(t *testing.T) {
			// The promise is longer than this test may take, so nothing runs out.
			e := newE2E(t, "bully", 5, "--voters", "1-5", "--lease", "10m")
			e.check(e.StartAll())
			first := e.agreed()
			b := e.borrows(first.Leader)
			e.status(first.Leader, func(s httpapi.Status) bool { return s.Lent == 1 })
			client := httpapi.Client{Addr: e.Node(first.Leader).HTTP}
			e.check(client.Return(e.ctx, b.ID))
			if err := client.Return(e.ctx, b.ID); !errors.Is(err, httpapi.ErrConflict) {
				t.Errorf("given back twice: %v", err)
			}
			e.status(first.Leader, func(s httpapi.Status) bool { return s.Lent == 0 })
			ends(e, first)
			e.eventually(func() string {
				for id := range proto.NodeID(5) {
					s, err := httpapi.Client{Addr: e.Node(id + 1).HTTP}.Leader(e.ctx)
					if err == nil && s.IsLeader &&
						(s.Term > first.Term+1 || s.Term > first.Term && what == "transferred") {
						return ""
					}
				}
				return "nobody leads"
			})
		})
	}
}

// A lease is lent by the leader, by a follower never, and without voters by nobody.
func TestWhoLends(t *testing.T) {
	e := newE2E(t, "bully", 3, "--voters", "1-3")
	e.check(e.StartAll())
	leader := e.agreed().Leader
	for _, id := range []proto.NodeID{1, 2, 3} {
		_, err := e.borrow(e.ctx, id)
		if is := errors.Is(err, httpapi.ErrNotLeader); is != (id != leader) {
			t.Errorf("node %v, %v leads: %v", id, leader, err)
		}
	}
	// What a shell sees.
	follower := slices.DeleteFunc([]proto.NodeID{1, 2, 3}, func(id proto.NodeID) bool { return id == leader })[0]
	if code, out := runRingleader(t, "lease", "--addr", e.Node(follower).HTTP); code != exitNotLeader {
		t.Errorf("exit %d, %s", code, out)
	}
	if code, out := runRingleader(t, "lease", "-o", "json", "--addr", e.Node(leader).HTTP); code != exitOK {
		t.Errorf("exit %d, %s", code, out)
	}
}

func TestNobodyLendsWithoutVoters(t *testing.T) {
	e := newE2E(t, "bully", 2)
	e.check(e.StartAll())
	leader := e.agreed().Leader
	if code, out := runRingleader(t, "lease", "--addr", e.Node(leader).HTTP); code != exitError {
		t.Errorf("exit %d, %s", code, out)
	}
}

// ringleader runs the command line, and returns its exit code and all that it said.
func runRingleader(t *testing.T, args ...string) (code int, out string) {
	t.Helper()
	text, err := exec.CommandContext(t.Context(), "ringleader", args...).CombinedOutput() // see TestMain
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode(), string(text)
	}
	if err != nil {
		t.Fatal(err)
	}
	return exitOK, string(text)
}
