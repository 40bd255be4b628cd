package membership

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/memberlist"
	"github.com/rs/zerolog"

	"github.com/ringleader-dev/ringleader/proto"
)

var errRefused = errors.New("peer refused")

// gate decides which peers may be members: those whose meta can be read and whose cluster and algorithm are
// this node's. memberlist calls the gate from any goroutine, in some cases while memberlist holds its own
// lock.
type gate struct {
	cluster, algorithm string
	voters             proto.VoterList // "" for a node without voters
	store              Store
	log                zerolog.Logger
	stranger           func(Member) // called for processes of another algorithm; may be nil
	said               logLimiter
}

// admit returns the peer's description of itself, or an error that wraps errRefused. It logs a
// refusal once for each peer and reason.
func (g *gate) admit(n *memberlist.Node) (node, error) {
	peer, err := readNode(n)
	if err == nil {
		err = cmp.Or(checkVersions(n), g.compare(peer))
	}
	key := fmt.Sprintf("%.20q at %s", n.Name, n.Address())
	if err == nil {
		g.said.forget(key)
		return peer, nil
	}
	if g.stranger != nil && peer.cluster == g.cluster && peer.algorithm != g.algorithm {
		g.stranger(peer.member())
	}
	if g.said.first(key, err.Error(), time.Now()) {
		g.log.Warn().Msgf("refused node %s: %v", key, err)
	}
	return node{}, fmt.Errorf("%w: %w", errRefused, err)
}

// checkVersions returns an error unless n states the versions of memberlist's protocol that this node states,
// which are those of each release so far. memberlist would keep any version, and then refuse every exchange of
// states, with anybody, while it lists a member of a version that does not fit all others.
func checkVersions(n *memberlist.Node) error {
	stated := [...]uint8{n.PMin, n.PMax, n.PCur, n.DMin, n.DMax, n.DCur}
	own := [...]uint8{
		memberlist.ProtocolVersionMin, memberlist.ProtocolVersionMax, gossipVersion, gossipDelegate, gossipDelegate,
		gossipDelegate,
	}
	if stated != own {
		return fmt.Errorf("it states the gossip versions %v, and no node of a cluster states others than %v",
			stated, own)
	}
	return nil
}

// crowded logs that there was no place for a member. It logs this once in a while, whoever the members are.
func (g *gate) crowded(n node, why error) {
	if g.said.first("room", "none", time.Now()) {
		g.log.Warn().Msgf("refused node %v and maybe others: %v; look who sends made-up members", n, why)
	}
}

// compare returns an error for nodes of another cluster or of another algorithm.
func (g *gate) compare(n node) error {
	if n.cluster != g.cluster {
		return fmt.Errorf("it belongs to cluster %q, this node to %q; "+
			"give both the same cluster label, or remove the address from the join targets",
			n.cluster, g.cluster)
	}
	if one, other := n.store.elects(), g.store.elects(); one != other {
		return fmt.Errorf("it elects %s, and this node %s: start the one that is wrong again, with what the others "+
			"have of the setting store", one, other)
	}
	if n.algorithm != g.algorithm && (n.voters.List == "") != (g.voters == "") {
		return fmt.Errorf("it has %v, and this node has %v: start the one that is wrong again, with what "+
			"the others have of the setting voters", n.voters.List, g.voters)
	}
	if n.algorithm != g.algorithm {
		return fmt.Errorf("it runs algorithm %q, this node %q (\"nomination\" is any that nominates, with voters); "+
			"run the same on all nodes of a cluster; to change it, stop all nodes and start them "+
			"with another, or give all of them voters first: under votes what nominates may differ, "+
			"and be changed node by node; not so what has a quorum of its own", n.algorithm, g.algorithm)
	}
	return nil
}

// elects says whether there is a store.
func (s Store) elects() string {
	if s == (Store{}) {
		return "without a store"
	}
	return "on a store"
}
