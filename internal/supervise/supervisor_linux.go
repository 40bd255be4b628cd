package supervise

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/vmihailenco/msgpack/v5"
	"golang.org/x/sys/unix"

	"github.com/ringleader-dev/ringleader/node/clock"
)

// Supervisor starts and controls a subreaper. Only one goroutine may call Run; the other methods
// may be called from any.
type Supervisor struct {
	cfg     Config
	pid     int // the subreaper's process id
	socket  *os.File
	answers chan answer
	gone    chan struct{} // closed when the subreaper has ended and is reaped

	mu       sync.Mutex // guards the fields below
	out      *msgpack.Encoder
	running  bool
	deadline time.Time
}

// Start starts the subreaper. The standard input, output and error of this process
// become those of the command.
func Start(cfg Config) (*Supervisor, error) {
	// Whatever falls to this process when the subreaper dies is to be found.
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return nil, fmt.Errorf("become a subreaper: %w", err)
	}
	if _, err := processes(); err != nil {
		return nil, fmt.Errorf("look for processes: %w: mount /proc", err)
	}
	if err := canEnd(); err != nil {
		return nil, err
	}
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("make a socket for the subreaper: %w", err)
	}
	pid, err := startSubreaper(pair[1], cfg.Hold)
	_ = unix.Close(pair[1])
	if err != nil {
		_ = unix.Close(pair[0])
		return nil, fmt.Errorf("start the subreaper: %w", err)
	}
	_ = unix.SetNonblock(pair[0], true)
	s := &Supervisor{
		cfg: cfg, pid: pid, socket: os.NewFile(uintptr(pair[0]), "subreaper"),
		answers: make(chan answer, 1), gone: make(chan struct{}),
	}
	s.out = msgpack.NewEncoder(s.socket)
	go s.listen()
	go s.await()
	return s, nil
}

// startSubreaper starts this executable again, with the descriptors of the held files after that of
// the socket. It does not get the descriptors by package os: that would make the sockets blocking,
// in this process too.
func startSubreaper(socket int, hold []syscall.Conn) (pid int, err error) {
	files := []uintptr{0, 1, 2, uintptr(socket)}
	err = withDescriptors(hold, func(held []uintptr) error {
		args := []string{os.Args[0], subreaperMark, strconv.Itoa(len(held))}
		own.Lock()
		defer own.Unlock()
		pid, err = syscall.ForkExec("/proc/self/exe", args, &syscall.ProcAttr{
			Env: os.Environ(), Files: append(files, held...),
			Sys: &syscall.SysProcAttr{Setpgid: true}, // a terminal's signals are not for it
		})
		if err == nil {
			own.pids[pid] = true
		}
		return err
	})
	return pid, err
}

// withDescriptors calls f with the descriptors of files, which stay open meanwhile.
func withDescriptors(files []syscall.Conn, f func([]uintptr) error) error {
	if len(files) == 0 {
		return f(nil)
	}
	last := len(files) - 1
	raw, err := files[last].SyscallConn()
	if err != nil {
		return err
	}
	var inner error
	err = raw.Control(func(fd uintptr) {
		inner = withDescriptors(files[:last], func(fds []uintptr) error {
			return f(append(fds, fd))
		})
	})
	return errors.Join(err, inner)
}

// listen takes answers until the subreaper has closed its end of the socket.
func (s *Supervisor) listen() {
	for in := msgpack.NewDecoder(s.socket); ; {
		var a answer
		if in.Decode(&a) != nil {
			return
		}
		select {
		case s.answers <- a:
		case <-s.gone:
			return
		}
	}
}

// await waits until the subreaper has ended.
func (s *Supervisor) await() {
	var status syscall.WaitStatus
	for {
		if _, err := syscall.Wait4(s.pid, &status, 0, nil); !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	own.Lock()
	delete(own.pids, s.pid)
	own.Unlock()
	close(s.gone)
}

// ask sends a request to the subreaper, if the command runs.
func (s *Supervisor) ask(r request) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running {
		_ = s.out.Encode(r) // an error: it is gone, as s.gone tells
	}
	return s.running
}

// begin asks the subreaper to start the command, unless ctx is done.
func (s *Supervisor) begin(ctx context.Context, r start, deadline time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if ctx.Err() == nil {
		s.running, s.deadline = true, deadline
		_ = s.out.Encode(request{Start: &r})
	}
	return s.running
}

func (s *Supervisor) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running = false
}

// Signal sends sig to the command's process group. It returns false if no command runs.
func (s *Supervisor) Signal(sig syscall.Signal) bool { return s.ask(request{Signal: int(sig)}) }

// Kill ends the command and all its processes at once.
func (s *Supervisor) Kill() { s.ask(request{Kill: true}) }

// Extend replaces the deadline of the present run. It has no effect once the command was told to
// stop.
func (s *Supervisor) Extend(deadline time.Time) {
	if deadline.IsZero() {
		return
	}
	s.mu.Lock()
	s.deadline = deadline
	s.mu.Unlock()
	s.ask(request{Deadline: boundOf(deadline)})
}

// slowKill is longer than a subreaper needs to kill a tree.
const slowKill = 2 * time.Second

// patience returns how long the subreaper may take to end the command after it was told to
// stop: it sends KILL after the grace, and before the deadline in any case.
func (s *Supervisor) patience() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	wait := s.cfg.Grace + slowKill
	if !s.deadline.IsZero() {
		wait = min(wait, s.deadline.Sub(clock.Now())-s.cfg.KillTime/2)
	}
	return max(0, wait)
}

// Run runs the command and returns when all of its tree is gone. When ctx ends, the command is told
// to stop, and is killed after the grace. If ctx has ended before, Run returns ctx's cause and starts
// nothing. Any other error says that the command could not be started: it wraps ErrNotFound or
// ErrNotExecutable, or is ErrSubreaper.
func (s *Supervisor) Run(ctx context.Context, spec Spec) (Exit, error) {
	terminal := foreground()
	defer takeBack(terminal)
	if !s.begin(ctx, start{
		Path: spec.Path, Args: spec.Args, Env: spec.Env, Deadline: boundOf(spec.Deadline),
		Grace: s.cfg.Grace, KillTime: s.cfg.KillTime, Foreground: terminal,
	}, spec.Deadline) {
		return Exit{}, context.Cause(ctx)
	}
	defer s.end()
	done := ctx.Done()
	var late <-chan time.Time
	hung := false
	for {
		select {
		case a := <-s.answers:
			if a.Errno != 0 {
				return Exit{}, startError(spec.Path, syscall.Errno(a.Errno))
			}
			return *a.Ended, nil
		case <-done:
			s.ask(request{Stop: true})
			done, late = nil, time.After(s.patience())
		case <-late:
			// It hangs, or is stopped, or this process was. The command is killed
			// from here; a subreaper that says nothing to that is of no use any more.
			if hung {
				_ = unix.Kill(s.pid, unix.SIGSTOP) // it starts nothing from now on
			}
			killDescendants(s.pid)
			if hung {
				_ = unix.Kill(s.pid, unix.SIGKILL) // s.gone follows
			}
			hung, late = true, time.After(slowKill)
		case <-s.gone:
			sweep()
			return Exit{}, ErrSubreaper
		}
	}
}

// Close ends the subreaper, and the command if it runs.
func (s *Supervisor) Close() error {
	err := s.socket.Close()
	<-s.gone
	return err
}

// foreground reports whether standard input is a terminal that sends its signals to this process's
// group.
func foreground() bool {
	group, err := unix.IoctlGetInt(0, unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}
