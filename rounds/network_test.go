package rounds_test

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/ringleader-dev/ringleader/internal/testcluster"
	"github.com/ringleader-dev/ringleader/proto"
)

// network is a bridge with a cable to the namespace of each node. Taking a
// cable off the bridge cuts the node off, and neither side hears of it.
type network struct {
	t     *testing.T
	name  string
	nodes int
}

func newNetwork(t *testing.T, nodes int) *network {
	w := &network{t: t, name: fmt.Sprintf("rlrounds%d", os.Getpid()), nodes: nodes}
	w.ip("netns add " + w.name)
	t.Cleanup(func() { w.ip("netns delete " + w.name) })
	w.ip("-n " + w.name + " link add name sw type bridge")
	w.ip("-n " + w.name + " link set sw up")
	for i := range nodes {
		host := w.host(i + 1)
		w.ip("netns add " + host)
		t.Cleanup(func() { w.ip("netns delete " + host) })
		w.ip(fmt.Sprintf("-n %s link add p%d type veth peer name eth0 netns %s", w.name, i+1, host))
		w.ip(fmt.Sprintf("-n %s link set p%d master sw up", w.name, i+1))
		w.ip(fmt.Sprintf("-n %s addr add 10.11.13.%d/24 dev eth0", host, i+1))
		w.ip("-n " + host + " link set lo up")
		w.ip("-n " + host + " link set eth0 up")
	}
	return w
}

func (w *network) hosts() (hosts []testcluster.Host) {
	for i := range w.nodes {
		hosts = append(hosts, testcluster.Host{
			IP: fmt.Sprintf("10.11.13.%d", i+1), Enter: []string{"ip", "netns", "exec", w.host(i + 1)},
		})
	}
	return hosts
}

func (w *network) host(i int) string { return fmt.Sprintf("%s-%d", w.name, i) }

func (w *network) cut(id proto.NodeID) error {
	return w.try(fmt.Sprintf("-n %s link set p%d nomaster", w.name, id))
}

func (w *network) heal(id proto.NodeID) error {
	return w.try(fmt.Sprintf("-n %s link set p%d master sw", w.name, id))
}

func (w *network) ip(args string) {
	if err := w.try(args); err != nil {
		w.t.Fatal(err)
	}
}

func (w *network) try(args string) error {
	out, err := exec.Command("ip", strings.Fields(args)...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("ip %s: %w: %s", args, err, out)
	}
	return nil
}
