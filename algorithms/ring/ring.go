package ring

import (
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/nomination"
	"github.com/ringleader-dev/ringleader/proto"
)

// Trip is the longest that a message takes once round a ring of n nodes.
func Trip(delta time.Duration, n int) time.Duration { return time.Duration(n) * delta }

// ElectedTimeout is how long a participant waits for ELECTED, from the last
// ELECTION it passed on: two trips round.
func ElectedTimeout(delta time.Duration, n int) time.Duration { return 2 * Trip(delta, n) }

// AskTimeout is how long a participant that got no ELECTED waits for its
// successor to say who leads: there and back.
func AskTimeout(delta time.Duration) time.Duration { return 2 * delta }

// Patience bounds a whole round without failures: "Completion time: (3N-1)
// message transmission times".
func Patience(delta time.Duration, n int) time.Duration {
	return time.Duration(3*n-1) * delta
}

// Machine is one node's part in the ring. It is an algorithms.Machine.
type Machine struct {
	core  nomination.Core
	place func(proto.NodeID) uint64

	// The round of the current term.
	initiator proto.NodeID // the highest whose ELECTION was seen; 0 for none
	best      proto.Peer   // of the last ELECTION passed on
	asked     bool         // no ELECTED came, the successor was asked
	sent      sent         // the last message to the successor

	// The clockwise neighbour in the view numbered view.
	next proto.NodeID
	view uint64
}

// sent remembers a message that may have died with its receiver.
type sent struct {
	to   proto.NodeID
	at   time.Time
	body proto.Body
}

// New returns a Machine for the node that cfg describes.
func New(cfg algorithms.Config) *Machine {
	m := &Machine{place: cfg.Place}
	if m.place == nil {
		m.place = func(id proto.NodeID) uint64 { return uint64(id) }
	}
	m.core.Init(cfg, round{m})
	return m
}

// Step implements algorithms.Machine.
func (m *Machine) Step(now time.Time, ev algorithms.Event) algorithms.Output {
	return m.core.Step(now, ev)
}

// round keeps the Round's methods off the Machine.
type round struct{ *Machine }

func (r round) Patience() time.Duration { return Patience(r.core.Delta(), r.core.Size()) }

// Question asks as an initiator does.
func (r round) Question() proto.Body {
	self := r.core.Self()
	return proto.RingElection{Initiator: self.ID, Best: self, Hops: 1}
}

// Announcement tells one node directly: with no hops it is not passed on.
func (r round) Announcement(leader proto.Peer) proto.Body { return proto.Elected{Leader: leader} }

func (r round) Reset() {
	r.initiator, r.best, r.asked, r.sent = 0, proto.Peer{}, false, sent{}
}

// Begin starts an election.
//
// Lecture notes: "Any process pi that discovers the old coordinator has failed
// initiates an Election message that contains pi's own id:attr. This is the
// initiator of the election."
func (r round) Begin() {
	self := r.core.Self()
	r.initiator = self.ID
	r.pass(proto.RingElection{Initiator: self.ID, Best: self, Hops: 1})
}

// pass sends ELECTION to the successor and waits for ELECTED.
func (r round) pass(b proto.RingElection) {
	r.best = b.Best
	r.core.SetTimer(ElectedTimeout(r.core.Delta(), r.core.Size()))
	r.clockwise(b)
}

// clockwise sends body to the successor. A ring of one has none: there this
// node has the highest rank of all.
func (r round) clockwise(body proto.Body) {
	next := r.successor()
	r.sent = sent{to: next, at: r.core.Now(), body: body}
	switch {
	case next != 0:
		r.core.Send(next, body)
	case r.core.Looking() && r.core.MayStand():
		r.core.Win("alone on the ring")
	}
}

// successor is the next living node clockwise, by place; 0 when alone.
func (r round) successor() proto.NodeID {
	if r.view == r.core.View() {
		return r.next
	}
	self := r.place(r.core.Self().ID)
	nearest := uint64(0)
	r.next, r.view = 0, r.core.View()
	r.core.Peers(func(p proto.Peer) {
		// The distance clockwise wraps: a lower place is further than any higher.
		if distance := r.place(p.ID) - self; r.next == 0 || distance < nearest {
			r.next, nearest = p.ID, distance
		}
	})
	return r.next
}

// Won sends ELECTED round the ring.
//
// Lecture notes: "This process then sends an Elected message to its neighbor
// with its id, announcing the election result."
func (r round) Won() {
	r.clockwise(proto.Elected{Leader: r.core.Self(), Hops: 1})
	if r.sent.to != 0 {
		r.core.SetTimer(Trip(r.core.Delta(), r.core.Size()+1))
	}
}

// Heard passes ELECTED on.
//
// Lecture notes: "sets its variable elected <- id of the message; forwards the
// message unless it is the new coordinator".
func (r round) Heard(msg proto.Message) {
	elected, ok := msg.Body.(proto.Elected)
	switch {
	case !ok || elected.Hops == 0:
	case r.core.Leading():
		if r.core.TimerRuns() {
			r.core.Why("ELECTED is home -> all on the ring know")
			r.core.StopTimer()
		}
	case r.tooFar(elected.Hops):
		r.core.Why("ELECTED made %d hops -> pass it on no further", elected.Hops)
	default:
		elected.Hops++
		r.clockwise(elected)
	}
}

// Timeout ends a wait: a leader's for its ELECTED to come home, a
// participant's for ELECTED.
//
// Lecture notes: "Receives an election message but times out waiting for an
// elected message".
func (r round) Timeout() {
	switch {
	case r.core.Leading():
		r.core.Why("ELECTED did not come home -> tell all directly")
		r.core.TellAll()
	case r.asked || r.successor() == 0:
		r.core.Call("no ELECTED came in two trips round")
	default:
		r.core.Why("no ELECTED came in two trips round -> ask the successor who leads")
		r.asked = true
		r.core.Send(r.successor(), r.Question())
		r.core.SetTimer(AskTimeout(r.core.Delta()))
	}
}

// PeersChanged repairs the ring.
func (r round) PeersChanged(gone []proto.Peer) {
	for _, p := range gone {
		switch {
		case r.core.Looking() && r.core.TimerRuns() && p.Is(r.best):
			// "Any process, after receiving Election:80 message, can detect failure
			// of N80 via its own local failure detector. If so, start a new run".
			r.core.Call(p.ID.String() + ", the best of the round, is dead")
			return
		case p.ID == r.sent.to:
			r.repair(p.ID)
		}
	}
}

// repair sends the last message again when the successor that got it is gone:
// it may have died with the message in it.
func (r round) repair(dead proto.NodeID) {
	last := r.sent
	r.sent.to = 0
	recent := r.core.Now().Sub(last.at) <= ElectedTimeout(r.core.Delta(), r.core.Size()+1)
	if !recent || r.core.Looking() && !r.core.TimerRuns() {
		return
	}
	r.core.Why("successor %d is gone -> send %s again to the next", dead, last.body.Kind())
	r.clockwise(last.body)
}

// tooFar reports whether a message has made more hops than two trips round the
// ring can take: it is an orphan that nobody stops.
func (r round) tooFar(hops uint64) bool { return hops > uint64(2*r.core.Size()+2) }
