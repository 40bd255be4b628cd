package daemon

import (
	"context"
	"iter"
	"strings"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/membership"
	"github.com/ringleader-dev/ringleader/node"
	"github.com/ringleader-dev/ringleader/node/httpapi"
	"github.com/ringleader-dev/ringleader/node/tcp"
	"github.com/ringleader-dev/ringleader/store"
)

// Snapshot returns the state from which the HTTP API answers.
func (d *Daemon) Snapshot() httpapi.Snapshot {
	status, links := d.Node.Status(), d.links.Stats()
	s := httpapi.Snapshot{
		Self: d.ID, Incarnation: d.Incarnation, Cluster: d.Cluster, Algorithm: d.Algorithm.Name,
		Guarantee: status.Guarantee, Running: status.Running, LastTick: status.LastTick,
		Voters: d.Voters, VoterState: status.Voters, Leader: status.Leader, Lent: status.Lent,
		Counters:   counters(status.Counters, links, d.group.Dropped()),
		Ineligible: status.Ineligible, Checks: d.checked(), Unfenced: d.shots.Load(),
		Recovery: d.recovery.why(), Since: status.Since,
	}
	if d.Credentials != nil {
		s.Expires, s.Refused = d.Credentials.Expires(), d.refusal()
	}
	for _, p := range status.Gone {
		s.Gone = append(s.Gone, httpapi.Gone{
			ID: p.ID, Incarnation: p.Incarnation.String(), Evidence: p.Evidence, At: p.At,
		})
	}
	for _, p := range links.Peers {
		if p.Watched {
			s.Watched = append(s.Watched, p.ID)
		}
	}
	if status.Store != nil {
		s.Store = storeAnswer(d.Store, *status.Store)
	}
	if differ := d.differ.Load(); differ != nil {
		s.Differ = *differ
	}
	s.Unmet = d.unmet(d.group.Unread(), links.Peers)
	if split := status.Split; split != nil {
		s.Split, s.SplitAt = split, status.SplitAt
	}
	s.Members, s.Gossiping = d.members()
	return s
}

// storeAnswer returns what the node knows of its store, in the form of the HTTP API.
func storeAnswer(of store.Store, is algorithms.StoreState) *httpapi.Store {
	s := &httpapi.Store{
		URL: of.String(), Token: is.Holder.Token, Holder: is.Holder.Foreign, Foreign: is.Holder.Foreign != "",
		At: is.At, Failed: is.Failed, Since: is.Since,
	}
	if is.Holder.ID != 0 {
		s.Holder = "node " + is.Holder.ID.String()
	}
	return s
}

// members returns the processes believed alive. ok is false before the first view.
func (d *Daemon) members() (all []httpapi.Member, ok bool) {
	view := d.view.Load()
	if view == nil {
		return nil, false
	}
	for _, m := range view.Alive {
		all = append(all, httpapi.Member{
			ID: m.ID, Incarnation: m.Incarnation.String(), Attr: m.Attr, Ineligible: m.Ineligible,
			GossipAddr: m.GossipAddr, ElectionAddr: m.ElectionAddr, HTTPAddr: m.HTTPAddr,
		})
	}
	return all, true
}

// changes yields the node's changes of belief, in the form of the HTTP API.
func (d *Daemon) changes(ctx context.Context, after uint64) iter.Seq[httpapi.Change] {
	return func(yield func(httpapi.Change) bool) {
		for c := range d.Node.Changes(ctx, after) {
			if !yield(httpapi.Change(c)) {
				return
			}
		}
	}
}

// counters joins the counters of the node, of its links and of gossip into one list. What links dropped or rejected,
// and gossip dropped unread, is counted by reason; a reason that never occurred is left out.
func counters(n node.Counters, links tcp.Stats, gossip membership.Dropped) map[string]uint64 {
	all := map[string]uint64{
		"steps": n.Steps, "saves": n.Saves, "received": n.Received, "sent": n.Sent,
		"split_brains": n.Splits, "split_brain_ms": uint64(n.TwoLed.Milliseconds()),
		"overflowed": n.Overflowed, "misaddressed": n.Misaddressed,
		"heartbeats_ignored": links.Ignored,
	}
	for prefix, counts := range map[string]map[string]uint64{
		"dropped_": links.Dropped, "rejected_": links.Rejected,
		"gossip_dropped_": {
			"unencrypted": gossip.Unencrypted, "unknown-key": gossip.UnknownKey, "hostile": gossip.Hostile,
			"crowded": gossip.Crowded,
		},
	} {
		for reason, count := range counts {
			if count > 0 {
				all[prefix+strings.ReplaceAll(reason, "-", "_")] = count
			}
		}
	}
	return all
}
