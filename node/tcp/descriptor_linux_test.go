package tcp

import (
	"net"
	"syscall"
	"testing"
)

// "A listener above its links is gone before a peer reads the end of one."
func TestListenerIsAboveItsLinks(t *testing.T) {
	a, b := start(t, 1), start(t, 2)
	connect(t, a, b)
	if fd := descriptor(t, a.ln); fd < highDescriptor {
		t.Errorf("the listener has descriptor %d, want %d or above", fd, highDescriptor)
	}
	c, err := net.Dial("tcp", a.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if fd := descriptor(t, c); fd >= highDescriptor {
		t.Errorf("a connection has descriptor %d: the low ones were not given back", fd)
	}
}

func descriptor(t *testing.T, c any) (fd uintptr) {
	t.Helper()
	raw, err := c.(interface {
		SyscallConn() (syscall.RawConn, error)
	}).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	if err := raw.Control(func(n uintptr) { fd = n }); err != nil {
		t.Fatal(err)
	}
	return fd
}
