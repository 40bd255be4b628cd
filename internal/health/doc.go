// Package health says whether a node is fit to lead, and why not: it runs checks again and
// again, and combines their results.
//
// A check that passed counts as failed after Fall failures in a row. A failed check counts
// as passed after Rise passes in a row. The node is healthy when every check counts as passed.
// A node that became unhealthy is healthy again only when all its checks have passed for a
// hold-down. The hold-down doubles each time, until the node has been healthy for long:
// a node that fails whenever it leads would otherwise be elected again and again.
// There are two exceptions. A Brief check, such as that of the event loop, needs no
// hold-down: it holds the node back for about as long as it failed. And a hold-down ends
// when no other node could lead: see Config.Needed.
//
// A node is unhealthy from its start until each check has passed once, except for the
// checks that are presumed to pass.
//
// # What it does not promise
//
// It does not promise that a check that passes now passes a moment later, nor that an
// unhealthy leader is replaced: if no node is healthy, nobody leads. A check notices only what
// it looks at. If the process hangs, only the other nodes notice that.
package health
