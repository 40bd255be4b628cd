// Package raft is Raft's leader election, without a log. Its voters need no nominee: they
// elect a candidate, and their promises make the leader's lease.
//
// # What it does not promise
//
// At most one node leads at any instant while clocks run at rates that differ by no more
// than lease.Drift, and count the time a machine is suspended. No lease can help a
// process that is stopped between a check and the act that follows: for that the term is
// a fencing token, which a store can compare.
//
// There is no log: a vote depends on no index, and a leader that is told to hand over has
// nothing to replicate first. The first node to stand leads, not the best one, unless
// algorithms.Config.Preempt is set.
//
// # How it is built
//
// This package decides when a server stands: after a random time without a heartbeat, or in its turn
// if the leader is known to be gone. Votes, promises, heartbeats, transfers and the recovery of lost
// disks are those of package lease.
//
//	             timeout, or proof              a majority would vote
//	┌──────────┐ of a death   ┌──────────────┐             ┌───────────┐
//	│ follower ├─────────────►│ preCandidate ├────────────►│ candidate │
//	└──────────┘◄─────────────┴──────────────┘             └─┬───────┬─┘
//	  ▲  ▲        a HEARTBEAT                                │       │ a majority
//	  │  └───────────────────────────────────────────────────┘       ▼ votes
//	  │            too few votes, or a HEARTBEAT: RELEASE       ┌────────┐
//	  └─────────────────────────────────────────────────────────┤ leader │
//	     no majority acknowledges, resigned: work stops, RELEASE└────────┘
//
// # The rules of the paper
//
//   - A voter votes once a term, durably before it answers, for one process.
//   - A candidate leads with the votes of a majority of the configured voters.
//   - A leader's heartbeats keep the others from standing; a node that hears none for a
//     random time stands.
//   - A candidate or preCandidate that hears of a leader of its term, or a higher one,
//     follows it. Of two leaders, the one of the lower term steps down.
//   - A node asks before it takes a term (pre-vote), and a voter that has just heard from
//     a leader does not vote: so a node that was cut off deposes nobody when it comes back.
//   - A leader that no majority acknowledges steps down (check-quorum).
//
// # Where it departs from the paper, and why
//
//   - A vote and a HEARTBEAT_REPLY are promises: their voter votes for nobody else for Promise,
//     and after a start for as long as any promise of its former life may run. Until then it may
//     stand, and votes for itself, but does not count its own vote: other voters alone must make
//     up the majority. A leader leads only until its lease ends: the lease begins before the
//     leader asks for the promises of a majority, and ends before these promises do. In the paper
//     a leader may still believe that it leads when the next one does: then its entries do not
//     commit. Here no log could prevent the harm.
//   - "If RPC request or response contains term T > currentTerm: set currentTerm = T,
//     convert to follower": not here. A request that is refused changes nothing. If a voter
//     adopted the term of a request that it refuses, it would forget what it promised in
//     the term before, and two nodes could lead. A higher term is only a hint for the next
//     candidacy; a node enters a term by its vote, or by a HEARTBEAT.
//   - On a busy machine a HEARTBEAT_REPLY may come after the next HEARTBEAT was sent. It counts
//     for its own round, and for a lease that began with that round. And the more of its
//     candidacies failed, the longer a candidate waits for votes, up to half a lease.
//   - Promises that are not needed any more are given back: a candidate that cannot win any
//     more, and a leader whose work has stopped, send RELEASE. Otherwise each split vote
//     would last as long as a promise.
//   - A voter whose promise binds it to a process that is proven dead is free at once;
//     algorithms.Config.AwaitLeases turns that off. This replaces a leader in
//     milliseconds although its lease still runs.
//   - After a proof of death, a RELEASE or a start, all nodes know at about the same time
//     that nobody leads. So they need no random timeouts: each stands in its turn, a few
//     Deltas apart, the higher-ranked ones sooner. If a leader only falls silent, or votes
//     were split, timeouts are random as in the paper, and longer than any promise.
//   - A voter that said no to PRE_VOTE says yes by itself once no promise binds it: nobody
//     has to ask again at the right moment.
//   - A leader sends TIMEOUT_NOW only after it has stopped leading, its work has stopped and
//     its term is released. In the paper it does so first, and steps down when it hears of
//     the next term. The successor sends PRE_VOTE first too, since its messages may overtake
//     the RELEASE.
//
// # Sources
//
// Ongaro and Ousterhout, "In Search of an Understandable Consensus Algorithm" (2014), 5.2
// on elections and 6 on servers that disrupt; Ongaro, "Consensus: Bridging Theory and
// Practice" (2014), 3.10 on transfers, 4.2.3 and 9.6 on asking first, 6.2 on leaders that
// no majority hears, 6.4 on leases. Lecture notes: "Majority grants → becomes leader",
// "if count(acks) < quorum", "L1 sends TimeoutNow to L2".
package raft
