//go:build !linux

package tcp

// onHighDescriptor calls listen. What it is for elsewhere is a matter of the
// kernel's habits when a process dies; no other was measured.
func onHighDescriptor[T any](listen func() (T, error)) (T, error) { return listen() }
