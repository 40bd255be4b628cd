package tcp

import (
	"cmp"
	"slices"
	"time"

	"github.com/ringleader-dev/ringleader/proto"
)

// Stats counts what a Transport did, and what it dropped, since Listen.
type Stats struct {
	// Dropped counts, by reason, the messages that Send took and that did not arrive: "no-peer",
	// "invalid", "queue-full", "expired", "other-incarnation", "closed".
	Dropped map[string]uint64
	// Rejected counts, by reason, the connections that were refused, or ended because of what the
	// other end did or did not do: "oversized", "version", "payload", "unexpected", "cluster",
	// "algorithm", "other-node", "same-id", "envelope", "ack", "too-slow", "no-answer",
	// "not-listening", "crowded", "hung".
	Rejected map[string]uint64
	// Ignored counts PINGs that were not answered because they came far too
	// often.
	Ignored uint64
	// Peers has an entry for each peer in the set, by id.
	Peers []PeerStats
}

// PeerStats counts what happened with one peer since it was added to the set.
type PeerStats struct {
	ID   proto.NodeID
	Addr string
	// Up says whether this node's link to the peer is established.
	Up bool
	// Watched says whether the silent connection that Config.SilentPeers asks for is
	// established. If it is, the death of the process is proven at once.
	Watched bool
	// Differs names the settings for which the peer refused the last dial: see RefusedError.Differs.
	Differs string
	// Mistrust says why the last dial made no link, if one end does not believe the other's credentials, or has none
	// where the other has some; else "".
	Mistrust string
	// Proven says that the last dial reached the node, as Config.Security proves: the node took the link, or refused
	// it.
	Proven bool
	// Queued is how many messages wait to be sent or acknowledged.
	Queued int
	// Sent counts messages written to a connection, including repetitions.
	Sent uint64
	// Dropped counts messages to the peer that it did not get.
	Dropped uint64
	// Received counts messages from the peer, including repetitions.
	Received uint64
	// RoundTrip is the smoothed time from a PING to its PONG; zero when there
	// was none.
	RoundTrip time.Duration
}

// Stats returns the counts so far.
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
	differs, _ := p.differs.Load().(string)
	mistrust, _ := p.mistrust.Load().(string)
	return PeerStats{
		ID: p.id, Addr: p.spec.Load().Addr, Up: p.link.Load() != nil,
		Watched: p.silent.conn.Load() != nil, Queued: p.out.len(), Proven: p.proven.Load(),
		Sent: p.sent.Load(), Dropped: p.dropped.Load(), Received: p.received.Load(),
		Differs: differs, Mistrust: mistrust, RoundTrip: p.heartbeats.roundTrip(),
	}
}
