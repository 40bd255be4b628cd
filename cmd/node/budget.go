package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sort"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/node/tcp"
)

// A failover budget is the time in which a leader that hangs, is paused or is
// cut off is to be replaced. (One that dies is seen to die, which takes no
// budget.) It is spent on
//
//	misses × heartbeat    without a sign of life: the leader is silent
//	       + heartbeat    until a beat of this node notices
//	       + round        until the next one is elected: k × latency
//
// (elections that hang in a process whose sockets work give their last sign of life
// up to half a heartbeat after they began to hang; a round rarely takes all of its
// share), where latency is the worst case one way, Δ in the algorithms' formulas, and k
// is the longest timeout of the algorithm in those, which waits for a round's
// end. A ring's grows with its nodes: it is reckoned for planNodes.
//
// How soon a silent leader is noticed, and how long it is promised to, are a matter of
// the network and of what its processes may take. An algorithm whose round is long gets
// no more time for that: its budget is larger by what its round takes beyond the usual
// one, and patience is the rest.
//
// The relations that must hold:
//
//  1. (misses + 1) × heartbeat + k × latency ≤ budget
//  2. (misses - 1) × heartbeat ≥ 2 × latency: from one sign of life to the next
//     passes an interval and, if the one came at once and the other as late as
//     may be, a round trip
//  3. heartbeat ≥ tcp.MinHeartbeat
const (
	// usualMisses is how many heartbeats may be missed unless the operator says
	// otherwise: 56 % of a budget can then pass in a garbage collection or without
	// a processor before a healthy leader is accused. Each more would add less, and
	// cost a wake-up.
	usualMisses = 4
	// roundShare is the part of a budget, in percent, that is for a usual round when
	// the latency is not given.
	roundShare = 30
	// usualRound is the longest timeout, in latencies, of the algorithms that a
	// profile's budget is meant for, with planNodes.
	usualRound = 10
	planNodes  = 5
	maxBudget  = time.Hour
	maxMisses  = 1000
)

// errBudget: the budget and what it has to pay for contradict each other.
var errBudget = errors.New("failover budget")

// pacing is how fast a node asks for signs of life and gives up waiting.
type pacing struct {
	budget, heartbeat, latency time.Duration
	misses                     int
}

// pacingFor derives what is zero in the given pacing, whose budget is not, and
// checks the relations. The error shows the one that fails, with its numbers, and
// the smallest budget that would do.
func pacingFor(given pacing, entry catalog.Entry) (pacing, error) {
	p := given.derive(entry)
	failing := p.check(entry)
	if failing == nil {
		return p, nil
	}
	smallest, found := given.smallest(entry)
	if !found {
		return p, fmt.Errorf("%w: %w; no budget would do: raise the heartbeat or its misses, "+
			"or lower the latency", errBudget, failing)
	}
	return p, fmt.Errorf("%w %v is too small: %w; the smallest budget that would do is %v",
		errBudget, p.budget, failing, smallest)
}

// smallest is the smallest budget, in whole milliseconds, under which the given
// pacing would do. Whatever does under a budget does under a larger one.
func (p pacing) smallest(entry catalog.Entry) (budget time.Duration, found bool) {
	limit := int(maxBudget / time.Millisecond)
	ms := sort.Search(limit+1, func(ms int) bool {
		p.budget = time.Duration(ms) * time.Millisecond
		return p.derive(entry).check(entry) == nil
	})
	return time.Duration(ms) * time.Millisecond, ms <= limit
}

// derive fills in what is zero.
func (p pacing) derive(entry catalog.Entry) pacing {
	_, k := roundOf(entry)
	silence := p.budget - k*p.latency // for the heartbeats
	if p.latency == 0 {
		silence = p.patience(entry) * (100 - roundShare) / 100
	}
	share := p.budget - silence
	if p.heartbeat == 0 {
		p.misses = cmp.Or(p.misses, usualMisses)
		p.heartbeat = neat(silence / time.Duration(p.misses+1))
	}
	if p.misses == 0 {
		most := max(usualMisses, int((2*p.latency+p.heartbeat-1)/p.heartbeat)+1)
		p.misses = min(most, max(tcp.MinMisses, int(silence/p.heartbeat)-1))
	}
	if p.latency == 0 { // never so much that relation 2 fails
		p.latency = min(share/k, time.Duration(p.misses-1)*p.heartbeat/2)
		if time.Duration(p.misses+1)*p.heartbeat <= silence {
			// Where it fits it may be rounded. Where it does not rounding must not make
			// it fit: a larger budget would fail where a smaller one did.
			p.latency = neat(p.latency)
		}
	}
	return p
}

// patience is what the budget would be if the algorithm's round were a usual one: what
// depends on the network alone, and on how long its processes may take, follows from it.
func (p pacing) patience(entry catalog.Entry) time.Duration {
	return p.budget * 100 / stretch(entry)
}

// stretch is how large, in percent of a profile's budget, the algorithm's is: larger by
// what its round takes beyond the usual. With a usual budget its latency would be so
// short that a node which starts gives up before it has joined.
func stretch(entry catalog.Entry) time.Duration {
	_, k := roundOf(entry)
	return 100 + roundShare*max(k-usualRound, 0)/usualRound
}

// neat rounds down to what one likes to read.
func neat(d time.Duration) time.Duration {
	if d >= 10*time.Millisecond {
		return d.Truncate(time.Millisecond)
	}
	return d.Truncate(100 * time.Microsecond)
}

// check returns the first relation that fails, with its numbers.
func (p pacing) check(entry catalog.Entry) error {
	timeout, k := roundOf(entry)
	if p.heartbeat < tcp.MinHeartbeat {
		return fmt.Errorf("heartbeat ≥ %v: (budget - %d × latency) / (misses + 1) = "+
			"(%v - %d × %v) / %d = %v", tcp.MinHeartbeat, k, p.budget, k, p.latency, p.misses+1,
			p.heartbeat)
	}
	if time.Duration(p.misses-1)*p.heartbeat < 2*p.latency {
		return fmt.Errorf("(misses - 1) × heartbeat ≥ 2 × latency: %d × %v = %v < 2 × %v = %v",
			p.misses-1, p.heartbeat, time.Duration(p.misses-1)*p.heartbeat, p.latency, 2*p.latency)
	}
	if sum := time.Duration(p.misses+1)*p.heartbeat + k*p.latency; sum > p.budget {
		return fmt.Errorf("(misses + 1) × heartbeat + %d × latency (%s, %s = %s) ≤ budget: "+
			"%d × %v + %d × %v = %v > %v", k, entry.Name, timeout.Name, timeout.Formula,
			p.misses+1, p.heartbeat, k, p.latency, sum, p.budget)
	}
	return nil
}

// roundOf is the algorithm's longest timeout, and how many latencies that is.
func roundOf(entry catalog.Entry) (catalog.Timeout, time.Duration) {
	longest := slices.MaxFunc(entry.Timeouts, func(a, b catalog.Timeout) int {
		return cmp.Compare(a.Of(1, planNodes), b.Of(1, planNodes))
	})
	return longest, longest.Of(1, planNodes)
}
