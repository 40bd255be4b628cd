package statefile

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// syncData returns once the bytes of f are durable: all that a file needs of which
// neither the size nor a block changed.
func syncData(f *os.File) error {
	for {
		err := unix.Fdatasync(int(f.Fd()))
		if !errors.Is(err, unix.EINTR) {
			return os.NewSyscallError("fdatasync", err)
		}
	}
}
