package testcluster

import (
	"errors"
	"fmt"
	"os/exec"
	"strings"

	"github.com/ringleader-dev/ringleader/proto"
)

// Link is one direction between two nodes.
type Link struct{ From, To proto.NodeID }

// MayBlock says why the links of a Network cannot be blocked one by one here. Errors
// wrap ErrCut.
func MayBlock() error {
	if _, err := exec.LookPath("nft"); err != nil {
		return fmt.Errorf("%w: single links need the nft command: %w", ErrCut, err)
	}
	return nil
}

// dropTable lets the switch drop what goes from one address to another.
const dropTable = `table bridge links {
	set dropped { type ipv4_addr . ipv4_addr; }
	chain passing { type filter hook forward priority 0; ip saddr . ip daddr @dropped drop; }
}`

// refuseTable lets a node's machine refuse connections that come from an address.
const refuseTable = `table inet links {
	set refused { type ipv4_addr; }
	chain arriving {
		type filter hook input priority 0
		ip saddr @refused tcp flags & (syn|ack) == syn reject with tcp reset
	}
}`

// Drop loses all packets on these links, and none on others. Neither side hears of it.
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

// Refuse answers what asks for a new connection on these links with a reset, and lets
// established connections go on, as a firewall may; on all others all may connect.
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

// filter makes the tables, once.
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

// replaceSet gives a set new elements, in one step.
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
