// Package consensus elects by agreeing: "Can use consensus to solve election: each
// process proposes a value; everyone in group reaches consensus on some process Pi's
// value; that lucky Pi is the new leader!" (lecture notes). The consensus is
// single-decree Paxos, one instance a term, and the value that a process proposes is
// itself.
//
// # What it does not promise
//
//   - A term has at most one leader, but an old leader may not know that it was
//     replaced: there is no lease. With voters the runtime puts an office around the
//     algorithm, which adds one, and a token.
//   - Without a majority of the voters nothing is chosen: of two both must live, of
//     one that one.
//   - "Since consensus is impossible in asynchronous systems, so is election": two
//     proposers may outbid each other for ever. What keeps them apart are timeouts: all
//     but the highest leave it to those above, each a little longer; and an attempt
//     that fails ends the term.
//   - Consensus is on some process, not on the best one. The best is elected because
//     whoever proposes waits a moment for the proposals of those above, and takes the
//     highest it has; an earlier proposer's choice binds it all the same.
//   - The chosen one may be dead: the term then has no leader, and the next begins.
//   - It is the dearest of the elections here with a quorum: five messages a node.
//
// # Why one value is chosen
//
// Paxos: a value is chosen when a majority accepted it in one ballot. Who prepares a
// higher ballot hears from a majority, one of which accepted it, and must take it over.
// For that a process must remember what it promised and accepted, and never use a
// ballot twice. It need not write that down: a former life can have taken part in no
// term above what it had reserved, durably, and a process takes part only above that.
//
// # Sources
//
// Lamport, "The Part-Time Parliament" (1998), and "Paxos Made Simple" (2001), 2.2,
// quoted above each rule; the lecture notes on the reduction.
//
// # Messages
//
//	PREPARE      to all: take part in no ballot below mine
//	PROMISE      back: so be it, with what was accepted, and the sender's own proposal
//	ACCEPT       to all: accept this value
//	ACCEPTED     back
//	CHOSEN       to the one that was chosen; then from it to all: it leads this term
//	ENQUIRY      who leads?
//	TIMEOUT_NOW  stand for the next term: from a resigning leader to its successor,
//	             and from one that stands aside to whoever acts in a term that
//	             is over
//
// # States of a round
//
//	idle ──leader gone, a higher process lives──► listening
//	idle ──leader gone, nobody higher lives, or a call──► preparing
//	listening ──nothing in time──► preparing
//	preparing ──PROMISE of a majority──► accepting
//	accepting ──ACCEPTED of a majority, its own proposal──► leader
//	accepting ──ACCEPTED of a majority, another's──► telling
//	any ──a higher ballot──► listening
//	preparing, accepting, telling ──nothing in time──► term + 1
//	any ──CHOSEN──► leader, if it is this process's proposal, else idle (follower)
package consensus
