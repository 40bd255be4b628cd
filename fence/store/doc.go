// Package store keeps values under keys on one disk and lets only the leader
// write: the highest fencing token and the data are one bbolt file, and each
// write is one transaction of both.
//
// What the package does not promise: a store is one file on one disk. If the disk is lost,
// or restored from an old copy, the store forgets the highest token, and may admit a
// leader that it had refused before. And if somebody forges a token that is too high, that
// token stays the highest: the store never goes back to a lower token, on purpose.
//
// Each record has a checksum. Of bbolt's own data only the two roots have a checksum.
// Other damage is found at the start, if bbolt's own check finds it. If the newer
// root is damaged, bbolt uses the older root, and the last write is lost.
//
// A data directory contains the file fence.db. A process that uses the file holds a lock
// on it. The lock ends when the process ends.
//
// After a failed write there are two cases. In most cases, as on a full disk, nothing
// has changed, and the next write may succeed. But if the last step of a write
// failed, the page cache may show a write that is not on the disk. Then the
// store is broken: it answers no more calls, and the process has to start
// again. Open writes the highest token once more. After that, all data that the
// store shows is on the disk.
package store
