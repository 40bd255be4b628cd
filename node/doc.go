// Package node runs one election Machine on real time: one goroutine owns it,
// feeds it events and carries out what each Step returns, in this order:
//
//	Save ► Send ► the belief about the leader is published ► the Step is recorded
//
// What it does not promise: Send is best effort, messages and peer changes that
// wait at the same time are taken in any order, and an answer about leadership
// is no better than the Guarantee of its algorithm.
//
// What a Step wants fenced, the Fencer is at when the Step is over, beside the
// loop; what came of it is an event.
//
// A Node that cannot save ends. It never goes on with a term it could not keep:
// whoever started it starts a new one from what the disk holds.
//
// Work, leadership, links: they end in this order, whoever ends them in which. Run returns
// when all work has ended, and holds the Transport open until then. The Store may be closed
// once Run has returned.
//
// To embed a node: build a Machine, open a Store, then New, start a Transport and gossip,
// Run in a goroutine of its own, hand it the views and what the links tell, and Lead or
// Watch. The package example does all of it.
package node
