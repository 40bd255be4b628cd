package tcp

import (
	"cmp"
	"slices"
	"time"

	"github.com/ringleader-dev/ringleader/proto"
)

// Stats is what a Transport did and did not do since Listen.
type Stats struct {
	// Dropped counts messages that Send took and nobody got, by reason:
	// "no-peer", "invalid", "queue-full", "expired", "other-session", "closed".
	Dropped map[string]uint64
	// Rejected counts connections, dialled or accepted, that were refused or
	// ended for what the other end did or did not do, by reason: "oversized",
	// "version", "payload", "unexpected", "cluster", "algorithm", "other-node",
	// "same-id", "envelope", "ack", "too-slow", "no-answer", "not-listening",
	// "crowded", "hung".
	Rejected map[string]uint64
	// Ignored counts PINGs that were not answered because they came far too
	// often.
	Ignored uint64
	// Peers are those of the set, by id.
	Peers []PeerStats
}

// PeerStats is about one peer, since it came into the set.
type PeerStats struct {
	ID   proto.NodeID
	Addr string
	// Up says whether this node's link to the peer is established.
	Up bool
	// Watched says whether the silent connection that Config.SilentPeers asks for is
	// established: should the process die, that is proven at once.
	Watched bool
	// Queued counts messages waiting to be sent or acknowledged.
	Queued int
	// Sent counts messages written to a connection, repeats included.
	Sent uint64
	// Dropped counts messages to the peer that it did not get.
	Dropped uint64
	// Received counts messages from the peer, repeats included.
	Received uint64
	// RoundTrip is the smoothed time from a PING to its PONG; zero when there
	// was none.
	RoundTrip time.Duration
}

// Stats counts up to now.
func (t *Transport) Stats() Stats {
	s := Stats{
		Dropped:  t.counts.between(noPeer, oversized),
		Rejected: t.counts.between(oversized, reasons),
		Ignored:  t.ignored.Load(),
	}
	for _, p := range *t.peers.Load() {
		s.Peers = append(s.Peers, p.stats())
	}
	slices.SortFunc(s.Peers, func(a, b PeerStats) int { return cmp.Compare(a.ID, b.ID) })
	return s
}

func (p *peer) stats() PeerStats {
	p.mu.Lock()
	defer p.mu.Unlock()
	return PeerStats{
		ID: p.id, Addr: p.spec.Addr, Up: p.link.Load() != nil,
		Watched: p.silent.conn.Load() != nil, Queued: p.out.len(),
		Sent: p.sent.Load(), Dropped: p.dropped.Load(), Received: p.received.Load(),
		RoundTrip: p.heartbeats.roundTrip(),
	}
}
