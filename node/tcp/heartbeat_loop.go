package tcp

import (
	"net"
	"time"

	"github.com/ringleader-dev/ringleader/proto"
)

// maxExpected is the largest number of peers that this node asks for a sign of life at one beat only because
// their watch is expected. If there are more such peers, each beat asks a different selection. A peer that
// was silent is asked at each beat.
const maxExpected = 8

// minPong is the shortest time between two PONGs on a connection. No correct peer asks so often: it
// is a fifth of MinHeartbeat.
const minPong = time.Millisecond

// SetLeader tells the Transport which node leads; 0 means that no node does. A follower watches the leader,
// the leader watches everybody, and before the first leader nobody watches anybody. So the traffic grows with
// the number of nodes, not with its square. While there is no leader the last one is still watched, and so is
// each node to which this node sends a message: a round on a ring waits for a node that hangs, or was cut off
// with its leader, until it is missed.
//
// A watched peer is sent a PING each Config.Heartbeat. If it leaves more than Config.Misses of them
// unanswered it is HeartbeatMissed, and is asked again and again until it answers.
func (t *Transport) SetLeader(leader proto.NodeID) {
	if leader == 0 {
		t.vacant.CompareAndSwap(0, t.clock())
	} else {
		t.vacant.Store(0)
		t.leader.Store(uint64(leader))
	}
	t.beatTimer.relyOn(0)
}

// clock returns the time since this Transport was made. Setting the wall clock does not change it.
func (t *Transport) clock() int64 { return int64(time.Since(t.made)) }

// watch returns whether this node expects signs of life from the peer, and why.
func (t *Transport) watch(p *peer) watch {
	switch leader := proto.NodeID(t.leader.Load()); leader {
	case 0:
		if t.doubts(p) {
			return expected
		}
		return unwatched
	case t.cfg.ID:
		return follower
	case p.id:
		return leading
	}
	if t.expects(p) || t.doubts(p) {
		return expected
	}
	return unwatched
}

// expects reports whether nobody leads, and this node has sent the peer a message since the last
// leader was lost. A message that was sent up to a heartbeat interval earlier counts too: it may be of
// the Step in which the leader was lost.
func (t *Transport) expects(p *peer) bool {
	vacant, spoken := t.vacant.Load(), p.spoken.Load()
	return vacant != 0 && spoken != 0 && spoken > vacant-int64(t.cfg.Heartbeat)
}

// Doubt has the peer watched for a while, whoever leads: some other detector says that its process ended. If it did,
// its heartbeat is missed, although nothing is sent on the link.
func (t *Transport) Doubt(id proto.NodeID) {
	if p := t.peer(id); p != nil {
		p.doubted.Store(t.clock() + doubtFor*int64(t.cfg.silence()))
		t.beatTimer.relyOn(0)
	}
}

// doubtFor is for how many times the silence that a watched peer may keep Doubt has it watched.
const doubtFor = 3

func (t *Transport) doubts(p *peer) bool {
	until := p.doubted.Load()
	return until != 0 && t.clock() < until
}

// runHeartbeats counts the beats of all peers until the Transport closes. A beat that is late by more than an
// interval says that this node was paused or got no processor; it shows nothing about the peers: their
// answers may have come, but this node has not read them. So all counts start anew. While this node's own
// election loop hangs there is no beat, since a PING is a sign of life.
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

// beat counts, for each peer, the intervals of silence that are over at the beat b, and asks silent peers for
// a sign of life.
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

// askLife asks the peer's writer to send a PING. It does nothing if the last one has not been sent yet.
func (p *peer) askLife() { signal(p.ask) }

// ping sends a PING.
func (p *peer) ping(l *link) error {
	ping := proto.Ping{Count: p.heartbeats.ping(time.Now()), Micros: p.t.micros()}
	return sayWithin(l.conn, ping, p.t.cfg.timing.write)
}

// hearPong handles the answer to a PING.
func (p *peer) hearPong(l *link, pong proto.Pong) error {
	p.t.compare(l.conn, p.id, pong.Micros)
	return p.heartbeats.pong(pong.Count, time.Now())
}

// micros returns this node's heartbeat interval in microseconds, as this node tells it to other nodes.
func (t *Transport) micros() uint64 { return uint64(t.cfg.Heartbeat.Microseconds()) }

// compare warns if the heartbeat interval of another node is more than twice or less than half of this
// node's. Then one of the two nodes takes the other for dead sooner than its operator expects.
func (t *Transport) compare(conn net.Conn, id proto.NodeID, micros uint64) {
	ours, theirs := t.cfg.Heartbeat, time.Duration(micros)*time.Microsecond
	if max(theirs, ours) > 2*min(theirs, ours) {
		who := callerName(conn, id)
		t.complain(who, otherHeartbeat, "%s sends a heartbeat every %v, this node every %v: "+
			"give all nodes the same failover budget", who, theirs, ours)
	}
}

// answerer answers the PINGs of one connection. It belongs to the goroutine that reads there.
type answerer struct {
	t     *Transport
	in    *inbound
	begun time.Time // when the first PING came
	heard int       // how many PINGs came since then
	last  uint64    // the number of the last PING
	at    time.Time // when the last PONG was sent
}

// read handles a PING. It answers with a PONG, and an ACK if one is due, but only while this node's
// election loop goes on. PINGs that come within minPong of the last answer get no PONG.
func (a *answerer) read(ping proto.Ping) error {
	defer a.in.acks.pay()
	if ping.Count <= a.last {
		return faultf(unexpected, "PING %d after PING %d", ping.Count, a.last)
	}
	a.last = ping.Count
	a.t.compare(a.in.conn, a.in.id, ping.Micros)
	if p := a.t.peer(a.in.id); p != nil {
		now := time.Now()
		if p.heartbeats.hear(a.in.incarnation, now) {
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

// floods counts a PING, and reports whether PINGs come far too often on average over the life of
// the connection. The average matters because PINGs that waited while this node was paused come all
// at once.
func (a *answerer) floods(now time.Time) bool {
	if a.heard == 0 {
		a.begun = now
	}
	a.heard++
	const burst = 100
	return a.heard > burst+int(now.Sub(a.begun)/minPong)
}
