package fence

import (
	"context"
	"fmt"
	"sync"
)

// Keeper keeps a Guard's highest token. fence/store has one. A Guard calls it
// from one goroutine at a time.
type Keeper interface {
	// Highest is the token that was kept last, the zero Token for none.
	Highest() (Token, error)
	// Seal returns once t is durable. After an error t may be kept or not.
	Seal(t Token) error
}

// Guard lets the calls of one leader at a time in, for data that cannot keep
// the token itself. Its methods may be called from any goroutine.
//
// Invariants:
//
//  1. highest is durable and never goes down.
//  2. A call is let in only with highest, and only when no call of a lower
//     token is still inside.
//
// It covers what a call does until it leaves, and nothing that goes on behind
// its back. One Guard must see all calls: two of them on the same data know
// nothing of each other.
type Guard struct {
	// Meter counts what became of the calls.
	Meter Meter

	keeper Keeper

	mu      sync.Mutex
	highest Token
	inside  int           // calls of highest
	older   int           // calls of lower tokens that have not left yet
	calm    chan struct{} // closed when older becomes 0; nil before the first
}

// NewGuard returns a guard that goes on from the token in keeper.
func NewGuard(keeper Keeper) (*Guard, error) {
	highest, err := keeper.Highest()
	if err != nil {
		return nil, fmt.Errorf("read the highest fencing token: %w", err)
	}
	return &Guard{keeper: keeper, highest: highest}, nil
}

// Highest is the highest token seen, the zero Token for none.
func (g *Guard) Highest() Token {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.highest
}

// Enter lets a write in, or refuses it with what Admit says. A higher token is
// durable before Enter returns, lower ones are refused from then on, and Enter
// waits until those that are inside have left: a check followed by a slow act
// is no check. When ctx ends first, the token is sealed all the same.
//
// After a nil error the caller must call leave when the write is over; calling
// it again does nothing.
func (g *Guard) Enter(ctx context.Context, t Token) (leave func(), err error) {
	err = g.enter(ctx, t)
	g.Meter.Record(err)
	if err != nil {
		return nil, err
	}
	return sync.OnceFunc(func() { g.leave(t) }), nil
}

// Seal makes t the highest token without a write. When it returns nil no write
// of a lower token is under way, nor will be.
func (g *Guard) Seal(ctx context.Context, t Token) error {
	leave, err := g.Enter(ctx, t)
	if err == nil {
		leave()
	}
	return err
}

// CheckRead refuses a read as leader with what AdmitRead says.
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
			return err // a still higher one came
		}
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("wait for the writes of lower tokens to end: %w", err)
		}
	}
	g.inside++
	return nil
}

// raise makes t the highest token, unless it is refused. The caller holds mu.
func (g *Guard) raise(t Token) error {
	if err := Admit(g.highest, t); err != nil || t == g.highest {
		return err
	}
	if err := g.keeper.Seal(t); err != nil {
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
