package daemon

import (
	"strings"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/algorithms/lease"
	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/membership"
	"github.com/ringleader-dev/ringleader/node"
	"github.com/ringleader-dev/ringleader/node/tcp"
	"github.com/ringleader-dev/ringleader/proto"
)

// This file configures a node and its links for any network and clock: package nodesim uses it,
// too, for its nodes in virtual time.

// VotersOf checks that the saved state fits this node's list of voters. It also checks this for an
// empty list: with it, the node could lead without votes. The state of a node that is not on its own
// list fits any list, since the node does not vote. VotersOf returns the voter by which the list
// differs from the one before it; zero if there is none. Errors wrap lease.ErrVoters.
func (s Settings) VotersOf(saved algorithms.State) (changed proto.NodeID, err error) {
	if len(s.Voters) > 0 && !s.Voters.Has(s.ID) {
		return 0, nil
	}
	voters, err := lease.VotersFrom(saved.Voters, proto.ListVoters(s.Voters))
	return voters.Changed, err
}

// NodeConfig returns the configuration of a node without its Disk, Transport, clock and callbacks.
// The algorithm draws its random numbers from seed.
func (s Settings) NodeConfig(i proto.Incarnation, saved algorithms.State, seed uint64) node.Config {
	return node.Config{
		ID: s.ID, Incarnation: i, Saved: saved, Guarantee: s.Algorithm.Guarantee,
		Machine: s.Algorithm.New(algorithms.Config{
			Self: s.ID, Incarnation: i, Delta: s.Pacing.Latency, Preempt: s.Preempt, Seed: seed,
			Voters: s.Voters, Promise: s.Promise, AwaitLeases: s.AwaitLeases,
			Fence: len(s.FenceAgent) > 0, FirstTerm: s.FirstTerm,
		}),
		Recorder: trace.NewRecorder(trace.RecorderConfig{
			Cluster: s.Cluster, Node: s.ID, Incarnation: i, Algorithm: s.Algorithm.Name,
			Guarantee: s.Algorithm.Guarantee, Store: s.storeKind(), Security: s.Security(),
			Level: s.LogLevel, Size: tcp.FrameSize,
		}),
	}
}

// Security returns trace.Unauthenticated for a node without credentials that other machines reach; "" for any other.
func (s Settings) Security() string {
	if s.Insecure {
		return trace.Unauthenticated
	}
	return ""
}

// storeKind returns the kind of the store, as "etcd"; "" without one.
func (s Settings) storeKind() string {
	if s.Store == nil {
		return ""
	}
	kind, _, _ := strings.Cut(s.Store.Name(), " ")
	return kind
}

// LinkConfig returns the configuration of a node's links without their listener and callbacks. The
// links watch all voters for their deaths; they also watch changed, if it was removed from the
// list: see VotersOf.
func (s Settings) LinkConfig(i proto.Incarnation, changed proto.NodeID) tcp.Config {
	watched := append([]proto.NodeID(nil), s.Voters...)
	if changed != 0 && !s.Voters.Has(changed) {
		watched = append(watched, changed)
	}
	return tcp.Config{
		Cluster: s.Cluster, Algorithm: s.ElectionLabel(), Voters: proto.ListVoters(s.Voters),
		ID: s.ID, Incarnation: i, Bind: s.Election.Bind.String(), Kinds: catalog.Kinds(),
		Heartbeat: s.Pacing.Heartbeat, Misses: s.Pacing.Misses, Patience: s.Patience(), SilentPeers: watched,
		SilentToAll: s.Store != nil,
	}
}

// TellNode tells a node whose leaders have leases what the links know of a process: that it is dead, which
// ends the promises made to it, or that it was heard again.
func (s Settings) TellNode(n *node.Node, e tcp.Evidence) {
	switch {
	case !s.Leased():
	case e.Proven:
		n.ProvenDead(e.Peer, e.Incarnation)
	case e.Event == proto.LinkUp:
		n.HeardAgain(e.Peer, e.Incarnation)
	}
}

// VotersNow returns a node's list of voters and its state.
func (s Settings) VotersNow(n *node.Node) membership.Voters {
	now := n.Status().Voters
	return membership.Voters{List: proto.ListVoters(s.Voters), Version: now.Version, Committed: now.Committed}
}
