package supervise

import (
	"context"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// own are the children that this package started and waits for. Whoever starts a child holds the
// lock until the child is added.
var own = struct {
	sync.Mutex
	pids map[int]bool
}{pids: map[int]bool{}}

// Reap waits for adopted children until ctx is done. A process adopts the children of processes
// that have ended if it is the first process of a container. There must be no children that were
// started by anything but this package.
func Reap(ctx context.Context) {
	died := make(chan os.Signal, 1)
	signal.Notify(died, unix.SIGCHLD)
	defer signal.Stop(died)
	for {
		reapOrphans()
		select {
		case <-died:
		case <-ctx.Done():
			return
		}
	}
}

// reapOrphans reaps the adopted children that have ended, and returns how many still
// live.
func reapOrphans() (living int) {
	own.Lock()
	defer own.Unlock()
	children, err := processes()
	if err != nil {
		return 0
	}
	for _, p := range children {
		if p.parent != os.Getpid() || own.pids[p.pid] {
			continue
		}
		if pid, err := syscall.Wait4(p.pid, nil, syscall.WNOHANG, nil); err == nil && pid == 0 {
			living++
		}
	}
	return living
}

// sweep kills the processes that this process adopted when the subreaper ended, and returns when
// none is left.
func sweep() {
	for pause := time.Millisecond; ; pause = min(2*pause, 100*time.Millisecond) {
		killDescendants(os.Getpid())
		if reapOrphans() == 0 {
			return
		}
		time.Sleep(pause)
	}
}

// killDescendants kills all descendants of root, except commands that this package started and
// their descendants.
func killDescendants(root int) {
	own.Lock()
	defer own.Unlock()
	if found, err := descendants(root, own.pids); err == nil {
		signalAll(found, unix.SIGKILL)
	}
}
