package topology

import (
	"time"

	"github.com/ringleader-dev/ringleader/algorithms/nomination"
	"github.com/ringleader-dev/ringleader/proto"
)

// Trip is the longest that a message takes once round a ring of n nodes.
func Trip(delta time.Duration, n int) time.Duration { return time.Duration(n) * delta }

// Way is a direction round the ring.
type Way int

// The ways round.
const (
	Clockwise Way = iota
	Counterclockwise
	numWays
)

// WayOf is the way of a message that says whether it goes clockwise.
func WayOf(clockwise bool) Way {
	if clockwise {
		return Clockwise
	}
	return Counterclockwise
}

// Back is the other way.
func (w Way) Back() Way { return numWays - 1 - w }

// Ring is a node's place among the others. It acts within a Step of its Core.
type Ring struct {
	core  *nomination.Core
	place func(proto.NodeID) uint64
	sent  [numWays]sent // the last message each way
	asked bool          // no announcement came, the successor was asked
	// passed is up to which round or phase what has come past this node in the term.
	passed map[passage]uint64
	// question is what asks another node who leads.
	question func() proto.Body

	// The neighbours in the view numbered view.
	neighbours [numWays]proto.NodeID
	view       uint64
}

// sent remembers a message that may have died with its receiver.
type sent struct {
	to   proto.NodeID
	at   time.Time
	body proto.Body
}

// passage is a node's messages of one kind that come one way.
type passage struct {
	kind proto.Kind
	of   proto.NodeID
	way  Way
}

// Init makes r ready. place puts a node on the ring: neighbours are those next
// to each other by place; nil means by id. question is the algorithm's way to ask
// who leads.
func (r *Ring) Init(
	core *nomination.Core, place func(proto.NodeID) uint64, question func() proto.Body,
) {
	r.core, r.place, r.question, r.passed = core, place, question, map[passage]uint64{}
	if place == nil {
		r.place = func(id proto.NodeID) uint64 { return uint64(id) }
	}
}

// Reset forgets what was sent and what came: another term begins.
func (r *Ring) Reset() {
	r.sent, r.asked = [numWays]sent{}, false
	clear(r.passed)
}

// Neighbour is the next living node that way, by place; 0 when alone.
func (r *Ring) Neighbour(w Way) proto.NodeID {
	if r.view != r.core.View() {
		r.look()
	}
	return r.neighbours[w]
}

// look finds the neighbours. The distance clockwise wraps: a lower place is
// further than any higher, and the furthest clockwise is next the other way.
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

// Skips reports whether a node that is not in the view lies between this node
// and its neighbour that way: a message from here on never reaches it, so it
// cannot win.
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

// Send sends body to the neighbour that way. A ring of one has none: there this
// node has the highest rank of all.
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

// SendBoth sends a message to either neighbour.
func (r *Ring) SendBoth(message func(Way) proto.Body) {
	for w := range numWays {
		if r.core.Looking() { // alone, the first one wins
			r.Send(w, message(w))
		}
	}
}

// Repeated reports whether a node's message of this kind, of the given round or phase or
// of a later one, has come this way in the term before: this one was repeated on the way.
// With copies on each link, passed on by every node, their number would double at every
// hop.
func (r *Ring) Repeated(kind proto.Kind, of proto.NodeID, w Way, number uint64) bool {
	p := passage{kind, of, w}
	if number < r.passed[p] {
		return true
	}
	r.passed[p] = number + 1
	return false
}

// Lost repairs the ring where nodes are gone; best is the best of the round, as far as
// this node knows. If that one is among them it calls the next term, and reports so.
//
// Lecture notes: "Any process, after receiving Election:80 message, can detect failure of
// N80 via its own local failure detector. If so, start a new run".
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

var whyAgain = reasons.Kind("again", "%s %d is gone -> send %s again to the next")

// repair sends the last messages again that the neighbour got which is gone: it
// may have died with them.
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

// String is who is next that way.
func (w Way) String() string {
	if w == Clockwise {
		return "successor"
	}
	return "predecessor"
}

// TooFar reports whether a message has made more hops than two trips round the
// ring can take: it is an orphan that nobody stops.
func (r *Ring) TooFar(hops uint64) bool { return hops > uint64(2*r.core.Size()+2) }
