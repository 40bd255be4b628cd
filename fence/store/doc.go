// Package store keeps values under keys on one disk and lets only the leader
// write: the highest fencing token and the data are one bbolt file, and each
// write is one transaction of both.
//
// What it does not promise: it is one file on one disk. A disk that is lost, or
// restored from an old copy, takes the highest token with it, and the store
// then admits a leader that it had refused before. And a token that was forged
// upwards stays: the store has no way back, on purpose.
//
// Each record has a checksum. What bbolt keeps between the records has none but
// for its two roots: damage there is found at the start where bbolt's own check
// finds it, and where the newer root is damaged, the older one counts: the last
// write is gone.
//
// A data directory holds fence.db. A process that uses it holds a lock on it,
// which ends with the process.
//
// After a failed write there are two cases. Mostly, as on a full disk, nothing
// has changed, and the next write may succeed. But where the very last step
// failed, the page cache may show a write that the disk does not hold. Then the
// store is broken: it answers nothing any more, and the process has to start
// again. Opening writes the token once more, so that what is shown then is on
// the disk.
package store
