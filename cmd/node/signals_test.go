package main

import (
	"errors"
	"os"
	"os/signal"
	"syscall"
	"testing"

	"github.com/rs/zerolog"
)

// docs/EXIT-CODES.md: "`run` obeys SIGTERM and SIGINT from its first line on". A signal that came before there were
// commands, flags or settings is not lost: the node does not start, also where a store would keep it waiting.
func TestASignalBeforeTheNodeStarts(t *testing.T) {
	if stopsFrom([]string{"ringleader", "status"}) != nil || stopsFrom([]string{"ringleader"}) != nil {
		t.Error("what is no node does not end on a signal")
	}
	waiting := stopsFrom([]string{"ringleader", "run", "--id", "1"})
	if waiting == nil {
		t.Fatal("a signal ends the process at once")
	}
	defer signal.Stop(waiting)
	waiting <- os.Signal(syscall.SIGTERM)
	n, err := launch(resolved{}, zerolog.Nop(), waiting)
	if told, ok := errors.AsType[toldToEnd](err); !ok || told.signal != syscall.SIGTERM || n != nil {
		t.Errorf("launched %v, %v", n, err)
	}
}
