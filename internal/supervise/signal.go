package supervise

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// SignalName returns the name of a signal as kill(1) takes it, like SIGTERM.
func SignalName(s os.Signal) string {
	if number, ok := s.(syscall.Signal); ok {
		return unix.SignalName(number)
	}
	return s.String()
}
