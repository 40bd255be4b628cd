//go:build !linux

package supervise

import (
	"context"
	"syscall"
	"time"
)

// Supervisor does not work on this system.
type Supervisor struct{}

// Enter does nothing on this system.
func Enter() {}

// Start returns ErrUnsupported.
func Start(Config) (*Supervisor, error) { return nil, ErrUnsupported }

// Run returns ErrUnsupported.
func (*Supervisor) Run(context.Context, Spec) (Exit, error) { return Exit{}, ErrUnsupported }

// Signal does nothing.
func (*Supervisor) Signal(syscall.Signal) bool { return false }

// Kill does nothing.
func (*Supervisor) Kill() {}

// Extend does nothing.
func (*Supervisor) Extend(time.Time) {}

// Close does nothing.
func (*Supervisor) Close() error { return nil }

// Reap only waits for ctx: orphans become children of the system's first process.
func Reap(ctx context.Context) { <-ctx.Done() }

// Killable returns nil.
func Killable(string) error { return nil }
