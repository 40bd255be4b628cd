package daemon

import (
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"

	"github.com/ringleader-dev/ringleader/membership"
	"github.com/ringleader-dev/ringleader/node/httpapi"
	"github.com/ringleader-dev/ringleader/node/tcp"
	"github.com/ringleader-dev/ringleader/proto"
)

// unmet returns who may be nodes of the cluster that this one does not meet, since the keys, the certificates or the
// settings of the two do not fit, or only one has any keys.
func (d *Daemon) unmet(unread []membership.Unread, peers []tcp.PeerStats) (all []httpapi.Unmet) {
	for _, u := range unread {
		maybe := d.maybeAt(u.From)
		of := ""
		if len(maybe) > 0 {
			names := make([]string, len(maybe))
			for i, id := range maybe {
				names[i] = id.String()
			}
			of = ", maybe of node " + strings.Join(names, " or ") + ","
		}
		all = append(all, httpapi.Unmet{
			Nodes: maybe, From: u.From, Why: fmt.Sprintf("gossip from %s%s %s", u.From, of, u.Why),
		})
	}
	for _, p := range peers {
		why := p.Mistrust
		if why == "" && p.Differs != "" && !p.Up {
			why = fmt.Sprintf("the two differ in %s: start the one that is wrong again, with what the others have",
				p.Differs)
		}
		if why != "" {
			all = append(all, httpapi.Unmet{
				Nodes: []proto.NodeID{p.ID}, From: p.Addr,
				Why: fmt.Sprintf("no link to node %v at %s: %s", p.ID, p.Addr, why),
			})
		}
	}
	return all
}

// maybeAt returns which nodes may send from an IP address: first of all those that were there last and are not
// alive to this node. A node whose gossip is dropped may be alive by its links.
func (d *Daemon) maybeAt(host string) []proto.NodeID {
	var alive []membership.Member
	if view := d.view.Load(); view != nil {
		alive = view.Alive
	}
	there := slices.DeleteFunc(d.seen.at(host), func(id proto.NodeID) bool { return id == d.ID })
	away := func(ids []proto.NodeID) []proto.NodeID {
		return slices.DeleteFunc(slices.Clone(ids), func(id proto.NodeID) bool {
			return id == d.ID || slices.ContainsFunc(alive, func(m membership.Member) bool { return m.ID == id })
		})
	}
	candidates := [][]proto.NodeID{away(there), there, away(d.Voters)}
	if slices.Contains(d.seen.at(host), d.ID) { // as are all of them, maybe
		candidates = [][]proto.NodeID{away(there), away(d.Voters), there}
	}
	for _, ids := range candidates {
		if len(ids) > 0 {
			return ids
		}
	}
	return nil
}

// at returns the nodes that gossip listed last at an IP address, in the order of ids.
func (l *lastSeen) at(host string) (ids []proto.NodeID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(l.addrs)) {
		if there, _, err := net.SplitHostPort(l.addrs[id]); err == nil && there == host {
			ids = append(ids, id)
		}
	}
	return ids
}
