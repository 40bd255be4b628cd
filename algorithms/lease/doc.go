// Package lease is what the nodes of every algorithm do that elects a leader by the votes
// of a majority, for as long as those promise to vote for nobody else. The office and
// Raft are two of them; what they share stands here, once, with its mutants in the tests
// of internal/sim.
//
// It decides nothing by itself: each method takes one step of a rule and returns what
// came of it. When to stand, what to say and what it costs the others is the
// algorithm's, whose documentation has the rules in their order: packages office, raft.
//
//	party.go      what a node knows and keeps; the Step in progress
//	stand.go      a candidacy and its rounds of questions; the lease that grants add up to
//	voter.go      one vote a term, durable; the promise; the wait after a start; proofs of death
//	lend.go       a lease that is lent to a process outside
//	voters.go     whose votes count, and how that changes: see docs/VOTERS.md for the proof
//	transfer.go   a leader that leaves, and hands over: chosen by an operator, or ranked above it
//	eligible.go   a node that may not lead, or leaves it to others for a while
//	rejoin.go     a voter that lost its disk, or may have
//	collect.go    a cluster whose voters never voted: how they find out
//	jump.go       terms that are absurdly far above all that a node knows
//	timing.go     how long promises, leases and pauses are
//
// # Sources
//
// Gray and Cheriton, "Leases" (1989); Burrows, "The Chubby lock service for
// loosely-coupled distributed systems" (2006); Ongaro, "Consensus: Bridging Theory and
// Practice" (2014), 3.10 on transfers, 6.4 on leases, 9.6 on asking first.
package lease
