// Package splitbrain finds split brains of a best-effort cluster, and recovers from them. It is a
// Machine around a nominating Machine, which works as it would alone: nodes that meet again agree
// on one nominee. This package decides when that nominee leads.
//
// # The five steps
//
// Lecture notes: "If split-brain detected: 1. Stop all leaders 2. Compare states 3. Reconcile
// conflicts 4. Re-elect single leader 5. Resume operations".
//
//	rival (deposed)             nominee                    others
//	  │◄──── COORDINATOR ─────────│                           │   they meet
//	  │ leads no more             │                           │
//	  │───── REPORT ─────────────►│ leads no more             │   1 stop all
//	  │◄──── STOP ────────────────│────── STOP ──────────────►│     nobody leads
//	  │ its work has stopped      │                           │
//	  │───── REPORT, stopped ────►│ its work has stopped      │   2 compare
//	  │                           │ the host reconciles       │   3 reconcile
//	  │◄──── RESUME ──────────────│────── RESUME ────────────►│
//	  │◄───── ELECTION … ─────────│ calls a new term          │   4 elect
//	  │                           │ who wins leads            │   5 resume
//
// # The rules
//
//   - A process that led, however its leadership ended, sends a REPORT of it to the nominee,
//     again and again, until the nominee answers RESUME. It reports to the next nominee too,
//     unless the leadership was part of a split that was recovered from.
//   - The nominee compares all leaderships that it knows. Two leaderships of different nodes
//     that overlapped for longer than a Relief are a split. A shorter overlap is a leader that
//     is being relieved.
//   - A leadership that was handed over ended before the next one began, however late its
//     report comes, and whatever the clocks say: a node that hands over has stopped leading.
//     The successor names its predecessor in the report of its own leadership.
//   - A report that took long to arrive, by the hybrid clock, is compared as if it had arrived
//     in time, and settles nothing. After two more reports that took as long, the nominee
//     concludes that the wall clocks differ.
//   - The nominee reconciles once the work of every former leader has stopped, or its process
//     is gone. With pre-emption it first waits for the node that will take over.
//   - While it recovers, the nominee repeats STOP, and tells the rivals about each other. If it
//     fails or is deposed, the next nominee hears of the leaderships from them and begins
//     again: reconciling happens at least once.
//   - Reconciling that failed is reported, and a leader is elected nevertheless: a best-effort
//     cluster prefers a leader to none.
//   - The recovery ends with an election of a new term. No earlier leadership goes on after it.
//     While the cluster is paused, the nominee, which keeps its leadership, leads the new term
//     without an election. So does a nominee that an operator chose.
//   - A node that was told of a recovery tells the next nominee, and that nominee tells all nodes:
//     some may have been out of reach.
//
// # What it does not promise
//
// It recovers after the fact. A leader that ends before it meets the others has given no report;
// only its records tell. A choice of an operator that an election overrode while the two sides were
// apart is not restored. A leadership that was recovered from is not compared again with a third
// one that becomes known later, unless its side had a leader then. Elapsed times on the nodes' own
// clocks decide whether two led at once; no wall clock does. The length of the overlap comes from
// the hybrid clock, and is wrong by as much as the wall clocks differ. The package trusts the other
// nodes as the nominations do.
package splitbrain
