package main

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"time"

	"github.com/ringleader-dev/ringleader/internal/address"
)

// addressLook is how often a node looks whether its machine has another address than the
// one that the others were told.
const addressLook = time.Second

// errMoved: the others were told an address that is no longer this machine's.
type errMoved struct{ from, to netip.Addr }

func (e errMoved) Error() string {
	return fmt.Sprintf("the address %v, at which the others look for this node, is no longer this machine's, "+
		"which has %v now", e.from, e.to)
}

// watchAddress tells once that this machine has lost an address that this node chose to be
// reached at, and has another: so it is with a container that was taken off its network and
// joined again. An address that was given stands. Until ctx is done; the caller owns the
// channel.
func (r resolved) watchAddress(ctx context.Context) <-chan error {
	moved := make(chan error, 1)
	if !r.choseAddress() {
		return moved
	}
	go func() {
		tick := time.NewTicker(addressLook)
		defer tick.Stop()
		lost := false // at the last look too: a network is joined in several steps
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			to, gone := r.lostAddress()
			if gone && lost {
				moved <- errMoved{r.toldAddress(), to}
				return
			}
			lost = gone
		}
	}()
	return moved
}

// choseAddress reports whether this node chose by itself where the others reach it.
func (r resolved) choseAddress() bool {
	bind, err := address.ParseBind(r.GossipBind)
	return err == nil && bind.Addr().IsUnspecified() && r.origins["gossip-advertise"].Source == "default"
}

// toldAddress is the address that the others were told.
func (r resolved) toldAddress() netip.Addr {
	told, _ := netip.ParseAddrPort(r.GossipAdvertise)
	return told.Addr()
}

// lostAddress reports whether the address that this node chose is gone, and what it would
// choose now. A machine without any other waits for one.
func (r resolved) lostAddress() (to netip.Addr, gone bool) {
	addrs, err := r.in.addrs()
	if err != nil || slices.ContainsFunc(addrs, func(a net.Addr) bool {
		prefix, err := netip.ParsePrefix(a.String())
		return err == nil && prefix.Addr() == r.toldAddress()
	}) {
		return to, false
	}
	to, _, err = address.Reachable(netip.IPv4Unspecified(), r.Join, addrs, r.in.source)
	return to, err == nil
}
