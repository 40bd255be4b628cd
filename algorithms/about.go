package algorithms

import (
	"time"

	"github.com/ringleader-dev/ringleader/proto"
)

// About is an algorithm as the catalogue lists it: each package of an algorithm has
// a function of that name.
type About struct {
	Name      string // as its package
	Summary   string // one line
	Guarantee Guarantee
	// Preempt is whether a higher-ranked node takes over from a living leader
	// when the operator does not say.
	Preempt bool
	New     func(Config) Machine
	// Kinds are those of all its messages, also of such that it shares with others.
	Kinds []proto.Kind
	// Round are the messages that go clockwise round a ring of all nodes; none where
	// the nodes form no ring.
	Round  []proto.Kind
	Theory Theory
	// Timeouts are the algorithm's own, as formulas.
	Timeouts []Wait
	// Agreement bounds the time from the moment that the network is calm and
	// the detectors are right until all nodes agree on one leader.
	Agreement func(delta time.Duration, nodes int) time.Duration
	// Promise is the shortest Config.Promise that the algorithm bears: only of one
	// whose Guarantee is Lease.
	Promise func(delta time.Duration) time.Duration
	// Fences says that Config.Fence does something.
	Fences bool
	// Reasons are those that the algorithm's own package gives.
	Reasons []*ReasonKind
	// Rules are its own sources where what it shares with others follows them.
	Rules []Rule
}

// Theory is what a round costs without failures, with n nodes alive.
type Theory struct {
	// Kinds are those of the messages of a round; nil for all of the algorithm's.
	Kinds       []proto.Kind
	Best, Worst func(n int) int
	BestCase    string // when, and the formula
	WorstCase   string
	// BestRun and WorstRun say how these come about, and how long they take.
	BestRun, WorstRun Run
	// Average is what a round costs on average, nil where nobody says.
	Average *Average
	// Among is the theory where so many voters are configured, and so many of them
	// are alive: of an algorithm that asks all voters, whoever lives. Nil of others.
	Among func(voters, live int) Theory
}

// Run is an election without failures, of n living nodes with the ids 1 to n.
type Run struct {
	// Caller is the node that calls it; nil when all do, at one instant.
	Caller func(n int) proto.NodeID
	// Crash says why: the caller alone knows that node n+1, the leader, is dead.
	Crash bool
	// AtMost says that Times, and the theory's messages, are bounds.
	AtMost bool
	// Messages and Transmissions are the formulas in words; Times is that of the
	// transmission times: the longest chain of messages and timeouts, each of which
	// leads to the next.
	Messages, Transmissions string
	Times                   func(n int) int
}

// Highest is the Caller of a Run that the highest of the n nodes calls.
func Highest(n int) proto.NodeID { return proto.NodeID(n) }

// Lowest is the Caller of a Run that the lowest calls.
func Lowest(int) proto.NodeID { return 1 }

// Average is what a round costs on average over rings in random order, when all call
// it at one instant.
type Average struct {
	Kind    proto.Kind // whose messages are counted
	Formula string
	Of      func(n int) float64
}

// Wait is one timeout of an algorithm.
type Wait struct {
	Name    string
	Formula string // over delta and n
	Of      func(delta time.Duration, n int) time.Duration
}

// AnySize is the Of of a Wait that does not depend on the number of nodes.
func AnySize(of func(delta time.Duration) time.Duration) func(time.Duration, int) time.Duration {
	return func(delta time.Duration, _ int) time.Duration { return of(delta) }
}

// Rule is a sentence of an algorithm's source, for a kind of reason that others than this
// algorithm give, too.
type Rule struct {
	Kind     *ReasonKind
	Sentence string
}
