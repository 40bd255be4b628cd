package statefile

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/proto"
)

// childEnv makes the test binary a process that opens the directory it names
// and saves one term after the other, printing each when it is saved.
const childEnv = "STATEFILE_TEST_CHILD"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childEnv); dir != "" {
		os.Exit(child(dir))
	}
	os.Exit(m.Run())
}

func child(dir string) int {
	f, s, err := Open(dir, demo4)
	if err != nil {
		fmt.Println("error:", err)
		return 1
	}
	for {
		fmt.Println(s.Term)
		s.Term++
		s.Reserved++
		if err := f.Save(s); err != nil {
			fmt.Println("error:", err)
			return 1
		}
	}
}

// process is a running child and what it prints.
type process struct {
	cmd *exec.Cmd
	out *bufio.Scanner
}

func startChild(t *testing.T, dir string) process {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), exe)
	cmd.Env = append(os.Environ(), childEnv+"="+dir)
	cmd.WaitDelay = 10 * time.Second
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := process{cmd, bufio.NewScanner(out)}
	t.Cleanup(p.kill)
	return p
}

// line is the next line the child prints.
func (p process) line(t *testing.T) string {
	t.Helper()
	if !p.out.Scan() {
		t.Fatal("the child said nothing more:", p.out.Err())
	}
	return p.out.Text()
}

// kill ends the child with SIGKILL; it has no chance to tidy up.
func (p process) kill() {
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
}

// Promise: "locked against a second process", in the same process as well, which is not told to stop
// itself.
func TestSecondOpenInProcess(t *testing.T) {
	f, _ := mustOpen(t, t.TempDir())
	_, _, err := Open(f.dir, demo4)
	if !errors.Is(err, ErrLocked) || !strings.Contains(err.Error(), "in use by this process already") ||
		strings.Contains(err.Error(), "cannot keep") {
		t.Fatalf("second Open: %v, want ErrLocked by this process, and no word of the disk", err)
	}
	mustSave(t, f, voted) // the refused one did no harm
	if _, got := reopen(t, f); got != voted {
		t.Errorf("kept %+v, want %+v", got, voted)
	}
}

// Promise: "locked against a second process" — a real one.
func TestSecondProcessRefused(t *testing.T) {
	f, _ := mustOpen(t, t.TempDir())
	said := startChild(t, f.dir).line(t)
	if want := fmt.Sprintf("%v by another process (pid %d)", ErrLocked, os.Getpid()); !strings.Contains(said, want) {
		t.Errorf("the second process says %q, want %q in it", said, want)
	}
}

// Promise: a process that crashes keeps every term it saved, and its lock ends
// with it.
func TestKilledWhileSaving(t *testing.T) {
	dir := t.TempDir()
	for life := range 5 {
		p := startChild(t, dir)
		var last proto.Term
		for range 1 + 7*life {
			said := p.line(t)
			if _, err := fmt.Sscan(said, &last); err != nil {
				t.Fatalf("the child says %q", said)
			}
		}
		_, _, err := Open(dir, demo4)
		if pid := fmt.Sprintf("pid %d", p.cmd.Process.Pid); !errors.Is(err, ErrLocked) ||
			!strings.Contains(err.Error(), pid) {
			t.Fatalf("Open beside the child: %v, want ErrLocked with %s", err, pid)
		}
		p.kill()
		f, s := mustOpen(t, dir)
		if s.Term < last {
			t.Errorf("life %d: term %d was saved, term %d is kept", life, last, s.Term)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// A lock that the system does not give, for another reason than that another process has it,
// is an error that says what could not be done.
func TestLockFails(t *testing.T) {
	path := filepath.Join(t.TempDir(), lockName)
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, op := range []string{"truncate", "flock"} { // open for reading only, and closed
		var failed *os.PathError
		if err := claim(f); !errors.As(err, &failed) || failed.Op != op || errors.Is(err, ErrLocked) {
			t.Errorf("%v, want what %s said", err, op)
		}
		_ = f.Close()
	}
}

// A lock file without a readable pid still locks.
func TestLockWithoutPid(t *testing.T) {
	f, _ := mustOpen(t, t.TempDir())
	held.Delete(f.lock.(lockFile).Name()) // as if another process held it
	for _, content := range []string{"", "nonsense\n"} {
		if err := os.WriteFile(f.lock.(lockFile).Name(), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		_, _, err := Open(f.dir, demo4)
		if !errors.Is(err, ErrLocked) || strings.Contains(err.Error(), "pid") {
			t.Errorf("lock file %q: %v, want ErrLocked without a pid", content, err)
		}
	}
	if err := f.Save(algorithms.State{Term: 1, Reserved: 1}); err != nil {
		t.Error(err)
	}
}
