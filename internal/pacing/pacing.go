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

// A failover budget is the time in which a leader that hangs, is paused or is cut off has to
// be replaced. (Nodes see the death of a leader at once: it takes no budget.) The budget is spent on
//
//	misses × heartbeat    the leader gives no sign of life
//	       + heartbeat    a beat of this node notices
//	       + round        the next leader is elected: k × latency
//
// Here latency is the worst case one way, Δ in the algorithms' formulas, and k is the longest
// timeout of the algorithm, in latencies: it waits for the end of a round. The timeout of a ring
// grows with its nodes, and is computed for planNodes. When the election loop hangs in a
// process whose sockets work, the last sign of life comes up to half a heartbeat after the
// loop began to hang; but a round rarely takes all of its share.
//
// How soon a silent leader is noticed, and how long promises are, depends on the network and
// on how long its processes may stand still. An algorithm with long rounds gets no more time
// for that. But its budget is larger by the time that its round takes beyond a usual round.
// Patience is the budget without this extra time.
//
// The relations that hold:
//
//  1. (misses + 1) × heartbeat + k × latency ≤ budget
//  2. (misses - 1) × heartbeat ≥ 2 × latency: between two signs of life there is
//     an interval and, if the first came at once and the second as late as possible,
//     a round trip
//  3. heartbeat ≥ tcp.MinHeartbeat, or the budget is refused
const (
	// misses is how many heartbeats may be missed. Then a healthy leader may stand still for
	// 56 % of a budget, in a garbage collection or without a processor, before it is replaced.
	// Each further heartbeat would add less time and cost a wake-up.
	misses = 4
	// roundShare is the part of a budget that a usual round gets, in percent.
	roundShare = 30
	// usualRound is the longest timeout, in latencies, of the algorithms that a
	// profile's budget is meant for, with planNodes.
	usualRound = 10
	planNodes  = 5
	MaxBudget  = time.Hour
)

// ErrBudget says that a failover budget is too small.
var ErrBudget = errors.New("failover budget")

// Pacing says how often a node asks for signs of life, and how long it waits for messages.
type Pacing struct {
	Budget, Heartbeat, Latency time.Duration
	Misses                     int
}

// For derives the pacing from a budget. The error wraps ErrBudget. It shows the relation that does
// not hold, with its numbers, and the smallest budget for which the relation holds.
func For(budget time.Duration, entry catalog.Entry) (Pacing, error) {
	p := derive(budget, entry)
	if p.Heartbeat >= tcp.MinHeartbeat {
		return p, nil
	}
	_, k := RoundOf(entry)
	return p, fmt.Errorf("%w %v is too small: heartbeat ≥ %v: (budget - %d × latency) / (misses + 1) = "+
		"(%v - %d × %v) / %d = %v; the smallest budget that would do is %v", ErrBudget, budget, tcp.MinHeartbeat,
		k, budget, k, p.Latency, misses+1, p.Heartbeat,
		smallest(entry, func(p Pacing) bool { return p.Heartbeat >= tcp.MinHeartbeat }))
}

// ForLatency returns the smallest budget whose planned latency is at least this latency; at most
// MaxBudget.
func ForLatency(latency time.Duration, entry catalog.Entry) time.Duration {
	return smallest(entry, func(p Pacing) bool { return p.Latency >= latency })
}

// smallest returns the smallest budget, in whole milliseconds, for whose pacing the function will
// returns true. If it does so for one budget, it must do so for all larger budgets.
func smallest(entry catalog.Entry, will func(Pacing) bool) time.Duration {
	ms := sort.Search(int(MaxBudget/time.Millisecond), func(ms int) bool {
		return will(derive(time.Duration(ms)*time.Millisecond, entry))
	})
	return time.Duration(ms) * time.Millisecond
}

func derive(budget time.Duration, entry catalog.Entry) Pacing {
	_, k := RoundOf(entry)
	p := Pacing{Budget: budget, Misses: misses}
	silence := p.Patience(entry) * (100 - roundShare) / 100
	p.Heartbeat = Neat(silence / (misses + 1))
	p.Latency = Neat(min((budget-silence)/k, (misses-1)*p.Heartbeat/2))
	return p
}

// Patience returns the budget without the time that the algorithm's rounds take beyond usual rounds.
// All times that depend only on the network, and on how long processes may stand still, follow from it.
func (p Pacing) Patience(entry catalog.Entry) time.Duration {
	return p.Budget * 100 / stretch(entry)
}

// stretch returns the algorithm's budget in percent of a profile's budget. It is over 100 if the
// algorithm's round takes longer than a usual round. With a usual budget the planned latency would
// then be so short that a node that starts gives up before it has joined.
func stretch(entry catalog.Entry) time.Duration {
	_, k := RoundOf(entry)
	return 100 + roundShare*max(k-usualRound, 0)/usualRound
}

// Neat rounds d down to a number that is easy to read.
func Neat(d time.Duration) time.Duration {
	if d >= 10*time.Millisecond {
		return d.Truncate(time.Millisecond)
	}
	return d.Truncate(100 * time.Microsecond)
}

// RoundOf returns the algorithm's longest timeout, and its length in latencies.
func RoundOf(entry catalog.Entry) (catalog.Timeout, time.Duration) {
	longest := slices.MaxFunc(entry.Timeouts, func(a, b catalog.Timeout) int {
		return cmp.Compare(a.Of(1, planNodes), b.Of(1, planNodes))
	})
	return longest, longest.Of(1, planNodes)
}
