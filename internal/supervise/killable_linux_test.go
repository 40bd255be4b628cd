package supervise

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ringleader-dev/ringleader/internal/needs"
)

// Users of this test; none of them need exist.
const (
	plainUser = 65534
	otherUser = 12345
)

// commonPlace is a directory that every user may look into and write to.
func commonPlace(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "killable")
	must(err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	must(os.Chmod(dir, 0o777))
	return dir
}

// copied is a copy of a program, of another owner and mode.
func copied(t *testing.T, from, to string, owner int, mode os.FileMode) string {
	t.Helper()
	in, err := os.Open(from)
	must(err)
	defer in.Close()
	out, err := os.Create(to)
	must(err)
	_, err = io.Copy(out, in)
	must(errors.Join(err, out.Close(), os.Chown(to, owner, owner), os.Chmod(to, mode)))
	return to
}

// running are the processes of an executable.
func running(path string) (pids []int) {
	all, err := processes()
	must(err)
	for _, p := range all {
		if exe, err := os.Readlink("/proc/" + strconv.Itoa(p.pid) + "/exe"); err == nil && exe == path {
			pids = append(pids, p.pid)
		}
	}
	return pids
}

// "It and all that came of it are dead before the lease is, also when this process is
// killed": a program that runs as another user, whom the subreaper may not kill, would not be.
// So none becomes another user.
func TestNothingBecomesAnotherUser(t *testing.T) {
	if os.Geteuid() != 0 {
		needs.Here(t, "root, to have programs of other users", errors.New("not root"))
	}
	dir := commonPlace(t)
	setuid := copied(t, "/proc/self/exe", filepath.Join(dir, "other"), otherUser, 0o755|os.ModeSetuid)
	self := copied(t, "/proc/self/exe", filepath.Join(dir, "self"), 0, 0o755)

	victim := exec.Command(self)
	victim.Dir = dir
	victim.Env = append(os.Environ(), victimEnv+"="+becomeEnv+"=1 "+setuid)
	victim.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: plainUser, Gid: plainUser}}
	victim.Stderr = os.Stderr
	must(victim.Start())
	t.Cleanup(func() {
		_ = victim.Process.Kill()
		_ = victim.Wait()
		for _, pid := range append(running(setuid), running(self)...) {
			_ = unix.Kill(pid, unix.SIGKILL)
		}
	})
	wait(t, "the program runs and sleeps", func() bool {
		pids := running(setuid) // none is for a moment, while one becomes another
		return len(pids) > 0 && sleeps(pids[0])
	})
	must(victim.Process.Kill())
	_ = victim.Wait()
	wait(t, "the program ends with the process that was killed", func() bool { return len(running(setuid)) == 0 })
	wait(t, "so does its subreaper", func() bool { return len(running(self)) == 0 })
}

// sleeps reports whether a process sleeps: whatever it becomes, it has become.
func sleeps(pid int) bool {
	wchan, err := os.ReadFile(fmt.Sprintf("/proc/%d/syscall", pid))
	return err == nil && strings.HasPrefix(string(wchan), strconv.Itoa(unix.SYS_FUTEX)+" ")
}

// What is to run as another user is refused at the start, by whoever could not kill it.
func TestKillable(t *testing.T) {
	if os.Geteuid() != 0 {
		needs.Here(t, "root, to have programs of other users", errors.New("not root"))
	}
	dir := commonPlace(t)
	sleep, err := exec.LookPath("sleep")
	must(err)
	self := copied(t, "/proc/self/exe", filepath.Join(dir, "self"), 0, 0o755)
	for what, c := range map[string]struct {
		mode    os.FileMode
		user    uint32
		refused string
	}{
		"of this user":              {0o755, plainUser, ""},
		"of another":                {0o755 | os.ModeSetuid, plainUser, "setuid"},
		"of another group":          {0o755 | os.ModeSetgid, plainUser, "setgid"},
		"of another, asked by root": {0o755 | os.ModeSetuid, 0, ""},
	} {
		t.Run(what, func(t *testing.T) {
			path := copied(t, sleep, filepath.Join(dir, "sleep"), otherUser, c.mode)
			cmd := exec.Command(self)
			cmd.Dir, cmd.Env = dir, append(os.Environ(), killableEnv+"="+path)
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: c.user, Gid: c.user}}
			out, err := cmd.CombinedOutput()
			if err != nil || (len(out) > 0) != (c.refused != "") || !strings.Contains(string(out), c.refused) {
				t.Errorf("%q, %v; want %q", out, err, c.refused)
			}
		})
	}
}
