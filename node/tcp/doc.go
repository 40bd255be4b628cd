// Package tcp carries election messages between processes, and tells what the
// connections reveal about processes that die.
//
// What it does not promise: that a message arrives (a queue is bounded, a
// message grows old), that it arrives once (a message whose acknowledgement
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
//	 1 byte    protocol version, now 1
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
//
// Messages are counted from 1 on each connection, and ACK n says that the
// first n were handed up. Those without an ACK are sent again on the next
// connection to the same process.
//
// # Heartbeats
//
// A follower watches the leader, the leader watches everybody, and nobody
// watches anybody while nobody leads: the traffic grows with the number of nodes,
// not with its square. See Transport.SetLeader.
//
//	the watcher                      the watched
//	-------------------------------  -------------------------------------------
//	asks each Heartbeat, on its own  answers the latest PING, while its elections
//	link                             go on (Config.Alive), at most one a
//	                                 millisecond
//	misses it when Misses intervals  takes no link, and says so, while they stand
//	passed without a sign of life    still
//	asks who owes an answer until it warns when the watcher's Heartbeat is more
//	gives one: who was missed is     than twice its own, or less than half
//	then back
//	starts counting anew when its
//	own beat came late by more than
//	an interval
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
// # Evidence
//
// The kernel closes the sockets of a process that dies, so its peers read the
// end of the stream within a millisecond and find its address refusing. A
// process that is stopped, hung or cut off tells nothing: its heartbeat is
// missed. See Event.
package tcp
