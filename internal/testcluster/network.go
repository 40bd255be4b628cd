package testcluster

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/ringleader-dev/ringleader/proto"
)

// ErrCut says that this process cannot cut networks.
var ErrCut = errors.New("cutting a network needs root on Linux and the ip command of iproute2")

// MaxSubnet is how many nodes a Network has addresses for.
const MaxSubnet = 250

// Network is a switch (a bridge in a network namespace of its own) with a
// cable (a pair of virtual devices) to each node's namespace. When a cable is
// taken off the switch, both of its ends stay up: packets are lost, but neither
// side gets an end of stream, a reset or a missing carrier.
type Network struct {
	prefix string // the beginning of all names
	nodes  int
	made   []string // the namespaces that exist
	// filtered says whether the namespaces have the tables that block single links.
	filtered bool
}

// MayCut returns nil if a Network of this many nodes can be made here, otherwise an error that says
// why not. Errors wrap ErrCut.
func MayCut(nodes int) error {
	if os.Geteuid() != 0 {
		return fmt.Errorf("%w: run as root", ErrCut)
	}
	if _, err := exec.LookPath("ip"); err != nil {
		return fmt.Errorf("%w: %w", ErrCut, err)
	}
	if nodes > MaxSubnet {
		return fmt.Errorf("%w: %d nodes on one switch: at most %d", ErrCut, nodes, MaxSubnet)
	}
	return nil
}

// NewNetwork makes the switch and connects every node. When it fails, it removes what it made.
func NewNetwork(nodes int) (*Network, error) {
	var random [3]byte
	_, _ = rand.Read(random[:]) // never fails
	w := &Network{prefix: "rl" + hex.EncodeToString(random[:]), nodes: nodes}
	if err := w.build(); err != nil {
		return nil, errors.Join(fmt.Errorf("make a network that can be cut: %w", err), w.Close())
	}
	return w, nil
}

func (w *Network) build() error {
	if err := w.add(w.hub()); err != nil {
		return err
	}
	steps := []string{
		"-n HUB link add name sw type bridge", "-n HUB link set sw up",
		"-n HUB link add name apart type bridge", "-n HUB link set apart up",
	}
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

// add makes a namespace with this name.
func (w *Network) add(name string) error {
	if err := w.ip("netns add " + name); err != nil {
		return err
	}
	w.made = append(w.made, name)
	return nil
}

// Cut takes a node's cable off the switch.
func (w *Network) Cut(id proto.NodeID) error {
	return w.ip(fmt.Sprintf("-n %s link set %s nomaster", w.hub(), port(int(id)-1)))
}

// Apart plugs the nodes' cables into a switch of their own: they reach each other,
// and nobody else.
func (w *Network) Apart(ids ...proto.NodeID) error {
	for _, id := range ids {
		if err := w.ip(fmt.Sprintf("-n %s link set %s master apart", w.hub(), port(int(id)-1))); err != nil {
			return err
		}
	}
	return nil
}

// Heal plugs a node's cable into the switch again.
func (w *Network) Heal(id proto.NodeID) error {
	return w.ip(fmt.Sprintf("-n %s link set %s master sw", w.hub(), port(int(id)-1)))
}

// Close removes the namespaces, and with them all devices. It does nothing if w is nil.
func (w *Network) Close() error {
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

// Hosts returns the hosts of the nodes.
func (w *Network) Hosts() []Host {
	hosts := make([]Host, 0, w.nodes)
	for i := range w.nodes {
		hosts = append(hosts, Host{IP: ip(i), Enter: []string{"ip", "netns", "exec", w.host(i)}})
	}
	return hosts
}

// ip runs one ip command.
func (w *Network) ip(args string) error {
	output, err := exec.Command("ip", strings.Fields(args)...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("ip %s: %w: %s", args, err, strings.TrimSpace(string(output)))
	}
	return nil
}

func (w *Network) hub() string       { return w.prefix + "-sw" }
func (w *Network) host(i int) string { return fmt.Sprintf("%s-%d", w.prefix, i+1) }

func port(i int) string { return fmt.Sprintf("p%d", i+1) }
func ip(i int) string   { return fmt.Sprintf("10.11.12.%d", i+1) }
