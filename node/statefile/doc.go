// Package statefile keeps a node's term, the terms it reserved and its vote on a
// disk, so that a node that crashes and comes back never stands in a term twice.
//
// What it does not promise: a disk that is replaced, restored from an old copy
// or lies about fsync takes the memory of the node with it, and nothing here
// can tell.
//
// A data directory holds
//
//	state.json      the state, with a checksum, for people to read
//	state.json.tmp  the next state while it is being written; never read
//	lock            held with flock for as long as a process uses the directory
//
// The state is replaced as a whole: temporary file, fsync, rename, fsync of the
// directory. A crash at any point leaves the old state or the new one.
package statefile
