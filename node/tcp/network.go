package tcp

import (
	"context"
	"net"
	"net/netip"
	"time"
)

// Network makes the connections of a Transport. They behave like the connections of package net, and return
// the same errors: for a refused dial, ECONNREFUSED in a *net.OpError with Op "dial"; for a connection that
// ended, ECONNRESET, EPIPE and io.EOF. Their addresses are *net.TCPAddr, and they have the SetLinger of a
// *net.TCPConn.
type Network interface {
	// Listen reserves addr, host:port, for this process alone.
	Listen(addr string) (net.Listener, error)
	// Dial connects to addr, within limit.
	Dial(ctx context.Context, addr string, limit time.Duration) (net.Conn, error)
}

// systemNetwork is this machine's own TCP.
type systemNetwork struct{}

// Listen implements Network. Without SO_REUSEPORT the kernel gives an address to one process at a
// time. So a refused dial, or another incarnation at the address, proves that the earlier process
// is gone.
func (systemNetwork) Listen(addr string) (net.Listener, error) {
	lc := net.ListenConfig{KeepAliveConfig: keepAlive}
	lc.SetMultipathTCP(false) // whose end of stream says other things
	return onHighDescriptor(func() (net.Listener, error) {
		return lc.Listen(context.Background(), network(addr), addr)
	})
}

// Dial implements Network. The connection has TCP_NODELAY, as always in Go.
func (systemNetwork) Dial(ctx context.Context, addr string, limit time.Duration) (net.Conn, error) {
	d := net.Dialer{Timeout: limit, KeepAliveConfig: keepAlive}
	conn, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	return quiet(conn), nil
}

// network returns tcp4 for an IPv4 address: the net package alone would take 0.0.0.0 for all
// addresses, including those of IPv6.
func network(bind string) string {
	if addr, err := netip.ParseAddrPort(bind); err == nil && addr.Addr().Is4() {
		return "tcp4"
	}
	return "tcp"
}

// keepAlive finds out within half a minute that the machine at the other end of an idle link has
// vanished. Gossip and heartbeats are faster. There is a link between any two nodes, so a shorter
// time would make more packets than all else in an idle cluster.
var keepAlive = net.KeepAliveConfig{
	Enable: true, Idle: 15 * time.Second, Interval: 5 * time.Second, Count: 3,
}
