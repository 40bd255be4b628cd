package testcluster

import (
	"errors"
	"fmt"
	"os/exec"
	"strings"

	"github.com/ringleader-dev/ringleader/proto"
)

// Link is the way from one node to another; the way back is another Link.
type Link struct{ From, To proto.NodeID }

// MayBlock returns nil if single links of a Network can be blocked here, otherwise an error that
// says why not. Errors wrap ErrCut.
func MayBlock() error {
	if _, err := exec.LookPath("nft"); err != nil {
		return fmt.Errorf("%w: single links need the nft command: %w", ErrCut, err)
	}
	return nil
}

// dropTable makes the switch drop packets between certain pairs of addresses.
const dropTable = `table bridge links {
	set dropped { type ipv4_addr . ipv4_addr; }
	chain passing { type filter hook forward priority 0; ip saddr . ip daddr @dropped drop; }
}`

// refuseTable makes a node refuse new connections from certain addresses.
const refuseTable = `table inet links {
	set refused { type ipv4_addr; }
	chain arriving {
		type filter hook input priority 0
		ip saddr @refused tcp flags & (syn|ack) == syn reject with tcp reset
	}
}`

// Drop makes the network drop all packets on these links, and on no other links. Neither node
// gets an error from the network.
func (w *Network) Drop(links ...Link) error {
	if err := w.filter(); err != nil {
		return err
	}
	pairs := make([]string, len(links))
	for i, l := range links {
		pairs[i] = ip(int(l.From)-1) + " . " + ip(int(l.To)-1)
	}
	return nft(w.hub(), replaceSet("bridge links dropped", pairs))
}

// Refuse makes the network answer each new connection on these links with a reset, and let
// established connections go on, as a firewall may do. All other links accept connections.
func (w *Network) Refuse(links ...Link) error {
	if err := w.filter(); err != nil {
		return err
	}
	var errs []error
	for i := range w.nodes {
		var from []string
		for _, l := range links {
			if l.To == proto.NodeID(i+1) {
				from = append(from, ip(int(l.From)-1))
			}
		}
		errs = append(errs, nft(w.host(i), replaceSet("inet links refused", from)))
	}
	return errors.Join(errs...)
}

// filter makes the tables when it is first called.
func (w *Network) filter() error {
	if w.filtered {
		return nil
	}
	if err := MayBlock(); err != nil {
		return err
	}
	if err := nft(w.hub(), dropTable); err != nil {
		return err
	}
	for i := range w.nodes {
		if err := nft(w.host(i), refuseTable); err != nil {
			return err
		}
	}
	w.filtered = true
	return nil
}

// replaceSet returns the commands that replace the elements of a set in one step.
func replaceSet(set string, elements []string) string {
	script := "flush set " + set + "\n"
	if len(elements) > 0 {
		script += fmt.Sprintf("add element %s { %s }\n", set, strings.Join(elements, ", "))
	}
	return script
}

// nft runs a script in a namespace.
func nft(namespace, script string) error {
	cmd := exec.Command("ip", "netns", "exec", namespace, "nft", "-f", "-")
	cmd.Stdin = strings.NewReader(script)
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("nft in %s: %w: %s", namespace, err, strings.TrimSpace(string(output)))
	}
	return nil
}
