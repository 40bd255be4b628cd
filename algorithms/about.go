package algorithms

import (
	"time"

	"github.com/ringleader-dev/ringleader/proto"
)

// About describes an algorithm for the catalogue. Each package of an algorithm has a function About
// that returns its own.
type About struct {
	Name      string // the package's name
	Summary   string // a description of one line
	Guarantee Guarantee
	// Preempt is the default for Config.Preempt: whether a higher-ranked node takes over from a
	// living leader.
	Preempt bool
	New     func(Config) Machine
	// Kinds are the kinds of all messages that the algorithm sends, those that it shares with other
	// algorithms included.
	Kinds []proto.Kind
	// Round are the kinds of messages that go clockwise round a ring of all nodes. It is empty for
	// an algorithm without a ring.
	Round  []proto.Kind
	Theory Theory
	// Timeouts are the algorithm's own timeouts, as formulas.
	Timeouts []Wait
	// Agreement returns an upper bound of the time until all nodes agree on one leader. The time begins
	// when the network is calm and the failure detectors are right.
	Agreement func(delta time.Duration, nodes int) time.Duration
	// Promise returns the shortest Config.Promise with which the algorithm works. It is nil unless the
	// algorithm's Guarantee is Lease.
	Promise func(delta time.Duration) time.Duration
	// Ahead says that a node which begins is in the round of the term after the last one that it knows.
	Ahead bool
	// Fences says whether the algorithm uses Config.Fence.
	Fences bool
	// Reasons are the kinds of reasons that the algorithm's own package declares.
	Reasons []*ReasonKind
	// Rules quote the algorithm's own sources for rules that it shares with other algorithms.
	Rules []Rule
}

// Theory is the cost of a round without failures, with n nodes alive.
type Theory struct {
	// Kinds are the kinds of messages that are counted; nil means all kinds of the algorithm.
	Kinds       []proto.Kind
	Best, Worst func(n int) int
	BestCase    string // when a round is cheapest, and the formula for its messages
	WorstCase   string
	// Notes says where the lecture notes count in another way; empty if they do not.
	Notes string
	// BestRun and WorstRun say how the best and the worst case come about, and how long they take.
	BestRun, WorstRun Run
	// Average is the average cost of a round; nil if no source gives one.
	Average *Average
	// Among is the theory for this many configured voters, of which live are alive. It is nil except
	// for algorithms that ask all voters, alive or not.
	Among func(voters, live int) Theory
}

// Run describes an election without failures, of n living nodes with the ids 1 to n.
type Run struct {
	// Caller is the node that calls the election; nil when all nodes call it at the same time.
	Caller func(n int) proto.NodeID
	// Crash says why the election is called: only the caller knows that node n+1, the leader, is
	// dead.
	Crash bool
	// AtMost says that Times and the theory's numbers of messages are upper bounds.
	AtMost bool
	// Messages and Transmissions are, in words, the formulas for the numbers of messages and of
	// transmission times. Times computes the transmission times: the length of the longest chain of
	// messages and timeouts in which each causes the next.
	Messages, Transmissions string
	Times                   func(n int) int
}

// Highest returns a Run.Caller: the highest of n nodes calls the election.
func Highest(n int) proto.NodeID { return proto.NodeID(n) }

// Lowest returns a Run.Caller: the lowest node calls the election.
func Lowest(int) proto.NodeID { return 1 }

// Average is the average cost of a round over all orders of the nodes on the ring, when all nodes
// call it at the same time.
type Average struct {
	Kind    proto.Kind // only messages of this kind are counted
	Formula string
	Of      func(n int) float64
}

// Wait is one timeout of an algorithm.
type Wait struct {
	Name    string
	Formula string // a formula in delta and n
	Of      func(delta time.Duration, n int) time.Duration
}

// AnySize makes a Wait.Of from a formula that does not depend on the number of nodes.
func AnySize(of func(delta time.Duration) time.Duration) func(time.Duration, int) time.Duration {
	return func(delta time.Duration, _ int) time.Duration { return of(delta) }
}

// Quote returns one Rule for each of these kinds of reasons, all with the same sentence.
func Quote(sentence string, kinds ...*ReasonKind) []Rule {
	rules := make([]Rule, len(kinds))
	for i, k := range kinds {
		rules[i] = Rule{k, sentence}
	}
	return rules
}

// Rule quotes a sentence of an algorithm's source for a kind of reason that other algorithms share.
type Rule struct {
	Kind     *ReasonKind
	Sentence string
}
