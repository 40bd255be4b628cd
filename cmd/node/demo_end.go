package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"syscall"
)

// signalled is what a signal ended.
type signalled struct{ signal syscall.Signal }

func (s signalled) Error() string {
	if s.signal == syscall.SIGINT {
		return "interrupted; all nodes are ended"
	}
	return fmt.Sprintf("ended by a signal (%v); all nodes are ended", s.signal)
}

func (s signalled) code() int { return 128 + int(s.signal) }

func (s signalled) Is(target error) bool { return target == errInterrupted }

// cancelOnSignal calls cancel on the first signal that would end this process,
// until stop is called. One that was ignored from the start, as nohup does it,
// stays so.
func cancelOnSignal(cancel context.CancelCauseFunc) (stop func()) {
	signals := slices.DeleteFunc([]os.Signal{
		syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE,
	}, signal.Ignored)
	if len(signals) == 0 {
		return func() {} // without names, Notify would take all signals
	}
	got := make(chan os.Signal, 1)
	signal.Notify(got, signals...)
	done := make(chan struct{})
	go func() {
		select {
		case s := <-got:
			if sig, ok := s.(syscall.Signal); ok {
				cancel(signalled{sig})
			}
		case <-done:
		}
	}()
	return func() {
		signal.Stop(got)
		close(done)
	}
}

// story is where the demo is told. When it cannot be written any more, there
// is no use in going on.
type story struct {
	out  io.Writer
	stop context.CancelCauseFunc
}

func (s *story) Write(p []byte) (int, error) {
	n, err := s.out.Write(p)
	switch {
	case errors.Is(err, syscall.EPIPE): // SIGPIPE is on its way
		s.stop(signalled{syscall.SIGPIPE})
	case err != nil:
		s.stop(fmt.Errorf("print the story: %w", err))
	}
	return n, err
}
