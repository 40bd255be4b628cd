// Package report puts rounds into words: a line a round, the whole of one, an
// explanation in sentences, and why a node does not lead. It is for the engineer
// who is woken at three: what happened comes first, proof stands behind it.
//
// All text from logs is made printable on its way out.
package report
