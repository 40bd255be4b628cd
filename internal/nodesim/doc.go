// Package nodesim runs whole nodes in virtual time: the runtime with its Machine, the
// state file, the links and the functions that users give to Lead, with faults injected
// at the ports. All of it is tests; see TestSchedules.
//
// What is real: package node, its Machines, package node/statefile, package node/tcp.
// What is a model: the disk below the state file, the TCP below the links, gossip, and
// whoever starts and stops processes. The wiring is that of package daemon, which
// cannot be imported: see process.start.
//
// What is not here: the clocks of timers run true, only the readings by which leases are
// judged drift; health checks, fence agents and the keeper of exec; gossip's own
// messages.
//
// A seed fixes the cluster, the faults and all delays. In which order goroutines run
// that wake at the same instant is up to Go, so a seed that failed mostly, not always,
// fails again.
package nodesim
