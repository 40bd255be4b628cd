package bench

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"github.com/ringleader-dev/ringleader/internal/testcluster"
)

// Storage is a `ringleader fence` process, which keeps its data and its address
// from one life to the next.
type Storage struct {
	Addr    string // host:port
	cluster *testcluster.Cluster
	binary  string
	dir     string
	ports   *testcluster.Ports // held as long as this is in use
	cmd     *exec.Cmd
}

// errStorage: the storage does not serve.
var errStorage = errors.New("the storage ended by itself")

// StartStorage starts a storage beside the cluster's nodes, with data in dir. The
// caller must Kill it before it closes the cluster.
func StartStorage(c *testcluster.Cluster, binary, dir string) (*Storage, error) {
	ports, err := testcluster.HoldPorts(1)
	if err != nil {
		return nil, fmt.Errorf("choose a port for the storage: %w", err)
	}
	s := &Storage{Addr: ports.Addrs[0], cluster: c, binary: binary, dir: dir, ports: ports}
	return s, s.Start()
}

// URL is where it serves HTTP.
func (s *Storage) URL() string { return "http://" + s.Addr }

// Start starts it, for the first time or again, and returns once it serves.
func (s *Storage) Start() error {
	s.cmd = exec.Command(s.binary, "fence", "--bind", s.Addr, "--data-dir", s.dir)
	stdout, err := s.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	var log strings.Builder
	s.cmd.Stderr = &log
	if err := s.cluster.Launch(s.cmd); err != nil {
		return fmt.Errorf("start the storage: %w", err)
	}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil || !strings.Contains(line, s.Addr) {
		return errors.Join(fmt.Errorf("%w: it said %q: %s", errStorage, line, log.String()), s.Kill())
	}
	return nil
}

// Kill sends SIGKILL to it and returns once it is gone.
func (s *Storage) Kill() error {
	err := s.cmd.Process.Kill()
	if errors.Is(err, os.ErrProcessDone) {
		err = nil
	}
	_ = s.cmd.Wait() // says that it was killed
	return err
}

// WorkerProcess is a worker's process.
type WorkerProcess struct {
	cmd   *exec.Cmd
	stdin io.WriteCloser
	ended chan struct{} // closed when all that it said is read
}

// StartWorker starts a worker that says what it does to said, on a goroutine
// of its own.
func StartWorker(c *testcluster.Cluster, line []string, said func(Said)) (*WorkerProcess, error) {
	p := &WorkerProcess{cmd: exec.Command(line[0], line[1:]...), ended: make(chan struct{})}
	p.cmd.Stderr = os.Stderr
	var err error
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := c.Launch(p.cmd); err != nil {
		return nil, fmt.Errorf("start a worker: %w", err)
	}
	go func() {
		defer close(p.ended)
		listenTo(stdout, said)
	}()
	return p, nil
}

// Signal sends a signal; one that is gone already needs none.
func (p *WorkerProcess) Signal(sig syscall.Signal) error {
	if err := p.cmd.Process.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("send %v to a worker: %w", sig, err)
	}
	return nil
}

// finish lets it end its call, and waits for its end.
func (p *WorkerProcess) finish() error {
	err := p.stdin.Close()
	<-p.ended
	return errors.Join(err, p.cmd.Wait())
}

// Kill ends it in the middle of whatever it does.
func (p *WorkerProcess) Kill() error {
	err := p.Signal(syscall.SIGKILL)
	<-p.ended
	_ = p.cmd.Wait() // says that it was killed
	return err
}
