// Package tokenring is the ring whose message collects everybody: "B sends
// ELECTION(B) to C. C adds self, sends ELECTION(B,C) to D. … B sees complete ring,
// picks highest, broadcasts COORDINATOR." (lecture notes)
//
// # What it does not promise
//
// Nothing while failure detectors err: nodes that disagree about who is alive
// form different rings, and each ring may have a leader. It needs a detector that
// watches each node's own link to its successor, as the ring does (see there).
// "Slow (O(n) messages). Ring must be maintained. Sensitive to failures during
// election." (lecture notes)
//
// The node that chooses the leader is not the leader. In the textbooks all nodes believe
// COORDINATOR at once, also those that it reaches before the chosen node: they may follow
// a node that is dead, or has resigned, and never led. Here no node believes it until it
// has reached the chosen node, which then leads, and sends it all round. That costs the
// way from the node that chooses to the chosen one; the textbooks' 2n is the best case.
//
// # Sources
//
// The lecture notes, quoted above each rule; Tanenbaum and van Steen, "Distributed
// Systems" (2002), 5.4.2, for COORDINATOR that goes round.
//
// # Messages
//
//	ELECTION(initiator, ids)   clockwise: all candidates so far
//	COORDINATOR(chosen)        clockwise from the initiator to the one chosen
//	COORDINATOR(leader)        clockwise from there, all round; with no hops,
//	                           directly to a node that missed it
//	STAND_NOW                  lead the next term: from a resigning leader to its
//	                           successor, and from a node that stands aside to
//	                           one that acts in a term that is over
//
// # States of a round
//
//	         leader gone, or ELECTION arrives
//	idle ──────────────────────────────────────► participant
//	participant ──own ELECTION comes back, or one that nobody stops──► chooser
//	chooser ──picks itself──► leader;  ──picks another──► COORDINATOR to it
//	chooser ──COORDINATOR comes back untaken──► picks the next highest
//	participant ──COORDINATOR(itself)──► leader ──COORDINATOR comes home──► idle
//	participant ──COORDINATOR(leader)──► idle (follower)
//	participant ──the one chosen dies──► term + 1
//	participant ──no COORDINATOR in two trips──► asks its successor ──► term + 1
//
// # Messages without failures
//
// 2n when the winner initiates, 3n − 1 when its successor does.
package tokenring
