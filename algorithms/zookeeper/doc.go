// Package zookeeper is the election of ZooKeeper's leader, as the lecture notes tell
// it: each process has a sequence number, and watches only the process with the next
// higher one. The highest is to lead, and does so once a quorum has sent ACK.
//
// # What it does not promise
//
//   - A term has at most one leader, but an old leader may not know that it was
//     replaced: there is no lease. With voters the runtime adds package lease, and so a
//     lease and a fencing token.
//   - Without a majority of the voters nobody leads, however many live: of two
//     voters both must live, of one that one must.
//   - An election may fail, and then another term begins. The notes name three ways,
//     each with the golden scenario that shows it, and that it recovers
//     (internal/sim, testdata/zookeeper): "Multiple sends NEW_LEADER, and no one
//     receives majority of ACK" (nobody_has_a_quorum); "Exactly one sends NEW_LEADER,
//     but some ACK get dropped" (acks_dropped); "Exactly one sends NEW_LEADER, but some
//     of them get dropped" (new_leaders_dropped).
//   - Nobody hands out sequence numbers here, as ZooKeeper's file system does
//     "atomically": the number of a process is its rank, its attribute and its id,
//     which is unique. So a process that comes back has the number it had.
//   - "If successor was the Leader, you become the leader": when a leader dies, only the
//     next in line calls an election. The others stay in their term and wait for it, 4Δ
//     from when they notice the loss. They lose that time if the next in line hangs or
//     does not notice, and then call the election themselves. If they notice that it
//     died, the one that is next in line then loses none.
//   - If an operator calls the election at a low process, WATCH climbs from number to
//     number: the time grows with the number of processes.
//
// # Why a quorum is enough
//
// A process sends ACK for one process in a term, which may be itself. That holds across
// restarts: a former life has taken part only in terms that it had reserved on its disk,
// and the process sends ACK only in terms above these. Two majorities have a process in
// common, so no two processes get a majority in the same term.
//
// # Sources
//
// Lecture notes, quoted above each rule. Hunt, Konar, Junqueira and Reed, "ZooKeeper:
// Wait-free coordination for Internet-scale systems" (2010), 2.4, on locks "without
// herd effect". Junqueira, Reed and Serafini, "Zab: High-performance broadcast for
// primary-backup systems" (2011), for the phases of NEW_LEADER, ACK and COMMIT.
//
// # Messages
//
//	WATCH        to the next higher: are you there, and who leads?
//	EXISTS       back: I am, and go on from here
//	NEW_LEADER   from the highest to all: follow me
//	ACK          back, for one process in a term
//	COMMIT       to all, after a quorum of ACK: I lead this term
//	STAND_NOW    stand for the next term: from a resigning leader to its successor,
//	             and from a node that stands aside to one that acts in a term
//	             that is over
//
// # States of a round
//
//	idle ──leader gone, nobody higher lives──► term + 1, standing
//	idle ──leader gone, a higher one lives──► watching
//	watching ──nothing in time, or nobody higher lives any more──► term + 1, asking
//	    or standing
//	idle ──a call, or WATCH──► asking ──EXISTS──► waiting
//	asking, waiting ──the watched one fails──► asking the next higher, or standing
//	    when there is none
//	asking ──no EXISTS──► as if it had failed
//	idle, asking, waiting, and watching in a lower term ──NEW_LEADER──► acked
//	standing ──a quorum of ACK──► leader
//	standing ──no quorum in time──► term + 1
//	waiting, acked ──no COMMIT in time──► term + 1
//	any ──COMMIT──► idle (follower)
package zookeeper
