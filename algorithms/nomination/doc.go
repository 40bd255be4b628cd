// Package nomination holds the rules that all nominating algorithms share:
// terms, beliefs, announcements, damping, pre-emption, handing over. An
// algorithm adds a Round: how the nodes of one term find the best of them.
//
// # What it does not promise
//
// A nominated leader is best-effort. While failure detectors err, or the
// network is cut, two nodes may lead at once, even in one term. When they meet,
// the higher epoch (term, leader id, session) stands and the other steps down.
//
// # The shared rules
//
//   - A term numbers a round. It is in every message, and only rises. Before a
//     message leaves, a bound on the terms of this node is durable; it is raised,
//     and the term itself written down, once the round is over.
//     A higher term is adopted and the round's state forgotten; a lower one is
//     dropped and its sender told who leads; a jump of more than proto.MaxTermJump is
//     refused, unless most of the others tell of it, or a majority of the voters.
//   - A rank is (attribute, id), the attribute frozen for the term.
//   - A node never stands in a term that a former life of it may have taken part
//     in, that it found when it started, or whose leader it lost: others may have
//     ended it.
//   - An announcement is followed if its epoch is not below the current one. One
//     that names a leader which this node saw die in that very term starts the
//     next term instead.
//   - A call of a higher term by a node that is not in the view is not adopted
//     while this node hears its leader: one that nobody reaches deposes nobody.
//   - The leader tells each newcomer, and repeats itself to all every
//     AnnounceEvery, so that no lost message leaves anybody behind.
//   - A leader that is silent for three of these is doubted: the others are
//     asked, and if none has heard it either, it is lost.
//   - A node that knows no leader always has a timer running, unless it was
//     told to stand aside.
//   - A node that is not eligible stands aside, and ranks below all that are. As the
//     leader it steps down, unless it is to keep what it has.
//   - A leader that an operator asks to hand over asks the successor first, steps
//     down when that would lead, and then tells it. That one ranks above all while
//     it leads: no preference undoes what an operator chose.
//   - Own rounds are damped: a few are free, then each waits twice as long as
//     the one before, with jitter, up to a bound.
//
// # Time
//
// Every timeout is a multiple of Delta, the planned worst-case one-way latency,
// as the lecture notes derive them: "worst-case one-way latency = worst-case
// processing time + worst-case message latency".
package nomination
