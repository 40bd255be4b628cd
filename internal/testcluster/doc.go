// Package testcluster runs nodes as real processes on this machine's loopback:
// it starts, stops, pauses and kills them, and reads the records they write.
// The demo, the end-to-end tests and the benchmarks share it. Nodes that somebody
// else keeps, such as containers, it can start and read, see Host.
//
// It knows nothing that an operator could not know: how to call `ringleader
// run`, how to send a signal, and how to read what a node writes on standard
// error.
//
// No process outlives a Cluster: Close ends each of them by its pid, and where
// the kernel can (Linux) it ends them when the process that owns the Cluster
// dies without calling Close.
package testcluster
