package bench

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/ringleader-dev/ringleader/internal/testcluster"
)

// bareGroup is a group of processes of one role, each a bareProcess, as their parent sees them.
type bareGroup struct {
	ports   *testcluster.Ports
	members []*testcluster.Process
	said    chan saying
	closed  chan struct{} // closed when nobody reads what the processes say any more
}

// saying is one line of a bare process. An empty word says that the process has ended.
type saying struct {
	id          int
	word        string
	nanoseconds int64
}

// errBare says that a bare process ended before it was told to.
var errBare = errors.New("a bare process ended by itself")

// startBare starts n bare processes and waits until all are connected with each other.
func startBare(ctx context.Context, role string, n int) (*bareGroup, error) {
	ports, err := testcluster.HoldPorts(n)
	if err != nil {
		return nil, fmt.Errorf("choose ports for %d bare processes: %w", n, err)
	}
	g := &bareGroup{ports: ports, said: make(chan saying), closed: make(chan struct{})}
	for id := 1; id <= n; id++ {
		if err := g.start(bareProcess{Role: role, ID: id, Addrs: ports.Addrs}); err != nil {
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

// start starts a process.
func (g *bareGroup) start(b bareProcess) error { return g.add(b.ID, part{Bare: &b}) }

// add starts the process with this id.
func (g *bareGroup) add(id int, p part) error {
	h, err := p.start(nil, func(line []byte) {
		word, number, _ := strings.Cut(string(line), " ")
		if ns, err := strconv.ParseInt(number, 10, 64); err == nil {
			g.say(saying{id, word, ns})
		}
	})
	if err != nil {
		return err
	}
	g.members = append(g.members, h)
	go func() {
		<-h.Done()
		g.say(saying{id: id})
	}()
	return nil
}

func (g *bareGroup) say(s saying) {
	select {
	case g.said <- s:
	case <-g.closed:
	}
}

// await returns the next saying with that word, and skips others.
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

// close ends all processes that are left, and waits until they have ended.
func (g *bareGroup) close() error {
	close(g.closed)
	var errs []error
	for _, m := range g.members {
		errs = append(errs, m.Kill())
	}
	g.ports.Release()
	return errors.Join(errs...)
}
