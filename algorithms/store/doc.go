// Package store makes a nominee a leader by an entry in a store: etcd, a database or another service
// outside the cluster. Its Machine contains a nominating Machine, which says who should lead. The nominee
// leads once its entry is the first in the store, and for as long as the store keeps that entry.
//
// # What it does not promise
//
// It promises what the store promises, and no more: at most one node leads at any instant while the
// store never has two first entries at a time, keeps an entry for its TTL, and clocks run at rates that
// differ by no more than lease.Drift. No lease helps a process that is stopped between a check and the
// act that follows: for that there is the token.
//
// # A leadership
//
//	stand   ─► the store   an entry of this node, if there is none, or behind those that are there
//	        ◄─             the first entry, and this node's own
//	HEARTBEAT ─► all       it leads, with this token as the term, and for how long
//	renew   ─► the store   a third of the TTL later, and so on
//	leave   ─► the store   when all its work has stopped
//	RELEASE ─► all         the store has no entry of it any more
//	OFFER, REPLY, TIMEOUT_NOW  a transfer, as in package lease
//
// # The rules
//
//   - The lease runs from before the ask left, and is shorter than the TTL by all that clocks may
//     differ. An answer that comes after the lease would have ended makes nobody a leader.
//   - The term of a leadership is the token that the store gave. A token that is not above the highest
//     leadership that this node has saved shows that the store has forgotten: the node ends.
//   - A leader renews at a third of the TTL, or when it reads that its entry is gone. If the store then
//     says so, too, it leads no more from that Step on. If the store does not answer, it leads until its lease ends.
//   - Leaving: it leads no more; then its work stops; only then it removes its entry. In any other
//     order two may work at once. A leader whose lease ran out leaves, too: it leads again only with a
//     new entry, and a new token. No node leads by an entry that it has asked to remove: that may be
//     carried out at any time.
//   - The nominee stands first. Another node stands only when nobody has led for a while, the better-
//     ranked sooner. So nobody waits for a node that is not there.
//   - The entry of a process that is proven dead is removed: by the nominee in the request by which it
//     stands or, a moment later, by another node. Only that very entry is removed, as it was when it was
//     read. Nobody removes the entry of a stranger, nor one that is lent.
//   - What another node says is a hint. Only an answer of the store makes a leader.
//
// # Sources
//
// Gray and Cheriton, "Leases" (1989); Burrows, "The Chubby lock service for loosely-coupled distributed
// systems" (2006), on sequencers. Lecture notes: put if absent with a TTL, renew at a third of it, step
// down when that fails.
package store
