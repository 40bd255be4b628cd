package daemon

import (
	"github.com/rs/zerolog"

	"github.com/ringleader-dev/ringleader/membership"
	"github.com/ringleader-dev/ringleader/proto"
)

// mixedRanks tells once of each node that is ranked by something else than this one, as
// far as attributes show it: by id alone, all of them are 0.
type mixedRanks map[proto.NodeID]bool

func (m mixedRanks) judge(view membership.View, rankBy string, log zerolog.Logger) {
	for _, peer := range view.Alive {
		odd := rankBy == "id" && peer.Attr != 0
		if odd && !m[peer.ID] {
			log.Warn().Msgf("node %v is ranked by an attribute, %d, this node by its id alone: "+
				"give all nodes the same --rank-by", peer.ID, peer.Attr)
		}
		m[peer.ID] = odd
	}
}
