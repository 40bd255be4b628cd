package statefile

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// lock takes the lock file at path for this process and writes the process id
// into it. The kernel gives the lock free when the process ends, however it
// ends, so a lock file left behind by a crash is no obstacle.
func lock(path string) (io.Closer, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := claim(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func claim(f *os.File) error {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return fmt.Errorf("%w%s: stop it, or give this node a directory of its own",
			ErrLocked, holder(f))
	}
	if err != nil {
		return &os.PathError{Op: "flock", Path: f.Name(), Err: err}
	}
	if err := f.Truncate(0); err != nil {
		return err
	}
	_, err = f.WriteAt(fmt.Appendln(nil, os.Getpid()), 0)
	return err
}

// holder names the process that holds the lock, "" if the file does not tell.
// In a container the number is the one the process has inside.
func holder(f *os.File) string {
	data, _ := io.ReadAll(io.LimitReader(f, 32)) // what cannot be read is no number
	pid, err := strconv.Atoi(strings.TrimSpace(string(data)))
	if err != nil {
		return ""
	}
	return fmt.Sprintf(" (pid %d)", pid)
}
