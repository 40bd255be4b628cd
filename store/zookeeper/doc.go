// Package zookeeper holds elections in ZooKeeper.
//
// # What it does not promise
//
// A lease here is one by clocks, as all leases are: the servers end a session by their clock. An option says
// how long their tick is; where it is set too short, a session may end before we think so, once the
// server dies to which we are connected.
//
// # The recipe
//
// It is the one of ephemeral znodes in a sequence. Each candidate makes a znode below the path, and the
// one with the lowest number leads. The znode goes with the session of the candidate. Candidates queue, and
// each watches the first, since whoever nominates wants to know it.
//
//	stand   create PATH/GUID__lock__          ephemeral, in sequence
//	renew   sync, and read the own znode      any request keeps the session
//	leave   delete the own znode
//	remove  delete that very znode, if its data is at the version that was read
//
// The token is the czxid of the znode, which grows with each change of the whole store. A znode with the GUID of
// this candidate is its own, so that one whose reply was lost is found. A dead candidate's znode goes in the
// request that makes the own.
//
// # Names
//
// Other programs see only what is named as they do it, so that all candidates of an election follow one recipe:
//
//	recipe=kazoo  GUID__lock__0000000007     kazoo's Lock and Election (the default)
//	recipe=latch  _c_GUID-latch-0000000007   Curator's LeaderLatch
//	recipe=lock   _c_GUID-lock-0000000007    Curator's InterProcessMutex and LeaderSelector, go-zookeeper's Lock
//
// We stand behind candidates of all three, but those of two do not stand behind ours: Check refuses that.
//
// # How long an entry is kept
//
// The TTL is the session timeout. The client library keeps a session alive in the background, so that it would
// live on in a process whose leader hangs: an entry that is not renewed for a TTL ends with its session.
//
// What keeps a session must reach the leader of the servers. A follower tells it each half tick which
// sessions it has heard of, and what it has not told dies with it. So a request counts three quarters of a
// tick after its answer came, a quarter for delays; one is sent each quarter of a tick, and an entry is kept for
// its session timeout from the last that counts: a tick less than the timeout, if all is well.
//
// # Sources
//
// Hunt, Konar, Junqueira and Reed, "ZooKeeper: Wait-free coordination for Internet-scale systems" (2010), on
// simple locks without herd effect; "ZooKeeper Recipes and Solutions", zookeeper.apache.org.
package zookeeper
