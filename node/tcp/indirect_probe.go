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
	number  uint64
	target  *peer
	session proto.Session
	answers uint64                // of the target, when the question was put
	asked   map[proto.NodeID]bool // who has not answered yet
	unheard bool                  // so far nobody heard the process
}

// indirectProbes are the open ones of this node, about each peer the latest.
type indirectProbes struct {
	mu   sync.Mutex
	last uint64 // number
	open map[uint64]*indirectProbe
}

// probeIndirectly asks up to three peers whether they hear process s of p, unless others
// were asked of late: within the time that those listen for it.
func (t *Transport) probeIndirectly(p *peer, s proto.Session, now time.Time) {
	q := &indirectProbe{
		target: p, session: s, answers: p.detector.answersSoFar(),
		asked: map[proto.NodeID]bool{}, unheard: true,
	}
	t.probes.put(q, t.helpersFor(p.id), now, t.cfg.silence())
}

// helpersFor are peers, in any order, that were heard of late.
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

// put numbers q, in place of the one before about the same peer unless that is too
// recent, and has it sent. On each link the numbers go up.
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
	req := proto.PingReq{Number: q.number, Target: p.id, Session: q.session}
	for _, helper := range helpers {
		select {
		case helper.requests <- req:
			q.asked[helper.id] = true
		default: // its link is stuck
		}
	}
}

// forget closes what is open about p.
func (i *indirectProbes) forget(p *peer) {
	i.mu.Lock()
	defer i.mu.Unlock()
	delete(i.open, p.probe)
}

// answer takes what a peer says to probe number n. It returns the probe when
// that decides it: somebody hears the process, or all who were asked do not. An
// answer to what was never asked is a fault.
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

// hearAnswer takes a peer's answer to an indirect probe and draws the conclusion.
func (p *peer) hearAnswer(res proto.PingRes) error {
	q, err := p.t.probes.answer(p.id, res.Number, res.Heard)
	switch {
	case err != nil || q == nil:
		return err
	case q.unheard:
		q.target.detector.unheardByOthers(q.session, q.answers)
	case q.target.heartbeats.heardByOthers(q.session) || q.target.detector.inDoubt() == q.session:
		q.target.detector.heardByOthers(q.session)
	}
	return nil
}

// doubt has others asked about the peer if, an interval from now, its process is
// neither linked again nor proven gone. A process that dies, or a link that only
// dropped, is explained by the next dial, long before.
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
