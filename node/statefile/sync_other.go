//go:build !linux

package statefile

import "os"

// syncData makes the bytes of f durable before it returns.
func syncData(f *os.File) error { return f.Sync() }
