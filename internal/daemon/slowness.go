package daemon

import (
	"time"

	"github.com/rs/zerolog"

	"github.com/ringleader-dev/ringleader/internal/pacing"
	"github.com/ringleader-dev/ringleader/node/tcp"
)

// slowness notes that messages take longer than was planned for. It belongs to
// one goroutine.
type slowness struct{ said bool }

// judge warns once of a peer whose messages take more than the planned latency,
// and again only after all were fast enough. The measure is half the smoothed
// round trip of a heartbeat.
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
		warning := log.Warn().Stringer("measured", measured).Stringer("planned", s.Pacing.Latency)
		needs := pacing.Pacing{Latency: measured.Round(time.Millisecond)}
		if budget, found := needs.Smallest(s.Algorithm); found {
			warning = warning.Stringer("smallest_budget", budget)
		}
		warning.Msgf("messages to and from node %v take longer than planned: elections are held "+
			"again for nothing; give all nodes a larger --failover-budget", worst.ID)
	}
	w.said = slow
}
