// Package consensus elects by agreeing: "Can use consensus to solve election: each
// process proposes a value; everyone in group reaches consensus on some process Pi's
// value; that lucky Pi is the new leader!" (lecture notes). The consensus is
// single-decree Paxos, with one instance for each term. Each process proposes itself.
//
// # What it does not promise
//
//   - A term has at most one leader, but an old leader may not know that it was
//     replaced: there is no lease. With voters the runtime adds package lease, and so a
//     lease and a fencing token.
//   - Without a majority of the voters nothing is chosen: of two voters both must
//     live, of one that one must.
//   - "Since consensus is impossible in asynchronous systems, so is election": two
//     proposers may outbid each other for ever. Timeouts keep them apart: each process
//     first leaves it to the higher ones, the longer the lower it ranks; and an attempt
//     that fails ends the term.
//   - Consensus is on some process, not on the best one. The best is elected because a
//     proposer waits a moment for the proposals of higher processes, and takes the highest
//     that it has. But the choice of an earlier proposer may bind it.
//   - The chosen process may be dead: the term then has no leader, and the next begins.
//   - Of the elections with a quorum it costs the most: five messages for each node.
//
// # Why one value is chosen
//
// Paxos: a value is chosen when a majority accepted it in one ballot. A proposer that
// prepares a higher ballot hears from a majority, one of which accepted that value, and
// must propose it. So a process must remember what it promised and accepted, and never use
// a ballot twice. It need not save that: a former life has taken part only in terms that
// it had reserved on its disk, and a process takes part only in terms above these.
//
// # Sources
//
// Lamport, "The Part-Time Parliament" (1998), and "Paxos Made Simple" (2001), 2.2,
// quoted above each rule; the lecture notes on the reduction.
//
// # Messages
//
//	PREPARE      to all: take part in no ballot below mine
//	PROMISE      back: yes, with what I have accepted, and my own proposal
//	ACCEPT       to all: accept this value
//	ACCEPTED     back
//	CHOSEN       to the chosen process; then from that to all: it leads this term
//	ENQUIRY      who leads?
//	STAND_NOW    stand for the next term: from a resigning leader to its successor,
//	             and from a node that stands aside to one that acts in a term
//	             that is over
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
