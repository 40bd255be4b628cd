// Package sim runs a whole cluster of Machines in one goroutine, in virtual
// time, under faults that are drawn from a seed.
//
// It drives the same Machines that real nodes run, keeps the same order of
// effects (save, send, timer, belief), and writes the same records. The same
// Options give the same records, byte for byte.
//
// # What a clean run does not prove
//
// A run tries one schedule of faults. Many clean runs make an error unlikely, but do
// not exclude it. Best-effort algorithms do not promise one leader at a time while
// detectors err: two leaders are then measured, and are no violation.
//
// # A run under faults
//
// First there are faults: messages that are late, lost, repeated or out of order, cuts,
// crashes between any two effects of a Step, restarts, pauses, drifting clocks,
// detectors that are late or wrong, operators who call elections and choose
// leaders, and nodes that are not eligible for a while. Each invariant has a checker,
// which sees every Step. Then everything heals, except that some nodes stay not
// eligible: within the algorithm's stated bound all living nodes must name one living
// leader, and keep it.
//
// # With leases
//
// Runs of an algorithm with leases have further faults, which attack the rules of
// leases: clocks that differ as much as they may, crashes and pauses between a
// vote and what follows from it, restarts within a lease, promises that change with
// a restart, votes and RELEASEs that come long after the promise has ended, work that
// outlives its lease, proofs of death that come late or never, votes of nodes that are
// no voters, disks that are lost. The checkers judge by true time. Four runs in five end
// once all nodes agree; the fifth goes on until the bound, and then for 100 Delta, in which
// nothing may change.
//
// Tests also remove the rules of leases, one at a time: a run must then break the
// invariant that needs the rule.
//
// With fence agents, former leaders are killed by agents that take longer than a
// lease, fail, lie, or die with their node half-way. If the agents are honest, no two
// processes may ever work at once.
//
// # On a store
//
// Runs of an algorithm on a store have a model of a store in place of voters. It loses, delays and
// reorders requests and answers, also those that were called back, ends entries late, answers nobody for a
// while, shows old states, and gives the lead to strangers. At times an operator removes the first entry,
// or the store forgets: the leader that lost its entry so may meet another, and only the tokens are judged.
//
// # An analysis
//
// With Options.Initiator, nothing fails: all nodes agree on the best one at the start,
// the initiator is given a cause to call an election, and the messages that follow from
// that cause alone are counted, as the lecture notes count them.
package sim
