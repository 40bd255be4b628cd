package fencetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/fence"
	"github.com/ringleader-dev/ringleader/proto"
)

// The size of a race.
const (
	seats    = 6  // how many leaders exist at the same time: one leads, the others led before
	terms    = 60 // how many leaders there are in all
	writes   = 8  // how many writes each leader tries
	readers  = 2
	maxDelay = time.Millisecond
)

// Race lets many leaders write to one storage at the same time. Each leader has a higher token than
// the leaders before it, and pauses at the wrong moments. Some writes have a token of the same term
// and another process. Race fails the test if the storage accepted a call that it should have refused.
//
// Article: "T=5: A enters GC pause … T=16: A writes data (stale leader!)".
func Race(t *testing.T, s Storage) {
	t.Helper()
	r := &race{t: t, storage: s}
	var leading, reading sync.WaitGroup
	over, stop := context.WithCancel(t.Context())
	defer stop()
	for range readers {
		reading.Go(func() { r.read(over) })
	}
	for range seats {
		leading.Go(func() {
			for term := r.term.Add(1); term <= terms && !t.Failed(); term = r.term.Add(1) {
				r.lead(Token(proto.Term(term), 1))
			}
		})
	}
	leading.Wait()
	stop()
	reading.Wait()
	if why := Violations(r.history); why != "" {
		t.Error(why)
	}
	accepted, refused := r.count(true), r.count(false)
	t.Logf("%d writes and seals accepted, %d refused", accepted, refused)
	if accepted == 0 || refused == 0 {
		t.Error("the race was none: it takes both to show something")
	}
}

type race struct {
	t       *testing.T
	storage Storage
	term    atomic.Uint64

	mu      sync.Mutex
	history []Call
}

// lead plays one leader: it writes while the leader leads, and also after another leader began.
func (r *race) lead(token fence.Token) {
	pause()
	if !r.do(Call{Kind: Seal, Token: token}, func() error {
		return r.storage.Seal(r.t.Context(), token)
	}) {
		return
	}
	for seq := 1; seq <= writes; seq++ {
		if rand.N(writes) == 0 { // somebody else believes in the same term
			r.write(Token(token.Term, 2), seq)
		}
		pause()
		r.write(token, seq) // also after a refusal: it has not noticed
	}
}

func (r *race) write(token fence.Token, seq int) {
	r.do(Call{Kind: Write, Token: token, Seq: seq}, func() error {
		return r.storage.Write(r.t.Context(), token, fmt.Sprintf("%v#%d", token, seq))
	})
}

// do makes a call, adds it to the history and reports whether it was accepted.
func (r *race) do(c Call, call func() error) bool {
	c.Began = time.Now()
	err := call()
	c.Ended = time.Now()
	if err != nil && !errors.Is(err, fence.ErrStaleToken) {
		r.t.Errorf("%v: %v", c, err)
		return false
	}
	c.Accepted = err == nil
	r.keep(c)
	return c.Accepted
}

// read reads again and again until ctx is done.
func (r *race) read(ctx context.Context) {
	for ctx.Err() == nil {
		c := Call{Kind: Read, Accepted: true, Began: time.Now()}
		value, err := r.storage.Read(r.t.Context())
		c.Ended = time.Now()
		if err != nil {
			r.t.Errorf("read: %v", err)
			return
		}
		if value != "" {
			token, seq, _ := strings.Cut(value, "#")
			c.Token, err = fence.Parse(token)
			if _, scanErr := fmt.Sscan(seq, &c.Seq); err != nil || scanErr != nil {
				r.t.Errorf("read %q, which nobody wrote", value)
				return
			}
			r.keep(c)
		}
		pause()
	}
}

func (r *race) keep(c Call) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.history = append(r.history, c)
}

// count returns how many writes and seals were accepted, or refused.
func (r *race) count(accepted bool) (n int) {
	for _, c := range r.history {
		if c.Kind != Read && c.Accepted == accepted {
			n++
		}
	}
	return n
}

// pause holds a leader up for a random time, or not at all.
func pause() {
	if rand.N(2) == 0 {
		time.Sleep(rand.N(maxDelay))
	}
}
