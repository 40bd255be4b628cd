package fence

import (
	"context"
	"fmt"
	"sync"
)

// TokenStore saves the highest token of a Guard. A fence/store.Store is a TokenStore. A Guard calls
// its TokenStore from one goroutine at a time.
type TokenStore interface {
	// Highest returns the token that was saved last, or the zero Token if none was saved.
	Highest() (Token, error)
	// Seal saves t, and returns when t is durable. After an error t may be saved or not.
	Seal(t Token) error
}

// Guard lets in the calls of one leader at a time, for data that cannot store the token itself. Its
// methods may be called from any goroutine.
//
// Invariants:
//
//  1. highest is durable and never goes down.
//  2. A call is let in only with the token highest, and only when no call with a lower token
//     is still inside.
//
// A Guard covers the work of a call until the call leaves, but no work that still runs after that. All
// calls must pass the same Guard: two Guards for the same data know nothing of each other.
type Guard struct {
	// Meter counts the results of the calls.
	Meter Meter

	tokens TokenStore

	mu      sync.Mutex
	highest Token
	inside  int           // calls inside with the token highest
	older   int           // calls inside with lower tokens
	calm    chan struct{} // closed when older becomes 0; nil until the first higher token comes
}

// NewGuard returns a Guard that continues from the token in tokens.
func NewGuard(tokens TokenStore) (*Guard, error) {
	highest, err := tokens.Highest()
	if err != nil {
		return nil, fmt.Errorf("read the highest fencing token: %w", err)
	}
	return &Guard{tokens: tokens, highest: highest}, nil
}

// Highest returns the highest token that the Guard has seen, or the zero Token if it has seen none.
func (g *Guard) Highest() Token {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.highest
}

// Enter lets a write with token t in, or refuses it with the error of Admit. If t is higher than all
// tokens before, Enter first saves t on disk, and the Guard refuses lower tokens from then on. Enter
// then waits until the calls with lower tokens have left, since such a call may still write although
// its token was checked. If ctx ends first, Enter returns an error, but t stays the highest token.
//
// After a nil error the caller must call leave when the write is over. Further calls of leave do
// nothing.
func (g *Guard) Enter(ctx context.Context, t Token) (leave func(), err error) {
	err = g.enter(ctx, t)
	g.Meter.Record(err)
	if err != nil {
		return nil, err
	}
	return sync.OnceFunc(func() { g.leave(t) }), nil
}

// Seal makes t the highest token without a write. When it returns nil, no write with a lower token
// is under way, and none will be let in.
func (g *Guard) Seal(ctx context.Context, t Token) error {
	leave, err := g.Enter(ctx, t)
	if err == nil {
		leave()
	}
	return err
}

// CheckRead checks a leader's read: it returns the error of AdmitRead for t.
func (g *Guard) CheckRead(t Token) error { return AdmitRead(g.Highest(), t) }

func (g *Guard) enter(ctx context.Context, t Token) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if err := g.raise(t); err != nil {
		return err
	}
	for g.older > 0 {
		calm := g.calm
		g.mu.Unlock()
		select {
		case <-calm:
		case <-ctx.Done():
		}
		g.mu.Lock()
		if err := Admit(g.highest, t); err != nil {
			return err // a still higher token came
		}
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("wait for the writes of lower tokens to end: %w", err)
		}
	}
	g.inside++
	return nil
}

// raise makes t the highest token, unless Admit refuses t. The caller holds mu.
func (g *Guard) raise(t Token) error {
	if err := Admit(g.highest, t); err != nil || t == g.highest {
		return err
	}
	if err := g.tokens.Seal(t); err != nil {
		return fmt.Errorf("keep token %v: %w", t, err)
	}
	if g.older == 0 {
		g.calm = make(chan struct{})
	}
	g.highest, g.older, g.inside = t, g.older+g.inside, 0
	return nil
}

func (g *Guard) leave(t Token) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if t == g.highest {
		g.inside--
		return
	}
	if g.older--; g.older == 0 {
		close(g.calm)
	}
}
