// Package redis holds elections in Redis, on one server or on several that do not know each other.
//
// # What it does not promise
//
// One server promises what its disk does. A replica that takes over without the newest entry makes a second
// leader, and a server that restarts without its data forgets the entry and the token: let it sync each write
// (appendfsync always), or keep it down for a TTL. Redis measures a TTL by the time of day, so that a
// step of the server's clock ends an entry early.
//
// Several servers (Redlock) promise more only while their clocks run at about the same rate and none of them
// forgets. Of a majority that has an entry no one may step its clock or restart without its data. The
// token is what helps where this is not enough.
//
// # The recipe
//
// It is the one that Redis documents, so that other programs and nodes exclude each other:
//
//	stand   SET KEY value NX PX ttl
//	renew   PEXPIRE KEY ttl   if the value is ours
//	leave   DEL KEY           if the value is ours
//
// Each verb is one script, which checks and acts in one step. Next to the key there are three more names:
//
//	KEY:token    counts the leaders. It stands where the entry does, since only there is raising it one step
//	             with making the entry. It never expires: do not delete it
//	KEY:ask      the number of the request that changed the entry last, so that a request of the same process
//	             that was given up, and arrives late, undoes nothing
//	KEY:changed  a channel on which the scripts say that there was a change. It is a hint
//
// The token of an entry is KEY:token while the entry is there. A candidate of another program that wants a
// token raises it as it makes its entry, in one script:
//
//	if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then return redis.call('INCR', KEYS[2]) end
//
// If it does not, its entry shows the token of the leader before it, and it must not use that one.
//
// # Several servers
//
// Each script runs on all servers at once, and what a majority says holds. Standing has two phases: read the
// tokens of a majority; then make the entry where the token is below the highest of them plus one, and set the
// token to that. Whoever leads has written its token on a majority, and whoever stands later reads one of
// those, or is refused there. So tokens grow. Whoever gets no majority takes back what it made. A server that hangs
// costs a twentieth of the TTL for each script, and no more: a majority that has answered waits no longer for it.
//
// # Sources
//
// "Distributed Locks with Redis", redis.io; Kleppmann, "How to do distributed locking" (2016), on what tokens
// are for.
package redis
