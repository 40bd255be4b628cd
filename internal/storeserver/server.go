package storeserver

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/ringleader-dev/ringleader/internal/supervise"
	"github.com/ringleader-dev/ringleader/internal/testcluster"
)

// ErrMissing is the error for a server whose programs are not installed.
var ErrMissing = errors.New("not installed")

// Kinds returns the kinds of servers, which are the schemes of their URLs.
func Kinds() []string { return slices.Sorted(maps.Keys(kinds)) }

// Server is a server that this process started.
type Server struct {
	kind
	name     string
	dir      string // of its data
	address  string // HOST:PORT
	ports    *testcluster.Ports
	password string              // "" if it asks for none
	as       *syscall.Credential // nil for the user of this process
	line     []string            // the command line
	end      syscall.Signal      // asks it to end
	cmd      *exec.Cmd
	done     chan struct{} // closed when it has ended
	mu       sync.Mutex
	log      bytes.Buffer // guarded by mu
}

const (
	startPatience = time.Minute // some start a Java machine first
	endPatience   = 5 * time.Second
	probePatience = time.Second
	probePause    = 20 * time.Millisecond
)

// Start starts a server of this kind, and waits until it serves. The error wraps ErrMissing if it is not
// installed, and says how to install it. The caller must Close the Server.
func Start(ctx context.Context, kindName string) (s *Server, err error) {
	k, known := kinds[kindName]
	if !known {
		return nil, fmt.Errorf("no server of the kind %q: want one of %s", kindName, strings.Join(Kinds(), ", "))
	}
	ports, err := testcluster.HoldPorts(2)
	if err != nil {
		return nil, fmt.Errorf("choose a port for %s: %w", kindName, err)
	}
	s = &Server{kind: k, name: kindName, ports: ports, address: ports.Addrs[0], end: syscall.SIGKILL}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close())
			s = nil
		}
	}()
	// Of the temporary directories of this machine: a server with a user of its own must reach it.
	if s.dir, err = os.MkdirTemp("", "ringleader-store-"); err != nil {
		return s, fmt.Errorf("make a directory for %s: %w", kindName, err)
	}
	if err := k.prepare(ctx, s); err != nil {
		if errors.Is(err, ErrMissing) {
			return s, fmt.Errorf("start %s: %w: %s", kindName, err, k.install)
		}
		return s, fmt.Errorf("prepare %s: %w", kindName, err)
	}
	if err := s.run(); err != nil {
		return s, fmt.Errorf("start %s: %w", kindName, err)
	}
	return s, s.await(ctx)
}

// run starts the process.
func (s *Server) run() error {
	s.cmd = s.command(s.line[0], s.line[1:]...)
	s.cmd.Stdout, s.cmd.Stderr = s, s
	if err := supervise.StartOwn(s.cmd); err != nil {
		s.cmd = nil
		return err
	}
	s.done = make(chan struct{})
	go func() {
		_ = s.cmd.Wait()
		supervise.Disown(s.cmd)
		close(s.done)
	}()
	return nil
}

// command is a command of the server's user.
func (s *Server) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir = s.dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: s.as}
	return cmd
}

// output runs a command to its end, or until ctx is done.
func (s *Server) output(ctx context.Context, name string, args ...string) (string, error) {
	cmd := s.command(name, args...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := supervise.StartOwn(cmd); err != nil {
		return "", err
	}
	defer supervise.Disown(cmd)
	defer context.AfterFunc(ctx, func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })()
	err := cmd.Wait()
	return out.String(), errors.Join(err, context.Cause(ctx))
}

// await waits until the server serves.
func (s *Server) await(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startPatience)
	defer cancel()
	for !s.serves(ctx, s) {
		select {
		case <-s.done:
			return fmt.Errorf("%s ended at once: %s", s.name, s.Log())
		case <-ctx.Done():
			return fmt.Errorf("%s does not serve: %w: %s", s.name, context.Cause(ctx), s.Log())
		case <-time.After(probePause):
		}
	}
	return nil
}

// Write takes what the server writes.
func (s *Server) Write(text []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log.Write(text)
}

// Log returns what the server wrote.
func (s *Server) Log() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log.String()
}

func (s *Server) port() string {
	_, port, _ := net.SplitHostPort(s.address)
	return port
}

// Kind returns the kind of the server.
func (s *Server) Kind() string { return s.name }

// Address returns HOST:PORT.
func (s *Server) Address() string { return s.address }

// PID returns the server's process id.
func (s *Server) PID() int { return s.cmd.Process.Pid }

// URL returns the URL of an election on the server. The name of the election has letters and digits only.
func (s *Server) URL(election string) string { return s.url(s, election) }

// Look has the store's own tool show an election. It returns the tool's command line and what it printed; two
// empty texts if the tool is not installed.
func (s *Server) Look(ctx context.Context, election string) (command, shown string, err error) {
	if s.look == nil {
		return "", "", nil
	}
	line := s.look(s, election)
	program, err := exec.LookPath(line[0])
	if err != nil {
		return "", "", nil //nolint:nilerr // most have the server without it
	}
	ctx, cancel := context.WithTimeout(ctx, startPatience)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, line[1:]...)
	cmd.Env = append(os.Environ(), "ETCDCTL_API=3", "PGPASSWORD="+s.password)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", "", fmt.Errorf("%s: %w: %s", line[0], err, out)
	}
	for i, word := range line {
		if strings.Contains(word, " ") {
			line[i] = `"` + word + `"`
		}
	}
	return strings.Join(line, " "), strings.TrimSpace(string(out)), nil
}

// Close ends the server, and removes its data.
func (s *Server) Close() error {
	if s.cmd != nil {
		_ = s.cmd.Process.Signal(s.end) // it may have ended
		select {
		case <-s.done:
		case <-time.After(endPatience):
			_ = s.cmd.Process.Kill()
			<-s.done
		}
		s.cmd = nil
	}
	s.ports.Release()
	if s.dir == "" {
		return nil
	}
	return os.RemoveAll(s.dir)
}
