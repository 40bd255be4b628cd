package supervise

import (
	"errors"
	"io"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"github.com/vmihailenco/msgpack/v5"
	"golang.org/x/sys/unix"
)

// A subreaper's command line is the executable's name, subreaperMark and the number of files to
// hold. The descriptors of these files follow that of the socket.
const (
	subreaperMark = "__keep"
	socketFD      = 3
	// heldBelow bounds the command's descriptors of held files: they are the ones just below it.
	// They are high, since scripts use descriptors from 3 on.
	heldBelow = 1000
)

// Enter turns this process into a subreaper, and does not return, if the process was
// started as one. A program that calls Start must first of all call Enter, from its
// main goroutine.
func Enter() {
	if len(os.Args) != 3 || os.Args[1] != subreaperMark {
		return
	}
	held, err := strconv.Atoi(os.Args[2])
	if err != nil {
		return
	}
	if err := keep(held); err != nil {
		println("ringleader: subreaper:", err.Error())
		os.Exit(1)
	}
	os.Exit(0)
}

// subreaper runs the command for its parent. All its fields belong to the goroutine in serve. That
// goroutine keeps its thread, because the kernel sends the command's death signal when the thread
// ends.
type subreaper struct {
	held     []int // descriptors of the held files
	requests chan request
	died     chan os.Signal // a child has ended
	alarm    *alarm
	answers  *msgpack.Encoder

	orphaned bool // the parent has ended

	running  bool
	pid      int // the process id of the command; 0 once it has ended
	spec     start
	exit     Exit
	stopping bool
	killAt   bound         // when KILL is sent, while stopping; zero if not known yet
	killing  time.Duration // the pause until KILL is repeated; 0 before the first KILL
}

// keep runs a subreaper until it ends.
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
	k := &subreaper{requests: make(chan request), died: make(chan os.Signal, 1)}
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
	k.answers = msgpack.NewEncoder(socket)
	go listen(socket, k.requests)
	return k.serve()
}

// listen passes requests on until the other end of the socket is closed.
func listen(socket io.Reader, requests chan<- request) {
	defer close(requests)
	for in := msgpack.NewDecoder(socket); ; {
		var r request
		if in.Decode(&r) != nil {
			return
		}
		requests <- r
	}
}

// serve handles requests and alarms until its parent has ended and nothing runs.
func (k *subreaper) serve() error {
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

func (k *subreaper) obey(r request) error {
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
func (k *subreaper) start(s start) error {
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
	*k = subreaper{
		held: k.held, requests: k.requests, died: k.died, alarm: k.alarm, answers: k.answers,
		running: true, pid: pid, spec: s,
	}
	return k.rearm()
}

// files returns the descriptors for the command.
func (k *subreaper) files() []uintptr {
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

// rearm sets the alarm for the next action.
func (k *subreaper) rearm() error {
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

// onAlarm carries out the action that is due.
func (k *subreaper) onAlarm() error {
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

// stop sends TERM to all of the tree, and sets when KILL follows: after the grace, but before the
// deadline.
func (k *subreaper) stop() error {
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

// kill sends KILL to all of the tree. The alarm repeats the call until nothing is left, since
// processes may have forked meanwhile.
func (k *subreaper) kill() error {
	if !k.running {
		return nil
	}
	if k.pid != 0 {
		k.exit.Stopped = true
		_ = unix.Kill(-k.pid, unix.SIGKILL)
	}
	for _, pid := range listed(os.Getpid()) { // the lease is about to end: looking at all processes takes longer
		_ = unix.Kill(pid, unix.SIGKILL)
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

// reap waits for children that have ended. When the command has ended, reap also stops what it left
// behind.
func (k *subreaper) reap() error {
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
func (k *subreaper) over() error {
	if !k.running {
		return nil
	}
	k.running = false
	if err := k.rearm(); err != nil {
		return err
	}
	return k.answer(answer{Ended: &k.exit})
}

// answer sends an answer to the parent, if the parent still exists.
func (k *subreaper) answer(a answer) error {
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
