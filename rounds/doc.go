// Package rounds rebuilds elections from the records that nodes wrote: who
// noticed what, who asked whom, who won and by which rule, who was left behind,
// and what should not have been.
//
// A Builder takes records in any order and makes a History: one Group a cluster
// and algorithm, and in it one Round a term. Everything that is said of a round
// names the records that prove it, as Refs ("node:seq").
//
// # Order
//
// Records are ordered by cause: a process's own by its count, a receipt after
// its send, which share a message id, and otherwise by the hybrid clock that
// messages carry. Wall clocks order nothing. Where messages arrive "before" they
// were sent, the wall clocks of the nodes differ; the difference is estimated
// from the fastest messages in each direction, and times are corrected by it.
//
// # What it does not know
//
// Records are what the nodes wrote, no more. A node whose log is missing is
// seen through the others; a gap in a process's count hides what was there; at
// level info the steps that decided nothing are not written, so that a message
// without a receipt need not be lost. A Round lists such things in Unknown.
//
// Text in a History comes from logs and may hold anything. Whoever prints it
// passes it through Printable first.
package rounds
