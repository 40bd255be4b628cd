// Package chubby is the election of Chubby's master, as the lecture notes tell it:
// "Potential leader tries to get votes. Each server votes for at most one leader.
// Server with quorum becomes leader." A master then has a lease, "where no other
// elections will be run", and renews it while a majority agrees.
//
// # What it does not promise
//
//   - The best process need not be the master: any server may stand, and the first one
//     with a quorum becomes master. The highest usually stands first, but no rule
//     demands it. With pre-emption a master hands over to a higher server, in its own time.
//   - Without a majority of the voters there is no master, however many servers live:
//     of two voters both must live, of one that one must.
//   - Two servers that stand at once may split the votes: then nobody is elected, and
//     they try again after pauses that differ. "Potentially, no Leader gets a Quorum!"
//   - A master that hangs is replaced when its lease is over, not before. One that is
//     proven dead is replaced at once.
//   - Clocks must run at rates that differ by no more than lease.Drift; and no lease
//     helps a process that is stopped between a check and the act that follows.
//
// # How it is built
//
// The votes, the promises and the lease are those of package lease. So are fencing,
// transfers and the recovery of lost disks. This package adds only who stands: each
// server nominates itself. They must not all do so at one instant, since each would then
// vote for itself. So the highest living server stands at once, the next one a Stagger
// later, and so on. Nobody waits for the turn of the last leader.
//
// # Sources
//
// Burrows, "The Chubby lock service for loosely-coupled distributed systems" (2006),
// 2.1 and 2.4: "The replicas use a distributed consensus protocol to elect a master;
// the master must obtain votes from a majority of the replicas, plus promises that
// those replicas will not elect a different master for an interval of a few seconds
// known as the master lease. The master lease is periodically renewed by the replicas
// provided the master continues to win a majority of the vote." Lecture notes, quoted
// above each rule.
//
// # Messages
//
// Those of a lease: PRE_VOTE, PRE_VOTE_REPLY, REQUEST_VOTE, VOTE, HEARTBEAT,
// HEARTBEAT_REPLY, RELEASE, and for a transfer OFFER, REPLY, TIMEOUT_NOW.
//
// # States
//
//	follower ──the master is gone, and nobody higher lives──► stands
//	follower ──a Stagger for each higher living server has passed──► stands
//	stands ──a quorum would vote, and then votes──► master
//	stands ──no quorum in time──► follower, for a while
//	master ──no quorum renews the lease──► follower
package chubby
