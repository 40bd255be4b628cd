package bench

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/ringleader-dev/ringleader/internal/testcluster"
)

// bareGroup is the bare processes of one role, seen from outside.
type bareGroup struct {
	ports     *testcluster.Ports
	members   []bareMember
	said      chan saying
	closed    chan struct{} // nobody takes what is said any more
	listeners sync.WaitGroup
}

type bareMember struct {
	cmd   *exec.Cmd
	stdin io.WriteCloser
}

// saying is one line of a bare process. An empty word is its end.
type saying struct {
	id          int
	word        string
	nanoseconds int64
}

// errBare: a bare process did not do its part.
var errBare = errors.New("a bare process ended by itself")

// startBare starts n bare processes and waits until all are connected. command
// makes the command line of one.
func startBare(ctx context.Context, command BareCommand, role string, n int) (*bareGroup, error) {
	ports, err := testcluster.HoldPorts(n)
	if err != nil {
		return nil, fmt.Errorf("choose ports for %d bare processes: %w", n, err)
	}
	g := &bareGroup{ports: ports, said: make(chan saying), closed: make(chan struct{})}
	for id := 1; id <= n; id++ {
		if err := g.start(command(Bare{Role: role, ID: id, Addrs: ports.Addrs})); err != nil {
			return nil, errors.Join(fmt.Errorf("start a bare process: %w", err), g.close())
		}
	}
	for range n {
		if _, err := g.await(ctx, "ready"); err != nil {
			return nil, errors.Join(err, g.close())
		}
	}
	return g, nil
}

// start starts the next process.
func (g *bareGroup) start(line []string) error {
	cmd := exec.Command(line[0], line[1:]...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C is for us
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	g.members = append(g.members, bareMember{cmd, stdin})
	id := len(g.members)
	g.listeners.Go(func() { g.listen(id, stdout) })
	return nil
}

// listen reads what process id says, to its end.
func (g *bareGroup) listen(id int, stdout io.Reader) {
	for lines := bufio.NewScanner(stdout); lines.Scan(); {
		word, number, _ := strings.Cut(lines.Text(), " ")
		if ns, err := strconv.ParseInt(number, 10, 64); err == nil {
			g.say(saying{id, word, ns})
		}
	}
	g.say(saying{id: id})
}

func (g *bareGroup) say(s saying) {
	select {
	case g.said <- s:
	case <-g.closed:
	}
}

// await returns the next saying with that word and passes over others.
func (g *bareGroup) await(ctx context.Context, word string) (saying, error) {
	for {
		select {
		case s := <-g.said:
			switch s.word {
			case word:
				return s, nil
			case "":
				return s, fmt.Errorf("wait for %q from process %d: %w", word, s.id, errBare)
			}
		case <-ctx.Done():
			return saying{}, fmt.Errorf("wait for %q from the bare processes: %w",
				word, context.Cause(ctx))
		}
	}
}

// kill ends process id and returns the instant just before.
func (g *bareGroup) kill(id int) (time.Time, error) {
	at := time.Now()
	return at, g.members[id-1].cmd.Process.Kill()
}

// ask writes a line to process id.
func (g *bareGroup) ask(id int, text string) error {
	_, err := fmt.Fprintln(g.members[id-1].stdin, text)
	return err
}

// close ends all that is left and waits for it.
func (g *bareGroup) close() error {
	var errs []error
	for _, m := range g.members {
		if err := m.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
			errs = append(errs, err)
		}
	}
	close(g.closed)
	g.listeners.Wait() // they read to the end, which Wait would cut short
	for _, m := range g.members {
		_ = m.cmd.Wait() // says that it was killed
	}
	g.ports.Release()
	return errors.Join(errs...)
}
