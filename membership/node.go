package membership

import (
	"fmt"
	"net/netip"

	"github.com/hashicorp/memberlist"
)

// node is a process as gossip describes it. It is a copy without pointers into memberlist.
type node struct {
	meta
	gossip netip.AddrPort
}

// readNode copies the description in n. It returns an error for a description that no correct node sends.
func readNode(n *memberlist.Node) (node, error) {
	ip, ok := netip.AddrFromSlice(n.Addr)
	if !ok || ip.Unmap().IsUnspecified() || n.Port == 0 {
		return node{}, fmt.Errorf("gossip address %s: not an address", n.Address())
	}
	m, err := decodeMeta(n.Meta)
	if err != nil {
		return node{}, err
	}
	if n.Name != m.ID.String() {
		return node{}, fmt.Errorf("%w: it is named %.20q but says id %d", errMeta, n.Name, m.ID)
	}
	return node{meta: m, gossip: netip.AddrPortFrom(ip.Unmap(), n.Port)}, nil
}

func (n node) identity() identity { return identity{n.ID, n.Incarnation} }

func (n node) member() Member {
	return Member{
		Peer: n.Peer, GossipAddr: n.gossip.String(),
		ElectionAddr: n.electionAddr, HTTPAddr: n.httpAddr, Voters: n.voters, Store: n.store,
	}
}

// String names the process for people.
func (n node) String() string {
	return fmt.Sprintf("node %d (incarnation %s) at %s, elections at %s",
		n.ID, n.Incarnation.Short(), n.gossip, n.electionAddr)
}
