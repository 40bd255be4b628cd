package statefile

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// syncData makes the bytes of f durable before it returns. That is enough for a file if neither its size nor
// the place of a block changed.
func syncData(f *os.File) error {
	for {
		err := unix.Fdatasync(int(f.Fd()))
		if !errors.Is(err, unix.EINTR) {
			return os.NewSyscallError("fdatasync", err)
		}
	}
}
