// Package invitation is Garcia-Molina's invitation algorithm, which he made for networks
// that split and slow down. No process is told to follow: processes form groups, and the
// coordinator of a group invites others into it, and leads those that accept.
//
// # What it does not promise
//
// Nothing while failure detectors err: in a partition each side has a leader. That is
// intended: the paper demands one leader for each group, and allows many groups, so that
// processes which cannot reach each other each have a leader.
//
// A coordinator leads when the time to accept is over, however many have accepted. A
// process whose ACCEPT is late has no leader until it is told of one; and a slow network
// may have two leaders of one term, as with the bully. Package stoller waits instead.
//
// If all notice at one instant that the leader is gone, it costs about 2n² messages: each
// process asks all others.
//
// # Sources
//
// Garcia-Molina, "Elections in a Distributed Computing System", IEEE Transactions on
// Computers C-31 (1982), section V, in our own words above the rules.
//
// # What is taken from the paper
//
//   - A process that loses its coordinator at once forms a group of itself.
//   - A coordinator asks the others whether they are coordinators: ARE_YOU_COORDINATOR.
//   - It waits before it merges groups, the less the higher it ranks. (In the paper each
//     node waits for a time of its own; here higher nodes have their turn first, so that
//     the best one wins if nothing fails.)
//   - It merges groups by INVITATION. A coordinator that accepts passes it on to the
//     members of its own group. ACCEPT makes a member, and READY goes to members only.
//   - A member that hears nothing asks its coordinator, and then forms a group of itself.
//
// # What the contract's rules replace
//
//   - In the paper the number of a group is its coordinator and a counter of that
//     coordinator. Here it is the term, and the leader that READY names: a leadership. So
//     groups without a leader share a term.
//   - In the paper coordinators that lead, and find each other, merge their groups by
//     invitation too. Here the higher leadership stays, at once, and the members of the
//     other group follow it without having been asked (package nomination). With the
//     recovery from split brains, all leaders stop first, and then the groups are merged by
//     invitation, in a new term (package splitbrain).
//   - In the paper a node that starts is a group of itself, and its joining makes a new
//     group of everybody. Here the leader tells it, and nothing else changes.
//   - A member finds out that its coordinator is dead from its failure detector, and
//     from the leader's silence, not by asking it again and again. READY is repeated to all.
//
// # Messages
//
//	ARE_YOU_COORDINATOR(self)  to all: whose group are you in?
//	GROUP(coordinator)         the answer: this one's, or my own
//	INVITATION(coordinator)    to all, or passed on to one's own members: join this group
//	ACCEPT                     to the coordinator: I am a member
//	READY(leader)              to the members: I lead this term; repeated to all
//	STAND_NOW                  lead the next term: from a resigning leader to its
//	                           successor, and from a node that stands aside to one
//	                           that acts in a term that is over
//
// # States of a round
//
//	        leader gone, and others are higher
//	idle ──────────────────────────────────────► checking
//	idle ──ARE_YOU_COORDINATOR, and others are higher──► yielding
//	idle ──either, and nobody is higher──► merging
//	checking ──answers: none higher──► merging;  ──some higher──► yielding
//	yielding ──its turn, or INVITATION of a lower node──► merging
//	merging ──all have accepted, or 2Δ──► leader
//	idle, checking, yielding, merging ──INVITATION of a higher node──► accepted
//	accepted ──the coordinator dies, or no READY, twice──► term + 1
//	any ──READY──► idle (follower)
//
// # Messages without failures
//
// 3(n − 1) when the next in line notices that the leader is gone: INVITATION, ACCEPT,
// READY. 5n − 6 when another node does: it asks all first, and the highest answers with
// INVITATION. (n − 1)(2n + 1) when all do at one instant.
package invitation
