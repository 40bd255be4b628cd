package tcp

import (
	"net"
	"time"

	"github.com/ringleader-dev/ringleader/proto"
)

// maxExpected bounds how many peers are asked for a sign of life in a beat for being
// expected alone: others each time, where there are more. Who is silent then is asked on.
const maxExpected = 8

// minPong is the least time between two PONGs on a connection. No correct
// peer asks as often: it is a fifth of MinHeartbeat.
const minPong = time.Millisecond

// SetLeader says who leads, 0 for nobody: a follower watches the leader, the
// leader watches everybody, and nobody watches anybody before the first. So the
// traffic grows with the number of nodes, not with its square. Between two leaders
// the last one is watched on, and so is whoever this node sends a message to: a round
// on a ring waits for one that hangs, or was cut off with its leader, until it is missed.
//
// A watched peer is sent a PING each Config.Heartbeat. When it leaves more
// than Config.Misses of them unanswered it is HeartbeatMissed, and asked on
// until it answers.
func (t *Transport) SetLeader(leader proto.NodeID) {
	if leader == 0 {
		t.vacant.CompareAndSwap(0, t.clock())
	} else {
		t.vacant.Store(0)
		t.leader.Store(uint64(leader))
	}
	t.beatTimer.relyOn(0)
}

// clock is the time since this Transport was made, whatever is done to the wall clock.
func (t *Transport) clock() int64 { return int64(time.Since(t.made)) }

// watch says how the peer is watched.
func (t *Transport) watch(p *peer) watch {
	switch leader := proto.NodeID(t.leader.Load()); leader {
	case 0:
		return unwatched
	case t.cfg.ID:
		return follower
	case p.id:
		return leading
	}
	if t.expects(p) {
		return expected
	}
	return unwatched
}

// expects reports whether nobody leads, and this node sent the peer a message since: or
// just before, in the very Step that found the last leader gone.
func (t *Transport) expects(p *peer) bool {
	vacant, spoken := t.vacant.Load(), p.spoken.Load()
	return vacant != 0 && spoken != 0 && spoken > vacant-int64(t.cfg.Heartbeat)
}

// runHeartbeats counts the beats of all peers until the Transport closes. A beat that is
// late by more than an interval tells of this node, which was paused or got no processor,
// and not of its peers: their answers may be there and unread. So all counts start anew.
// While this node's own elections stand still there is no beat: its PINGs would be signs
// of a life that there is not.
func (t *Transport) runHeartbeats() {
	defer t.beatTimer.timer.Stop()
	stood := false
	for {
		select {
		case <-t.done:
			return
		case <-t.beatTimer.timer.C:
		}
		now := time.Now()
		b := t.beatTimer.next(now)
		switch {
		case b.rest:
		case !t.cfg.alive():
			stood = true
		default:
			b.anew = b.anew || stood
			t.beat(b, now)
			stood = false
		}
	}
}

// beat counts one beat of all peers, and asks those who owe a sign of life.
func (t *Transport) beat(b beat, now time.Time) {
	beating, expecting, leader := 0, 0, proto.NodeID(0)
	for id, p := range *t.peers.Load() {
		w := t.watch(p)
		if w == expected {
			if expecting++; expecting > maxExpected {
				w = unwatched
			}
		}
		beats, ask, doubt := p.heartbeats.beat(w, b, now)
		if doubt {
			t.probeIndirectly(p, p.heartbeats.process(), now)
		}
		if ask {
			p.askLife()
		}
		if beats {
			beating++
		}
		if beats && w == leading {
			leader = id
		}
	}
	if beating > 1 {
		leader = 0 // others have to be asked meanwhile
	}
	t.beatTimer.relyOn(leader)
}

// askLife has a PING written, unless the one before is still to be.
func (p *peer) askLife() {
	select {
	case p.ask <- struct{}{}:
	default:
	}
}

// ping writes a PING.
func (p *peer) ping(l *link) error {
	ping := proto.Ping{Count: p.heartbeats.ping(time.Now()), Micros: p.t.micros()}
	return l.say(ping, p.t.cfg.timing.write)
}

// hearPong takes the answer to a PING.
func (p *peer) hearPong(l *link, pong proto.Pong) error {
	p.t.compare(l.conn, p.id, pong.Micros)
	return p.heartbeats.pong(pong.Count, time.Now())
}

// micros is this node's heartbeat as others are told.
func (t *Transport) micros() uint64 { return uint64(t.cfg.Heartbeat.Microseconds()) }

// compare warns when another node beats at another rate: one of the two then
// takes the other for dead sooner than its operator thinks.
func (t *Transport) compare(conn net.Conn, id proto.NodeID, micros uint64) {
	ours, theirs := t.cfg.Heartbeat, time.Duration(micros)*time.Microsecond
	if max(theirs, ours) > 2*min(theirs, ours) {
		who := callerName(conn, id)
		t.complain(who, otherHeartbeat, "%s sends a heartbeat every %v, this node every %v: "+
			"give all nodes the same failover budget", who, theirs, ours)
	}
}

// answerer is the other end of a heartbeat: it answers the PINGs of one
// connection. It belongs to the goroutine that reads there.
type answerer struct {
	t     *Transport
	in    *inbound
	begun time.Time // when the first PING came
	heard int       // PINGs since then
	last  uint64    // PING
	at    time.Time // of the last PONG
}

// read takes a PING, and answers it while this node's elections go on, with the ACK
// that is owed. PINGs that come within minPong of the last answer get no PONG.
func (a *answerer) read(payload []byte) error {
	defer a.in.acks.pay()
	body, err := proto.UnmarshalLink(proto.KindPing, payload)
	if err != nil {
		return faultf(badPayload, "%v", err)
	}
	ping := body.(proto.Ping)
	if ping.Count <= a.last {
		return faultf(unexpected, "PING %d after PING %d", ping.Count, a.last)
	}
	a.last = ping.Count
	a.t.compare(a.in.conn, a.in.id, ping.Micros)
	if p := a.t.peer(a.in.id); p != nil {
		now := time.Now()
		if p.heartbeats.hear(a.in.session, now) {
			a.t.beatTimer.hear(a.in.id, now)
		}
	}
	if a.in.isMute() {
		return nil
	}
	now := time.Now()
	if a.floods(now) {
		a.t.complain(a.in.name(), tooOften, "%s sends more than a PING a millisecond: most "+
			"go unanswered", a.in.name())
	}
	if now.Sub(a.at) < minPong {
		a.t.ignored.Add(1)
		return nil
	}
	if !a.t.cfg.alive() {
		return nil
	}
	a.at = now
	a.in.say(proto.Pong{Count: ping.Count, Micros: a.t.micros()}, a.t.cfg.timing.write)
	return nil
}

// floods counts a PING, and reports whether they come far too often. The mean
// over the life of the connection tells: PINGs that waited while this node was
// paused come all at once, and are nobody's fault.
func (a *answerer) floods(now time.Time) bool {
	if a.heard == 0 {
		a.begun = now
	}
	a.heard++
	const burst = 100
	return a.heard > burst+int(now.Sub(a.begun)/minPong)
}
