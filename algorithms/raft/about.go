package raft

import (
	"slices"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/lease"
	"github.com/ringleader-dev/ringleader/proto"
)

// reasons collects the kinds of reasons that this package declares.
var reasons = algorithms.ReasonsOf("raft")

// About describes Raft's leader election for the catalogue.
func About() algorithms.About {
	return algorithms.About{
		Name:      "raft",
		Summary:   "a majority of voters elects whoever stands first, for a term; heartbeats keep it",
		Guarantee: algorithms.Lease,
		New:       func(c algorithms.Config) algorithms.Machine { return New(c) },
		Theory:    theory(),
		Timeouts: []algorithms.Wait{
			{Name: "PRE_VOTE_REPLY", Formula: "4Δ to 8Δ", Of: func(d time.Duration, _ int) time.Duration {
				return lease.AnswerTimeout(d)
			}},
			{Name: "VOTE", Formula: "8Δ", Of: func(d time.Duration, _ int) time.Duration {
				return lease.ClaimTimeout(lease.MinPromise(d), d, 0)
			}},
		},
		Agreement: func(d time.Duration, n int) time.Duration {
			return Agreement(longestPromise*lease.MinPromise(d), d, n)
		},
		Promise: lease.MinPromise,
		Reasons: reasons.All(),
		Rules: slices.Concat(
			algorithms.Quote("Majority grants → becomes leader", lease.WhyLead),
			algorithms.Quote(asksFirst, lease.WhyCandidate),
			algorithms.Quote("Leader sends heartbeats to maintain authority", lease.WhyFollow),
			algorithms.Quote(votesOnce, lease.WhyRefused(proto.DeniedVoted)...),
			algorithms.Quote(sticky, lease.WhyRefused(proto.DeniedPromised)...),
		),
	}
}

// kinds are the kinds of messages of an election.
var kinds = []proto.Kind{
	proto.KindPreVote, proto.KindPreVoteReply, proto.KindRequestVote, proto.KindVote,
	proto.KindHeartbeat, proto.KindHeartbeatReply,
}

// theory returns the cost of an election in which only one node stands.
func theory() algorithms.Theory {
	best := func(n int) algorithms.Theory { return among(n, n) }
	worst := func(n int) algorithms.Theory { return among(n+1, n) }
	last := func(n int) proto.NodeID { return proto.NodeID(n) }
	return algorithms.Theory{
		Kinds: kinds,
		Best:  func(n int) int { return best(n).Best(n) },
		Worst: func(n int) int { return worst(n).Worst(n) },
		BestCase: "all live, and nobody led: PRE_VOTE, REQUEST_VOTE and HEARTBEAT to the n-1 others, PRE_VOTE_REPLY, " +
			"VOTE and HEARTBEAT_REPLY of each",
		WorstCase: "the leader died, and is asked too, and the others do not know it yet: n-1 say no first",
		BestRun: algorithms.Run{
			Caller: last, Messages: "6n-6", Transmissions: "6", Times: func(int) int { return 6 },
		},
		WorstRun: algorithms.Run{
			Caller: last, Crash: true, Messages: "7n-4", Transmissions: "5", Times: func(int) int { return 5 },
		},
		Among: among,
	}
}

// among returns the theory for this many configured voters, if live of them are alive. Nodes that do not
// vote get a HEARTBEAT, too.
func among(voters, live int) algorithms.Theory {
	best := func(n int) int { return 3*(voters-1) + 3*(live-1) + n - live }
	return algorithms.Theory{
		Kinds: kinds,
		Best:  best,
		Worst: func(n int) int { return best(n) + live - 1 },
		BestCase: "nothing binds a voter: PRE_VOTE, REQUEST_VOTE and HEARTBEAT to the others, " +
			"PRE_VOTE_REPLY, VOTE and " +
			"HEARTBEAT_REPLY of those alive, HEARTBEAT to those that do not vote",
		WorstCase: "all voters are bound when they are asked, and say no first",
	}
}

// The rules that several reasons follow.
const (
	asksFirst = "(after Ongaro 2014, 9.6) No term is taken before a majority of the voters would vote in it."
	votesOnce = "Each server will vote for at most one candidate in a given term, on a first-come-first-served basis"
	sticky    = "if a server receives a RequestVote RPC within the minimum election timeout of hearing from a " +
		"current leader, it does not update its term or grant its vote"
)

// longestPromise is the length of the longest promise that About's bound on agreement allows for, as a
// multiple of the shortest promise.
const longestPromise = 3
