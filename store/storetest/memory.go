package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/proto"
	"github.com/ringleader-dev/ringleader/store"
)

// Memory is a store in this process. Its methods may be called from any goroutine.
type Memory struct {
	// Queues says that candidates queue, as in etcd and ZooKeeper; otherwise there is one entry, as in a
	// database.
	Queues bool

	mu      sync.Mutex
	entries []kept
	tokens  proto.Term
	away    bool
	hints   []store.Hint
}

// kept is an entry and what the store knows about it.
type kept struct {
	key, value string
	token      proto.Term
	ends       time.Time
}

// Name implements store.Store.
func (m *Memory) Name() string { return "memory" }

func (m *Memory) String() string { return "memory://" }

// MinTTL implements store.Store.
func (m *Memory) MinTTL() time.Duration { return time.Millisecond }

// Guarantee implements store.Store.
func (m *Memory) Guarantee() algorithms.Guarantee { return algorithms.Lease }

// Open implements store.Store.
func (m *Memory) Open(c store.Candidate) (store.Election, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e := &election{memory: m, Candidate: c, hint: store.NewHint()}
	m.hints = append(m.hints, e.hint)
	return e, nil
}

// GoAway makes the store answer nobody until it is called with false.
func (m *Memory) GoAway(away bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.away = away
}

// Restore sets the store back to the state before its first entry, as a backup would.
func (m *Memory) Restore() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.entries, m.tokens = nil, 0
	m.changed()
}

// changed tells all candidates. The caller holds m.mu.
func (m *Memory) changed() {
	for _, hint := range m.hints {
		hint.Give()
	}
}

// expire removes the entries whose time is over. The caller holds m.mu.
func (m *Memory) expire() {
	n := len(m.entries)
	m.entries = slices.DeleteFunc(m.entries, func(e kept) bool { return !e.ends.After(time.Now()) })
	if len(m.entries) != n {
		m.changed()
	}
}

// election is the memory as one candidate sees it.
type election struct {
	memory *Memory
	store.Candidate
	hint  store.Hint
	timer *time.Timer
}

var errAway = errors.New("the store is away")

func (e *election) Check(context.Context) error {
	e.memory.mu.Lock()
	defer e.memory.mu.Unlock()
	if e.memory.away {
		return errAway
	}
	return nil
}

func (e *election) Ask(ctx context.Context, ask algorithms.Ask) (a algorithms.Answered, err error) {
	m := e.memory
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.away {
		return a, errAway
	}
	m.expire()
	if i := slices.IndexFunc(m.entries, func(k kept) bool {
		read := e.Read(k.key, k.value, k.token)
		return k.key == ask.Remove.Key && (!read.Lent || ask.Verb == algorithms.AskLeave)
	}); i >= 0 {
		m.entries = slices.Delete(m.entries, i, i+1)
		m.changed()
	}
	own := slices.IndexFunc(m.entries, e.owns)
	switch {
	case ask.Verb == algorithms.AskStand && own < 0 && (m.Queues || len(m.entries) == 0):
		m.tokens++
		own = len(m.entries)
		m.entries = append(m.entries, kept{key: fmt.Sprint(m.tokens), value: e.Value(false), token: m.tokens})
		fallthrough
	case (ask.Verb == algorithms.AskStand || ask.Verb == algorithms.AskRenew) && own >= 0:
		m.entries[own].ends = time.Now().Add(e.TTL)
		if ask.Lent {
			m.entries[own].value = e.Value(true)
		}
		a.Keeps = e.TTL
	}
	if len(m.entries) > 0 {
		first := m.entries[0]
		a.Holder = e.Read(first.key, first.value, first.token)
		e.tellAt(first.ends)
	}
	if own := slices.IndexFunc(m.entries, e.owns); own >= 0 {
		k := m.entries[own]
		a.Own = e.Read(k.key, k.value, k.token)
	}
	return a, nil
}

// owns reports whether an entry is this candidate's.
func (e *election) owns(k kept) bool {
	read := e.Read(k.key, k.value, k.token)
	return read.Of(e.Peer)
}

// tellAt gives the hint when the first entry should have ended.
func (e *election) tellAt(at time.Time) {
	if e.timer != nil {
		e.timer.Stop()
	}
	e.timer = time.AfterFunc(time.Until(at), e.hint.Give)
}

func (e *election) Changed() <-chan struct{} { return e.hint }

func (e *election) Close() error {
	if e.timer != nil {
		e.timer.Stop()
	}
	return nil
}
