package tcp

import (
	"sync/atomic"
	"time"

	"github.com/ringleader-dev/ringleader/proto"
)

// maxProbes is how many indirect probes of one link may wait for an answer.
const maxProbes = 16

// indirectAnswerer answers the indirect probes of the peer at the other end of a link. An answer says whether
// this node hears a third process from the time of the probe on. An indirectAnswerer belongs to the goroutine
// that reads the link.
//
// No other node can make this node dial or send at will. This node asks only its own peers, at the addresses
// that it knows, and only the process to which it was linked last. It asks each at most four times in an
// interval.
type indirectAnswerer struct {
	t       *Transport
	in      *inbound
	last    uint64 // the number of the last probe
	waiting atomic.Int32
}

// read handles a PING_REQ, and answers it later.
func (v *indirectAnswerer) read(req proto.PingReq) error {
	if req.Number <= v.last {
		return faultf(unexpected, "PING_REQ %d after PING_REQ %d", req.Number, v.last)
	}
	v.last = req.Number
	p := v.t.peer(req.Target)
	if p == nil {
		return nil
	}
	sign := p.heartbeats.sign(req.Incarnation)
	if sign == nil {
		return nil // not the process that this node knows
	}
	if v.waiting.Load() >= maxProbes {
		v.t.ignored.Add(1)
		return nil
	}
	v.waiting.Add(1)
	p.seek(time.Now())
	v.t.others.Go(func() {
		defer v.waiting.Add(-1)
		v.await(req.Number, sign)
	})
	return nil
}

// await answers probe n when the process gives a sign of life, or when it has given none for as long as a
// watched process may be silent. A node that was late itself cannot tell, and does not answer.
func (v *indirectAnswerer) await(n uint64, sign <-chan struct{}) {
	cfg := v.t.cfg
	began := time.Now()
	limit := time.NewTimer(cfg.silence())
	defer limit.Stop()
	heard := false
	select {
	case <-sign:
		heard = true
	case <-limit.C:
		if time.Since(began) > cfg.silence()+cfg.Heartbeat {
			return
		}
	case <-v.in.done:
		return
	}
	v.in.say(proto.PingRes{Number: n, Heard: heard}, cfg.timing.write)
}

// seek asks the peer for a sign of life, on its link, or by a dial if there is no link.
func (p *peer) seek(now time.Time) {
	before := p.sought.Load()
	since := now.UnixNano() - before
	if since < int64(p.t.cfg.Heartbeat)/4 || !p.sought.CompareAndSwap(before, now.UnixNano()) {
		return
	}
	if p.link.Load() == nil {
		p.hurry()
		return
	}
	p.askLife()
}
