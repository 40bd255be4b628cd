package statefile

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

// held has the paths of the lock files that this process holds. The process id in a lock file does not show
// who holds it: the holder may be in another container, where it has the same id.
var held sync.Map

// lockFile is a lock that this process holds.
type lockFile struct{ *os.File }

func (l lockFile) Close() error {
	held.Delete(l.Name())
	return l.File.Close()
}

// lock takes the lock file at path for this process and writes the process id into it. The
// kernel releases the lock when the process ends, so a lock file that a crash left behind
// does no harm.
func lock(path string) (io.Closer, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := claim(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	held.Store(path, true)
	return lockFile{f}, nil
}

func claim(f *os.File) error {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		if _, own := held.Load(f.Name()); own {
			return fmt.Errorf("%w by this process already: let the node that has it leave first, or give this "+
				"node a directory of its own", ErrLocked)
		}
		return fmt.Errorf("%w by another process%s: stop it, or give this node a directory of its own",
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

// holder names the process that holds the lock; "" if the file does not tell. In a container it is
// the process id inside the container.
func holder(f *os.File) string {
	data, _ := io.ReadAll(io.LimitReader(f, 32)) // what cannot be read is no number
	pid, err := strconv.Atoi(strings.TrimSpace(string(data)))
	if err != nil {
		return ""
	}
	return fmt.Sprintf(" (pid %d)", pid)
}
