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
	// Nodes is how many nodes there are; their ids are 1 … Nodes.
	Nodes int
	// Algorithm is a name of the catalogue.
	Algorithm string
	// Args are further arguments of every `ringleader run`. They stand behind
	// those of the Cluster, so they win.
	Args []string
	// Command, if not empty, is what each node runs while it leads: then it is a
	// `ringleader exec`.
	Command []string
	// Enter is a command that runs each node's command line: "nice -n 19", say.
	Enter []string
	// Hosts places node i+1 on Hosts[i]. Without, all nodes share loopback.
	Hosts []Host
}

// Host is a network of its own for one node, such as a network namespace.
type Host struct {
	IP    string   // of the node there
	Enter []string // the command that runs a command there, say "ip netns exec n1"
	// Attach is for a node that is no process of ours, such as a container that
	// was given the node's Arguments when it was made: the command that starts
	// it, copies what it writes and ends when it ends. Signals reach that
	// command, not the node. Nil: the Cluster runs the node itself.
	Attach []string
}

// Node is where one node lives.
type Node struct {
	ID                     proto.NodeID
	Gossip, Election, HTTP string // "host:port"
	DataDir                string

	enter  []string // what stands before the command line
	attach []string // what stands in its place
}

// Cluster is a set of nodes on loopback. Any goroutine may call its methods.
type Cluster struct {
	cfg      Config
	dir      string
	nodes    []Node // by id, from 1
	ports    *Ports // theirs on loopback
	launcher launcher

	mu      sync.Mutex
	lives   []*process                // every process ever started, in order
	running map[proto.NodeID]*process // the latest life of each node
	changed chan struct{}             // closed and replaced when a line or an end arrives
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
		cfg: cfg, dir: dir, nodes: nodes, ports: ports, launcher: newLauncher(),
		running: make(map[proto.NodeID]*process), changed: make(chan struct{}),
	}
	for i := range nodes {
		nodes[i].DataDir = filepath.Join(dir, "n"+nodes[i].ID.String())
	}
	return c, nil
}

// place gives each node its addresses, on loopback from ports that are held.
func (cfg Config) place() (nodes []Node, ports *Ports, err error) {
	for i, h := range cfg.Hosts {
		nodes = append(nodes, Node{
			ID: proto.NodeID(i + 1), Gossip: h.IP + ":7946", Election: h.IP + ":7947",
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
			ID: proto.NodeID(i + 1), Gossip: addrs[3*i], Election: addrs[3*i+1], HTTP: addrs[3*i+2],
			enter: cfg.Enter,
		})
	}
	return nodes, ports, nil
}

// Nodes are the nodes by id, running or not.
func (c *Cluster) Nodes() []Node { return slices.Clone(c.nodes) }

// Node is the node of that id, the zero Node when there is none.
func (c *Cluster) Node(id proto.NodeID) Node {
	if id < 1 || int(id) > len(c.nodes) {
		return Node{}
	}
	return c.nodes[id-1]
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

// Start starts node id, for the first time or again: it comes back with the
// same addresses and what its data directory kept. args stand behind the
// Config's, so they win; where its Host attaches to it they cannot reach it. It
// returns as soon as the process exists.
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
	cmd.SysProcAttr = processAttr()
	p := &process{id: id, cmd: cmd, output: &output{cluster: c}, done: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = p.output, p.output
	if err := c.launcher.start(cmd); err != nil {
		return fmt.Errorf("start node %v: %w", id, err)
	}
	c.lives = append(c.lives, p)
	c.running[id] = p
	go c.wait(p)
	return nil
}

// Arguments is the command line of node n, behind the name of the executable and
// before the command that it runs.
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
	return append(args, c.cfg.Args...)
}

// environment is ours without the settings of another ringleader.
func environment() []string {
	return slices.DeleteFunc(os.Environ(), func(kv string) bool {
		return strings.HasPrefix(kv, "RINGLEADER_")
	})
}

// wait reaps the process.
func (c *Cluster) wait(p *process) {
	_ = p.cmd.Wait() // how it ended stands in its ProcessState
	c.mu.Lock()
	defer c.mu.Unlock()
	close(p.done)
	c.broadcast()
}

// broadcast wakes whoever waits for a change. The caller holds mu.
func (c *Cluster) broadcast() {
	close(c.changed)
	c.changed = make(chan struct{})
}

// PID is the process id of node id's latest life, 0 if it was never started.
func (c *Cluster) PID(id proto.NodeID) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if p := c.running[id]; p != nil {
		return p.cmd.Process.Pid
	}
	return 0
}

// Kill sends SIGKILL to node id and returns the instant just before it, once
// the process is gone.
func (c *Cluster) Kill(id proto.NodeID) (time.Time, error) {
	at, err := c.Send(id, syscall.SIGKILL)
	if err != nil {
		return at, err
	}
	_, err = c.WaitExit(context.Background(), id)
	return at, err
}

// Send sends sig to node id and returns the instant just before it, without
// waiting for what comes of it.
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
	return at, p.signal(sig)
}

// ExpectEnd says that the end of node id, which somebody else brings about, is
// no surprise.
func (c *Cluster) ExpectEnd(id proto.NodeID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if p := c.running[id]; p != nil {
		p.stopped = true
	}
}

// LookAway reads nothing of what the nodes write until d is over or ctx done:
// where cores are few, reading along takes from the nodes what is measured. All
// other methods wait meanwhile.
func (c *Cluster) LookAway(ctx context.Context, d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// Pause stops node id in its tracks with SIGSTOP: it stays alive, silent, its
// connections open.
func (c *Cluster) Pause(id proto.NodeID) error {
	_, err := c.Send(id, syscall.SIGSTOP)
	return err
}

// Resume lets a paused node go on.
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

// WaitExit waits for node id to end, asked to or not, and returns the code a
// shell would show: 128+n for a death by signal n. Its end then is no surprise.
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
			id, p.cmd.Process.Pid, context.Cause(ctx))
	}
}

// Close kills every process that is left, waits until all are gone and removes
// the data. It may be called more than once.
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
		errs = append(errs, p.signal(syscall.SIGKILL)) // ends a paused one too
	}
	for _, p := range lives {
		<-p.done
	}
	c.launcher.stop()
	c.ports.Release()
	return errors.Join(append(errs, os.RemoveAll(c.dir))...)
}

// Launch starts another process the way nodes are started: in a process group of
// its own, and to be killed when this process dies. The caller ends and reaps it
// before it calls Close.
func (c *Cluster) Launch(cmd *exec.Cmd) error {
	cmd.SysProcAttr = processAttr()
	return c.launcher.start(cmd)
}

// Enter is what stands before a command line to run it where node id runs.
func (c *Cluster) Enter(id proto.NodeID) []string { return slices.Clone(c.Node(id).enter) }
