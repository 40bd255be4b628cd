// Package broadcast is the trivial solution, which the others are measured by:
// "When a process starts an election, it broadcasts a message to every other
// process. Upon receiving this message, every process broadcasts its ID to every
// other process. After receiving all IDs, each process decides the process with
// the largest ID is the leader. What are the potential problems?" (lecture notes)
//
// # What it does not promise
//
// Nothing while failure detectors err: in a partition each side has a leader.
//
// The problems, each with the golden scenario that shows it (internal/sim,
// testdata/broadcast):
//
//   - It costs n(n-1) messages each time, whichever process calls, and whether or not
//     anything is unclear (every_time).
//   - No process knows when it has received all IDs: is a missing one late, or is its
//     process dead? Only a timeout ends the wait. So each election in which a dead
//     process is still believed to take part waits for it (waits_for_the_dead).
//   - A process that dies while it broadcasts has sent its ID to some: they wait for
//     a leader that the others never heard of (half_a_broadcast).
//   - The largest may die when all have its ID: each process has then decided for a
//     dead leader (largest_dies).
//   - A lost ID makes two leaders of one term, for a moment: a process that did not get
//     the largest ID decides for another (lost_id).
//   - So do different views: each process then waits for another set (views_differ).
//
// Most of these problems come from each process deciding by itself. So the largest here
// says that it leads, as in the bully algorithm, and nobody follows it before:
// COORDINATOR costs n-1 messages more. Of two leaders, package nomination lets one stay.
//
// # Sources
//
// The lecture notes, quoted above each rule.
//
// # Messages
//
//	ID           to all: this is my id:attr; it calls the election, and answers it
//	COORDINATOR  to all: I lead this term
//	STAND_NOW    lead the next term: from a resigning leader to its successor,
//	             and from a node that stands aside to one that acts in a term
//	             that is over
//
// # States of a round
//
//	         ID from another, or leader gone
//	idle ─────────────────────────────────────► collecting
//	collecting ──all IDs, or 2Δ, and mine is the largest──► leader
//	collecting ──all IDs, or 2Δ, and another is larger──► waiting
//	waiting ──the larger ones die──► leader
//	waiting ──no COORDINATOR──► term + 1
//	any ──COORDINATOR──► idle (follower)
package broadcast
