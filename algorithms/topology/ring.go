package topology

import (
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/nomination"
	"github.com/ringleader-dev/ringleader/proto"
)

// Trip returns the longest time that a message takes to go once round a ring of n nodes.
func Trip(delta time.Duration, n int) time.Duration { return time.Duration(n) * delta }

// Way is a direction round the ring.
type Way int

// The directions round the ring.
const (
	Clockwise Way = iota
	Counterclockwise
	numWays
)

// WayOf returns the direction of a message whose field says whether it goes clockwise.
func WayOf(clockwise bool) Way {
	if clockwise {
		return Clockwise
	}
	return Counterclockwise
}

// Back returns the opposite direction.
func (w Way) Back() Way { return numWays - 1 - w }

// Ring is a node's view of the ring. Only the goroutine that steps its Core may use the Ring. A
// nomination.Round that embeds a Ring announces its leader with ELECTED.
type Ring struct {
	core  *nomination.Core
	place func(proto.NodeID) uint64
	sent  [numWays]sent // the last message in each direction
	asked bool          // no announcement came, and this node asked its successor who leads
	// passed has, for each passage, one more than the highest round or phase that this node has seen in
	// the term.
	passed map[passage]uint64
	// question returns the message body that asks another node who leads.
	question func() proto.Body

	// neighbours are the neighbours in the view with the number view.
	neighbours [numWays]proto.NodeID
	view       uint64
}

// sent is the last message that was sent in one direction. It is sent again if its receiver dies.
type sent struct {
	to   proto.NodeID
	at   time.Time
	body proto.Body
}

// passage names the messages of one kind that come from one node and go in one direction.
type passage struct {
	kind proto.Kind
	of   proto.NodeID
	way  Way
}

// Init prepares r. place gives each node its place on the ring: nodes next to each other by place are
// neighbours; nil means by id. question makes the algorithm's message body that asks who leads.
func (r *Ring) Init(
	core *nomination.Core, place func(proto.NodeID) uint64, question func() proto.Body,
) {
	r.core, r.place, r.question, r.passed = core, place, question, map[passage]uint64{}
	if place == nil {
		r.place = func(id proto.NodeID) uint64 { return uint64(id) }
	}
}

// Reset forgets which messages were sent and which came: another term begins.
func (r *Ring) Reset() {
	r.sent, r.asked = [numWays]sent{}, false
	clear(r.passed)
}

// Neighbour returns the next living node in this direction; 0 if this node is alone.
func (r *Ring) Neighbour(w Way) proto.NodeID {
	if r.view != r.core.View() {
		r.look()
	}
	return r.neighbours[w]
}

// look finds the neighbours. Distances go clockwise and wrap round: a node with a lower place than this
// node is further away than any node with a higher place, and the furthest node is the neighbour
// counterclockwise.
func (r *Ring) look() {
	self := r.place(r.core.Self().ID)
	var nearest, furthest uint64
	r.neighbours, r.view = [numWays]proto.NodeID{}, r.core.View()
	r.core.Peers(func(p proto.Peer) {
		distance := r.place(p.ID) - self
		if r.neighbours[Clockwise] == 0 || distance < nearest {
			r.neighbours[Clockwise], nearest = p.ID, distance
		}
		if r.neighbours[Counterclockwise] == 0 || distance > furthest {
			r.neighbours[Counterclockwise], furthest = p.ID, distance
		}
	})
}

// Skips reports whether the node id is not in the view and lies between this node and its neighbour in
// this direction. Then a message sent from here never reaches the node id, so that node cannot win.
func (r *Ring) Skips(w Way, id proto.NodeID) bool {
	next := r.Neighbour(w)
	if next == 0 || r.core.Lists(id) {
		return false
	}
	self := r.place(r.core.Self().ID)
	if w == Clockwise {
		return r.place(id)-self < r.place(next)-self
	}
	return self-r.place(id) < self-r.place(next)
}

var whyAlone = reasons.Kind("alone", "alone on the ring")

// Send sends body to the neighbour in this direction. A node that is alone has no neighbour; it
// wins, since it has the highest rank of all.
func (r *Ring) Send(w Way, body proto.Body) {
	to := r.Neighbour(w)
	r.sent[w] = sent{to: to, at: r.core.Now(), body: body}
	switch {
	case to != 0:
		r.core.Send(to, body)
	case r.core.Looking() && r.core.MayStand():
		r.core.Win(whyAlone.Of())
	}
}

// SendBoth sends a message to both neighbours.
func (r *Ring) SendBoth(message func(Way) proto.Body) {
	for w := range numWays {
		if r.core.Looking() { // alone, the first one wins
			r.Send(w, message(w))
		}
	}
}

// Repeated reports whether this node has already seen, in this term and in this direction, a message of
// this kind and this origin with the same round or phase number or a higher one. Nodes do not pass such
// a message on: if links repeat messages and every node passes the repetitions on, their number doubles
// at every hop.
func (r *Ring) Repeated(kind proto.Kind, of proto.NodeID, w Way, number uint64) bool {
	p := passage{kind, of, w}
	if number < r.passed[p] {
		return true
	}
	r.passed[p] = number + 1
	return false
}

// Lost repairs the ring after nodes have gone. best is the best of the round, as far as this node knows.
// If best is one of these nodes and the round has no leader yet, Lost calls an election of the next term
// and returns true.
//
// Lecture notes: "Any process, after receiving Election:80 message, can detect failure of N80 via
// its own local failure detector. If so, start a new run".
func (r *Ring) Lost(gone []proto.Peer, best proto.Peer) bool {
	for _, p := range gone {
		if r.core.Taking() && p.Is(best) {
			r.core.CallWithout(best)
			return true
		}
		r.repair(p.ID)
	}
	return false
}

var whyAgain = reasons.Kind("again", "%s %d is gone -> send %s again to the next", algorithms.Skips{})

// repair sends the last message again if its receiver, a neighbour, is gone: the message may be lost
// with that node.
func (r *Ring) repair(gone proto.NodeID) {
	for w := range numWays {
		last := r.sent[w]
		if last.to != gone || gone == 0 {
			continue
		}
		r.sent[w].to = 0
		recent := r.core.Now().Sub(last.at) <= 2*Trip(r.core.Delta(), r.core.Size()+1)
		if !recent || r.core.Looking() && !r.core.TimerRuns() {
			continue
		}
		r.core.Why(whyAgain, w, gone, last.body.Kind())
		r.Send(w, last.body)
	}
}

// String returns the name of the neighbour in this direction.
func (w Way) String() string {
	if w == Clockwise {
		return "successor"
	}
	return "predecessor"
}

// TooFar reports whether a message has made more hops than two trips round the ring take: then no node
// will stop the message.
func (r *Ring) TooFar(hops uint64) bool { return hops > uint64(2*r.core.Size()+2) }
