// Package render draws what package rounds rebuilt: one round as a sequence
// diagram in text, as Mermaid and as SVG, and a whole history as one HTML page.
//
// All four draw the same score: a lane a node, the steps of the round from top
// to bottom in causal order, an arrow a message from its send to its receipt.
// A round of many steps is folded: steps in a row that are alike but for their
// nodes and numbers are drawn as one band.
//
// Every text from a log is hostile. It is made printable when the score is
// written, and then escaped for the format at hand.
package render
