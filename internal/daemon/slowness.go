package daemon

import (
	"time"

	"github.com/rs/zerolog"

	"github.com/ringleader-dev/ringleader/internal/pacing"
	"github.com/ringleader-dev/ringleader/node/tcp"
)

// slowness warns when messages take longer than planned. It belongs to one goroutine.
type slowness struct{ said bool }

// judge warns once when messages to a peer take longer than the planned latency. It warns again
// only after the messages to all peers were fast enough. It measures half the smoothed round trip
// of a heartbeat.
func (w *slowness) judge(peers []tcp.PeerStats, s Settings, log zerolog.Logger) {
	var worst tcp.PeerStats
	for _, p := range peers {
		if p.RoundTrip > worst.RoundTrip {
			worst = p
		}
	}
	measured := worst.RoundTrip / 2
	slow := measured > s.Pacing.Latency
	if slow && !w.said {
		log.Warn().Stringer("measured", measured).Stringer("planned", s.Pacing.Latency).
			Stringer("smallest_budget", pacing.ForLatency(measured.Round(time.Millisecond), s.Algorithm)).
			Msgf("messages to and from node %v take longer than planned: elections are held "+
				"again for nothing; give all nodes a larger failover budget", worst.ID)
	}
	w.said = slow
}
