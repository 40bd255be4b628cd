//go:build !unix

package tcp

import "syscall"

// connectEarly leaves everything to the Dialer.
func connectEarly(string, string, syscall.RawConn) error { return nil }
