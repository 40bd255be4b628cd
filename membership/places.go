package membership

import (
	"context"
	"fmt"
	"net/netip"
	"sync"
	"time"

	"github.com/ringleader-dev/ringleader/proto"
)

// Bounds of the members that a node lists beside itself. Each member costs a link, and somebody who can send
// packets can invent members.
const (
	maxMembers = proto.MaxRoll - 1
	// maxStrangers is how many members may be listed to which no link was ever up. An honest member is a
	// stranger for the time of one dial.
	maxStrangers = 64
	// strangerGrace is how long a stranger keeps its place from those that come later.
	strangerGrace = 10 * time.Second
	// joinGrace is how long a place is kept for a process that memberlist does not list yet.
	joinGrace = time.Second
	// maxMissing is how many of those that found no place are remembered, and maxAsked how many of them are asked
	// at the same time whether they exist.
	maxMissing = 128
	maxAsked   = 16
	// maxProven is how many ids are remembered as proven.
	maxProven = 1024
)

// places decides which processes gossip may list. memberlist calls it from any goroutine, in some cases while
// memberlist holds its own lock.
//
//  1. A process whose id is expected, or was proven by a link, finds a place while fewer than maxMembers
//     are listed.
//  2. All others are strangers: at most maxStrangers of them have a place. A stranger keeps its place
//     until a link proves it, gossip drops it, or another takes the place after strangerGrace.
//  3. A process that found no place is asked at its election address, when its turn comes: if it answers, it
//     is proven.
//  4. A process that lost its place may still be listed by memberlist, and counts for maxMembers.
type places struct {
	expected map[proto.NodeID]bool // never changes

	mu        sync.Mutex
	settled   map[proto.NodeID]bool // members that are expected or proven
	strangers map[proto.NodeID]*stranger
	displaced map[proto.NodeID]node // strangers that memberlist lists although they lost their places
	proven    map[proto.NodeID]time.Time
	missing   map[proto.NodeID]missing // processes that found no place
	full      time.Time                // when there last was no place for another stranger
}

// stranger is a member that nothing has proven yet.
type stranger struct {
	node
	since  time.Time
	listed bool // memberlist lists it
}

// missing is a process that found no place because there were too many strangers.
type missing struct {
	node
	at time.Time // when it was last refused
}

func newPlaces(expected []proto.NodeID) *places {
	p := &places{
		expected: make(map[proto.NodeID]bool), settled: make(map[proto.NodeID]bool),
		strangers: make(map[proto.NodeID]*stranger), displaced: make(map[proto.NodeID]node),
		proven: make(map[proto.NodeID]time.Time), missing: make(map[proto.NodeID]missing),
	}
	for _, id := range expected {
		p.expected[id] = true
	}
	return p
}

// find finds a place for n. The result lost is a member that lost its place to n, and returned says that n had
// lost its own place, and memberlist still lists n. The error wraps errRefused if there is no place.
func (p *places) find(n node, now time.Time) (lost *node, returned bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.settled[n.ID] || p.strangers[n.ID] != nil {
		return nil, false, nil
	}
	before, wasDisplaced := p.displaced[n.ID]
	count := len(p.settled) + len(p.strangers) + len(p.displaced)
	if count >= maxMembers && !wasDisplaced {
		return nil, false, fmt.Errorf("%w: more than %d members", errRefused, maxMembers)
	}
	_, proven := p.proven[n.ID]
	known := proven || p.expected[n.ID]
	if !known && len(p.strangers) >= maxStrangers {
		if lost = p.displace(now); lost == nil {
			p.miss(n, now)
			return nil, false, fmt.Errorf("%w: more than %d members that no link has reached", errRefused, maxStrangers)
		}
	}
	delete(p.displaced, n.ID)
	delete(p.missing, n.ID)
	if known {
		p.settled[n.ID] = true
	} else {
		p.strangers[n.ID] = &stranger{node: n, since: now, listed: wasDisplaced}
		if len(p.strangers) >= maxStrangers {
			p.full = now
		}
	}
	return lost, wasDisplaced && before.identity() == n.identity() && before.gossip == n.gossip, nil
}

// miss remembers n among the missing. When there are too many, it takes the place of any other one. The caller
// holds mu.
func (p *places) miss(n node, now time.Time) {
	if _, ok := p.missing[n.ID]; !ok && len(p.missing) >= maxMissing {
		for id := range p.missing { // in random order
			delete(p.missing, id)
			break
		}
	}
	p.missing[n.ID] = missing{n, now}
}

// someMissing returns up to most of the processes that found no place of late, in random order.
func (p *places) someMissing(most int, now time.Time) (some []node) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for id, m := range p.missing {
		if now.Sub(m.at) > strangerGrace {
			delete(p.missing, id)
		} else if len(some) < most {
			some = append(some, m.node)
		}
	}
	return some
}

// room reports whether there are places for strangers, and whether there were none a short time ago.
func (p *places) room(now time.Time) (free, wasFull bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.strangers) < maxStrangers, now.Sub(p.full) < strangerGrace
}

// displace takes its place from the stranger that has had one for the longest time, if that is long enough. It
// returns that stranger; nil if there is none.
func (p *places) displace(now time.Time) *node {
	var oldest *stranger
	for _, s := range p.strangers {
		grace := strangerGrace
		if !s.listed {
			grace = joinGrace
		}
		if now.Sub(s.since) > grace && (oldest == nil || s.since.Before(oldest.since)) {
			oldest = s
		}
	}
	if oldest == nil {
		return nil
	}
	delete(p.strangers, oldest.ID)
	if oldest.listed {
		p.displaced[oldest.ID] = oldest.node
	}
	return &oldest.node
}

// joined notes that memberlist lists n.
func (p *places) joined(n node) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s := p.strangers[n.ID]; s != nil {
		s.node, s.listed = n, true
	}
}

// left notes that memberlist no longer lists a process with this id.
func (p *places) left(id proto.NodeID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.settled, id)
	delete(p.strangers, id)
	delete(p.displaced, id)
}

// prove notes that a link to a member with this id was up.
func (p *places) prove(id proto.NodeID, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.settled[id] && p.strangers[id] == nil {
		return
	}
	delete(p.strangers, id)
	p.settled[id] = true
	p.remember(id, now)
}

// vouch notes that a process with this id answers at the address that it advertises, although it has no place.
func (p *places) vouch(id proto.NodeID, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.missing, id)
	p.remember(id, now)
}

// remember keeps an id as proven. It forgets the one that was proven first when there are too many. The caller
// holds mu.
func (p *places) remember(id proto.NodeID, now time.Time) {
	p.proven[id] = now
	if len(p.proven) <= maxProven {
		return
	}
	oldest := id
	for other, at := range p.proven {
		if at.Before(p.proven[oldest]) {
			oldest = other
		}
	}
	delete(p.proven, oldest)
}

// isKnown reports whether a member with this id is expected, or was proven by a link.
func (p *places) isKnown(id proto.NodeID) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, proven := p.proven[id]
	return proven || p.expected[id]
}

// lookForMissing starts what brings in those that found no place. While there are places, these are exchanges of
// states with one of them, and with any member: it may list others of which this node did not even hear, since the
// nodes that could tell had no place either. Otherwise it is the question whether they exist.
func (g *Group) lookForMissing(now time.Time) {
	some := g.places.someMissing(maxAsked-g.asking, now)
	free, wasFull := g.places.room(now)
	if free {
		var addrs []netip.AddrPort
		if len(some) > 0 {
			addrs = append(addrs, some[0].gossip)
		}
		if addr, ok := g.rejoin.anyMember(g.places.isKnown); ok && wasFull {
			addrs = append(addrs, addr)
		}
		for _, addr := range addrs {
			if g.rejoin.try(addr) {
				go g.exchange(addr, false)
			}
		}
		return
	}
	for _, n := range some {
		g.asking++
		go func() {
			exists := g.exists(n)
			g.queue.post(func() { g.onExists(n, exists) })
		}()
	}
}

// exists asks whether the process n answers at its election address. It may take a second.
func (g *Group) exists(n node) bool {
	ctx, cancel := context.WithTimeout(g.ctx, streamTimeout)
	defer cancel()
	id, incarnation, err := g.cfg.Probe(ctx, n.electionAddr)
	return err == nil && identity{id, incarnation} == n.identity()
}

// onExists handles what exists returned.
func (g *Group) onExists(n node, exists bool) {
	g.asking--
	if !exists {
		return
	}
	g.places.vouch(n.ID, time.Now())
	if g.rejoin.try(n.gossip) {
		go g.exchange(n.gossip, false)
	}
}
