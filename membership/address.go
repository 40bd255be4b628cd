package membership

import (
	"fmt"
	"net/netip"
	"strings"

	"github.com/hashicorp/memberlist"
)

// advertised returns the address that others are told. Port 0 stands for the bound port, which is
// not known yet.
func (c Config) advertised() (netip.AddrPort, error) {
	if !c.Bind.IsValid() {
		return netip.AddrPort{}, fmt.Errorf("gossip bind address %v: want an address and a port", c.Bind)
	}
	addr := c.Advertise
	if !addr.IsValid() {
		addr = netip.AddrPortFrom(c.Bind.Addr(), 0)
	}
	if addr.Addr().IsUnspecified() {
		return netip.AddrPort{}, fmt.Errorf("gossip advertise address %v: nobody can dial %v; name an address "+
			"of this machine", c.Advertise, addr.Addr())
	}
	return netip.AddrPortFrom(addr.Addr().Unmap(), addr.Port()), nil
}

// listen opens the gossip sockets. It returns the transport over them, and the address that
// others are told.
func (c Config) listen(advertised netip.AddrPort) (memberlist.Transport, netip.AddrPort, error) {
	if c.Transport != nil {
		ip, port, err := c.Transport.FinalAdvertiseAddr("", 0)
		if err != nil {
			return nil, netip.AddrPort{}, fmt.Errorf("gossip transport: %w", err)
		}
		addr, _ := netip.AddrFromSlice(ip)
		return c.Transport, netip.AddrPortFrom(addr.Unmap(), uint16(port)), nil
	}
	t, err := c.open()
	if err != nil {
		return nil, netip.AddrPort{}, err
	}
	if advertised.Port() == 0 {
		advertised = netip.AddrPortFrom(advertised.Addr(), uint16(t.GetAutoBindPort()))
	}
	return t, advertised, nil
}

// open binds UDP and TCP sockets. With port 0 the kernel chooses a port for TCP that may be in use
// for UDP, so open tries several times.
func (c Config) open() (t *memberlist.NetTransport, err error) {
	tries := 1
	if c.Bind.Port() == 0 {
		tries = 10
	}
	for range tries {
		t, err = memberlist.NewNetTransport(&memberlist.NetTransportConfig{
			BindAddrs: []string{c.Bind.Addr().Unmap().String()}, BindPort: int(c.Bind.Port()),
			Logger: memberlistLog(c.Logger),
		})
		if err == nil {
			return t, nil
		}
	}
	err = fmt.Errorf("bind gossip to %s: %w", c.Bind, err)
	if strings.Contains(err.Error(), "address already in use") {
		return nil, fmt.Errorf("%w; %w: stop it, or choose another address", err, ErrAddrInUse)
	}
	return nil, fmt.Errorf("%w: choose an address of this machine", err)
}
