// Package statefile keeps a node's term, the terms it reserved and its vote on a
// disk, so that a node that crashes and comes back never stands in a term twice.
//
// What it does not promise: a disk that is replaced, restored from an old copy
// or lies about fsync takes the memory of the node with it, and nothing here
// can tell.
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
// does not, and is told from damage: nothing of it left the node.
//
// When the room is used up, and at each start, the file is replaced as a whole:
// temporary file, fsync, rename, fsync of the directory. A crash at any point leaves
// the old file or the new one.
package statefile
