package testcluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/ringleader-dev/ringleader/internal/credentials"
	"github.com/ringleader-dev/ringleader/proto"
)

// The errors.
var (
	// ErrUnknownNode: the Cluster has no node of that id.
	ErrUnknownNode = errors.New("no such node in this cluster")
	// ErrRunning: the node is running already.
	ErrRunning = errors.New("the node is running already")
	// ErrNotRunning: the node is not running.
	ErrNotRunning = errors.New("the node is not running")
	// ErrEnded: a node ended although nobody asked it to.
	ErrEnded = errors.New("the node ended by itself")
)

// Config says what to run.
type Config struct {
	// Binary is the path of the ringleader executable.
	Binary string
	// Nodes is how many nodes there are.
	Nodes int
	// IDs are the nodes' ids, ascending. If there are none, they are 1 … Nodes.
	IDs []proto.NodeID
	// Algorithm is a name of the catalogue.
	Algorithm string
	// Args are further arguments of every `ringleader run`. They come after those of the Cluster,
	// so they override them.
	Args []string
	// Command, if not empty, is what each node runs while it leads: then it is a
	// `ringleader exec`.
	Command []string
	// Enter is the command that goes before each node's command line and runs it, for example
	// "nice -n 19". It has no effect with Hosts.
	Enter []string
	// Secured gives each node credentials of its own, of an authority of the Cluster. The label must be that of
	// ClusterLabel then.
	Secured bool
	// Hosts[i] is the host of the i-th node. If there are none, all nodes run on loopback.
	Hosts []Host
}

// Host is a network of its own for one node, for example a network namespace.
type Host struct {
	IP    string   // the node's address in this network
	Enter []string // a command that runs another command there, for example "ip netns exec n1"
	// Attach is for a node that the Cluster does not run itself, such as a container that was
	// created with the node's Arguments. It is a command that starts the node, copies the node's
	// output, and ends when the node ends. Signals reach that command, not the node. Nil means that
	// the Cluster runs the node itself.
	Attach []string
}

// Node says where one node runs.
type Node struct {
	ID                     proto.NodeID
	Gossip, Election, HTTP string // "host:port"
	DataDir                string

	enter  []string // goes before the command line
	attach []string // replaces the command line
}

// Cluster is a set of nodes on loopback. Any goroutine may call its methods.
type Cluster struct {
	cfg   Config
	dir   string
	nodes []Node // in the order of their ids
	ports *Ports // the held ports, if the nodes run on loopback

	mu      sync.Mutex
	lives   []*life                // every process ever started, in order
	running map[proto.NodeID]*life // the latest process of each node
	changed chan struct{}          // closed and replaced when a line or an end arrives
	closed  bool
}

// New chooses ports and a temporary directory for cfg.Nodes nodes and starts
// none of them. The caller must Close the Cluster.
func New(cfg Config) (*Cluster, error) {
	nodes, ports, err := cfg.place()
	if err != nil {
		return nil, fmt.Errorf("choose ports for %d nodes: %w", cfg.Nodes, err)
	}
	dir, err := os.MkdirTemp("", "ringleader-cluster-")
	if err != nil {
		ports.Release()
		return nil, fmt.Errorf("make a directory for the nodes' data: %w", err)
	}
	c := &Cluster{
		cfg: cfg, dir: dir, nodes: nodes, ports: ports,
		running: make(map[proto.NodeID]*life), changed: make(chan struct{}),
	}
	for i := range nodes {
		nodes[i].DataDir = filepath.Join(dir, "n"+nodes[i].ID.String())
	}
	if cfg.Secured {
		if err := c.secure(); err != nil {
			return nil, errors.Join(fmt.Errorf("make the nodes' credentials: %w", err), c.Close())
		}
	}
	return c, nil
}

// ClusterLabel is the label of a secured Cluster.
const ClusterLabel = "ringleader"

// secure makes the credentials of all nodes, and of whoever asks them.
func (c *Cluster) secure() error {
	a, err := credentials.NewAuthority(c.Credentials(), ClusterLabel)
	if err != nil {
		return err
	}
	for _, n := range c.nodes {
		if _, err := a.Issue(credentials.Identity{Cluster: ClusterLabel, ID: n.ID}, nil, 24*time.Hour); err != nil {
			return err
		}
	}
	_, err = a.Operator()
	return err
}

// Credentials returns the directory with the authority of a secured Cluster, and all that it made: node-ID, operator.
func (c *Cluster) Credentials() string { return filepath.Join(c.dir, "credentials") }

// place gives each node its addresses. On loopback it holds ports for them.
func (cfg Config) place() (nodes []Node, ports *Ports, err error) {
	for i, h := range cfg.Hosts {
		nodes = append(nodes, Node{
			ID: cfg.id(i), Gossip: h.IP + ":7946", Election: h.IP + ":7947",
			HTTP: loopback + ":7948", enter: h.Enter, attach: h.Attach,
		})
	}
	if len(nodes) > 0 {
		return nodes, &Ports{}, nil
	}
	if ports, err = HoldPorts(3 * cfg.Nodes); err != nil {
		return nil, nil, err
	}
	addrs := ports.Addrs
	for i := range cfg.Nodes {
		nodes = append(nodes, Node{
			ID: cfg.id(i), Gossip: addrs[3*i], Election: addrs[3*i+1], HTTP: addrs[3*i+2],
			enter: cfg.Enter,
		})
	}
	return nodes, ports, nil
}

// id returns the id of the i-th node.
func (cfg Config) id(i int) proto.NodeID {
	if len(cfg.IDs) > 0 {
		return cfg.IDs[i]
	}
	return proto.NodeID(i + 1)
}

// Nodes returns all nodes in the order of their ids, running or not.
func (c *Cluster) Nodes() []Node { return slices.Clone(c.nodes) }

// Node returns the node with this id, or the zero Node if there is none.
func (c *Cluster) Node(id proto.NodeID) Node {
	for _, n := range c.nodes {
		if n.ID == id {
			return n
		}
	}
	return Node{}
}

// StartAll starts every node that is not running.
func (c *Cluster) StartAll() error {
	for _, n := range c.nodes {
		if err := c.Start(n.ID); err != nil && !errors.Is(err, ErrRunning) {
			return err
		}
	}
	return nil
}

// Start starts node id, or restarts it with the same addresses and data directory. The arguments
// args come after those of the Config, and so override them. They have no effect if the node's Host
// has Attach. Start returns as soon as the process exists.
func (c *Cluster) Start(id proto.NodeID, args ...string) error {
	n := c.Node(id)
	if n.ID == 0 {
		return fmt.Errorf("start node %v: %w", id, ErrUnknownNode)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return fmt.Errorf("start node %v: %w", id, os.ErrClosed)
	}
	if p := c.running[id]; p != nil && !p.ended() {
		return fmt.Errorf("start node %v: %w", id, ErrRunning)
	}
	line := n.attach
	if len(line) == 0 {
		line = slices.Concat(n.enter, []string{c.cfg.Binary}, c.Arguments(n), args)
		if len(c.cfg.Command) > 0 {
			line = slices.Concat(line, []string{"--"}, c.cfg.Command)
		}
	}
	cmd := exec.Command(line[0], line[1:]...)
	cmd.Env = environment()
	if len(c.cfg.Hosts) > 0 && !c.cfg.Secured {
		cmd.Env = append(cmd.Env, Insecure) // nobody else is in the networks of these hosts
	}
	p := &life{Process: Process{cmd: cmd, done: make(chan struct{})}, id: id, output: &output{cluster: c}}
	cmd.Stdout, cmd.Stderr = p.output, p.output
	if err := p.start(c.tell); err != nil {
		return fmt.Errorf("start node %v: %w", id, err)
	}
	c.lives = append(c.lives, p)
	c.running[id] = p
	return nil
}

// Arguments returns the part of node n's command line after the executable and before the command
// that the node runs.
func (c *Cluster) Arguments(n Node) []string {
	command := "run"
	if len(c.cfg.Command) > 0 {
		command = "exec"
	}
	args := []string{
		command, "--id", n.ID.String(), "--algorithm", c.cfg.Algorithm, "--profile", "local",
		"--gossip-bind", n.Gossip, "--election-bind", n.Election, "--http-bind", n.HTTP,
		"--data-dir", n.DataDir, "--log-format", "json",
	}
	for _, other := range c.nodes {
		if other.ID != n.ID {
			args = append(args, "--join", other.Gossip)
		}
	}
	if c.cfg.Secured {
		args = append(args, "--credentials", filepath.Join(c.Credentials(), "node-{id}"))
	}
	return append(args, c.cfg.Args...)
}

// Insecure is the environment variable by which a node runs without credentials where others reach it.
const Insecure = "RINGLEADER_INSECURE=true"

// environment returns the environment variables of this process without settings for ringleader.
func environment() []string {
	return slices.DeleteFunc(os.Environ(), func(kv string) bool {
		return strings.HasPrefix(kv, "RINGLEADER_")
	})
}

// tell wakes all goroutines that wait for a change.
func (c *Cluster) tell() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.broadcast()
}

// broadcast wakes all goroutines that wait for a change. The caller holds mu.
func (c *Cluster) broadcast() {
	close(c.changed)
	c.changed = make(chan struct{})
}

// PID returns the id of node id's latest process, 0 if it was never started.
func (c *Cluster) PID(id proto.NodeID) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if p := c.running[id]; p != nil {
		return p.PID()
	}
	return 0
}

// Kill sends SIGKILL to node id. When the process has ended, Kill returns the instant just before
// the signal.
func (c *Cluster) Kill(id proto.NodeID) (time.Time, error) {
	at, err := c.Send(id, syscall.SIGKILL)
	if err != nil {
		return at, err
	}
	_, err = c.WaitExit(context.Background(), id)
	return at, err
}

// Send sends sig to node id and returns the instant just before the signal. It does not wait for
// the effect.
func (c *Cluster) Send(id proto.NodeID, sig syscall.Signal) (time.Time, error) {
	c.mu.Lock()
	p := c.running[id]
	if p == nil || p.ended() {
		c.mu.Unlock()
		return time.Time{}, fmt.Errorf("send %v to node %v: %w", sig, id, ErrNotRunning)
	}
	if sig == syscall.SIGKILL || sig == syscall.SIGTERM {
		p.stopped = true // its end is no surprise
	}
	c.mu.Unlock()
	at := time.Now()
	return at, p.Signal(sig)
}

// ExpectEnd tells the Cluster that node id is about to end, so that the node's end is no
// error.
func (c *Cluster) ExpectEnd(id proto.NodeID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if p := c.running[id]; p != nil {
		p.stopped = true
	}
}

// LookAway returns after the time d, or when ctx is done. Until then the Cluster reads nothing that
// the nodes write: on few cores, reading would take processor time from the nodes that are measured.
// Most other methods wait meanwhile.
func (c *Cluster) LookAway(ctx context.Context, d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// Pause stops node id, as Process.Pause does. The node stays alive but silent, with its connections
// open.
func (c *Cluster) Pause(id proto.NodeID) error {
	c.mu.Lock()
	p := c.running[id]
	c.mu.Unlock()
	if p == nil || p.ended() {
		return fmt.Errorf("pause node %v: %w", id, ErrNotRunning)
	}
	return p.Pause()
}

// Resume lets a paused node continue.
func (c *Cluster) Resume(id proto.NodeID) error {
	_, err := c.Send(id, syscall.SIGCONT)
	return err
}

// Terminate sends SIGTERM to node id, as an operator would, and returns at
// once.
func (c *Cluster) Terminate(id proto.NodeID) error {
	_, err := c.Send(id, syscall.SIGTERM)
	return err
}

// WaitExit waits until node id ends, whether it was asked to or not. It returns the exit code that
// a shell would show: 128+n for a death by signal n.
func (c *Cluster) WaitExit(ctx context.Context, id proto.NodeID) (code int, err error) {
	c.ExpectEnd(id)
	c.mu.Lock()
	p := c.running[id]
	c.mu.Unlock()
	if p == nil {
		return 0, fmt.Errorf("wait for the end of node %v: %w", id, ErrNotRunning)
	}
	select {
	case <-p.done:
		return p.exitCode(), nil
	case <-ctx.Done():
		return 0, fmt.Errorf("wait for the end of node %v (pid %d): %w",
			id, p.PID(), context.Cause(ctx))
	}
}

// Close kills all processes that are left, waits until they have ended, and removes the data. It
// may be called more than once.
func (c *Cluster) Close() error {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return nil
	}
	c.closed = true
	lives := slices.Clone(c.lives)
	for _, p := range lives {
		p.stopped = true
	}
	c.mu.Unlock()

	var errs []error
	for _, p := range lives {
		errs = append(errs, p.Signal(syscall.SIGKILL)) // ends a paused one too
	}
	for _, p := range lives {
		<-p.done
	}
	c.ports.Release()
	return errors.Join(append(errs, os.RemoveAll(c.dir))...)
}

// Enter returns the words that go before a command to run it where node id runs, for example in its
// network namespace.
func (c *Cluster) Enter(id proto.NodeID) []string { return slices.Clone(c.Node(id).enter) }
