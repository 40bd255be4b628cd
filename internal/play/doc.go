// Package play plays a scenario twice, in virtual time and with real processes, and compares who sent what
// to whom.
//
// Both sides are read from the records that nodes write. Two messages are the same if they have the same
// sender, receiver and kind, in the same term, counted from the last agreement, and the same place among
// those from that sender to that receiver. So messages on different ways may overtake each other.
//
// Left out is what a leader sends on a timer and what answers that, as long as nobody's leader changes by it:
// heartbeats, renewals of a lease, announcements that are repeated.
package play
