package supervise

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ringleader-dev/ringleader/node/clock"
)

const (
	patience  = time.Minute
	markEnv   = "SUPERVISE_TEST_MARK"   // is in the environment of all that a test starts
	victimEnv = "SUPERVISE_TEST_VICTIM" // makes this binary a supervising process
	jobEnv    = "SUPERVISE_TEST_JOB"    // makes it one that runs a Job
	// killableEnv makes it one that says why a program is refused.
	killableEnv = "SUPERVISE_TEST_KILLABLE"
	// becomeEnv makes it one that becomes the user that it has the rights of, and stays.
	becomeEnv = "SUPERVISE_TEST_BECOME"
)

func TestMain(m *testing.M) {
	Enter()
	if script := os.Getenv(jobEnv); script != "" {
		_, err := Output(context.Background(), 1, "/bin/sh", "-c", script)
		must(err)
		os.Exit(0)
	}
	if path := os.Getenv(killableEnv); path != "" {
		if err := Killable(path); err != nil {
			fmt.Println(err)
		}
		os.Exit(0)
	}
	if os.Getenv(becomeEnv) != "" {
		must(syscall.Setresuid(os.Geteuid(), os.Geteuid(), os.Geteuid()))
		select {}
	}
	if script := os.Getenv(victimEnv); script != "" {
		beVictim(script)
	}
	os.Exit(m.Run())
}

// beVictim supervises a shell, prints the address of a held listener, and waits
// for its end. Its deadline is what the environment says.
func beVictim(script string) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	must(err)
	s, err := Start(Config{
		Grace: 100 * time.Millisecond, KillTime: 100 * time.Millisecond,
		Hold: []syscall.Conn{ln.(*net.TCPListener)},
	})
	must(err)
	spec := shell(script)
	if left, err := time.ParseDuration(os.Getenv("LEFT")); err == nil {
		spec.Deadline = clock.Now().Add(left)
	}
	fmt.Println(ln.Addr(), s.pid)
	go func() { // as elections do
		for {
			if c, err := ln.Accept(); err == nil {
				_ = c.Close()
			}
		}
	}()
	_, err = s.Run(context.Background(), spec)
	must(err)
	os.Exit(0)
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func shell(script string) Spec {
	return Spec{Path: "/bin/sh", Args: []string{"sh", "-c", script}, Env: os.Environ()}
}

// Scripts. Each says that it is ready by making the file $READY.
const (
	ready = `: > "$READY"; `
	// stubborn ignores what asks it to end.
	stubborn = `trap "" TERM HUP INT QUIT; ` + ready + `while :; do sleep 0.05; done`
	// daemon leaves behind a process in a session of its own, whose parent is gone
	// and which has closed what it did not open, and which ignores signals.
	daemon = `trap "" TERM HUP; (setsid sh -c 'exec <&- >&- 2>&-; ` +
		`for fd in /proc/$$/fd/*; do n=${fd##*/}; [ $n -gt 2 ] && [ $n -lt 10 ] && eval "exec $n>&-"; done; ` +
		ready + `while :; do sleep 0.05; done' &) ; `
	// storm forks without end, each time into another session.
	storm = `storm() { setsid sh -c ': > "$READY"; (setsid sleep 60 &); sleep 0.02' & }; ` +
		`i=0; while [ $i -lt 40 ]; do storm; i=$((i+1)); done; while :; do storm; sleep 0.01; done`
)

// rig is one test's marked processes.
type rig struct {
	*testing.T
	mark, ready string
	s           *Supervisor
}

func newRig(t *testing.T, cfg Config) *rig {
	t.Helper()
	r := &rig{T: t, mark: newMark(t), ready: filepath.Join(t.TempDir(), "ready")}
	t.Setenv(markEnv, r.mark)
	t.Setenv("READY", r.ready)
	s, err := Start(cfg)
	if err != nil {
		t.Fatal(err)
	}
	r.s = s
	t.Cleanup(func() { _ = s.Close() })
	return r
}

var marks atomic.Int64

func newMark(t *testing.T) string {
	return fmt.Sprintf("%s-%d-%d", filepath.Base(t.Name()), os.Getpid(), marks.Add(1))
}

// living are the marked processes that run, without those of this executable: this
// one, subreapers and victims.
func living(mark string) (pids []int) {
	all, err := processes()
	must(err)
	for _, p := range all {
		dir := "/proc/" + strconv.Itoa(p.pid)
		line, _ := os.ReadFile(dir + "/cmdline")
		env, err := os.ReadFile(dir + "/environ")
		isOurs := bytes.HasPrefix(line, []byte(os.Args[0]+"\x00"))
		if err == nil && !isOurs && bytes.Contains(env, []byte(markEnv+"="+mark+"\x00")) {
			pids = append(pids, p.pid)
		}
	}
	return pids
}

// wait waits for a condition.
func wait(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !is(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("never: %s", what)
		}
	}
}

func exists(file string) func() bool {
	return func() bool {
		_, err := os.Stat(file)
		return err == nil
	}
}

// none fails the test when a marked process runs.
func (r *rig) none() {
	r.Helper()
	if left := living(r.mark); len(left) > 0 {
		r.Errorf("processes %v are left", left)
	}
}

type ending struct {
	exit Exit
	err  error
}

// run runs a script until cancel is called, and returns once it is ready.
func (r *rig) run(spec Spec) (cancel func(), ended <-chan ending) {
	r.Helper()
	ctx, stop := context.WithCancel(r.Context())
	end := make(chan ending, 1)
	go func() {
		exit, err := r.s.Run(ctx, spec)
		end <- ending{exit, err}
	}()
	wait(r.T, "the script is ready", exists(r.ready))
	return stop, end
}

func (r *rig) await(ended <-chan ending) ending {
	r.Helper()
	select {
	case e := <-ended:
		r.none()
		return e
	case <-time.After(patience):
		r.Fatalf("Run does not return; living: %v", living(r.mark))
		return ending{}
	}
}

// "Exit code … the child's own, 128+n by signal": also of one that exits at once.
// The bytes of its arguments and its environment are left as they are.
func TestExitCodes(t *testing.T) {
	r := newRig(t, Config{Grace: time.Second})
	for script, want := range map[string]int{
		"exit 0": 0, "exit 3": 3, "exit 255": 255, "kill -9 $$": 137, "kill -TERM $$": 143,
		`[ "$1" = "$BYTES" ] && [ ${#1} = 2 ]`: 0,
	} {
		spec := shell(script)
		spec.Args = append(spec.Args, "name", "\xff\xfe")
		spec.Env = append(spec.Env, "BYTES=\xff\xfe", "LC_ALL=C")
		exit, err := r.s.Run(t.Context(), spec)
		if err != nil || exit.Code() != want || exit.Stopped {
			t.Errorf("%s: %+v, %v, want code %d", script, exit, err, want)
		}
	}
	r.none()
}

// "126/127 as shells do": a command that does not exist, is a directory, is no
// executable, or names an interpreter that does not exist.
func TestCannotStart(t *testing.T) {
	r := newRig(t, Config{})
	dir := t.TempDir()
	write := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		must(os.WriteFile(path, []byte(text), mode))
		return path
	}
	for path, want := range map[string]error{
		filepath.Join(dir, "none"):                ErrNotFound,
		filepath.Join(dir, "none", "none"):        ErrNotFound,
		write("plain", "#!/bin/sh\n", 0o600):      ErrNotExecutable,
		write("text", "no program\n", 0o700):      ErrNotExecutable,
		write("script", "#!/no/such/sh\n", 0o700): ErrNotFound,
		dir: ErrNotExecutable,
	} {
		_, err := r.s.Run(t.Context(), Spec{Path: path, Args: []string{path}})
		if !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", path, err, want)
		}
	}
	for name, want := range map[string]error{
		"no-such-command": ErrNotFound, filepath.Join(dir, "none"): ErrNotFound,
		filepath.Join(dir, "plain"): ErrNotExecutable, dir: ErrNotExecutable, "": ErrNotFound,
	} {
		if _, err := Find(name); !errors.Is(err, want) {
			t.Errorf("find %q: %v, want %v", name, err, want)
		}
	}
	if path, err := Find("sh"); err != nil || !filepath.IsAbs(path) {
		t.Errorf("find sh: %q, %v", path, err)
	}
}

// "When ctx ends it is told to stop, and killed after the grace": one that obeys
// ends by itself, one that ignores everything is killed, one that is stopped too.
func TestStop(t *testing.T) {
	obedient := `trap "exit 7" TERM; ` + ready + `while :; do sleep 0.02; done`
	for name, c := range map[string]struct {
		script string
		code   int
	}{
		"obedient": {obedient, 7},
		"stubborn": {stubborn, 137},
		"stopped":  {`trap "exit 8" TERM; ` + ready + `kill -STOP $$; sleep 60`, 8},
		"storm":    {storm, 143},
	} {
		t.Run(name, func(t *testing.T) {
			grace := 300 * time.Millisecond
			if c.code < 128 {
				grace = patience
			}
			r := newRig(t, Config{Grace: grace})
			stop, ended := r.run(shell(c.script))
			began := time.Now()
			stop()
			e := r.await(ended)
			if e.err != nil || !e.exit.Stopped || e.exit.Late || e.exit.Code() != c.code {
				t.Errorf("%+v, want code %d", e, c.code)
			}
			if took := time.Since(began); c.code == 137 && took < grace {
				t.Errorf("killed after %v, before the grace of %v", took, grace)
			}
		})
	}
}

// "Run returns when the whole tree is gone": a command that daemonises and ends has
// ended with all that it left behind. Its exit code is its own.
func TestDaemon(t *testing.T) {
	r := newRig(t, Config{Grace: 50 * time.Millisecond})
	_, ended := r.run(shell(daemon + `while [ ! -e "$READY" ]; do sleep 0.01; done; exit 5`))
	e := r.await(ended)
	if e.err != nil || e.exit.Stopped || e.exit.Code() != 5 || e.exit.Left == 0 {
		t.Errorf("%+v", e)
	}
}

// "SIGTERM a grace before it, SIGKILL a little before it": nothing lives at the
// deadline, and an extension in time is obeyed.
func TestDeadline(t *testing.T) {
	cfg := Config{Grace: 200 * time.Millisecond, KillTime: 5 * time.Second} // of a busy machine
	r := newRig(t, cfg)
	spec := shell(daemon + stubborn)
	spec.Deadline = clock.Now().Add(patience)
	_, ended := r.run(spec)
	deadline := clock.Now().Add(7 * time.Second)
	r.s.Extend(deadline)
	e := r.await(ended)
	if now := clock.Now(); now.After(deadline) || now.Before(deadline.Add(-cfg.KillTime)) {
		t.Errorf("ended %v before the deadline", deadline.Sub(now))
	}
	if e.err != nil || !e.exit.Late || !e.exit.Stopped || e.exit.Code() != 137 {
		t.Errorf("%+v", e)
	}
	// One that leaves no time is not begun.
	spec.Deadline = clock.Now().Add(cfg.Grace + cfg.KillTime)
	exit, err := r.s.Run(t.Context(), spec)
	if err != nil || !exit.Late || exit.Status != 0 {
		t.Errorf("without time: %+v, %v", exit, err)
	}
}

// Signals go to the command's process group; without a command to nobody.
func TestSignal(t *testing.T) {
	r := newRig(t, Config{Grace: time.Second})
	if r.s.Signal(syscall.SIGHUP) {
		t.Error("a signal was passed on to nobody")
	}
	_, ended := r.run(shell(`trap "exit 9" USR1; ` + ready + `while :; do sleep 0.02; done`))
	if !r.s.Signal(syscall.SIGUSR1) {
		t.Error("the command does not run")
	}
	if e := r.await(ended); e.exit.Code() != 9 || e.exit.Stopped {
		t.Errorf("%+v", e)
	}
}

// A context that has ended starts nothing.
func TestNotBegun(t *testing.T) {
	r := newRig(t, Config{})
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(io.ErrNoProgress)
	if _, err := r.s.Run(ctx, shell(ready)); !errors.Is(err, io.ErrNoProgress) || exists(r.ready)() {
		t.Errorf("%v", err)
	}
}

// "When the subreaper ends, the kernel kills the command, and the supervising process,
// to which the rest of the tree falls, kills that." A subreaper that hangs is treated
// so when it is told to stop the command.
func TestSubreaperFails(t *testing.T) {
	for name, c := range map[string]struct {
		sig  syscall.Signal
		stop bool
	}{"killed": {syscall.SIGKILL, false}, "stopped": {syscall.SIGSTOP, true}} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, Config{Grace: 100 * time.Millisecond, KillTime: 100 * time.Millisecond})
			stop, ended := r.run(shell(daemon + stubborn))
			must(syscall.Kill(r.s.pid, c.sig))
			if c.stop {
				stop()
			}
			if e := r.await(ended); !errors.Is(e.err, ErrSubreaper) {
				t.Errorf("%+v", e)
			}
		})
	}
}

// victim starts a supervising process, and returns its listener and its subreaper.
func victim(t *testing.T, script string, env ...string) (cmd *exec.Cmd, addr, mark string) {
	t.Helper()
	mark = newMark(t)
	file := filepath.Join(t.TempDir(), "ready")
	cmd = exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), append(env, victimEnv+"="+script, markEnv+"="+mark, "READY="+file)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	must(err)
	must(cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		wait(t, "the tree is gone", func() bool { return len(living(mark)) == 0 })
	})
	var subreaper int
	if _, err := fmt.Fscan(out, &addr, &subreaper); err != nil {
		t.Fatal(err)
	}
	wait(t, "the script is ready", exists(file))
	return cmd, addr, mark
}

// "When the supervising process ends, however it ends, the subreaper … kills the tree,
// and ends after it": its address refuses nobody before. The command ignores every
// signal that can be ignored, and has daemonised.
func TestKilledSupervisor(t *testing.T) {
	cmd, addr, mark := victim(t, daemon+stubborn)
	if len(living(mark)) < 2 {
		t.Fatalf("only %v live", living(mark))
	}
	must(cmd.Process.Kill())
	for end := time.Now().Add(patience); ; {
		c, err := net.DialTimeout("tcp", addr, time.Second)
		if errors.Is(err, syscall.ECONNREFUSED) {
			break
		}
		if err == nil {
			_ = c.Close()
		}
		if time.Now().After(end) {
			t.Fatalf("never refused: %v", err)
		}
	}
	if left := living(mark); len(left) > 0 {
		t.Errorf("the address refuses, and %v live", left)
	}
}

// "The deadline is kept … also while the supervising process is stopped."
func TestStoppedSupervisor(t *testing.T) {
	cmd, _, mark := victim(t, daemon+stubborn, "LEFT=6s")
	must(cmd.Process.Signal(syscall.SIGSTOP))
	wait(t, "the tree is gone", func() bool { return len(living(mark)) == 0 })
	must(cmd.Process.Signal(syscall.SIGCONT))
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

// "The files in Config.Hold are open in the subreaper and in the command", and do not
// stand in a script's way.
func TestHold(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	must(err)
	defer ln.Close()
	r := newRig(t, Config{Hold: []syscall.Conn{ln.(*net.TCPListener)}})
	out := filepath.Join(t.TempDir(), "fds")
	_, err = r.s.Run(t.Context(), shell("ls -l /proc/$$/fd > "+out))
	must(err)
	text, err := os.ReadFile(out)
	must(err)
	if !strings.Contains(string(text), " 999 -> socket:") || strings.Contains(string(text), " 3 -> ") {
		t.Errorf("%s", text)
	}
	// It still does not block in this process.
	raw, err := ln.(*net.TCPListener).SyscallConn()
	must(err)
	must(raw.Control(func(fd uintptr) {
		flags, err := unix.FcntlInt(fd, unix.F_GETFL, 0)
		must(err)
		if flags&unix.O_NONBLOCK == 0 {
			t.Error("the listener blocks")
		}
	}))
}

// Orphans that fall to this process are reaped, while what it waits for itself is
// left alone.
func TestReap(t *testing.T) {
	must(unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		Reap(ctx)
		close(done)
	}()
	mark := newMark(t)
	t.Setenv(markEnv, mark)
	for range 20 {
		out, err := Output(t.Context(), 100, "/bin/sh", "-c", "(setsid sleep 0.02 &); echo well")
		if err != nil || string(out) != "well\n" {
			t.Fatalf("%q, %v", out, err)
		}
	}
	wait(t, "no child is left", func() bool {
		all, err := processes()
		must(err)
		for _, p := range all {
			if p.parent == os.Getpid() {
				return false
			}
		}
		return true
	})
	cancel()
	<-done
}

// "The kernel kills it when this process ends, however that ends": a hook that runs
// when ringleader gets SIGKILL does not go on.
func TestJobDiesWithUs(t *testing.T) {
	pids := filepath.Join(t.TempDir(), "pid")
	owner := exec.Command(os.Args[0])
	owner.Env = append(os.Environ(),
		jobEnv+"=trap '' TERM HUP; echo $$ > "+pids+".new; mv "+pids+".new "+pids+"; while :; do sleep 0.05; done")
	must(owner.Start())
	var pid int
	for began := time.Now(); pid == 0; time.Sleep(time.Millisecond) {
		text, err := os.ReadFile(pids)
		if err == nil {
			pid, err = strconv.Atoi(strings.TrimSpace(string(text)))
		}
		if err != nil && time.Since(began) > patience {
			t.Fatal(err)
		}
	}
	must(owner.Process.Kill())
	_ = owner.Wait()
	for began := time.Now(); ; time.Sleep(time.Millisecond) {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil || bytes.Contains(stat, []byte(") Z ")) {
			return // gone, or to be reaped by who inherited it
		}
		if time.Since(began) > patience {
			t.Fatalf("the job lives on: %s", stat)
		}
	}
}
