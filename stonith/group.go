package stonith

import (
	"errors"
	"os"
	"syscall"
)

// killGroup kills the process group of that id.
func killGroup(id int) error {
	err := syscall.Kill(-id, syscall.SIGKILL)
	if errors.Is(err, syscall.ESRCH) {
		return os.ErrProcessDone
	}
	return err
}
