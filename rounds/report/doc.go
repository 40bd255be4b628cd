// Package report puts rounds into words: one line for each round, all of one round, an
// explanation in sentences, and why a node does not lead. It is for an engineer who is
// woken at three: what happened comes first, and the proof follows.
//
// The package makes all text from logs printable.
package report
