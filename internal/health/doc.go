// Package health says whether a node is fit to lead: it asks checks again and again,
// and makes one opinion of what they say, with its reason.
//
// A check that was well counts as failed after Fall failures in a row, and as well
// again after Rise passes in a row. The node is healthy when every check is well.
// One that became unhealthy is healthy again only when all its checks have been well
// for a hold-down, which doubles each time until it has been healthy for long: a
// node that fails whenever it leads would otherwise take the office again and again.
// Two things are no such failures. A Brief check, as that of the event loop, holds the
// node back for about as long as it failed: what slows a node for a second keeps it from
// leading for a second. And a hold-down ends when nobody else could lead: Config.Needed.
//
// A node is unhealthy from its start until each check has passed once, but those that
// are presumed to be well.
//
// # What it does not promise
//
// That what is well now is well a moment later, or that an unhealthy leader is
// replaced: where nobody is healthy nobody leads. And a check sees what it looks at;
// a process that hangs altogether is found out by the others.
package health
