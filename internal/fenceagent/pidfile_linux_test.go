package fenceagent_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/internal/fenceagent"
)

// The test binary is the process that is shot: it writes its file and hangs.
func TestMain(m *testing.M) {
	path := os.Getenv("PIDFILE_TEST")
	if path == "" {
		os.Exit(m.Run())
	}
	if err := fenceagent.WritePIDFile(path, 5, incarnation); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	time.Sleep(10 * time.Minute)
}

// victim starts a process of node 5 that has written its file.
func victim(t *testing.T) (path string, cmd *exec.Cmd) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "5.pid")
	cmd = exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "PIDFILE_TEST="+path)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	for end := time.Now().Add(time.Minute); time.Now().Before(end); {
		if _, err := fenceagent.ReadPIDFile(path); err == nil {
			return path, cmd
		}
	}
	t.Fatal("no pid file")
	return path, cmd
}

func within(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// edit rewrites one line of the file.
func edit(t *testing.T, path, key, value string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	for i, l := range lines {
		if strings.HasPrefix(l, key+" ") || key == "" && i == 0 {
			lines[i] = strings.TrimSpace(key + " " + value)
		}
	}
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
}

// "It returns nil only if the target has stopped": also one that is stopped by a
// signal, and not before it has ended.
func TestPIDFile(t *testing.T) {
	for name, before := range map[string]func(*exec.Cmd) error{
		"running": func(*exec.Cmd) error { return nil },
		"stopped": func(c *exec.Cmd) error { return c.Process.Signal(syscall.SIGSTOP) },
	} {
		path, cmd := victim(t)
		if err := before(cmd); err != nil {
			t.Fatal(err)
		}
		text, err := fenceagent.PIDFile(within(t), path, fenceagent.Status, target())
		if err != nil || !strings.Contains(text, "runs as process") {
			t.Errorf("%s: %q, %v", name, text, err)
		}
		text, err = fenceagent.PIDFile(within(t), path, fenceagent.Off, target())
		if err != nil || !strings.Contains(text, "killed process") {
			t.Errorf("%s: %q, %v", name, text, err)
		}
		var exit *exec.ExitError
		if err := cmd.Wait(); !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
			t.Errorf("%s: it ended with %v", name, err)
		}
		text, err = fenceagent.PIDFile(within(t), path, fenceagent.Off, target())
		if err != nil || !strings.Contains(text, "has ended before") {
			t.Errorf("%s, again: %q, %v", name, text, err)
		}
	}
}

// "A process id alone says little": a number that another process has by now, or
// that is of another boot, is confirmed and not shot; one of another machine,
// namespace or node, or that nothing is known of, is neither.
func TestPIDFileOfOnlyThatProcess(t *testing.T) {
	later := fenceagent.Target{ID: 5, Incarnation: strings.Repeat("cd", 16)}
	for name, c := range map[string]struct {
		key, value string
		target     fenceagent.Target
		says       string
		err        error
	}{
		"the number is another's": {"start", "7", target(), "has ended before", nil},
		"another boot":            {"boot", "7", target(), "has ended before", nil},
		"the node's next process": {"", "", later, "started again", nil},
		"another machine":         {"machine", "other", target(), "", fenceagent.ErrElsewhere},
		"another namespace":       {"namespace", "pid:[7]", target(), "", fenceagent.ErrElsewhere},
		"another node":            {"node", "4", target(), "", fenceagent.ErrPIDFile},
		"no start":                {"start", "", target(), "", fenceagent.ErrPIDFile},
		"no number":               {"", "hello", target(), "", fenceagent.ErrPIDFile},
		"a negative number":       {"", "-1", target(), "", fenceagent.ErrPIDFile},
	} {
		path, cmd := victim(t)
		if c.key != "" || c.value != "" {
			edit(t, path, c.key, c.value)
		}
		text, err := fenceagent.PIDFile(within(t), path, fenceagent.Off, c.target)
		if !errors.Is(err, c.err) || c.err == nil && !strings.Contains(text, c.says) {
			t.Errorf("%s: %q, %v; want %q, %v", name, text, err, c.says, c.err)
		}
		if err := cmd.Process.Signal(syscall.Signal(0)); err != nil {
			t.Errorf("%s: it was shot", name)
		}
	}
	path, cmd := victim(t)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if _, err := fenceagent.PIDFile(within(t), path, fenceagent.Off, later); !errors.Is(err, fenceagent.ErrOther) {
		t.Errorf("an older process's file: %v", err)
	}
	path, _ = victim(t)
	edit(t, path, "machine", "unknown")
	edit(t, path, "boot", "7")
	_, err := fenceagent.PIDFile(within(t), path, fenceagent.Off, target())
	if !errors.Is(err, fenceagent.ErrElsewhere) {
		t.Errorf("a boot of who knows which machine: %v", err)
	}
	none := filepath.Join(t.TempDir(), "none")
	if _, err := fenceagent.PIDFile(within(t), none, fenceagent.Off, target()); !errors.Is(err, fenceagent.ErrPIDFile) {
		t.Errorf("no file: %v", err)
	}
}
