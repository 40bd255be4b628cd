// Package ring is the ring election: "N processes are organized in a logical
// ring … All messages are sent clockwise around the ring." (lecture notes)
//
// # What it does not promise
//
// Nothing while failure detectors err: nodes that disagree about who is alive
// form different rings, and each ring may have a leader. Package nomination
// says how they become one again.
//
// A message goes to one successor only. If that way is cut and the detector
// does not say so, every round ends there, and nobody leads until the detector
// finds out. The ring needs a detector that watches each node's own link to its
// successor; gossip alone, which goes round a cut, is not enough. The bully has
// no such weakness.
//
// # Sources
//
// The lecture notes, quoted above each rule; Chang and Roberts, "An Improved
// Algorithm for Decentralized Extrema-Finding in Circular Configurations of
// Processes" (1979).
//
// # Messages
//
//	ELECTION(initiator, best)  clockwise: the best candidate so far
//	ELECTED(leader)            clockwise from the winner, back to the winner;
//	                           with no hops, directly to a node that missed it
//	STAND_NOW                  lead the next term: from a resigning leader to its
//	                           successor, and from a node that stands aside to
//	                           one that acts in a term that is over
//
// # States of a round
//
//	         leader gone, or ELECTION arrives
//	idle ──────────────────────────────────────► participant
//	participant ──own id:attr comes back──► leader ──ELECTED comes home──► idle
//	participant ──ELECTED──► idle (follower)
//	participant ──no ELECTED in two trips──► asks its successor ──► term + 1
//	participant ──the round's best dies──► term + 1
//
// # Messages without failures
//
// 2N when the winner initiates, 3N − 1 when its successor does; ELECTION alone
// N·H_N on average when all initiate on a random ring.
package ring
