// Package pacing derives how fast a node asks for signs of life, and how long it waits for
// messages, from one number: the failover budget.
package pacing

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
	MaxBudget  = time.Hour
	MaxMisses  = 1000
)

// MinLatency is the least that may be planned with.
const MinLatency = 100 * time.Microsecond

// ErrBudget: the budget and what it has to pay for contradict each other.
var ErrBudget = errors.New("failover budget")

// Pacing is how fast a node asks for signs of life and gives up waiting.
type Pacing struct {
	Budget, Heartbeat, Latency time.Duration
	Misses                     int
}

// For derives what is zero in the given Pacing, whose budget is not, and
// checks the relations. The error shows the one that fails, with its numbers, and
// the smallest budget that would do.
func For(given Pacing, entry catalog.Entry) (Pacing, error) {
	p := given.derive(entry)
	failing := p.check(entry)
	if failing == nil {
		return p, nil
	}
	smallest, found := given.Smallest(entry)
	if !found {
		return p, fmt.Errorf("%w: %w; no budget would do: raise the heartbeat or its misses, "+
			"or lower the latency", ErrBudget, failing)
	}
	return p, fmt.Errorf("%w %v is too small: %w; the smallest budget that would do is %v",
		ErrBudget, p.Budget, failing, smallest)
}

// Smallest is the smallest budget, in whole milliseconds, under which the given
// pacing would do. Whatever does under a budget does under a larger one.
func (p Pacing) Smallest(entry catalog.Entry) (budget time.Duration, found bool) {
	limit := int(MaxBudget / time.Millisecond)
	ms := sort.Search(limit+1, func(ms int) bool {
		p.Budget = time.Duration(ms) * time.Millisecond
		return p.derive(entry).check(entry) == nil
	})
	return time.Duration(ms) * time.Millisecond, ms <= limit
}

// derive fills in what is zero.
func (p Pacing) derive(entry catalog.Entry) Pacing {
	_, k := RoundOf(entry)
	silence := p.Budget - k*p.Latency // for the heartbeats
	if p.Latency == 0 {
		silence = p.Patience(entry) * (100 - roundShare) / 100
	}
	share := p.Budget - silence
	if p.Heartbeat == 0 {
		p.Misses = cmp.Or(p.Misses, usualMisses)
		p.Heartbeat = Neat(silence / time.Duration(p.Misses+1))
	}
	if p.Misses == 0 {
		most := max(usualMisses, int((2*p.Latency+p.Heartbeat-1)/p.Heartbeat)+1)
		p.Misses = min(most, max(tcp.MinMisses, int(silence/p.Heartbeat)-1))
	}
	if p.Latency == 0 { // never so much that relation 2 fails
		p.Latency = min(share/k, time.Duration(p.Misses-1)*p.Heartbeat/2)
		if time.Duration(p.Misses+1)*p.Heartbeat <= silence {
			// Where it fits it may be rounded. Where it does not rounding must not make
			// it fit: a larger budget would fail where a smaller one did.
			p.Latency = Neat(p.Latency)
		}
	}
	return p
}

// Patience is what the budget would be if the algorithm's round were a usual one: what
// depends on the network alone, and on how long its processes may take, follows from it.
func (p Pacing) Patience(entry catalog.Entry) time.Duration {
	return p.Budget * 100 / stretch(entry)
}

// stretch is how large, in percent of a profile's budget, the algorithm's is: larger by
// what its round takes beyond the usual. With a usual budget its latency would be so
// short that a node which starts gives up before it has joined.
func stretch(entry catalog.Entry) time.Duration {
	_, k := RoundOf(entry)
	return 100 + roundShare*max(k-usualRound, 0)/usualRound
}

// Neat rounds down to what one likes to read.
func Neat(d time.Duration) time.Duration {
	if d >= 10*time.Millisecond {
		return d.Truncate(time.Millisecond)
	}
	return d.Truncate(100 * time.Microsecond)
}

// check returns the first relation that fails, with its numbers.
func (p Pacing) check(entry catalog.Entry) error {
	timeout, k := RoundOf(entry)
	if p.Heartbeat < tcp.MinHeartbeat {
		return fmt.Errorf("heartbeat ≥ %v: (budget - %d × latency) / (misses + 1) = "+
			"(%v - %d × %v) / %d = %v", tcp.MinHeartbeat, k, p.Budget, k, p.Latency, p.Misses+1,
			p.Heartbeat)
	}
	if time.Duration(p.Misses-1)*p.Heartbeat < 2*p.Latency {
		return fmt.Errorf("(misses - 1) × heartbeat ≥ 2 × latency: %d × %v = %v < 2 × %v = %v",
			p.Misses-1, p.Heartbeat, time.Duration(p.Misses-1)*p.Heartbeat, p.Latency, 2*p.Latency)
	}
	if sum := time.Duration(p.Misses+1)*p.Heartbeat + k*p.Latency; sum > p.Budget {
		return fmt.Errorf("(misses + 1) × heartbeat + %d × latency (%s, %s = %s) ≤ budget: "+
			"%d × %v + %d × %v = %v > %v", k, entry.Name, timeout.Name, timeout.Formula,
			p.Misses+1, p.Heartbeat, k, p.Latency, sum, p.Budget)
	}
	return nil
}

// RoundOf is the algorithm's longest timeout, and how many latencies that is.
func RoundOf(entry catalog.Entry) (catalog.Timeout, time.Duration) {
	longest := slices.MaxFunc(entry.Timeouts, func(a, b catalog.Timeout) int {
		return cmp.Compare(a.Of(1, planNodes), b.Of(1, planNodes))
	})
	return longest, longest.Of(1, planNodes)
}
