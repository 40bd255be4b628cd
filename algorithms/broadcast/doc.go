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
//   - It costs n(n-1) messages each time, whoever calls, and whether or not anything
//     is unclear (every_time).
//   - Nobody knows when it has received all: whose ID is late, and who is dead? Only
//     a timeout ends the wait, and it is on the path of every election that a dead
//     process is still believed to take part in (waits_for_the_dead).
//   - A process that dies while it broadcasts has sent its ID to some: they wait for
//     a leader that the others never heard of (half_a_broadcast).
//   - The largest may die when all have its ID: each process has decided, and for the
//     dead (largest_dies).
//   - An ID that is lost makes two leaders of one term, for a moment: whoever did not
//     get the largest decides for itself (lost_id).
//   - So do views that differ: "all" is then another set for each (views_differ).
//
// Deciding alone is the problem behind most of them. So the largest here says that
// it leads, as in the bully algorithm, and nobody follows it before: COORDINATOR
// costs n-1 messages more, and package nomination makes two leaders one again.
//
// # Sources
//
// The lecture notes, quoted above each rule.
//
// # Messages
//
//	ID           to all: this is my id:attr; it calls the election, and answers it
//	COORDINATOR  to all: I lead this term
//	TIMEOUT_NOW  lead the next term: from a resigning leader to its successor,
//	             and from one that stands aside to whoever acts in a term that
//	             is over
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
