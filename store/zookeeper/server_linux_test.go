package zookeeper

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/ringleader-dev/ringleader/internal/needs"
	"github.com/ringleader-dev/ringleader/store/storetest"
)

// tick is the tickTime of the servers of the tests.
const tick = 400 * time.Millisecond

// jar is where Debian puts ZooKeeper.
const jar = "/usr/share/java/zookeeper.jar"

// server is a ZooKeeper server of one test.
type server struct {
	address string
	args    []string
	cmd     *exec.Cmd
	log     bytes.Buffer
}

// start starts a server of its own.
func start(t *testing.T) *server {
	t.Helper()
	s := prepare(t, storetest.FreePort(t), "")
	s.start(t)
	return s
}

// ensemble starts three servers of one ensemble.
func ensemble(t *testing.T) (all []*server) {
	t.Helper()
	var members string
	for id := 1; id <= 3; id++ {
		members += fmt.Sprintf("server.%d=127.0.0.1:%s:%s\n", id, storetest.FreePort(t), storetest.FreePort(t))
	}
	for id := 1; id <= 3; id++ {
		s := prepare(t, storetest.FreePort(t), members)
		dir := filepath.Dir(s.args[len(s.args)-1])
		if err := os.WriteFile(filepath.Join(dir, "myid"), fmt.Append(nil, id), 0o600); err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
		s.launch(t)
	}
	for _, s := range all {
		s.wait(t)
	}
	return all
}

func prepare(t *testing.T, port, members string) *server {
	t.Helper()
	java, err := exec.LookPath("java")
	_, missing := os.Stat(jar)
	needs.Here(t, "an election in ZooKeeper", errors.Join(err, missing))
	dir := t.TempDir()
	config := filepath.Join(dir, "zoo.cfg")
	text := fmt.Sprintf("tickTime=%d\ninitLimit=20\nsyncLimit=10\ndataDir=%s\nclientPort=%s\n"+
		"clientPortAddress=127.0.0.1\nadmin.enableServer=false\nmaxClientCnxns=0\n4lw.commands.whitelist=*\n%s",
		tick.Milliseconds(), dir, port, members)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s := &server{address: "127.0.0.1:" + port, args: []string{
		java, "-Xmx128m", "-XX:+UseSerialGC", "-Dzookeeper.jmx.log4j.disable=true", "-cp", jar,
		"org.apache.zookeeper.server.quorum.QuorumPeerMain", config,
	}}
	t.Cleanup(func() {
		s.kill()
		if t.Failed() {
			t.Logf("%s", &s.log)
		}
	})
	return s
}

func (s *server) start(t *testing.T) {
	t.Helper()
	s.launch(t)
	s.wait(t)
}

func (s *server) launch(t *testing.T) {
	t.Helper()
	s.cmd = exec.Command(s.args[0], s.args[1:]...)
	s.cmd.Stdout, s.cmd.Stderr = &s.log, &s.log
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
}

// wait waits until the server serves.
func (s *server) wait(t *testing.T) {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		if bytes.Contains(s.words("srvr"), []byte("Mode: ")) {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("the server does not start\n%s", &s.log)
		}
	}
}

// words sends a command of four letters.
func (s *server) words(command string) []byte {
	conn, err := net.Dial("tcp", s.address)
	if err != nil {
		return nil
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(5 * time.Second))
	_, _ = conn.Write([]byte(command))
	var answer bytes.Buffer
	_, _ = answer.ReadFrom(conn)
	return answer.Bytes()
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
