// Package store keeps values under keys on one disk and lets only the leader
// write: the highest fencing token and the data are one bbolt file, and each
// write is one transaction of both.
//
// What it does not promise: it is one file on one disk. If the disk is lost, or
// restored from an old copy, so is the highest token, and the store then admits a
// leader that it had refused before. And a forged token that is too high stays: the
// store cannot go back to a lower one, on purpose.
//
// Each record has a checksum. Of bbolt's own data only the two roots have one.
// Other damage is found at the start, if bbolt's own check finds it. If the newer
// root is damaged, the older one counts, and the last write is lost.
//
// A data directory holds fence.db. A process that uses it holds a lock on it,
// which ends with the process.
//
// After a failed write there are two cases. Mostly, as on a full disk, nothing
// has changed, and the next write may succeed. But if the last step of a write
// failed, the page cache may show a write that the disk does not hold. Then the
// store is broken: it answers no more calls, and the process has to start
// again. Opening the store writes the token once more, so that what the store
// shows then is on the disk.
package store
