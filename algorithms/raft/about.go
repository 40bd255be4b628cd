package raft

import (
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/proto"
)

// About is Raft's leader election as the catalogue lists it.
func About() algorithms.About {
	return algorithms.About{
		Name:      "raft",
		Summary:   "a majority of voters elects whoever stands first, for a term; heartbeats keep it",
		Guarantee: algorithms.Lease,
		New:       func(c algorithms.Config) algorithms.Machine { return New(c) },
		Theory: algorithms.Theory{
			Kinds: []proto.Kind{
				proto.KindPreVote, proto.KindAnswer, proto.KindRequestVote, proto.KindVote, proto.KindDeny,
				proto.KindHeartbeat, proto.KindHeartbeatAck,
			},
			Best:  func(n int) int { return 6 * (n - 1) },
			Worst: func(n int) int { return 7*n - 4 },
			BestCase: "all live, and nobody has led: PRE_VOTE, ANSWER, REQUEST_VOTE, VOTE, HEARTBEAT, " +
				"HEARTBEAT_ACK to or from each of the n-1 others",
			WorstCase: "the leader died, and the caller knows first: PRE_VOTE, REQUEST_VOTE, HEARTBEAT to it too; " +
				"the n-1 others say no first, and yes when they know",
			BestRun: algorithms.Run{
				Caller:   func(n int) proto.NodeID { return proto.NodeID(n) },
				Messages: "6n-6", Transmissions: "6", Times: func(int) int { return 6 },
			},
			WorstRun: algorithms.Run{
				Caller: func(n int) proto.NodeID { return proto.NodeID(n) }, Crash: true,
				Messages: "7n-4", Transmissions: "5", Times: func(int) int { return 5 },
			},
		},
		Timeouts: []algorithms.Wait{
			{Name: "ANSWER", Formula: "4Δ to 8Δ", Of: func(d time.Duration, _ int) time.Duration { return answerTimeout(d) }},
			{Name: "VOTE", Formula: "8Δ", Of: func(d time.Duration, _ int) time.Duration { return 2 * answerTimeout(d) }},
		},
		Agreement: func(d time.Duration, n int) time.Duration {
			return Agreement(longestPromise*MinPromise(d), d, n)
		},
		Promise: MinPromise,
		Rules: []algorithms.Rule{
			{Why: "a majority granted term #", Sentence: "Majority grants → becomes leader"},
			{Why: "a majority would grant term #", Sentence: "Candidate increments term"},
		},
	}
}

// longestPromise is how many times the shortest promise Agreement allows for.
const longestPromise = 3
