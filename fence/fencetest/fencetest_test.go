package fencetest

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/fence"
)

// memory is a storage that keeps the rules, or breaks one of them.
type memory struct {
	mu      sync.Mutex
	highest fence.Token
	value   string
	admit   func(highest, t fence.Token) error
	seals   bool
}

func (m *memory) Write(_ context.Context, t fence.Token, value string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.admit(m.highest, t); err != nil {
		return err
	}
	m.highest, m.value = t, value
	return nil
}

func (m *memory) Seal(_ context.Context, t fence.Token) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.admit(m.highest, t); err != nil || !m.seals {
		return err
	}
	m.highest = t
	return nil
}

func (m *memory) Read(context.Context) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.value, nil
}

// A storage that keeps the rule passes.
func TestRightStorage(t *testing.T) {
	t.Run("rules", func(t *testing.T) { Rules(t, &memory{admit: fence.Admit, seals: true}) })
	t.Run("race", func(t *testing.T) { Race(t, &memory{admit: fence.Admit, seals: true}) })
}

// Lecture notes, FencedStorage: "if fencing_token < self.current_token: raise
// StaleLeaderError". It takes an equal token from anybody.
func lectureNotes(highest, t fence.Token) error {
	if t.Term < highest.Term {
		return &fence.StaleError{Token: t, Highest: highest}
	}
	return nil
}

// anything is a storage without fencing.
func anything(fence.Token, fence.Token) error { return nil }

// What the race records shows each broken storage. The interleavings are made
// by hand here: a race may be lucky.
func TestBrokenStorages(t *testing.T) {
	old, another, next := Token(5, 1), Token(5, 2), Token(6, 2)
	for _, c := range []struct {
		name    string
		storage *memory
		calls   []Call
		want    string
	}{
		{
			"the lecture notes' FencedStorage", &memory{admit: lectureNotes, seals: true},
			[]Call{{Kind: Write, Token: old, Seq: 1}, {Kind: Write, Token: another, Seq: 1}},
			"one term, two holders",
		},
		{
			"no seal", &memory{admit: fence.Admit},
			[]Call{{Kind: Seal, Token: next}, {Kind: Write, Token: old, Seq: 1}},
			"a stale token was accepted",
		},
		{
			"no fencing", &memory{admit: anything, seals: true},
			[]Call{{Kind: Write, Token: next, Seq: 1}, {Kind: Write, Token: old, Seq: 1}},
			"a stale token was accepted",
		},
		{
			"fencing", &memory{admit: fence.Admit, seals: true},
			[]Call{
				{Kind: Write, Token: old, Seq: 1},
				{Kind: Seal, Token: next},
				{Kind: Write, Token: old, Seq: 2},
				{Kind: Write, Token: next, Seq: 1},
				{Kind: Write, Token: another, Seq: 1},
			},
			"",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := &race{t: t, storage: c.storage}
			for _, call := range c.calls {
				if call.Kind == Seal {
					r.do(call, func() error { return c.storage.Seal(t.Context(), call.Token) })
				} else {
					r.write(call.Token, call.Seq)
				}
			}
			wantViolation(t, r.history, c.want)
		})
	}
}

// A read that goes back is found, whatever way the storage came to it.
func TestReadsGoBack(t *testing.T) {
	five, six := Token(5, 1), Token(6, 2)
	now := time.Now()
	at := func(i int, c Call) Call {
		c.Accepted = true
		c.Began = now.Add(time.Duration(2*i) * time.Second)
		c.Ended = c.Began.Add(time.Second)
		return c
	}
	for _, c := range []struct {
		first, second Call
		want          string
	}{
		{
			Call{Kind: Read, Token: six, Seq: 1},
			Call{Kind: Read, Token: five, Seq: 9},
			"what was read went back",
		},
		{
			Call{Kind: Write, Token: five, Seq: 2},
			Call{Kind: Read, Token: five, Seq: 1},
			"what was read went back",
		},
		{Call{Kind: Write, Token: five, Seq: 2}, Call{Kind: Read, Token: six, Seq: 1}, ""},
		{Call{Kind: Seal, Token: six}, Call{Kind: Read, Token: five, Seq: 1}, ""},
	} {
		wantViolation(t, []Call{at(0, c.first), at(1, c.second)}, c.want)
		// Of two at the same time either may have been first.
		wantViolation(t, []Call{at(0, c.first), at(0, c.second)}, "")
	}
}

func wantViolation(t *testing.T, history []Call, want string) {
	t.Helper()
	got, _, _ := strings.Cut(Violations(history), ":")
	if got != want {
		t.Errorf("%v: %q, want %q", history, got, want)
	}
}
