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

	"github.com/ringleader-dev/ringleader/internal/testcluster"
	"github.com/ringleader-dev/ringleader/proto"
)

// errElsewhere: what the engine calls a process is none here.
var errElsewhere = errors.New("the engine's processes are not those of this machine")

// containers are the nodes of one cluster, on a network of their own. A node's
// address there is link-local, as in docker-compose.yml: it needs no subnet
// that could clash with another, and a container keeps it when it comes back.
type containers struct {
	name      string // of the network; those of containers and volumes begin with it
	image     string
	nodes     int
	arguments [][]string // by node
}

// containers are those of the next cluster; none is made yet.
func (e *engine) containers(nodes int) *containers {
	e.built++
	return &containers{name: fmt.Sprintf("%s-%d", e.name, e.built), image: e.name, nodes: nodes}
}

// hosts are where the nodes run.
func (c *containers) hosts() []testcluster.Host {
	hosts := make([]testcluster.Host, 0, c.nodes)
	for id := range c.nodes {
		hosts = append(hosts, testcluster.Host{
			IP: linkLocal(id + 1), Attach: []string{"docker", "start", "--attach", c.container(id + 1)},
		})
	}
	return hosts
}

// create makes the network and, restricted as in docker-compose.yml, the
// containers. What it made before an error stays for close.
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
			"--log-driver", "json-file", c.image,
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
	defer process.close()
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
	died, err := process.died(ctx)
	if err == nil {
		lookAway()
	}
	if failed := <-killed; failed != nil {
		err = failed
	}
	return departure{called, died}, err
}

// process is the container's main process, which must be one of this machine.
func (c *containers) process(id proto.NodeID) (*process, error) {
	text, err := docker(nil, "inspect", "--format", "{{.State.Pid}}", c.container(int(id)))
	if err != nil {
		return nil, err
	}
	pid, err := strconv.Atoi(text)
	if err != nil {
		return nil, fmt.Errorf("the process id of node %v: %w", id, err)
	}
	p, err := openProcess(pid)
	if err != nil {
		return nil, fmt.Errorf("%w: node %v has pid %d there: %w: %w", ErrOptions, id, pid, errElsewhere, err)
	}
	// Opened first: a pid that is given to another process now is not followed.
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil || !runs(line, c.arguments[id-1]) {
		p.close()
		return nil, errors.Join(fmt.Errorf("%w: pid %d does not run node %v here: %w; "+
			"is it in a virtual machine?", ErrOptions, pid, id, errElsewhere), err)
	}
	return p, nil
}

// runs reports whether a command line as /proc has it ends with the arguments.
func runs(cmdline []byte, arguments []string) bool {
	return bytes.HasSuffix(cmdline, []byte("\x00"+strings.Join(arguments, "\x00")+"\x00"))
}

// close removes all of the cluster, running or not. Nil containers are none.
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

// container is the name of a node's container and of its volume.
func (c *containers) container(id int) string { return fmt.Sprintf("%s-n%d", c.name, id) }

// linkLocal is a node's address.
func linkLocal(id int) string { return fmt.Sprintf("169.254.77.%d", id) }
