// Package testcluster runs nodes as real processes on this machine's loopback:
// it starts, stops, pauses and kills them, and reads the records they write.
// The demo, the end-to-end tests and the benchmarks share it. It can also start and
// read nodes that another program runs, such as containers: see Host.
//
// It knows nothing that an operator could not know: how to call `ringleader
// run`, how to send a signal, and how to read what a node writes on standard
// error.
//
// No process outlives a Cluster: Close ends each process by its pid. On Linux the
// kernel ends all processes if the process that owns the Cluster dies without
// calling Close.
package testcluster
