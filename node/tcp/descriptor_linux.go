package tcp

import (
	"golang.org/x/sys/unix"
)

// highDescriptor is above the descriptors of the links in most clusters.
const highDescriptor = 512

// onHighDescriptor calls listen so that its socket gets a high descriptor. When a process dies, the
// kernel closes its descriptors from the highest down. So the listener is gone before a peer reads
// the end of a link, and the dial that asks whether the process is dead is refused at once.
// Otherwise the dial might find a listener that ends a moment later, and prove nothing.
//
// During the call it occupies all lower descriptors. If the process may not open that many, the
// listener gets a lower one, and a proof may take a second dial.
func onHighDescriptor[T any](listen func() (T, error)) (T, error) {
	var taken []int
	defer func() {
		for _, fd := range taken {
			_ = unix.Close(fd)
		}
	}()
	if fd, err := unix.Open("/dev/null", unix.O_RDONLY|unix.O_CLOEXEC, 0); err == nil {
		for taken = append(taken, fd); fd < highDescriptor; taken = append(taken, fd) {
			if fd, err = unix.FcntlInt(uintptr(taken[0]), unix.F_DUPFD_CLOEXEC, 0); err != nil {
				break
			}
		}
	}
	return listen()
}
