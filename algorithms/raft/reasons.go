package raft

import "github.com/ringleader-dev/ringleader/algorithms"

// reasons are why a node stands. The Machine gives them as sentences still.
var reasons = algorithms.ReasonsOf("raft")

var (
	_ = reasons.Kind("silent", "nobody has heard leader %d of late",
		algorithms.Because{Kind: algorithms.LeaderSilent, About: 0}).
		Follows("if now() - last_heartbeat > election_timeout: start_election()")
	_ = reasons.Kind("gone", "leader %d is gone",
		algorithms.Because{Kind: algorithms.LeaderLost, About: 0})
	_ = reasons.Kind("start", "no leader was heard of", algorithms.Caused(algorithms.FirstLeader))
	_ = reasons.Kind("failed", "the last candidacy failed", algorithms.Caused(algorithms.RoundFailed))
	_ = reasons.Kind("called", "asked to call an election", algorithms.Caused(algorithms.Operator))
	_ = reasons.Kind("vacant", "nobody leads", algorithms.Caused(algorithms.Vacant))
	_ = reasons.Kind("follow", "%d leads term %d -> follow it", algorithms.Follows{Term: 1}).
		Follows("Leader sends heartbeats to maintain authority")
	_ = reasons.Kind("no-majority", "no majority answered %d rounds of heartbeats -> ask no more").
		Follows("if count(acks) < quorum: # Can't reach quorum, step down")
)
