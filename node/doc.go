// Package node runs one election Machine in real time. One goroutine owns the Machine, gives it
// events, and carries out what each Step returns, in this order:
//
//	Save ► Send ► the belief about the leader is published ► the Step is recorded
//
// What the package does not promise: Send is best effort. Messages and changes of peers that wait at the same
// time are taken in any order. An answer about leadership is only as good as the Guarantee of its algorithm.
//
// If a Step wants a process fenced, the Fencer does it after the Step, in another goroutine. The
// result comes back as an event.
//
// A Node that cannot save ends. It never continues with a term that it could not save. The program
// starts a new Node from what the disk holds.
//
// Work ends first, then leadership, then the links, whichever of them is told to end first. Run returns when
// all work has ended, and keeps the Transport open until then. The Disk may be closed after Run has
// returned.
//
// To embed a node: build a Machine, open a Disk, call New, start a Transport and gossip, call Run
// in its own goroutine, pass it the views and what the links tell, and call Lead or Watch. The
// package example does all of this.
package node
