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
// The one that picks is not the one that leads. By the book everybody believes
// COORDINATOR at once, those too that it reaches before the one it names: they
// follow a node that may be dead, or have resigned, and has never led. Here it goes
// on, unbelieved, until it comes to the one that was chosen, which leads from then
// on and sends it all round. That costs the way from the one that picks to the one
// that is picked; the textbooks' 2n is the best case.
//
// # Sources
//
// The lecture notes, quoted above each rule; Tanenbaum and van Steen, "Distributed
// Systems" (2002), 5.4.2, for COORDINATOR that goes round.
//
// # Messages
//
//	ELECTION(initiator, ids)   clockwise: everybody who stands, so far
//	COORDINATOR(chosen)        clockwise from the initiator to the one chosen
//	COORDINATOR(leader)        clockwise from there, all round; with no hops,
//	                           straight to one that missed it
//	TIMEOUT_NOW                lead the next term: from a resigning leader to its
//	                           successor, and from one that stands aside to
//	                           whoever acts in a term that is over
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
