// Package franklin is Franklin's election on a ring that goes both ways: O(n log n)
// messages in the worst case, in rounds of neighbours. Each candidate sends itself
// both ways, as far as the next candidate; whoever ranks below one of its two
// neighbours stands no more and from then on passes messages on. So at least every
// other candidate falls in each round, and a round costs two messages a link.
//
// # What it does not promise
//
// Nothing while failure detectors err: nodes that disagree about who is alive
// form different rings, and each ring may have a leader. It needs a detector that
// watches each node's own links to both its neighbours, as the ring does (see there).
//
// A round waits for both neighbours: one message that is lost stops it until a
// timeout, or until the ring is repaired. Where one node notices, it costs a trip
// more than the ring of Chang and Roberts: few elections are the worst case of that.
//
// # Why not Peterson's
//
// Peterson (and Dolev, Klawe and Rodeh) came to O(n log n) on a ring that goes one
// way only, and with a smaller constant. There a candidate takes its neighbour's rank
// for its own and stands for it, so that the highest rank wanders: it is lost with
// whoever holds it at the moment, though the node whose rank it is lives on; and in
// the end one node knows that another one has won, and has to tell it. It also needs
// links that keep the order of messages. The links here go both ways, and reorder.
// Franklin's winner is the highest itself, and knows by its own message.
//
// # Sources
//
// Franklin, "On an Improved Algorithm for Decentralized Extrema Finding in Circular
// Configurations of Processors", Communications of the ACM 25 (1982), for the
// algorithm; Peterson, "An O(n log n) Unidirectional Algorithm for the Circular
// Extrema Problem", ACM TOPLAS 4 (1982), for what is said of it. The lecture notes on
// failures in a ring, quoted above the rules.
//
// What is kept: the rounds, and who falls. What is ours: a message says its round, so
// that links need not keep the order, and one of a later round counts for the earlier
// ones too; a node that did not notice is woken by the first message that comes to it,
// and stands if it ranks above; and all of the contract: terms, timeouts, repair.
//
// # Messages
//
//	CANDIDATE(candidate, round)  both ways, to the next candidate: is it above?
//	ELECTED(leader)              clockwise from the winner, back to the winner; with
//	                             no hops, straight to one that missed it
//	TIMEOUT_NOW                  lead the next term: from a resigning leader to its
//	                             successor, and from one that stands aside to whoever
//	                             acts in a term that is over
//
// # States of a round
//
//	            leader gone, or CANDIDATE of a lower node
//	idle ───────────────────────────────────────────────► candidate in round 0
//	candidate ──a lower one's CANDIDATE from both ways──► candidate in the next round
//	candidate ──own CANDIDATE comes home──► leader ──ELECTED comes home──► idle
//	idle, candidate ──CANDIDATE of a higher node──► relay
//	relay ──ELECTED──► idle (follower)
//	any ──the best of the round dies──► term + 1
//	any ──no ELECTED in a round's time──► asks its successor ──► term + 1
//
// # Messages without failures
//
// 3n when the winner initiates: its CANDIDATE goes home both ways, ELECTED once round.
// At most 2n(1 + k) + n, whoever initiate, k being log2 n rounded down: a round costs
// a message each way on each link, and of two neighbours that stand, one falls.
package franklin
