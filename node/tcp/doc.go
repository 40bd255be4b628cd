// Package tcp carries election messages between processes, and tells what the
// connections reveal about processes that die.
//
// The package does not promise that a message arrives: it drops messages if a queue is
// full, if they are too old, or if the lease that they announce has ended. It does not
// promise that a message arrives once: a message whose acknowledgement was lost is sent
// again. And a peer that it reports as unreachable may be alive.
//
// The package promises:
//
//   - While the link to a process can be re-established within seconds, that process gets
//     each message that was accepted for it at least once, and in order.
//   - Send never blocks.
//   - Hostile bytes cause no panic and take no more memory than a few times their size. A
//     callback gets only valid messages from the peer that the connection belongs to.
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
// Between two nodes there is one connection for each direction. The node that dialled
// sends messages on it, the node that accepted only answers:
//
//	dials                        accepts
//	HELLO cluster algorithm
//	      id incarnation to      ->
//	                         <-  WELCOME id incarnation, or REFUSE reason
//	message 1, message 2, …  ->
//	                         <-  ACK 2
//	PING 1, every 100 ms     ->
//	                         <-  PONG 1
//	PING_REQ 1 node incarnation  ->
//	                         <-  PING_RES 1 heard
//	NEWS bytes               ->
//
// NEWS is what a node tells of itself, when the link comes up and when it changes. It is sent and believed only where
// Config.Security proves who is at the other end.
//
// Messages are counted from 1 on each connection. ACK n says that the receiver's callback
// got the first n of them. The others are sent again on the next connection to the same
// process. If a message says how much of a lease is left, the time that it waited for a
// connection is subtracted, and the message is dropped when nothing is left.
//
// # Heartbeats
//
// A follower watches the leader, and the leader watches everybody: see
// Transport.SetLeader. The watcher sends a PING in each interval of Config.Heartbeat. A
// follower sends none while its leader does.
//
// The watched process answers the latest PING, at most one in a millisecond, and only while
// its election loop goes on (Config.Busy). WELCOME, PING and PONG are signs of life, so of
// two processes that watch each other only one has to ask. An ACK is no sign of life: it
// shows that the sockets work, which they also do in a process whose elections hang.
//
// A process is missed when Config.Misses intervals passed without a sign of life. It is still asked until it
// answers, and is then back. Two rules protect processes from a watcher that gets no processor. A beat, a
// tick of the watcher's timer, counts one interval at most, however late it comes. And counting starts again
// when a beat was late by more than an interval. An alarm was false if the process was silent for no more
// than three times Misses intervals. After three false alarms in a minute the watcher allows twice as many
// intervals, after four three times as many.
//
// An idle node spends more on waking up for its timers than on what it sends and receives.
// So a follower whose leader sends PINGs leaves out most beats: see beatTimer.
//
// # Indirect probes
//
// As in SWIM, a node asks up to three others whether they hear a process, before it draws
// a conclusion of its own:
//
//	asked when                       they hear it       none of them does
//	-------------------------------  -----------------  -------------------------
//	a watched process will be        Misses intervals   it is missed, no later
//	missed at the next beat          more are allowed,  than without asking
//	                                 at most three
//	                                 times as many
//	its last link ended, and an      it is unreachable  it is unreachable at once,
//	interval later there is neither  after seconds, as  unless it answered
//	a link nor proof of its death    ever               meanwhile
//
// A node that is asked listens from then on: what it heard before does not count. It
// says "not heard" when the process was silent for as long as a watched process may be. It
// says nothing if it does not know the process, or was late itself. If not all nodes that
// were asked answer "not heard", nothing follows. A node does not take over what others
// have proven: it dials itself.
//
// Nobody can make a node dial or send at will. A node asks about a process once in
// Misses intervals, and has at most sixteen probes of a link waiting. For probes, it asks each
// peer for a sign of life at most four times in an interval, at the address that it knows.
//
// # Evidence
//
// The kernel closes the sockets of a process that dies. Within a millisecond its peers
// read the end of the stream, and then their dials are refused. A process that is stopped,
// hung or cut off does not close them, and its heartbeat is missed. See proto.LinkEvent.
//
// A living process ends connections too: if an ACK does not come, if there is a newer link,
// or when it closes. It always resets them, and a reset proves nothing, even if a firewall
// then refuses dials. Only the kernel of a dead process ends a stream cleanly.
//
// After the proof that a process is dead, the process does nothing more. What it sent before
// may still arrive, at a storage for example: only fencing helps against that.
package tcp
