// Package office turns a nominee into a leader. It is a Machine around any
// nominating Machine: that one says who should lead, the office lets it lead
// once a majority of the configured voters has granted it a term, and for as
// long as they keep their promise to grant nobody else.
//
// # What it does not promise
//
// At most one node holds the office at any instant while clocks run at rates
// that differ by no more than Drift, and count the time a machine is suspended.
// No lease can help a process that is stopped between a check and the act that
// follows: for that the term is a fencing token, which a store can compare.
//
// # A term
//
//	nominee            voters                  everybody
//	  PRE_VOTE ─────►    would you vote for me?  (nothing changes)
//	           ◄─────  PRE_VOTE_REPLY            yes, or what binds it
//	  REQUEST_VOTE ─►    vote, durable
//	           ◄─────  VOTE                      or no; a promise of length Promise
//	  LEASE    ────────────────────────────►     it leads, for so long
//	  RENEW    ─────►                            every third of a promise, and to lend
//	           ◄─────  HEARTBEAT_REPLY           or no; the promise anew
//	  RELEASE  ─────►    the promise is over     when all its work has stopped
//	  OFFER    ─────►    a successor: would you?  before it leaves, of a transfer
//	           ◄─────  REPLY
//	  TIMEOUT_NOW ──►    that successor stands    after RELEASE
//
// # The rules
//
// Voter:
//   - It votes once a term, durably before it answers, for one process: an id
//     and a session. It grants an equal term to that process only.
//   - A higher term it grants when its promise is over: run out, released by the
//     very process it voted for, or that process is proven dead.
//   - A request that is refused changes nothing: no term is adopted, no promise
//     dropped. The refusal names the term that the voter knows of.
//   - Who granted a RENEW of a lease that is to be lent to a process outside keeps that
//     promise whatever is proven: no proof of a node's death is about that process.
//     RELEASE comes when all that was lent is over, and ends it.
//   - After a start it grants no new term for as long as any promise of its
//     former life may run. Neither release nor proof ends that. Until then it may
//     stand, and votes for itself, but does not count that: a majority of the others
//     has to grant.
//   - One of which no vote is saved may have lost its disk: it grants nothing, old or new,
//     until it was told what it may have voted in, or all voters say that they never voted.
//     Of the highest term that it was told of it grants no REQUEST_VOTE, and the RENEW of whoever
//     has won it.
//
// Candidate and holder:
//   - It asks first, and claims only when a majority would grant. So a node that
//     was cut off comes home without deposing anybody. Where the nomination asks a
//     majority too, the two questions are asked at once; the claim waits for both.
//   - The lease runs from before the first REQUEST_VOTE left, and is shorter than the
//     promise by all that clocks may differ.
//   - Only grants of this very term and session count, each for its own round of
//     questions, once a voter, and only before the lease would end. On a busy machine one
//     may take longer than to the next RENEW: it counts for a lease from when its round
//     began.
//   - A claim waits the longer for its grants the more of this node's failed in a row, up
//     to half a lease: where answers take longer than planned one wins all the same. A
//     recess in between changes nothing in that. One that too many voters deny for it to
//     win waits no longer.
//   - After two rounds without a majority it asks no more, lest a node that
//     hears nothing locks the voters. It keeps to its lease, and never renews
//     after that.
//   - Leaving: it leads no more; then its work stops; only then RELEASE. In any
//     other order two may work at once.
//   - A transfer asks the successor first; that asks the voters, and would take over if a
//     majority would vote for it but for the promise to this leader. Nothing changes
//     before. Then it is left as ever, and after RELEASE it is told: TIMEOUT_NOW.
//     Preferring a node that ranks higher is a transfer, at most once in a while,
//     ever more rarely while it goes on.
//   - A node that is not eligible does not stand, and leaves; it votes. One of which
//     three claims in a row failed is not, for a promise, while another could stand:
//     others are to try.
//   - A process that was stopped, as its timer tells, follows nobody by what it reads
//     right after: that may have waited as long. A holder says so again.
//   - Nomination says who stands first. It never decides what is safe, and is
//     never needed: when no office was heard of for a promise, any voter stands,
//     the better-ranked sooner.
//
// # The proven death
//
// A voter whose promise binds it to a process that is proven dead is free at
// once: the process's work ended with it. This is what replaces a leader in
// milliseconds although its lease still runs. It assumes that nothing between
// the nodes ends connections on a living process's behalf, and that no work
// outlives the process; algorithms.Config.KeepPromises turns it off.
//
// # Fencing
//
// Where Config.Fence is set, a second lock: nobody takes the office while a
// process that may hold an earlier one was not seen to stop. Seen is a RELEASE, a
// proven death, its own grant of the new term, or a fence agent's word.
//   - A voter keeps, durably, whom it granted earlier terms and has not seen to
//     stop; its VOTE tells. A LEASE of a later term settles all before it. One that lost
//     its disk takes over what the others tell, their last votes included.
//   - Fencing comes after the grants: whoever may shoot holds the promises of a
//     majority for the term it is to take, and renews them however long the agent
//     takes. So nobody shoots from a minority, and no two shoot at a time. Even
//     then it waits for the answers of slow voters, longer below others in rank.
//   - A failed attempt is repeated, ever more rarely; after the third the term is
//     released, and the office left to the others until each may have stood.
//   - Who is seen to stop meanwhile is not shot: the agent is called back.
//   - An agent that lies takes nothing from the rules above it: the old lease has
//     ended all the same.
//
// # Sources
//
// Burrows, "The Chubby lock service for loosely-coupled distributed systems"
// (2006); Gray and Cheriton, "Leases" (1989); Ongaro, "Consensus: Bridging
// Theory and Practice" (2014), 9.6 on asking first. Lecture notes: "each server
// votes for at most one", "master lease".
package office
