// Package proto is what nodes say to each other: identities, terms, the
// message and one small struct for each kind of it, and their msgpack coding.
//
// It knows bytes and values, never sockets or clocks. Every value is plain
// data: copy it freely, from any goroutine.
package proto
