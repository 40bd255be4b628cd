package tcp

import (
	"net"
	"time"

	"github.com/ringleader-dev/ringleader/proto"
)

// minPong is the least time between two PONGs on a connection. No correct
// peer asks as often: it is a fifth of MinHeartbeat.
const minPong = time.Millisecond

// SetLeader says who leads: a follower watches the leader, the leader watches
// everybody, and while leader is 0 nobody watches anybody. So the traffic
// grows with the number of nodes, not with its square.
//
// A watched peer is sent a PING each Config.Heartbeat. When it leaves more
// than Config.Misses of them unanswered it is HeartbeatMissed, and asked on
// until it answers.
func (t *Transport) SetLeader(leader proto.NodeID) { t.leader.Store(uint64(leader)) }

// watches reports whether the peer is watched.
func (t *Transport) watches(id proto.NodeID) bool {
	leader := proto.NodeID(t.leader.Load())
	return leader != 0 && (leader == t.cfg.ID || leader == id)
}

// pace lets all hearts beat until the Transport closes. A beat that is late by
// more than an interval tells of this node, which was paused or got no
// processor, and not of its peers: the answers may be there and unread. So all
// counts start anew. While this node's own elections stand still no heart beats:
// a PING would be a sign of a life that there is not.
func (t *Transport) pace() {
	ticker := time.NewTicker(t.cfg.Heartbeat)
	defer ticker.Stop()
	last := time.Now()
	for {
		select {
		case <-t.done:
			return
		case <-ticker.C:
			now := time.Now()
			if t.cfg.Alive() {
				t.beat(now, now.Sub(last) > 2*t.cfg.Heartbeat)
				last = now
			}
		}
	}
}

// beat lets all hearts beat once.
func (t *Transport) beat(now time.Time, anew bool) {
	for id, p := range *t.peers.Load() {
		if !p.heart.beat(t.watches(id), anew, now) {
			continue
		}
		select {
		case p.ask <- struct{}{}:
		default: // the one before is still to be written
		}
	}
}

// askLife writes a PING.
func (p *peer) askLife(l *link) error {
	kind, payload, err := proto.MarshalLink(proto.Ping{
		Count: p.heart.ping(time.Now()), Micros: p.t.micros(),
	})
	if err != nil {
		return err
	}
	return write(l.conn, appendFrame(nil, kind, payload), p.t.cfg.timing.write)
}

// hearPong takes the answer to a PING.
func (p *peer) hearPong(l *link, pong proto.Pong) error {
	p.t.compare(l.conn, p.id, pong.Micros)
	return p.heart.pong(pong.Count, time.Now())
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

// read takes a PING, and answers it while this node's elections go on, unless
// mute. PINGs that come within minPong of the last answer go unanswered.
func (a *answerer) read(payload []byte, mute *bool) error {
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
		p.heart.hear(a.in.session, time.Now())
	}
	if *mute {
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
	if !a.t.cfg.Alive() {
		return nil
	}
	a.at = now
	*mute, err = a.in.say(proto.Pong{Count: ping.Count, Micros: a.t.micros()}, a.t.cfg.timing.write)
	return err
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
