package sim

import (
	"slices"
	"time"

	"github.com/ringleader-dev/ringleader/proto"
)

// link is the way from one node to another; the way back is another link.
type link struct{ from, to proto.NodeID }

// weather says how the network treats messages on links that are not cut.
type weather struct {
	MinDelay, MaxDelay time.Duration
	Loss, Duplicate    permille
	// Straggle is the share of messages that arrive later than MaxDelay, by up to Straggler.
	Straggle  permille
	Straggler time.Duration
}

// network decides what happens to messages. A message that was under way when a cut began still
// arrives; a message sent into a cut is lost.
type network struct {
	weather
	dice dice
	// cuts counts, for each direction, the faults that block it: faults may overlap.
	cuts map[link]int
	// doomed are messages to lose.
	doomed []doomed
	// held are messages to delay.
	held []held
}

// held describes messages that arrive late. If again is true, only a second copy of each arrives
// late.
type held struct {
	doomed
	by    time.Duration
	again bool // another copy comes in time
}

// doomed describes messages to lose. A zero field matches all.
type doomed struct {
	word     string // the name of their kind
	from, to proto.NodeID
	left     int
}

func (d doomed) matches(m proto.Message) bool {
	return (d.word == "" || says(m.Body, d.word)) &&
		(d.from == 0 || d.from == m.From) && (d.to == 0 || d.to == m.To)
}

func newNetwork(w weather, d dice) network {
	return network{weather: w, dice: d, cuts: map[link]int{}}
}

// fate returns how long each copy of m takes to arrive; zero copies means that m is lost.
func (n *network) fate(m proto.Message) (delays [2]time.Duration, copies int) {
	lost := len(n.cuts) > 0 && n.cuts[link{m.From, m.To}] > 0 ||
		n.isDoomed(m) || n.dice.chance(n.Loss)
	if lost {
		return delays, 0
	}
	copies = 1
	if n.dice.chance(n.Duplicate) {
		copies = 2
	}
	for i := range copies {
		delays[i] = n.dice.between(n.MinDelay, n.MaxDelay)
		if n.dice.chance(n.Straggle) {
			delays[i] += n.dice.between(0, n.Straggler)
		}
	}
	if h, ok := n.isHeld(m); ok {
		if h.again {
			copies = 2
		}
		delays[copies-1] += h.by
	}
	return delays, copies
}

func (n *network) isHeld(m proto.Message) (h held, ok bool) {
	for i := range n.held {
		if h = n.held[i]; h.matches(m) {
			if n.held[i].left--; n.held[i].left == 0 {
				n.held = slices.Delete(n.held, i, i+1)
			}
			return h, true
		}
	}
	return held{}, false
}

func (n *network) isDoomed(m proto.Message) bool {
	for i := range n.doomed {
		if n.doomed[i].matches(m) {
			n.doomed[i].left--
			if n.doomed[i].left == 0 {
				n.doomed = slices.Delete(n.doomed, i, i+1)
			}
			return true
		}
	}
	return false
}

// cut blocks links until uncut.
func (n *network) cut(links []link) {
	for _, l := range links {
		n.cuts[l]++
	}
}

// uncut removes one cut of these links.
func (n *network) uncut(links []link) {
	for _, l := range links {
		if n.cuts[l]--; n.cuts[l] <= 0 {
			delete(n.cuts, l)
		}
	}
}

// clear removes all cuts, and stops losing and delaying messages.
func (n *network) clear() {
	clear(n.cuts)
	n.doomed, n.held = nil, nil
}

// open reports whether messages pass from one node to another.
func (n *network) open(from, to proto.NodeID) bool { return n.cuts[link{from, to}] == 0 }
