// Package tcp carries election messages between processes, and tells what the
// connections reveal about processes that die.
//
// What it does not promise: that a message arrives (a queue is bounded, a
// message grows old, a lease that it tells of has ended), that it arrives once (a message whose acknowledgement
// was lost is sent again), or that a peer it reports as unreachable is dead.
//
// What it promises: a message that a process with an unbroken run accepts is
// handed up at least once and in order while its link can be re-established
// within seconds; Send never blocks; no bytes, however hostile, panic, take
// more memory than a few times their size, or reach the callbacks unless they
// are a valid message from the peer that the connection belongs to.
//
// # Frames
//
//	 4 bytes   payload length, big-endian, at most 64 KiB
//	 1 byte    protocol version
//	 1 byte    kind (package proto)
//	length     payload, msgpack (package proto)
//
// # Links
//
// There is one connection a direction. The node that dials sends messages on
// it, the node that accepts only answers:
//
//	dials                        accepts
//	HELLO cluster algorithm
//	      id session to      ->
//	                         <-  WELCOME id session, or REFUSE reason
//	message 1, message 2, …  ->
//	                         <-  ACK 2
//	PING 1, every 100 ms     ->
//	                         <-  PONG 1
//	PING_REQ 1 node session  ->
//	                         <-  PING_RES 1 heard
//
// Messages are counted from 1 on each connection, and ACK n says that the
// first n were handed up. Those without an ACK are sent again on the next
// connection to the same process. What LEASE and HEARTBEAT say is left of a lease is
// less by what they waited for a connection; where nothing is left they are not sent.
//
// # Heartbeats
//
// A follower watches the leader, the leader watches everybody, and between two
// leaders it stays at that, but that a node also watches whom it sends messages to, a
// few in a beat: the traffic grows with the number of nodes, not with its square. See
// Transport.SetLeader.
//
//	the watcher                      the watched
//	-------------------------------  -------------------------------------------
//	asks each Heartbeat, on its own  answers the latest PING, while its elections
//	link; a follower only when its   go on (Config.Busy), at most one a
//	leader does not ask              millisecond
//	misses it when Misses intervals  takes no link, and says so, while they stand
//	passed without a sign of life    still
//	asks who owes an answer until it warns when the watcher's Heartbeat is more
//	gives one: who was missed is     than twice its own, or less than half
//	then back
//	asks others, one interval before
//	it misses somebody
//	starts counting anew when its
//	own beat came late by more than
//	an interval, and does not count
//	one that is late by a quarter
//	after a third false alarm in a
//	minute bears twice as many, after
//	a fourth three times as many; an
//	alarm was false if this patience
//	had prevented it
//
// Signs of life are WELCOME, PING and PONG, so of two who watch each other only
// one has to ask. An ACK is none: it shows that the sockets work, and a process whose
// elections hang has those too. A beat counts one interval however late it comes,
// so that a node without a processor accuses nobody of its own silence.
//
// A node at rest spends more on waking up for its timers than on what it sends and
// receives. So a follower whose leader asks looks after its own beats once in half
// of the intervals that may be missed, and counts them then: see beatTimer.
//
// # Indirect checks
//
// As in SWIM, a node asks up to three others whether they hear a process, before it
// draws a conclusion of its own:
//
//	asked when                       they hear it       none of them does
//	-------------------------------  -----------------  -------------------------
//	a watched process will be        Misses intervals   it is missed, no later
//	missed at the next beat          more are borne,    than without asking
//	                                 at most three
//	                                 times as many
//	its last link ended, and an      it is unreachable  it is unreachable at once,
//	interval later there is neither  after seconds, as  unless it answered
//	a link nor proof of its death    ever               meanwhile
//
// Who is asked listens from then on: what it heard before counts for nothing. It
// says "not heard" after as long a silence as a watched process may keep, and
// nothing when it does not know the process, or was late itself. That nobody heard
// it needs an answer of all who were asked. What others have proven is not taken
// over: proof is one's own dial.
//
// Nobody can be made to dial or send at will. There is one question about a process
// in Misses intervals, sixteen of a link wait at a time, and each peer is sought
// four times in an interval at most, at the address that is known.
//
// # Evidence
//
// The kernel closes the sockets of a process that dies, so its peers read the
// end of the stream within a millisecond and find its address refusing. A
// process that is stopped, hung or cut off tells nothing: its heartbeat is
// missed. See proto.LinkEvent.
//
// A living process ends connections too: for want of an ACK, for another link, when it
// closes. It resets each of them, so that what its peers read proves nothing, even
// where a firewall refuses their dials. Only a kernel ends a stream cleanly, when the
// process is dead.
//
// What is proven is that the process does no more. What it has sent may still arrive,
// at a storage say: only fencing helps against that.
package tcp
