package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ringleader-dev/ringleader/internal/testcluster"
	"github.com/ringleader-dev/ringleader/proto"
)

// errElsewhere says that the process that the engine names does not run on this machine.
var errElsewhere = errors.New("the engine's processes are not those of this machine")

// containers are the nodes of one cluster, on a network of their own. A node's
// address there is link-local, as in docker-compose.yml: it needs no subnet
// that could clash with another, and a container keeps it when it comes back.
type containers struct {
	name      string // the network's name; names of containers and volumes begin with it
	image     string
	nodes     int
	arguments [][]string // the arguments of each node, by node
}

// containers returns the containers of the next cluster; they do not exist yet.
func (e *engine) containers(nodes int) *containers {
	e.built++
	return &containers{name: fmt.Sprintf("%s-%d", e.name, e.built), image: e.name, nodes: nodes}
}

// hosts returns the hosts on which the nodes run.
func (c *containers) hosts() []testcluster.Host {
	hosts := make([]testcluster.Host, 0, c.nodes)
	for id := range c.nodes {
		hosts = append(hosts, testcluster.Host{
			IP: linkLocal(id + 1), Attach: []string{"docker", "start", "--attach", c.container(id + 1)},
		})
	}
	return hosts
}

// create makes the network and the containers, which are restricted as in docker-compose.yml. When
// it fails, close removes what it made.
func (c *containers) create(nodes *testcluster.Cluster) error {
	label := dockerLabel + "=" + c.name
	if _, err := docker(nil, "network", "create", "--label", label, c.name); err != nil {
		return fmt.Errorf("make the containers' network: %w", err)
	}
	for i, n := range nodes.Nodes() {
		c.arguments = append(c.arguments, nodes.Arguments(n))
		name := c.container(i + 1)
		_, err := docker(nil, slices.Concat([]string{
			"create", "--name", name, "--hostname", "n" + n.ID.String(), "--label", label,
			"--network", c.name, "--link-local-ip", linkLocal(i + 1),
			"--mount", fmt.Sprintf("type=volume,src=%s,dst=%s,volume-label=%s", name, imageData, label),
			"--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges:true",
			"--env", testcluster.Insecure, "--log-driver", "json-file", c.image,
		}, c.arguments[i])...)
		if err != nil {
			return fmt.Errorf("make the container of node %v: %w", n.ID, err)
		}
	}
	return nil
}

// kill runs docker kill and calls lookAway as soon as the container's process
// is dead.
func (c *containers) kill(ctx context.Context, id proto.NodeID, lookAway func()) (departure, error) {
	process, err := c.process(id)
	if err != nil {
		return departure{}, err
	}
	defer func() { _ = process.Release() }()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	killed := make(chan error, 1)
	called := time.Now()
	go func() {
		_, err := docker(nil, "kill", c.container(int(id)))
		if err != nil {
			cancel(err) // nobody will die
		}
		killed <- err
	}()
	died, err := awaitDeath(ctx, process)
	if err == nil {
		lookAway()
	}
	if failed := <-killed; failed != nil {
		err = failed
	}
	return departure{called, died}, err
}

// process returns the container's main process. If that process does not run on this machine, it
// returns an error.
func (c *containers) process(id proto.NodeID) (*os.Process, error) {
	text, err := docker(nil, "inspect", "--format", "{{.State.Pid}}", c.container(int(id)))
	if err != nil {
		return nil, err
	}
	pid, err := strconv.Atoi(text)
	if err != nil {
		return nil, fmt.Errorf("the process id of node %v: %w", id, err)
	}
	// Found first: a later process that is given the same id is not followed.
	p, err := os.FindProcess(pid)
	if err != nil {
		return nil, fmt.Errorf("%w: node %v has pid %d there: %w: %w", ErrOptions, id, pid, errElsewhere, err)
	}
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err == nil && runs(line, c.arguments[id-1]) {
		return p, nil
	}
	return nil, errors.Join(fmt.Errorf("%w: pid %d, which the engine says it is, does not run node %v here: %w; "+
		"is it in a virtual machine?", ErrOptions, pid, id, errElsewhere), err, p.Release())
}

// deathLook is how long, in milliseconds, awaitDeath may take to notice that ctx has ended.
const deathLook = 10

// awaitDeath waits for the death of a process that another program started. It returns the time at
// which the kernel told of it. The kernel closes the process's connections before that, so a peer
// may notice the death earlier.
func awaitDeath(ctx context.Context, p *os.Process) (at time.Time, err error) {
	err = p.WithHandle(func(handle uintptr) {
		for at.IsZero() && ctx.Err() == nil {
			ready, err := unix.Poll([]unix.PollFd{{Fd: int32(handle), Events: unix.POLLIN}}, deathLook)
			if err == nil && ready > 0 {
				at = time.Now()
			}
		}
	})
	if err == nil && at.IsZero() {
		err = context.Cause(ctx)
	}
	if err != nil {
		return at, fmt.Errorf("wait for the death of a process: %w", err)
	}
	return at, nil
}

// runs reports whether cmdline, a command line as /proc has it, ends with the arguments.
func runs(cmdline []byte, arguments []string) bool {
	return bytes.HasSuffix(cmdline, []byte("\x00"+strings.Join(arguments, "\x00")+"\x00"))
}

// close removes the containers, running or not, their volumes and their network. It does nothing if
// c is nil.
func (c *containers) close() error {
	if c == nil {
		return nil
	}
	ours := "label=" + dockerLabel + "=" + c.name
	var errs []error
	for _, kind := range []struct{ list, remove []string }{
		{[]string{"ps", "--all", "--quiet"}, []string{"rm", "--force"}},
		{[]string{"volume", "ls", "--quiet"}, []string{"volume", "rm"}},
		{[]string{"network", "ls", "--quiet"}, []string{"network", "rm"}},
	} {
		found, err := docker(nil, append(kind.list, "--filter", ours)...)
		if err == nil && found != "" {
			_, err = docker(nil, append(kind.remove, strings.Fields(found)...)...)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// container returns the name of a node's container, and of its volume.
func (c *containers) container(id int) string { return fmt.Sprintf("%s-n%d", c.name, id) }

// linkLocal returns a node's IP address.
func linkLocal(id int) string { return fmt.Sprintf("169.254.77.%d", id) }
