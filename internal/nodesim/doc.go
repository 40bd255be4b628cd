// Package nodesim runs whole nodes in virtual time: the runtime with its Machine, the
// state file, the links and the functions that users give to Lead, with faults injected
// at the ports. All of it is tests; see TestSchedules.
//
// What is real: package node, its Machines, package node/statefile, package node/tcp, and
// the functions of package daemon that wire a node to its links. What is a model: the disk
// below the state file, the TCP below the links, gossip, and the start and stop of processes.
//
// What is missing: clocks of timers that drift (only the clocks by which leases are judged
// do), health checks, fence agents, the subreaper of exec, and gossip's own messages.
//
// A seed fixes the cluster, the faults and all delays. Go chooses the order of goroutines
// that wake at the same instant, so a seed that failed mostly fails again, but not always.
package nodesim
