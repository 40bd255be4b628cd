// Package proto defines what nodes say to each other: identities, terms, the message with its kinds
// and bodies, and their encoding as msgpack.
//
// The package handles bytes and values, but no sockets and no clocks. Every value is plain data: any
// goroutine may copy it freely.
package proto
