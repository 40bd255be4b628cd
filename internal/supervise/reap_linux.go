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

// own are the children that this package started and waits for. Whoever starts one
// holds the lock until it is in.
var own = struct {
	sync.Mutex
	pids map[int]bool
}{pids: map[int]bool{}}

// Reap reaps the processes that fall to this one when their parents end, until ctx
// is done. That happens to a process that is the first of a container. Children
// that this process started itself otherwise than by this package must not exist.
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

// reapOrphans reaps the adopted children that have ended, and returns how many have
// not.
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

// sweep ends what fell to this process when the keeper ended, and returns when
// nothing of it is left.
func sweep() {
	for pause := time.Millisecond; ; pause = min(2*pause, 100*time.Millisecond) {
		killDescendants(os.Getpid())
		if reapOrphans() == 0 {
			return
		}
		time.Sleep(pause)
	}
}

// killDescendants kills what came of root, but not what this package started.
func killDescendants(root int) {
	own.Lock()
	defer own.Unlock()
	if found, err := descendants(root, own.pids); err == nil {
		signalAll(found, unix.SIGKILL)
	}
}
