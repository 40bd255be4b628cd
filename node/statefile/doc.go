// Package statefile keeps a node's term, the terms it reserved and its vote on a
// disk, so that a node that crashes and comes back never stands in a term twice.
//
// The package does not promise that it notices a disk that loses writes. If a disk is replaced or restored
// from an old copy, or lies about fsync, the node loses its state. It also loses it if the disk drops its
// last acknowledged writes completely, so that the older bytes are back.
//
// A data directory holds
//
//	state.json      the last states, each a line of JSON with a checksum
//	state.json.tmp  the next such file while it is being written; never read
//	lock            held with flock for as long as a process uses the directory
//
// A state is appended after the last one, into whole sectors that were set aside for it and
// hold nothing durable. So an election waits for one small write, and not for the journal of
// the file system. The last state counts. A state that was torn by a power failure does not
// count: it was not durable, so the node has sent nothing that depends on it.
//
// What the unused sectors were filled with tells a torn state from damage: bytes that no state
// has, in an order that no other sector has. In the gaps of a torn state these bytes are still
// there. Zeroes, or bytes that belong to another sector or file, are damage, in unused sectors
// too. The records are numbered, and each is written after the last one is complete, so no
// record can be missing.
//
// When the sectors are used up, and at each start, the file is replaced as a whole: temporary
// file, fsync, rename, fsync of the directory. A crash at any point leaves the old file or
// the new one.
package statefile
