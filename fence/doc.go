// Package fence keeps a leader that has been replaced from writing.
//
// What it does not do: it grants no tokens and knows no clock: a node that leads under
// a lease has a token. It is no access control either: a client that can reach the
// storage can also lie to it. And it protects only what is written through it: a
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
// There are three ways to use the rule. Where the data is in fence/store, token
// and value are one transaction. Where it is in another database, the recipes
// of docs/FENCING.md do the same there. Where it is anywhere else, a Guard lets
// a call in, and lets a higher token in only when the calls of lower ones have
// ended.
package fence
