// Package rounds rebuilds elections from the records that nodes wrote: who
// noticed what, who asked whom, who won and by which rule, who was left behind,
// and what went wrong.
//
// A Builder takes records in any order and makes a History: one Group for each cluster
// and algorithm, and in it one Round for each term. Every statement on a round
// names the records that prove it, as Refs ("node:seq").
//
// # Order
//
// Records are ordered by cause. The records of one process are in the order of their
// numbers. The receipt of a message comes after its send; both have the message's id.
// Otherwise the hybrid clock that messages carry decides. Wall clocks order nothing
// by themselves. Where messages arrive before they were sent, the wall clocks of the
// nodes differ. The Builder estimates the difference from the fastest messages in each
// direction, and corrects all times by it.
//
// # What records do not tell
//
// A node whose log is missing is seen through the others. Where numbers of a
// process's records are missing, nobody knows what it did. At level info, nodes do
// not write the steps that decided nothing, so that a message without a receipt need
// not be lost. A Round lists such things in Unknown.
//
// Text in a History comes from logs and may contain anything. Whoever prints it
// passes it through Printable first.
package rounds
