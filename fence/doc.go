// Package fence keeps a leader that has been replaced from writing.
//
// What the package does not do: it grants no tokens and has no clock. A node that leads under
// a lease has a token. The package is no access control either: a client that can reach the
// storage can also lie to it. And the package protects only data that is written through it: a
// storage that checks no token is not fenced.
//
// Lecture notes: "Fencing tokens are essential - Reject stale leaders". A
// leader that was paused, by its garbage collector or its hypervisor, wakes up,
// believes that it still leads, and writes. No lease can help: the pause may
// come after the last look at the clock. So the storage itself refuses, by one
// rule (Admit): a token is never lower than the highest seen, and equal to it
// only with the same holder.
//
// The lecture notes' FencedStorage has two traps, which the rule avoids:
//
//   - It takes an equal token from anybody. Here the holder is part of the
//     token: the node and its incarnation.
//   - It learns of a new leader only when that leader writes. Between the new
//     leader's first read and its first write, it would accept a delayed write
//     of the old leader, which changes what was read. Here the first call of a
//     new holder seals its token: it makes the token the highest.
//
// There are three ways to use the rule. If the data is in fence/store, each write
// stores the token and the value in one transaction. If the data is in another
// database, the recipes of docs/FENCING.md do the same there. If the data is
// anywhere else, a Guard lets calls in. It lets in a call with a higher token only
// when all calls with lower tokens have ended.
package fence
