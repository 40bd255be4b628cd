package daemon

import (
	"github.com/rs/zerolog"

	"github.com/ringleader-dev/ringleader/membership"
	"github.com/ringleader-dev/ringleader/proto"
)

// mixedRanks warns once about each node that is ranked by something else than this one. It notices
// only one case: this node ranks by id alone, and the other has an attribute that is not 0.
type mixedRanks map[proto.NodeID]bool

func (m mixedRanks) judge(view membership.View, rankBy string, log zerolog.Logger) {
	for _, peer := range view.Alive {
		odd := rankBy == "id" && peer.Attr != 0
		if odd && !m[peer.ID] {
			log.Warn().Msgf("node %v is ranked by an attribute, %d, this node by its id alone: "+
				"have all nodes rank by the same", peer.ID, peer.Attr)
		}
		m[peer.ID] = odd
	}
}
