package ringleader_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader"
	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/store"
	"github.com/ringleader-dev/ringleader/store/storetest"
)

// onStore is a node whose leadership stands on the store.
func onStore(t *testing.T, s *storetest.Memory, id ringleader.NodeID, join ...string) ringleader.Config {
	c := loopback(t, id)
	c.Voters, c.Store, c.Join, c.Lease, c.Profile = nil, s, join, 3*time.Second, "local"
	return c
}

// "With --store and one node, no gossip at all, it works too", and leadership is handed over in order.
func TestOnStore(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for _, queues := range []bool{false, true} {
		s := &storetest.Memory{Queues: queues}
		one, log := startLogged(t, onStore(t, s, 1))
		follows(ctx, t, one, 1)
		first := one.Leader()
		two := start(t, onStore(t, s, 2, one.GossipAddr()))
		follows(ctx, t, two, 1)
		if two.Leader().Term != first.Term || first.Term != 1 {
			t.Errorf("node 2 follows term %d, node 1 leads term %d", two.Leader().Term, first.Term)
		}
		// An answer of node 2 comes by its own link, which is up when node 1 has heard of it.
		for !strings.Contains(log.String(), `"from":2,`) && ctx.Err() == nil {
			time.Sleep(10 * time.Millisecond)
		}
		if err := one.Transfer(ctx, 2, "test"); err != nil {
			t.Errorf("transfer: %v", err)
		}
		follows(ctx, t, one, 2)
		if next := two.Leader(); next.Term <= first.Term {
			t.Errorf("the token of node 2 is %d, after %d", next.Term, first.Term)
		}
		if err := two.Leave(); err != nil {
			t.Error(err)
		}
		follows(ctx, t, one, 1)
	}
}

// "A token that went back (the store was restored from a backup: end, and say so)."
func TestStoreSetBack(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	s := &storetest.Memory{}
	c := onStore(t, s, 1)
	for range 3 { // three leaderships
		n, err := ringleader.Start(ctx, c)
		if err != nil {
			t.Fatal(err)
		}
		follows(ctx, t, n, 1)
		if err := n.Leave(); err != nil {
			t.Error(err)
		}
	}
	s.Restore()
	n, err := ringleader.Start(ctx, c)
	if err != nil {
		t.Fatal(err)
	}
	select {
	case <-n.Done():
	case <-ctx.Done():
		t.Fatalf("it goes on, and names %+v", n.Leader())
	}
	if err := n.Err(); err == nil || !strings.Contains(err.Error(), "the store was set back") {
		t.Errorf("it ends with %v", err)
	}
	_ = n.Leave()
}

// "A node whose store is away says so, and leads no longer than its lease": nothing is outlived.
func TestStoreAway(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	s := &storetest.Memory{}
	s.GoAway(true)
	c := onStore(t, s, 1)
	c.Lease = time.Second
	n := start(t, c) // it starts although the store does not answer
	s.GoAway(false)
	follows(ctx, t, n, 1)
	first := n.Leader()
	s.GoAway(true)
	follows(ctx, t, n, 0)
	if left := time.Until(first.Until); left > 0 {
		t.Errorf("it gave up %v before its first lease ended", left)
	}
	s.GoAway(false)
	follows(ctx, t, n, 1)
	if next := n.Leader(); next.Term <= first.Term {
		t.Errorf("it leads again with the token %d, after %d", next.Term, first.Term)
	}
}

// "--store together with --voters" and what else does not fit is refused.
func TestStoreConfig(t *testing.T) {
	for want, change := range map[string]func(*ringleader.Config){
		"and voters are given":              func(c *ringleader.Config) { c.Voters = []ringleader.NodeID{1} },
		"raft decides by itself who leads":  func(c *ringleader.Config) { c.Algorithm = "raft" },
		"memory:// keeps a lease for at le": func(c *ringleader.Config) { c.Lease = 2 * time.Millisecond },
		"has no effect on a store":          func(c *ringleader.Config) { c.FirstTerm = 3 },
		"a fence agent needs voters":        func(c *ringleader.Config) { c.FenceAgent = "true" },
	} {
		c := onStore(t, &storetest.Memory{}, 1)
		change(&c)
		if _, err := c.WithDefaults(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}

// secretive is a store with a password.
type secretive struct {
	*storetest.Memory
	file string
}

func (s secretive) Secret() string { return s.file }

// "An empty file is refused. Wider than 0600: a warning", whether the store answers or not.
func TestStorePasswordFile(t *testing.T) {
	s := secretive{&storetest.Memory{}, filepath.Join(t.TempDir(), "password")}
	s.GoAway(true)
	c := onStore(t, s.Memory, 1)
	c.Store = s
	for _, text := range []string{"", "\n"} {
		if err := os.WriteFile(s.file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := ringleader.Start(t.Context(), c); !errors.Is(err, ringleader.ErrConfig) ||
			!strings.Contains(err.Error(), s.file+" is empty") {
			t.Errorf("the file %q: %v", text, err)
		}
	}
	if err := errors.Join(os.WriteFile(s.file, []byte("secret\n"), 0o600), os.Chmod(s.file, 0o600)); err != nil {
		t.Fatal(err)
	}
	_, log := startLogged(t, c)
	if err := os.Chmod(s.file, 0o444); err != nil {
		t.Fatal(err)
	}
	c.ID, c.DataDir = 2, t.TempDir()
	_, wide := startLogged(t, c)
	if text := log.String() + wide.String(); strings.Contains(log.String(), "mode") ||
		!strings.Contains(wide.String(), s.file+" has the mode 0444") || strings.Contains(text, "secret\n") {
		t.Errorf("%s", text)
	}
}

// mute is a store that takes requests, and does not answer.
type mute struct{ *storetest.Memory }

func (m mute) Open(c store.Candidate) (store.Election, error) {
	e, err := m.Memory.Open(c)
	return muteElection{e}, err
}

type muteElection struct{ store.Election }

func (muteElection) Check(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

func (e muteElection) Ask(ctx context.Context, _ algorithms.Ask) (algorithms.Answered, error) {
	return algorithms.Answered{}, e.Check(ctx)
}

// Promise: a node that is told to end while it waits for its store ends at once.
func TestStoreStartGivenUp(t *testing.T) {
	c := onStore(t, nil, 1)
	c.Store = mute{&storetest.Memory{}}
	ctx, cancel := context.WithTimeoutCause(t.Context(), 100*time.Millisecond, errToldToEnd)
	defer cancel()
	began := time.Now()
	n, err := ringleader.Start(ctx, c)
	if took := time.Since(began); !errors.Is(err, errToldToEnd) || took > time.Second {
		t.Errorf("it starts as %v, with %v, after %v", n, err, took)
	}
}

var errToldToEnd = errors.New("told to end")
