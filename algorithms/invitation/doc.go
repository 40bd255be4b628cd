// Package invitation is Garcia-Molina's invitation algorithm, the one that he made for
// networks that split and slow down. Nobody is told to follow: processes form groups,
// the coordinator of one invites others into it, and leads whoever accepts.
//
// # What it does not promise
//
// Nothing while failure detectors err: in a partition each side has a leader. So it is
// meant to be: the paper asks for one leader a group, and lets groups be many, where
// all that cannot talk to each other need one of their own.
//
// A coordinator leads when the time to accept is over, whoever has accepted. One whose
// ACCEPT is late is led by nobody until it is told; and a slow network may have two
// leaders of one term, as with the bully. Stoller's waits instead (package stoller).
//
// Where all notice at one instant it costs n² messages: everybody asks everybody.
//
// # Sources
//
// Garcia-Molina, "Elections in a Distributed Computing System", IEEE Transactions on
// Computers C-31 (1982), section V, in our own words above the rules.
//
// # What is kept of the paper
//
//   - Whoever loses its coordinator forms a group of itself, at once, and asks nobody.
//   - A coordinator asks the others whether they are coordinators: ARE_YOU_COORDINATOR.
//   - It waits before it merges, the less the higher it ranks. (The paper gives each
//     node a time of its own; here whoever is above has its turn first, so that the
//     best one wins where nothing fails.)
//   - It merges by INVITATION; whoever joins passes it on to those that have joined it;
//     ACCEPT makes a member, and READY goes to members only.
//   - A member that hears nothing asks its coordinator, and then forms a group of itself.
//
// # What the contract's rules replace
//
//   - The paper numbers a group by its coordinator and that one's own counter. Here the
//     number is the term, with the leader that READY names: an epoch. So groups that
//     have no leader yet share a term, and a group that has one owns it.
//   - In the paper coordinators that lead merge by invitation too, when they find each
//     other: a group is dissolved for it. Here the higher epoch stands, at once, and the
//     other's members follow it without having been asked (package nomination). Where
//     split brains are mended, all leaders stop first, and then the groups are merged by
//     invitation, in a term of their own (package mend).
//   - In the paper a node that starts is a group of itself, and its joining makes a new
//     group of everybody. Here the leader tells it, and nothing else changes.
//   - A member finds out that its coordinator is dead from its failure detector, and
//     from the leader's silence, not by calls of its own. READY is repeated to all.
//
// # Messages
//
//	ARE_YOU_COORDINATOR(self)  to all: whose group are you in?
//	GROUP(coordinator)         the answer: this one's, or my own
//	INVITATION(coordinator)    to all, or passed on to one's own members: join this group
//	ACCEPT                     to the coordinator: I am a member
//	READY(leader)              to the members: I lead this term; repeated to all
//	TIMEOUT_NOW                lead the next term: from a resigning leader to its
//	                           successor, and from one that stands aside to whoever
//	                           acts in a term that is over
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
// 3(n − 1) when the next in line notices: INVITATION, ACCEPT, READY. 5n − 6 when
// another does, which asks all first, and the highest answers by inviting;
// (n − 1)(2n + 1) when all do at one instant.
package invitation
