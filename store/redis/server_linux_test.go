package redis

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/internal/needs"
	"github.com/ringleader-dev/ringleader/store/storetest"
)

// server is a Redis server of one test.
type server struct {
	address string
	args    []string
	cmd     *exec.Cmd
	log     bytes.Buffer
}

func start(t *testing.T, more ...string) *server {
	t.Helper()
	program, err := exec.LookPath("redis-server")
	needs.Here(t, "an election in Redis", err)
	port := storetest.FreePort(t)
	s := &server{address: "127.0.0.1:" + port, args: append([]string{
		program, "--port", port, "--bind", "127.0.0.1", "--dir", t.TempDir(), "--save", "",
		"--appendonly", "yes", "--appendfsync", "always",
	}, more...)}
	t.Cleanup(func() {
		s.kill()
		if t.Failed() {
			t.Logf("%s", &s.log)
		}
	})
	s.start(t)
	return s
}

func (s *server) start(t *testing.T) {
	t.Helper()
	s.cmd = exec.Command(s.args[0], s.args[1:]...)
	s.cmd.Stdout, s.cmd.Stderr = &s.log, &s.log
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		answer, err := s.ping()
		if err == nil && !strings.HasPrefix(answer, "-LOADING") {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("the server does not start: %s %v\n%s", answer, err, &s.log)
		}
	}
}

// ping returns what the server answers before anybody has said a password.
func (s *server) ping() (answer string, err error) {
	conn, err := net.Dial("tcp", s.address)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(time.Second)); err != nil {
		return "", err
	}
	if _, err := io.WriteString(conn, "PING\r\n"); err != nil {
		return "", err
	}
	return bufio.NewReader(conn).ReadString('\n')
}

func (s *server) signal(t *testing.T, signal syscall.Signal) {
	t.Helper()
	if err := s.cmd.Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
	if signal == syscall.SIGSTOP {
		storetest.Stopped(t, s.cmd.Process.Pid)
	}
}

func (s *server) kill() {
	if s.cmd != nil {
		_ = s.cmd.Process.Kill()
		_ = s.cmd.Wait()
		s.cmd = nil
	}
}

// cli runs redis-cli, which is the candidate of another program.
func (s *server) cli(t *testing.T, args ...string) string {
	t.Helper()
	host, port, _ := net.SplitHostPort(s.address)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	args = append([]string{"-h", host, "-p", port}, args...)
	out, err := exec.CommandContext(ctx, "redis-cli", args...).CombinedOutput()
	if err != nil {
		t.Fatal(fmt.Errorf("redis-cli %v: %w: %s", args, err, out))
	}
	return strings.TrimSpace(string(out))
}
