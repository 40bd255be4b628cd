// Package render draws what package rounds rebuilt: one round as a sequence
// diagram in text, as Mermaid and as SVG, and a whole history as one HTML page.
//
// All four formats draw the same layout: one lane for each node, the steps of the round from
// top to bottom in causal order, and for each message an arrow from the step that sends it to
// the step that receives it. A round of many steps is folded: steps in a row that differ only
// in their nodes and numbers are drawn as one band.
//
// A text from a log may be hostile. The layout makes it printable, and each format
// escapes it.
package render
