package tcp

import (
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"unsafe"
)

// quietConn is a TCP connection that reads and writes without telling Go's scheduler about the system call.
// Its socket never blocks, so the scheduler need not know. If it is told, the runtime's monitor thread wakes
// up, and looks around every 20 µs until the process is idle again. That work was a third of what an idle
// node cost, and it takes processors from an election.
type quietConn struct {
	*net.TCPConn
	raw syscall.RawConn

	reading transfer // used by the only goroutine that reads

	mu      sync.Mutex
	writing transfer
}

// transfer is one read or write under way. Its functions are made only once, so that a transfer
// allocates nothing.
type transfer struct {
	call  uintptr // SYS_READ or SYS_WRITE
	left  []byte
	done  int
	errno syscall.Errno
	step  func(fd uintptr) (done bool)
}

// quiet returns conn as a quietConn if conn is a TCP connection; otherwise it returns conn unchanged.
func quiet(conn net.Conn) net.Conn {
	tcp, ok := conn.(*net.TCPConn)
	if !ok {
		return conn
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return conn // it is closed, as its next use will say
	}
	c := &quietConn{TCPConn: tcp, raw: raw}
	c.reading.call, c.reading.step = syscall.SYS_READ, c.reading.once
	c.writing.call, c.writing.step = syscall.SYS_WRITE, c.writing.all
	return c
}

// Read implements net.Conn. One goroutine at a time may call it.
func (c *quietConn) Read(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	n, err := c.reading.run(c.raw.Read, b)
	switch {
	case err != nil:
		return 0, c.failed("read", err)
	case n == 0:
		return 0, io.EOF
	}
	return n, nil
}

// Write implements net.Conn.
func (c *quietConn) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n, err := c.writing.run(c.raw.Write, b)
	if err != nil {
		return n, c.failed("write", err)
	}
	return n, nil
}

// failed returns the error in the form of package net.
func (c *quietConn) failed(op string, err error) error {
	if errno, ok := err.(syscall.Errno); ok { //nolint:errorlint // as run returned it
		return &net.OpError{
			Op: op, Net: "tcp", Source: c.LocalAddr(), Addr: c.RemoteAddr(),
			Err: os.NewSyscallError(op, errno),
		}
	}
	return err
}

// run transfers b. Its error is that of the poller, or an Errno.
func (t *transfer) run(wait func(func(uintptr) bool) error, b []byte) (int, error) {
	t.left, t.done, t.errno = b, 0, 0
	err := wait(t.step)
	t.left = nil
	if err == nil && t.errno != 0 {
		err = t.errno
	}
	return t.done, err
}

// once reads the bytes that are there. It returns false if there are none yet.
func (t *transfer) once(fd uintptr) bool { return t.move(fd) != syscall.EAGAIN }

// all writes all that is left. It returns false if the socket has no room for more now.
func (t *transfer) all(fd uintptr) bool {
	for len(t.left) > 0 {
		if errno := t.move(fd); errno != 0 {
			return errno != syscall.EAGAIN
		}
	}
	return true
}

// move makes the system call, and repeats it if a signal interrupted it.
func (t *transfer) move(fd uintptr) syscall.Errno {
	for {
		n, _, errno := syscall.RawSyscall(t.call, fd,
			uintptr(unsafe.Pointer(unsafe.SliceData(t.left))), uintptr(len(t.left)))
		switch errno {
		case syscall.EINTR:
			continue
		case 0:
			t.done += int(n)
			t.left = t.left[n:]
		case syscall.EAGAIN:
		default:
			t.errno = errno
		}
		return errno
	}
}
