// Package stoller is Stoller's bully for asynchronous systems. Garcia-Molina's bully
// leads when no higher process has answered in time: a message that takes longer makes
// two leaders. Here a candidate leads when each other process has stopped for it, has
// said for which other process it waits, or is dead as the failure detector says. A
// timeout never counts as an answer.
//
// # What it promises
//
// As long as no detector calls a living process dead, and none leaves one out, no two
// processes lead at once, however slow the network is: the former leader has stopped
// before the next one leads. A detector that is late costs time only.
//
// # What it does not promise
//
// When failure detectors err, as in a partition, each side has a leader, as with all
// nominating algorithms; leases exclude that. The detector of a process that has just
// started errs too, while it sees nobody: if it takes longer to see the others than the
// process waits, the process leads beside their leader until they meet.
//
// A process that hangs, or that messages do not reach, stops every election until the
// detectors call it dead: nobody leads without its answer. So does a dead process until
// its death is noticed. That is the price of the promise: the bully would go on after
// a timeout, and be right most of the time.
//
// # Sources
//
// Stoller, "Leader Election in Asynchronous Distributed Systems", IEEE Transactions on
// Computers 49 (2000), and "Leader Election in Distributed Systems with Crash
// Failures", Indiana University, report 481 (1997), in our own words above the rules;
// Garcia-Molina, "Elections in a Distributed Computing System" (1982), whose bully
// they correct.
//
// From the papers: HALT, ACK, REJECT and LEADER, and when each is sent. What differs:
//
//   - In the paper a candidate halts the others one after the other, here all at once:
//     the same messages, in 3 transmission times.
//   - In the paper a candidate goes on when a process rejects it, and leads the others.
//     Here it waits for the higher process that the REJECT names: a term has one leader.
//   - A process that learns that the leader is dead asks the highest process that it sees
//     to stand, with NOT_NORM, as in the first stage of Garcia-Molina's. In the paper it
//     stands itself, and the higher ones halt it later.
//   - The paper's leader asks all others again and again whether they are normal, and
//     starts anew when one says NOT_NORM. Here it repeats LEADER: package nomination.
//   - Election numbers are terms; links may lose, repeat and reorder, so HALT is sent
//     until it is answered.
//
// # Messages
//
//	NOT_NORM(self)    to the highest: I know no leader, stand
//	HALT(candidate)   to all others: stop, and wait for me
//	ACK               to the candidate: I have stopped
//	REJECT(above)     to the candidate: I wait for this one, which ranks above you
//	LEADER(leader)    to all others: I lead this term
//	STAND_NOW         lead the next term: from a resigning leader to its successor,
//	                  and from a node that stands aside to one that acts in a term
//	                  that is over
//
// # States of a round
//
//	        leader gone, and another is higher
//	idle ───────────────────────────────────────► asking
//	idle ──leader gone or NOT_NORM, nobody higher──► halting
//	asking ──nobody higher any more──► halting
//	halting ──all have answered ACK, or are dead──► leader
//	halting ──REJECT──► asking
//	idle, asking, halting ──HALT of a higher node──► waiting
//	waiting ──the candidate dies──► term + 1
//	asking, waiting ──nothing heard, twice──► term + 1
//	any ──LEADER──► idle (follower)
//
// # Messages without failures
//
// 3(n − 1) when the next in line notices that the leader is gone: HALT, ACK, LEADER. One
// NOT_NORM more when another process does, and 4(n − 1) when all do at one instant.
package stoller
