// Package bully is the bully algorithm: "All processes know each other, and
// have a ranking. As leaders fail, the next-in-line process assumes Leadership,
// or a lower-ranked process asks higher-ranked processes until one assumes
// Leadership." (lecture notes)
//
// # What it does not promise
//
// Nothing while failure detectors err: in a partition each side has a leader,
// and a node that is wrongly believed dead is replaced while it still leads.
// Under crashes and a network slower than Delta, two nodes may lead one term
// for as long as a message takes (Stoller, "Leader Election in Distributed
// Systems with Crash Failures", 1997). Package nomination says how they become
// one again.
//
// # Sources
//
// The lecture notes, quoted above each rule; Garcia-Molina, "Elections in a
// Distributed Computing System" (1982).
//
// # Messages
//
//	ELECTION     to every higher-ranked node: take over, if you are alive
//	OK           to the sender of ELECTION: I am alive, I go on from here
//	COORDINATOR  to all: I lead this term
//	STAND_NOW    lead the next term: from a resigning leader to its successor,
//	             and from a node that stands aside to one that acts in a term
//	             that is over
//
// # States of a round
//
//	          ELECTION from a lower node, or leader gone
//	idle ────────────────────────────────────────────────► asking
//	asking ──OK──► waiting ──no COORDINATOR──► asking again ──► term + 1
//	asking ──no OK in 2Δ, or no higher node alive──► leader
//	any ──COORDINATOR──► idle (follower)
package bully
