// Package logs finds the records of nodes in logs of whatever shape: JSON lines, with
// whatever docker, compose, journald, Kubernetes and logfmt put before or around them,
// what a node prints on a terminal, and what a simulated run prints as JSON and as
// text. A log may be UTF-16, as shells of Windows write it. Several nodes may be mixed,
// lines may be cut off. Lines that are something else are passed over, and counted.
//
// # Text
//
// Text for people has no numbers, no terms and no message ids. The Reader makes them up from
// what the text says. It pairs the k-th receipt of a kind from a node with the k-th such
// message that the node sent. Where messages were lost, came twice or overtook each
// other, that is a guess, and counts are estimates; the Builder says so.
package logs
