// Package splitbrain finds and mends split brains of a best-effort cluster. It is a
// Machine around a nominating Machine, which goes on as it would alone: the nodes
// that meet again agree on one nominee. What changes is when that nominee leads.
//
// # The five steps
//
// Lecture notes: "If split-brain detected: 1. Stop all leaders 2. Compare states
// 3. Reconcile conflicts 4. Re-elect single leader 5. Resume operations".
//
//	rival (deposed)             nominee                    others
//	  │◄──── COORDINATOR ─────────│                           │   they meet
//	  │ leads no more             │                           │
//	  │───── ACCOUNT ────────────►│ leads no more             │   1 stop all
//	  │◄──── TRUCE ───────────────│────── TRUCE ─────────────►│     nobody leads
//	  │ its work has stopped      │                           │
//	  │───── ACCOUNT, stopped ───►│ its work has stopped      │   2 compare
//	  │                           │ the host reconciles       │   3 reconcile
//	  │◄──── SETTLED ─────────────│────── SETTLED ───────────►│
//	  │◄───── ELECTION … ─────────│ calls a new term          │   4 elect
//	  │                           │ who wins leads            │   5 resume
//
// # The rules
//
//   - A process that led, however that ended, gives an ACCOUNT of its reign to the
//     nominee, again and again, until that says SETTLED; and to the next nominee
//     too, unless the reign was part of a split that is mended.
//   - The nominee compares the reigns that it was told of and its own. Two of
//     different nodes that both led for longer than a Relief are a split. Shorter
//     than that is a leader that is being relieved.
//   - A reign that was handed over had ended before the next one began, however late the
//     account of it comes, and whatever the clocks say: who hands over leads no more
//     when it says so. The heir tells whom it followed with the account of its own.
//   - An account that was long on its way, by the hybrid clock, is compared as if it had
//     come in time, and settles nothing, until two more that were as long tell that it is
//     the wall clocks that differ.
//   - It mends once the work of each of them has stopped, or its process is gone,
//     and, with pre-emption, the node that will take over has.
//   - While it mends it repeats TRUCE, and tells the rivals of each other. Should it
//     fail, or be deposed, whoever is nominated next hears of the reigns from them
//     and begins anew: reconciling is done at least once.
//   - Reconciling that failed is reported, and a leader is elected all the same: a
//     best-effort cluster prefers a leader to none.
//   - The mending ends with an election of a new term. No reign goes on after it.
//     While the whole cluster is not to elect, the nominee, which leads on all the
//     same, leads the new term without one; so it does when an operator chose it.
//
// # What it does not promise
//
// It mends after the fact. A leader that ends before it meets the others has given
// no account: only its records tell. An operator's choice that an election overrode while
// the two were apart is not restored. A reign that was mended is not compared again
// with a third one that comes to light later, unless its side had a leader then.
// Whether two led at once is decided by what their own clocks measured, and by no
// wall clock; for how long is told by the hybrid clock, wrong by as much as their
// wall clocks differ. And it trusts the other nodes as the nominations do.
package splitbrain
