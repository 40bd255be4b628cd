//go:build !linux

package supervise

import (
	"context"
	"syscall"
	"time"
)

// Supervisor is not to be had on this system.
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

// PID is 0.
func (*Supervisor) PID() int { return 0 }

// Close does nothing.
func (*Supervisor) Close() error { return nil }

// Reap does nothing but wait: orphans fall to the system's own first process.
func Reap(ctx context.Context) { <-ctx.Done() }

// Killable refuses nothing.
func Killable(string) error { return nil }
