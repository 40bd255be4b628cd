// Package raft is Raft's leader election, without a log, as a Machine of its own: its
// voters decide by themselves, and what they promise makes its leader's lease.
//
// # What it does not promise
//
// At most one node leads at any instant while clocks run at rates that differ by no more
// than lease.Drift, and count the time a machine is suspended. No lease can help a
// process that is stopped between a check and the act that follows: for that the term is
// a fencing token, which a store can compare.
//
// There is no log: a vote asks for no index, and a leader that is told to hand over has
// nothing to replicate first. It has no former leader fenced before it leads, as the
// office does with a fence agent: algorithms.Config.Fence is not its own. The best node
// leads only where algorithms.Config.Preempt wants that; else whoever stands first.
//
// # A term
//
//	candidate          voters                  everybody
//	  PRE_VOTE ─────►    would you vote for me?  (nothing changes)
//	           ◄─────  PRE_VOTE_REPLY            yes, or what binds it
//	  REQUEST_VOTE ─►    vote, durable
//	           ◄─────  VOTE                      or no; a promise of length Promise
//	  HEARTBEAT ───────────────────────────►     it leads, for so long
//	           ◄─────  HEARTBEAT_REPLY           or no; every quarter of a promise
//	  RELEASE  ─────►    the promise is over     when all its work has stopped
//	  OFFER    ─────►    a successor: would you?  before it leaves, of a transfer
//	           ◄─────  REPLY
//	  TIMEOUT_NOW ──►    that successor stands    after RELEASE
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
//   - A leader's heartbeats keep the others from standing; who hears none for a random
//     time stands.
//   - A candidate or preCandidate that hears of a leader of its term, or a higher one,
//     follows it. Whoever leads the lower of two terms steps down.
//   - A node that was cut off asks before it takes a term (pre-vote), and a voter that
//     has heard from a leader of late does not vote: nobody is deposed by a node that
//     comes home.
//   - A leader that no majority acknowledges steps down (check-quorum).
//
// # Where it departs from the paper, and why
//
//   - A vote and a HEARTBEAT_REPLY are promises: their voter votes for nobody else for
//     Promise, and after a start for as long as any promise of its former life may run.
//     Until then it may stand, and votes for itself, but does not count that: a majority
//     of the others has to vote for it. A leader leads only until its lease ends, which
//     is strictly inside the promises of a majority, measured from before its questions
//     left. The paper's leader may still believe that it leads when the next one does,
//     which costs it nothing but an entry that does not commit. Here there is no log to
//     catch that.
//   - "If RPC request or response contains term T > currentTerm: set currentTerm = T,
//     convert to follower": not here. A request that is refused changes nothing. A voter
//     that adopts the term of one it refuses has forgotten what it promised in the
//     term before, and two lead. A higher term that is heard of is a hint for the next
//     candidacy; a term becomes a node's own by its vote, or by a HEARTBEAT.
//   - On a busy machine a HEARTBEAT_REPLY may take longer than to the next HEARTBEAT. It
//     counts for its own round, and for a lease from when that began; and a candidate
//     waits the longer for votes the more of its candidacies failed, up to half a lease.
//   - What a voter promised and has to take back soon is given back: a candidate that
//     cannot win any more, and a leader whose work has stopped, send RELEASE. Else each
//     split vote would last as long as a promise.
//   - A voter whose promise binds it to a process that is proven dead is free at once;
//     algorithms.Config.KeepPromises turns that off. This replaces a leader in
//     milliseconds although its lease still runs.
//   - A process that was stopped, as its timer tells, follows nobody by what it reads
//     right after: that may have waited as long. A leader says so again.
//   - A leader that is to lend its lease to a process outside says so in a HEARTBEAT. Who
//     acknowledges that keeps that promise whatever is proven; the leader lends what a
//     majority acknowledged in that very round.
//   - After a proof, a RELEASE or a start, all know at about the same time that nobody
//     leads. Random timeouts would waste it: each stands in its turn, of a few Deltas,
//     the better-ranked sooner. Where a leader only falls silent, timeouts are random as
//     in the paper, and longer than any promise; and they are after a split vote.
//   - A no to PRE_VOTE becomes a yes unasked, once nothing binds the voter: nobody has to
//     ask again at the right moment.
//   - A leader hands over only when it leads no more, its work has stopped and its term
//     is released: the paper's leader says TIMEOUT_NOW first, and steps down when it
//     hears of the next term. The successor asks first too: its questions may overtake
//     the RELEASE.
//   - A voter of which no vote is saved votes for nobody, not on a HEARTBEAT either, until
//     it was told what it may have voted in, or all voters say that they never voted. In
//     the highest term that it was told of it votes for no candidate, and acknowledges the
//     HEARTBEAT of its leader.
//   - A term that is absurdly far above all that a node knows is believed as far as a
//     majority of the voters tells of one as high.
//
// # Sources
//
// Ongaro and Ousterhout, "In Search of an Understandable Consensus Algorithm" (2014), 5.2
// on elections and 6 on servers that disrupt; Ongaro, "Consensus: Bridging Theory and
// Practice" (2014), 3.10 on transfers, 4.2.3 and 9.6 on asking first, 6.2 on leaders that
// no majority hears, 6.4 on leases. Lecture notes: "Majority grants → becomes leader",
// "if count(acks) < quorum", "L1 sends TimeoutNow to L2". The rules of promises
// that Raft shares with the office stand in package lease.
package raft
