package bench

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/ringleader-dev/ringleader/cluster"
	"github.com/ringleader-dev/ringleader/proto"
)

// errCut: this process cannot cut networks.
var errCut = errors.New("cutting a network needs root on Linux and the ip command of iproute2")

// maxCut is how many addresses the one subnet has for nodes.
const maxCut = 250

// network is a switch (a bridge in a network namespace of its own) with a
// cable (a pair of virtual devices) to each node's namespace. Taking a cable
// off the switch leaves both of its ends up: packets go nowhere, and neither
// side hears of an end, a reset or a missing carrier.
type network struct {
	prefix string // of everything's names
	nodes  int
	made   []string // the namespaces that exist
}

// mayCut says why a network of that many nodes cannot be made here.
func mayCut(nodes int) error {
	if os.Geteuid() != 0 {
		return fmt.Errorf("%w: %w: run as root, or give another signal", ErrOptions, errCut)
	}
	if _, err := exec.LookPath("ip"); err != nil {
		return fmt.Errorf("%w: %w: %w", ErrOptions, errCut, err)
	}
	if nodes > maxCut {
		return fmt.Errorf("%w: %d nodes on one switch: at most %d", ErrCapacity, nodes, maxCut)
	}
	return nil
}

// newNetwork makes the switch and connects every node. What it made before an
// error it removes again.
func newNetwork(nodes int) (*network, error) {
	var random [3]byte
	_, _ = rand.Read(random[:]) // never fails
	w := &network{prefix: "rl" + hex.EncodeToString(random[:]), nodes: nodes}
	if err := w.build(); err != nil {
		return nil, errors.Join(fmt.Errorf("make a network that can be cut: %w", err), w.close())
	}
	return w, nil
}

func (w *network) build() error {
	if err := w.add(w.hub()); err != nil {
		return err
	}
	steps := []string{"-n HUB link add name sw type bridge", "-n HUB link set sw up"}
	for i := range w.nodes {
		host := w.host(i)
		if err := w.add(host); err != nil {
			return err
		}
		replace := strings.NewReplacer("HOST", host, "PORT", port(i), "IP", ip(i))
		for _, step := range []string{
			"-n HUB link add PORT type veth peer name eth0 netns HOST",
			"-n HUB link set PORT master sw up",
			"-n HOST addr add IP/24 dev eth0",
			"-n HOST link set lo up",
			"-n HOST link set eth0 up",
		} {
			steps = append(steps, replace.Replace(step))
		}
	}
	for _, step := range steps {
		if err := w.ip(strings.ReplaceAll(step, "HUB", w.hub())); err != nil {
			return err
		}
	}
	return nil
}

// add makes a namespace.
func (w *network) add(name string) error {
	if err := w.ip("netns add " + name); err != nil {
		return err
	}
	w.made = append(w.made, name)
	return nil
}

// cut takes a node's cable off the switch.
func (w *network) cut(id proto.NodeID) error {
	return w.ip(fmt.Sprintf("-n %s link set %s nomaster", w.hub(), port(int(id)-1)))
}

// heal plugs it in again.
func (w *network) heal(id proto.NodeID) error {
	return w.ip(fmt.Sprintf("-n %s link set %s master sw", w.hub(), port(int(id)-1)))
}

// close removes the namespaces, and with them all devices. A nil network has
// none.
func (w *network) close() error {
	if w == nil {
		return nil
	}
	var errs []error
	for _, name := range w.made {
		errs = append(errs, w.ip("netns delete "+name))
	}
	w.made = nil
	return errors.Join(errs...)
}

// hosts are where the nodes run.
func (w *network) hosts() []cluster.Host {
	hosts := make([]cluster.Host, 0, w.nodes)
	for i := range w.nodes {
		hosts = append(hosts, cluster.Host{IP: ip(i), Enter: []string{"ip", "netns", "exec", w.host(i)}})
	}
	return hosts
}

// ip runs one ip command.
func (w *network) ip(args string) error {
	output, err := exec.Command("ip", strings.Fields(args)...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("ip %s: %w: %s", args, err, strings.TrimSpace(string(output)))
	}
	return nil
}

func (w *network) hub() string       { return w.prefix + "-sw" }
func (w *network) host(i int) string { return fmt.Sprintf("%s-%d", w.prefix, i+1) }

func port(i int) string { return fmt.Sprintf("p%d", i+1) }
func ip(i int) string   { return fmt.Sprintf("10.11.12.%d", i+1) }
