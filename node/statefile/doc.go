// Package statefile keeps a node's term, the terms it reserved and its vote on a
// disk, so that a node that crashes and comes back never stands in a term twice.
//
// What it does not promise: a disk that is replaced, restored from an old copy
// or lies about fsync takes the memory of the node with it, and nothing here
// can tell. The same is true of the last writes that it acknowledged, where they are not
// there, so that the place holds what it held before.
//
// A data directory holds
//
//	state.json      the last states, a line of JSON each, with a checksum
//	state.json.tmp  the next such file while it is being written; never read
//	lock            held with flock for as long as a process uses the directory
//
// A state is added behind the one before, in room that was set aside: whole sectors
// that nothing durable is in, so that an election waits for one small write and not
// for a file system's journal. The last state counts. One that a power failure tore
// does not: nothing of it left the node. It is told from damage by what was in its place,
// bytes that no state has, in an order that no other sector has: a torn state lacks some
// of its bytes, and has those there. Zeroes, or what belongs to another sector or file,
// are damage, also where no state was yet. The records are numbered, and each
// is written when the one before is whole, so that none can be missing.
//
// When the room is used up, and at each start, the file is replaced as a whole:
// temporary file, fsync, rename, fsync of the directory. A crash at any point leaves
// the old file or the new one.
package statefile
