// Package lease turns a nominee into a leader. Its Machine contains a nominating Machine, which says who
// should lead: an election algorithm, Raft's timeouts or Chubby's turns. The nominee leads once a
// majority of the configured voters has voted for it in a term, and for as long as these voters keep
// their promise to vote for nobody else.
//
// # What it does not promise
//
// At most one node leads at any instant while clocks run at rates
// that differ by no more than Drift, and count the time a machine is suspended.
// No lease can help a process that is stopped between a check and the act that
// follows: for that the term is a fencing token, which a store can compare.
//
// # A term
//
//	candidate          voters                  everybody
//	  PRE_VOTE ─────►    would you vote for me?  (nothing changes)
//	           ◄─────  PRE_VOTE_REPLY            yes, or what binds it
//	  REQUEST_VOTE ─►    vote, durable
//	           ◄─────  VOTE                      or no; a promise of length Promise
//	  HEARTBEAT ───────────────────────────►     it leads, and for how long
//	           ◄─────  HEARTBEAT_REPLY           or no; renews the promise, every quarter of it
//	  RELEASE  ─────►    the promise is over     when all its work has stopped
//	  OFFER    ─────►    a successor: would you?  of a transfer, before the leader leaves
//	           ◄─────  REPLY
//	  TIMEOUT_NOW ──►    that successor stands    after RELEASE
//
// # The rules
//
// Voter:
//   - It votes once a term, durably before it answers, for one process: an id
//     and an incarnation. It grants an equal term to that process only.
//   - Whoever has won the term of its vote gets its promise, whomever it voted for: no other can
//     win that term any more. The vote stays.
//   - A higher term it grants when its promise is over: run out, released by the very process it
//     voted for, or that process is proven dead.
//   - A request that is refused changes nothing: no term is adopted, no promise
//     dropped. The refusal names the term that the voter knows of.
//   - A voter that answered a HEARTBEAT for a loan keeps that promise whatever is proven:
//     the proof that the leader is dead says nothing about the borrower. RELEASE comes when
//     all loans have ended, and ends the promise.
//   - After a start it grants no new term for as long as any promise of its former life may run.
//     Neither release nor proof ends that. Until then it may stand, and votes for itself, but does
//     not count its own vote: other voters alone must make up the majority.
//   - A voter without a saved vote may have lost its disk: it grants nothing, old or new,
//     until it was told in which terms it may have voted, or all voters say that they never
//     voted. In the highest of these terms it refuses REQUEST_VOTE, and follows the HEARTBEAT
//     of the node that won the term.
//
// Candidate and leader:
//   - It asks first, and requests votes only when a majority would give them. So a node that
//     was cut off comes back without deposing anybody. If the nomination asks a majority
//     too, both questions are asked at once; the request for votes waits for both answers.
//   - The lease runs from before the first REQUEST_VOTE left, and is shorter than the promise by
//     all that clocks may differ.
//   - Only votes of this very term and incarnation count, each for its own round of questions, one
//     of each voter, and only before the lease would end. On a busy machine a vote may come after
//     the next HEARTBEAT was sent: it then counts for a lease that began with its own round.
//   - The more of its candidacies failed in a row, the longer a candidate waits for votes, up to
//     half a lease: so a candidate wins even if answers take longer than planned. A back-off in
//     between does not change this. One that too many voters deny for it to win waits no longer.
//   - Whoever asks while it leads gets its HEARTBEAT, unless it asks because of this leader's offer: else
//     a node that missed one, or stood in vain as it came, would name no leader until the next round.
//   - After two rounds without a majority it asks no more, so that a node that hears nothing does
//     not bind the voters. It keeps to its lease, and never renews after that.
//   - Leaving: it leads no more; then its work stops; only then RELEASE. In any
//     other order two may work at once.
//   - In a transfer the leader asks the successor first. The successor asks the voters, and
//     accepts if a majority would vote for it if there were no promise to this leader. Nothing
//     changes before that. Then the leader leaves as above, and after RELEASE it sends TIMEOUT_NOW
//     to the successor. To hand over to a node that ranks higher is a transfer, too. A leader does
//     so at most once in a while, and ever more rarely.
//   - A node that is not eligible does not stand, and leaves if it leads; it still votes. After
//     three failed candidacies in a row a node is not eligible for the length of a promise, so
//     that others try, unless no other could stand.
//   - It follows no HEARTBEAT of a term below the highest that it heard of, unless that one's HEARTBEATs ceased,
//     these were heard for a whole promise since, and their sender says that it leads, asked just now: then
//     the higher term was a lie, of a voter that did not win it.
//   - It follows a node that is none of its voters only by a list that one of its voters has told it of. One
//     that does not vote itself follows such a node also if one of its voters says that it does.
//   - A process that sees by its timer that it was stopped follows no HEARTBEAT that it reads
//     right after: such a message may have waited for as long. The leader sends the next one soon.
//   - Nomination says who stands first. It never decides what is safe. If nomination uses
//     messages, elections do not depend on these: a voter that has heard of no leader for the time
//     of a promise stands, the higher-ranked voters sooner. A Watcher needs no messages, and says
//     itself when its node stands.
//
// # The proven death
//
// A voter whose promise binds it to a process that is proven dead is free at once: the process's work
// ended with it. This is what replaces a leader in milliseconds although its lease still runs. It
// assumes that nothing between the nodes ends connections on a living process's behalf, and that no work
// outlives the process; algorithms.Config.AwaitLeases turns it off.
//
// # Fencing
//
// If Config.Fence is set, there is a second condition: nobody leads until every process that may lead an
// earlier term was seen to stop. A process was seen to stop if it sent RELEASE, is proven dead, voted
// itself in the new term, or was stopped by a fence agent.
//   - A voter saves whom it voted for in earlier terms and has not seen to stop, and names
//     them in its VOTE. A HEARTBEAT of a later term settles all earlier ones. A voter that
//     lost its disk takes over what the others name, their last votes included.
//   - Fencing comes after the votes: a candidate that fences holds the promises of a majority
//     for the term that it is to lead, and renews them however long the agent takes. So no
//     minority fences anybody, and no two candidates fence at once. The candidate first waits
//     for the answers of slow voters, the longer the lower it ranks.
//   - A failed attempt is repeated, ever more rarely. After the third the candidate releases
//     the term, and does not stand until each other voter may have stood.
//   - A process that is seen to stop meanwhile is not fenced: the agent is called back.
//   - If an agent wrongly reports success, only this rule is broken: the old lease has ended in
//     any case.
//
// # Where what is
//
//	machine.go    a node's state; which event goes where
//	nominator.go  what a nominating Machine is told, and may be asked
//	step.go       the Step in progress; the saved state
//	rule.go       the vote rule
//	voter.go      one vote a term, durable; the promise; proofs of death
//	candidate.go  when to stand, and what to ask
//	candidacy.go  the rounds of questions; the lease that votes add up to
//	leader.go     heartbeats, and who follows them
//	fencing.go    former leaders that were not seen to stop; former.go: a voter's account of them
//	lend.go       a lease that is lent to another process
//	voters.go     whose votes count, and how that changes: see docs/VOTERS.md for the proof
//	transfer.go   a leader that hands over: to an operator's choice, or to a node that ranks above it
//	eligible.go   a node that may not lead, or leaves it to others for a while
//	rejoin.go     a voter that lost its disk, or may have
//	collect.go    a cluster whose voters never voted: how they find out
//	jump.go       terms that are absurdly far above all that a node knows
//	timing.go     how long promises, leases and pauses are
//
// # Sources
//
// Gray and Cheriton, "Leases" (1989); Burrows, "The Chubby lock service for
// loosely-coupled distributed systems" (2006); Ongaro and Ousterhout, "In Search of an
// Understandable Consensus Algorithm" (2014); Ongaro, "Consensus: Bridging Theory and
// Practice" (2014), 3.10 on transfers, 6.2 on leaders that no majority hears, 6.4 on leases, 9.6 on
// asking first. Lecture notes: "each server votes for at most one", "master lease".
package lease
