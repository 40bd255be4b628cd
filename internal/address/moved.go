package address

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"time"
)

// lookEvery is how often Watch looks at the machine's addresses.
const lookEvery = time.Second

// Moved says that this machine no longer has the address From, which this node told the other nodes,
// and now has To.
type Moved struct{ From, To netip.Addr }

func (m Moved) Error() string {
	return fmt.Sprintf("the address %v, at which the others look for this node, is no longer this machine's, "+
		"which has %v now", m.From, m.To)
}

// Watch returns a channel that reports once that this machine has lost the address told, which this
// node told the other nodes, and has another one. This happens when a container is taken off its
// network and joined again. While the machine has no other address, Watch waits for one. It stops
// when ctx is done. The channel is never closed.
func (h Host) Watch(ctx context.Context, told netip.Addr, join []string) <-chan Moved {
	moved := make(chan Moved, 1)
	go func() {
		tick := time.NewTicker(lookEvery)
		defer tick.Stop()
		lost := false // at the last look too: a network is joined in several steps
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			to, gone := h.instead(told, join)
			if gone && lost {
				moved <- Moved{told, to}
				return
			}
			lost = gone
		}
	}()
	return moved
}

// instead reports in gone whether this machine has lost the address told and has another one. If
// so, it returns the address that this node would choose now.
func (h Host) instead(told netip.Addr, join []string) (to netip.Addr, gone bool) {
	addrs, err := h.Addrs()
	if err != nil || slices.ContainsFunc(addrs, func(a net.Addr) bool {
		prefix, err := netip.ParsePrefix(a.String())
		return err == nil && prefix.Addr() == told
	}) {
		return to, false
	}
	to, _, err = Reachable(netip.IPv4Unspecified(), join, addrs, h.Source)
	return to, err == nil
}
