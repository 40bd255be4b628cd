// Package sim runs a whole cluster of Machines in one goroutine, in virtual
// time, under faults that are drawn from a seed.
//
// It drives the very Machines that real nodes run, keeps the same order of
// effects (save, send, timer, belief), and writes the same records. The same
// Options give the same run, to the byte.
//
// # What a clean run does not prove
//
// A run tries one schedule of faults. Many runs make a violation unlikely, they
// do not exclude it. What the best-effort algorithms do not promise, one leader
// at a time while detectors err, is measured and is not a violation.
//
// # A run under faults
//
// Phase one draws messages that are late, lost, repeated or out of order, cuts,
// crashes between any two effects of a Step, restarts, pauses, drifting clocks,
// detectors that are late or wrong, operators who call elections and choose
// leaders, and nodes that are not eligible for a while. Every Step is shown to one
// checker an invariant. Then everything heals, though some nodes stay not eligible:
// within the algorithm's stated bound all living nodes must name one living leader,
// and stay with it.
//
// # With an office
//
// Runs of an algorithm with an office have faults of their own, that go for its
// rules: clocks at both ends of what they may differ, crashes and pauses between a
// vote and what follows from it, restarts within a lease, promises that change with
// a restart, grants and releases that come promises too late, work that outlives its
// lease, proofs of death that come late or never, strangers that grant, disks that are
// lost. Its checkers judge by true time. Four runs in five end once all agree; the fifth
// waits for the bound, and for quiet.
//
// Each rule of the office is also removed, one at a time, and a run must then break
// the invariant that needs it: see the test of that.
//
// With fence agents, former holders are shot, by agents that take longer than a
// lease, fail, lie, or die with their node half-way; an honest agent must leave no
// two processes that may work.
//
// # An analysis
//
// With an initiator, nothing fails: the cluster starts from agreement on the
// best node, the initiator gets its cause, and what follows from that cause
// alone is counted, as the lecture notes count it.
package sim
