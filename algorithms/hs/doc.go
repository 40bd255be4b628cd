// Package hs is the election of Hirschberg and Sinclair on a ring: O(n log n)
// messages in the worst case, where the ring of Chang and Roberts takes O(n²). A
// candidate sends a PROBE both ways, in phase 0 to its neighbours only, then twice as
// far in each phase. A node that ranks above the candidate does not pass the PROBE on. So
// the candidates that remain are further apart in each phase, and few probes go far.
//
// # What it does not promise
//
// Nothing while failure detectors err: nodes that disagree about who is alive
// form different rings, and each ring may have a leader. It needs a detector that
// watches each node's own links to both its neighbours, as the ring does (see there).
//
// In the usual case, in which one node notices that the leader is gone, it sends more
// messages than package ring, whose worst case is rare. And it is slower: a probe has to
// come back before the next one is sent.
//
// # Sources
//
// Hirschberg and Sinclair, "Decentralized Extrema-Finding in Circular Configurations
// of Processors", Communications of the ACM 23 (1980), for the algorithm; Attiya and
// Welch, "Distributed Computing" (2004), 3.3.2, for the words PROBE and REPLY. The
// lecture notes on failures in a ring, quoted above the rules.
//
// # Messages
//
//	PROBE(candidate, phase)  both ways, over up to 2^phase links: is anybody above it?
//	REPLY(candidate, phase)  back the way the probe came: nobody that it passed
//	ELECTED(leader)          clockwise from the winner, back to the winner; with no
//	                         hops, directly to a node that missed it
//	STAND_NOW                lead the next term: from a resigning leader to its
//	                         successor, and from a node that stands aside to one
//	                         that acts in a term that is over
//
// # States of a round
//
//	            leader gone, or PROBE of a lower node
//	idle ────────────────────────────────────────────► candidate in phase 0
//	candidate ──REPLY from both ways──► candidate in the next phase
//	candidate ──own PROBE comes home──► leader ──ELECTED comes home──► idle
//	idle, candidate ──PROBE of a higher node──► beaten
//	beaten ──ELECTED──► idle (follower)
//	any ──the best of the round dies──► term + 1
//	any ──no ELECTED in a round's time──► asks its successor ──► term + 1
//
// # Messages without failures
//
// 4(2^k − 1) + 3n when the winner initiates, k being the least with 2^k ≥ n. At most
// 8n(1 + k) + n, whichever nodes initiate: any two candidates in phase k are more than
// 2^(k-1) links apart.
package hs
