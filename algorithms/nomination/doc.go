// Package nomination holds the rules that all nominating algorithms share: terms, beliefs,
// announcements, back-off, pre-emption and handing over. An algorithm adds a Round, which says how
// the nodes of one term find the best node.
//
// # What it does not promise
//
// A nominated leader is best-effort. While failure detectors err, or the network is cut, two nodes
// may lead at the same time, even in one term. When they meet, the leader with the higher
// leadership (term, leader id, incarnation) stays and the other steps down.
//
// # The shared rules
//
//   - A term numbers a round. Every message carries a term, and terms only rise. Before a
//     message leaves, an upper bound of the node's terms is durable. The bound is raised, and
//     the term itself is written, after the round.
//   - A node adopts a higher term and forgets the state of its round. It drops a message of a
//     lower term and tells the sender who leads. It refuses a term that is more than
//     proto.MaxTermJump above its own, unless most of the others, or a majority of the voters,
//     tell of that term.
//   - A rank is (attribute, id). The attribute does not change during a term.
//   - A node is no candidate in a term that an earlier process of it may have taken part in,
//     in the term that it found when it started, and in a term whose leader it lost: others
//     may have ended that term.
//   - A node follows an announcement unless its leadership is below the one that the node
//     knows. If the node saw the announced leader die in that very term, it starts the next
//     term instead.
//   - A node that hears its leader does not adopt a higher term from a node that is not in its
//     view: otherwise a node that nobody reaches would depose one leader after another.
//   - The leader tells each newcomer that it leads, and tells everybody again after each
//     AnnounceEvery: so a lost message leaves no node behind for long.
//   - A node doubts a leader that was silent for three such periods, and asks the others. If
//     none of them has heard the leader either, the leader is lost.
//   - A node that knows no leader always has a timer running, unless it was told to stand
//     aside.
//   - A node that is not eligible stands aside, and ranks below all that are eligible. If it
//     leads, it steps down, unless it may keep its leadership.
//   - A leader that an operator asks to hand over first asks the successor. If the successor
//     will lead, the leader steps down and then tells the successor. The successor ranks above
//     all others while it leads, so that pre-emption does not undo the operator's choice.
//   - Calls of elections back off: a few are free; then each waits twice as long as the one
//     before, with jitter, up to a bound.
//
// # Time
//
// Every timeout is a multiple of Delta, the planned worst-case one-way latency, as the lecture
// notes derive them: "worst-case one-way latency = worst-case processing time + worst-case message
// latency".
package nomination
