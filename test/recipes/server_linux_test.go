package recipes_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// patience bounds the start of a server; it usually takes a second.
const patience = time.Minute

// server is a database server of this test alone. It listens on a socket in
// its own directory, and on no port.
type server struct {
	dir  string
	who  *syscall.Credential // whom it runs as; nil for us
	args []string
	// answers is nil once the server answers.
	answers func(context.Context) error

	cmd *exec.Cmd
	log *bytes.Buffer
}

// newServer makes the server's directory.
func newServer(t *testing.T, who *syscall.Credential) *server {
	t.Helper()
	// Not t.TempDir, whose parents are closed to another user.
	dir, err := os.MkdirTemp("", "ringleader-recipe-")
	if err != nil {
		t.Fatal(err)
	}
	s := &server{dir: dir, who: who}
	t.Cleanup(func() {
		s.stop()
		if t.Failed() && s.log != nil {
			t.Logf("%s", s.log)
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	if who != nil {
		if err := os.Chown(dir, int(who.Uid), int(who.Gid)); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// command runs as the server's user, and dies with this process.
func (s *server) command(args []string) *exec.Cmd {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir = s.dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: s.who, Pdeathsig: syscall.SIGKILL}
	return cmd
}

// start starts the server, again and again when it ends by itself: after a
// crash what is left of the one before may be in its way for a moment.
func (s *server) start(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for {
		if s.cmd == nil {
			s.log = new(bytes.Buffer)
			s.cmd = s.command(s.args)
			s.cmd.Stdout, s.cmd.Stderr = s.log, s.log
			if err := s.cmd.Start(); err != nil {
				t.Fatal(err)
			}
		}
		err := s.answers(ctx)
		if err == nil {
			return
		}
		if s.ended() {
			_ = s.cmd.Wait()
			s.cmd = nil
		}
		select {
		case <-ctx.Done():
			t.Fatalf("%s does not answer: %v", s.args[0], err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// ended reports whether the process is a zombie: gone, but for our Wait.
func (s *server) ended() bool {
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(s.cmd.Process.Pid), "stat"))
	_, after, _ := bytes.Cut(stat, []byte(") "))
	return err != nil || bytes.HasPrefix(after, []byte("Z"))
}

// kill ends the server with SIGKILL; it has no chance to tidy up.
func (s *server) kill() {
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
	s.cmd = nil
}

// stop ends the server and what it started.
func (s *server) stop() {
	if s.cmd == nil {
		return
	}
	_ = s.cmd.Process.Signal(syscall.SIGINT)
	late := time.AfterFunc(patience, func() { _ = s.cmd.Process.Kill() })
	defer late.Stop()
	_ = s.cmd.Wait()
}

// unprivileged is the user that PostgreSQL runs as: it refuses to be root.
func unprivileged() (*syscall.Credential, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		return nil, err
	}
	uid, uidErr := strconv.ParseUint(u.Uid, 10, 32)
	gid, gidErr := strconv.ParseUint(u.Gid, 10, 32)
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, errors.Join(uidErr, gidErr)
}

// postgresTool is a program of PostgreSQL: Debian keeps them out of the PATH.
func postgresTool(name string) (string, error) {
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/" + name)
	if err != nil || len(found) == 0 {
		return exec.LookPath(name)
	}
	return slices.Max(found), nil
}

// recipe is a file of the documentation.
func recipe(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "fencing", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
