package supervise

import (
	"encoding/gob"
	"errors"
	"io"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// The keeper's command line is its executable's name, keeperMark and the number of
// files to hold. Their descriptors follow the socket's.
const (
	keeperMark = "__keep"
	socketFD   = 3
	// heldBelow is where the held files' descriptors end in the command: out of a
	// script's way, which counts from 3.
	heldBelow = 1000
)

// Enter turns this process into a keeper, and does not return, if it was started
// as one. A program that calls Start calls it first of all, from its main
// goroutine.
func Enter() {
	if len(os.Args) != 3 || os.Args[1] != keeperMark {
		return
	}
	held, err := strconv.Atoi(os.Args[2])
	if err != nil {
		return
	}
	if err := keep(held); err != nil {
		println("ringleader: keeper:", err.Error())
		os.Exit(1)
	}
	os.Exit(0)
}

// keeper runs the command for its parent. All its fields belong to the goroutine
// in serve, on whose thread the command's death signal hangs.
type keeper struct {
	held     []int // descriptors
	requests chan request
	died     chan os.Signal // a child has ended
	alarm    *alarm
	answers  *gob.Encoder

	orphaned bool // nobody waits for answers any more

	running  bool
	pid      int // of the command's first process; 0 once it has ended
	spec     start
	exit     Exit
	stopping bool
	killAt   bound         // while stopping; zero for not yet known
	killing  time.Duration // the pause until KILL is repeated; 0 before the first
}

// keep is the life of a keeper.
func keep(held int) error {
	runtime.LockOSThread()
	// What ends others, or a whole terminal, must not end who looks after them.
	// They are caught, not ignored, since a command would inherit the latter.
	noticed := make(chan os.Signal, 1)
	signal.Notify(noticed, unix.SIGINT, unix.SIGTERM, unix.SIGHUP, unix.SIGQUIT,
		unix.SIGUSR1, unix.SIGUSR2, unix.SIGPIPE, unix.SIGTSTP, unix.SIGALRM)
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return err
	}
	if err := stayKillable(); err != nil {
		return err
	}
	k := &keeper{requests: make(chan request), died: make(chan os.Signal, 1)}
	for fd := socketFD; fd <= socketFD+held; fd++ {
		unix.CloseOnExec(fd)
	}
	for i := range held {
		k.held = append(k.held, socketFD+1+i)
	}
	signal.Notify(k.died, unix.SIGCHLD)
	alarm, err := newAlarm()
	if err != nil {
		return err
	}
	k.alarm = alarm
	socket := os.NewFile(socketFD, "supervisor")
	k.answers = gob.NewEncoder(socket)
	go listen(socket, k.requests)
	return k.serve()
}

// listen hands on requests until the other end of the socket is closed.
func listen(socket io.Reader, requests chan<- request) {
	defer close(requests)
	for in := gob.NewDecoder(socket); ; {
		var r request
		if in.Decode(&r) != nil {
			return
		}
		requests <- r
	}
}

// serve does what it is asked until its parent has ended and nothing runs.
func (k *keeper) serve() error {
	for !k.orphaned || k.running {
		var err error
		select {
		case r, ok := <-k.requests:
			if !ok {
				k.requests, k.orphaned = nil, true
				err = k.kill()
				break
			}
			err = k.obey(r)
		case <-k.died:
			err = k.reap()
		case <-k.alarm.ring:
			err = k.onAlarm()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (k *keeper) obey(r request) error {
	switch {
	case r.Start != nil && !k.running:
		return k.start(*r.Start)
	case !k.running:
		return nil // it came after the end
	case r.Signal != 0 && k.pid != 0:
		return ignoreGone(unix.Kill(-k.pid, syscall.Signal(r.Signal)))
	case r.Stop:
		return k.stop()
	case r.Kill:
		return k.kill()
	case r.Deadline != 0 && !k.stopping:
		k.spec.Deadline = r.Deadline
		return k.rearm()
	}
	return nil
}

// start starts the command, unless the deadline leaves no time for it.
func (k *keeper) start(s start) error {
	if s.Deadline != 0 && sinceBoot() >= s.Deadline-bound(s.Grace+s.KillTime) {
		return k.answer(answer{Ended: &Exit{Stopped: true, Late: true}})
	}
	pid, err := syscall.ForkExec(s.Path, s.Args, &syscall.ProcAttr{
		Env: s.Env, Files: k.files(),
		Sys: &syscall.SysProcAttr{
			Setpgid: true, Foreground: s.Foreground, Pdeathsig: syscall.SIGKILL,
		},
	})
	if err != nil {
		errno := syscall.EINVAL
		errors.As(err, &errno)
		return k.answer(answer{Errno: int(errno)})
	}
	*k = keeper{
		held: k.held, requests: k.requests, died: k.died, alarm: k.alarm, answers: k.answers,
		running: true, pid: pid, spec: s,
	}
	return k.rearm()
}

// files are the descriptors of the command.
func (k *keeper) files() []uintptr {
	files := []uintptr{0, 1, 2}
	if len(k.held) == 0 {
		return files
	}
	first := heldBelow - len(k.held)
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) == nil && limit.Cur < heldBelow {
		first = max(len(files), int(limit.Cur)-len(k.held))
	}
	for len(files) < first {
		files = append(files, ^uintptr(0)) // closed
	}
	for _, fd := range k.held {
		files = append(files, uintptr(fd))
	}
	return files
}

// rearm sets the alarm for what comes next.
func (k *keeper) rearm() error {
	end := k.spec.Deadline
	switch {
	case !k.running:
		return k.alarm.set(0)
	case k.killing > 0:
		return k.alarm.set(sinceBoot() + bound(k.killing))
	case k.stopping:
		return k.alarm.set(k.killAt)
	case end == 0:
		return k.alarm.set(0)
	}
	return k.alarm.set(max(1, end-bound(k.spec.Grace+k.spec.KillTime)))
}

// onAlarm does what is due.
func (k *keeper) onAlarm() error {
	now, end := sinceBoot(), k.spec.Deadline
	switch {
	case !k.running:
		return nil
	case k.killing > 0, k.stopping && now >= k.killAt:
		return k.kill()
	case !k.stopping && end != 0 && now >= end-bound(k.spec.Grace+k.spec.KillTime):
		k.exit.Late = true
		return k.stop()
	}
	return k.rearm()
}

// stop asks all of the tree to end, and says when it is made to: after the grace,
// and before the deadline in any case.
func (k *keeper) stop() error {
	if k.stopping {
		return nil
	}
	k.stopping = true
	if k.pid != 0 {
		k.exit.Stopped = true
	}
	k.killAt = sinceBoot() + bound(k.spec.Grace)
	if end := k.spec.Deadline; end != 0 {
		k.killAt = max(1, min(k.killAt, end-bound(k.spec.KillTime)))
	}
	found, err := descendants(os.Getpid(), nil)
	if err != nil {
		return err
	}
	signalAll(found, unix.SIGTERM)
	signalAll(found, unix.SIGCONT) // one that is stopped hears nothing
	return k.rearm()
}

// kill ends all of the tree, and is repeated until nothing is left: somebody may
// have forked meanwhile.
func (k *keeper) kill() error {
	if !k.running {
		return nil
	}
	if k.pid != 0 {
		k.exit.Stopped = true
		_ = unix.Kill(-k.pid, unix.SIGKILL)
	}
	k.stopping = true
	k.killing = min(max(2*k.killing, time.Millisecond), 100*time.Millisecond)
	found, err := descendants(os.Getpid(), nil)
	if err != nil {
		return err
	}
	signalAll(found, unix.SIGKILL)
	return k.rearm()
}

// reap takes the ends of children. What the command left behind when it ended is
// told to end too.
func (k *keeper) reap() error {
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, syscall.WNOHANG, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case errors.Is(err, syscall.ECHILD):
			return k.over()
		case err != nil:
			return err
		case pid == 0:
			return nil
		case pid != k.pid:
			continue
		}
		k.pid, k.exit.Status = 0, status
		left, err := descendants(os.Getpid(), nil)
		if err != nil {
			return err
		}
		k.exit.Left = len(left)
		if err := k.stop(); err != nil {
			return err
		}
	}
}

// over tells the parent that nothing of the tree is left.
func (k *keeper) over() error {
	if !k.running {
		return nil
	}
	k.running = false
	if err := k.rearm(); err != nil {
		return err
	}
	return k.answer(answer{Ended: &k.exit})
}

// answer tells the parent, if it still is there.
func (k *keeper) answer(a answer) error {
	if !k.orphaned {
		_ = k.answers.Encode(a) // that it is gone, the requests will tell
	}
	return nil
}

func ignoreGone(err error) error {
	if errors.Is(err, unix.ESRCH) || errors.Is(err, unix.EPERM) {
		return nil
	}
	return err
}
