//go:build !linux

package tcp

import "net"

// quiet returns the connection unchanged.
func quiet(conn net.Conn) net.Conn { return conn }
