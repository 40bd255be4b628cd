//go:build unix

package tcp

import (
	"net/netip"
	"os"
	"syscall"
)

// connectEarly is a net.Dialer's Control. It begins to connect, and looks at once
// whether that was refused, as it is on the same machine before connect returns:
// the dial that proves a death then needs no second look, by way of the poller.
// Every other outcome is left to the Dialer, which goes on where this began.
func connectEarly(_, address string, c syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil || to.Addr().Zone() != "" {
		return nil
	}
	var refused error
	err = c.Control(func(fd uintptr) {
		if syscall.Connect(int(fd), sockaddr(to)) != syscall.EINPROGRESS {
			return
		}
		n, err := syscall.GetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_ERROR)
		if err == nil && n != 0 {
			refused = os.NewSyscallError("connect", syscall.Errno(n))
		}
	})
	if err != nil {
		return err
	}
	return refused
}

func sockaddr(a netip.AddrPort) syscall.Sockaddr {
	if a.Addr().Is4() || a.Addr().Is4In6() {
		return &syscall.SockaddrInet4{Port: int(a.Port()), Addr: a.Addr().As4()}
	}
	return &syscall.SockaddrInet6{Port: int(a.Port()), Addr: a.Addr().As16()}
}
