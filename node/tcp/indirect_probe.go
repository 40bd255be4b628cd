package tcp

import (
	"math/rand/v2"
	"sync"
	"time"

	"github.com/ringleader-dev/ringleader/proto"
)

// helpers is how many others are asked about a peer that this node does not hear:
// SWIM's k.
const helpers = 3

// indirectProbe asks a few peers whether they hear one process: SWIM's indirect probe.
type indirectProbe struct {
	number      uint64
	target      *peer
	incarnation proto.Incarnation
	answers     uint64                // how many dials the target had answered when the others were asked
	asked       map[proto.NodeID]bool // peers that have not answered yet
	unheard     bool                  // no node that answered hears the process
}

// indirectProbes are this node's open probes, one for each peer: the latest. Any goroutine may call
// its methods.
type indirectProbes struct {
	mu   sync.Mutex
	last uint64 // the number of the last probe
	open map[uint64]*indirectProbe
}

// probeIndirectly asks up to three peers whether they hear process s of p. It asks no peer while the peers
// that were asked before still listen for the process.
func (t *Transport) probeIndirectly(p *peer, s proto.Incarnation, now time.Time) {
	q := &indirectProbe{
		target: p, incarnation: s, answers: p.detector.answersSoFar(),
		asked: map[proto.NodeID]bool{}, unheard: true,
	}
	t.probes.put(q, t.helpersFor(p.id), now, t.cfg.silence())
}

// helpersFor returns up to three peers, chosen at random, that gave a sign of life lately. None of them is
// node id.
func (t *Transport) helpersFor(id proto.NodeID) []*peer {
	var fit []*peer
	for _, p := range *t.peers.Load() {
		if p.id != id && p.link.Load() != nil && !p.heartbeats.owes() {
			fit = append(fit, p)
		}
	}
	rand.Shuffle(len(fit), func(i, j int) { fit[i], fit[j] = fit[j], fit[i] })
	return fit[:min(len(fit), helpers)]
}

// put numbers q and sends it to the helpers. q replaces the earlier probe about the same peer; if the earlier
// probe is younger than spacing, put does nothing. On each link the numbers rise.
func (i *indirectProbes) put(q *indirectProbe, helpers []*peer, now time.Time, spacing time.Duration) {
	i.mu.Lock()
	defer i.mu.Unlock()
	p := q.target
	if now.Sub(p.probedAt) < spacing {
		return
	}
	delete(i.open, p.probe)
	i.last++
	q.number, p.probe, p.probedAt = i.last, i.last, now
	if i.open == nil {
		i.open = map[uint64]*indirectProbe{}
	}
	i.open[q.number] = q
	req := proto.PingReq{Number: q.number, Target: p.id, Incarnation: q.incarnation}
	for _, helper := range helpers {
		select {
		case helper.requests <- req:
			q.asked[helper.id] = true
		default: // its link is stuck
		}
	}
}

// forget closes the probe about p.
func (i *indirectProbes) forget(p *peer) {
	i.mu.Lock()
	defer i.mu.Unlock()
	delete(i.open, p.probe)
}

// answer handles a peer's answer to probe number n. It returns the probe if the answer decides it:
// somebody hears the process, or none of those who were asked does. An answer to a probe that was
// never made is a fault.
func (i *indirectProbes) answer(from proto.NodeID, n uint64, heard bool) (*indirectProbe, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if n > i.last {
		return nil, faultf(unexpected, "PING_RES %d: of %d probes", n, i.last)
	}
	q := i.open[n]
	if q == nil || !q.asked[from] {
		return nil, nil // too late, or twice
	}
	delete(q.asked, from)
	if heard {
		q.unheard = false
	} else if len(q.asked) > 0 {
		return nil, nil
	}
	delete(i.open, n)
	return q, nil
}

// hearAnswer handles a peer's answer to an indirect probe.
func (p *peer) hearAnswer(res proto.PingRes) error {
	q, err := p.t.probes.answer(p.id, res.Number, res.Heard)
	switch {
	case err != nil || q == nil:
		return err
	case q.unheard:
		q.target.detector.unheardByOthers(q.incarnation, q.answers)
	case q.target.heartbeats.heardByOthers(q.incarnation) || q.target.detector.inDoubt() == q.incarnation:
		q.target.detector.heardByOthers(q.incarnation)
	}
	return nil
}

// doubt waits for an interval, and then asks other nodes about the peer. It does not ask if the peer's
// process has a link again, or is known to be gone: usually the next dial shows that much sooner.
func (p *peer) doubt() {
	if p.detector.inDoubt().IsZero() || p.doubting.Swap(true) {
		return
	}
	p.t.others.Go(func() {
		defer p.doubting.Store(false)
		wait := time.NewTimer(p.t.cfg.Heartbeat)
		defer wait.Stop()
		select {
		case <-p.ctx.Done():
			return
		case <-wait.C:
		}
		if s := p.detector.inDoubt(); !s.IsZero() {
			p.t.probeIndirectly(p, s, time.Now())
		}
	})
}
