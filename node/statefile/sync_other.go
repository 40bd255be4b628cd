//go:build !linux

package statefile

import "os"

// syncData returns when the bytes of f are durable.
func syncData(f *os.File) error { return f.Sync() }
