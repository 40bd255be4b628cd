// Package franklin is Franklin's election on a ring that goes both ways: O(n log n)
// messages in the worst case. In each round, each candidate sends its rank both ways, as
// far as the next candidate. A candidate that ranks below one of these two neighbours
// falls: it gives up, and from then on only passes messages on. So at least half of the
// candidates fall in each round, and a round costs two messages for each link.
//
// # What it does not promise
//
// Nothing while failure detectors err: nodes that disagree about who is alive
// form different rings, and each ring may have a leader. It needs a detector that
// watches each node's own links to both its neighbours, as the ring does (see there).
//
// A round waits for both neighbours: one lost message stops it until a timeout, or
// until the ring is repaired. In the usual case, in which one node notices that the
// leader is gone, it sends n messages more than package ring, whose worst case is rare.
//
// # Why not Peterson's
//
// Peterson (and Dolev, Klawe and Rodeh) reached O(n log n) on a ring that goes one way
// only, and with a smaller constant. There a candidate takes over its neighbour's rank
// and stands with it, so that the highest rank moves from node to node. It is lost if
// the node that holds it dies, although the node to which it belongs lives. In the end
// one node knows that another one has won, and has to tell it. The algorithm also needs
// links that keep the order of messages. The links here go both ways, and may reorder
// messages. In Franklin's algorithm the winner finds out itself, by its own message.
//
// # Sources
//
// Franklin, "On an Improved Algorithm for Decentralized Extrema Finding in Circular
// Configurations of Processors", Communications of the ACM 25 (1982), for the
// algorithm; Peterson, "An O(n log n) Unidirectional Algorithm for the Circular
// Extrema Problem", ACM TOPLAS 4 (1982), for what is said of it. The lecture notes on
// failures in a ring, quoted above the rules.
//
// From the paper: the rounds, and who falls. Our own: a message names its round, so
// that links may reorder messages, and a message of a later round counts for the earlier
// ones too; a node that did not notice begins with the first message that comes to it,
// as a candidate if it ranks above the sender; and terms, timeouts and repair.
//
// # Messages
//
//	CANDIDATE(candidate, round)  both ways, to the next candidate: is it above?
//	ELECTED(leader)              clockwise from the winner, back to the winner; with
//	                             no hops, directly to a node that missed it
//	STAND_NOW                    lead the next term: from a resigning leader to its
//	                             successor, and from a node that stands aside to one
//	                             that acts in a term that is over
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
// At most 2n(1 + k) + n, whichever nodes initiate, k being log2 n rounded down: a round
// costs a message each way on each link, and of two neighbours one falls.
package franklin
