// Package archtest keeps the arrows between the rooms: which package may import
// which, and that no clock, socket, goroutine or global random number is in a
// state machine. It has only tests.
package archtest
