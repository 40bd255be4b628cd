package membership

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/memberlist"
)

// hostPort is an address as configured. An empty host is all addresses.
type hostPort struct {
	host string
	port uint16
}

func (h hostPort) String() string {
	return net.JoinHostPort(h.host, strconv.Itoa(int(h.port)))
}

// parseHostPort reads "host:port"; the port may be 0.
func parseHostPort(what, s string) (hostPort, error) {
	host, port, err := net.SplitHostPort(s)
	if err != nil || strings.ContainsFunc(host, notInHost) {
		return hostPort{}, fmt.Errorf("%s %q: want host:port", what, s)
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return hostPort{}, fmt.Errorf("%s %q: the port must be a number up to 65535", what, s)
	}
	return hostPort{host, uint16(n)}, nil
}

// lookupTimeout bounds one question to the resolver.
const lookupTimeout = 2 * time.Second

// resolve is the host's address; of several the first, IPv4 if there is one.
// memberlist would bind every address of the machine for a name it is given.
func (h hostPort) resolve(what string, ask lookup) (netip.Addr, error) {
	if h.host == "" {
		return netip.IPv4Unspecified(), nil
	}
	if ip, err := netip.ParseAddr(h.host); err == nil {
		return ip.Unmap(), nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), lookupTimeout)
	defer cancel()
	ips, err := ask(ctx, h.host)
	if err != nil {
		return netip.Addr{}, fmt.Errorf("%s %s: look up: %w", what, h, err)
	}
	for _, ip := range ips {
		if ip.Unmap().Is4() {
			return ip.Unmap(), nil
		}
	}
	if len(ips) == 0 {
		return netip.Addr{}, fmt.Errorf("%s %s: the name has no address", what, h)
	}
	return ips[0], nil
}

// advertised is the address that others are told, for a node that binds bind.
// Its port is 0 when it is to be the bound one.
func (c Config) advertised(bind netip.Addr, ask lookup) (netip.AddrPort, error) {
	if c.Advertise != "" {
		text := c.Advertise
		if _, _, err := net.SplitHostPort(text); err != nil {
			text = net.JoinHostPort(strings.Trim(text, "[]"), "0")
		}
		h, err := parseHostPort("gossip advertise address", text)
		if err != nil {
			return netip.AddrPort{}, err
		}
		ip, err := h.resolve("gossip advertise address", ask)
		if err != nil {
			return netip.AddrPort{}, err
		}
		if ip.IsUnspecified() {
			return netip.AddrPort{}, fmt.Errorf("gossip advertise address %q: "+
				"nobody can dial %s; name an address of this machine", c.Advertise, ip)
		}
		return netip.AddrPortFrom(ip, h.port), nil
	}
	if !bind.IsUnspecified() {
		return netip.AddrPortFrom(bind, 0), nil
	}
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		return netip.AddrPort{}, fmt.Errorf("list this machine's addresses: %w", err)
	}
	ip, err := onlyAddr(addrs)
	if err != nil {
		return netip.AddrPort{}, fmt.Errorf(
			"gossip bind address %s leaves open what to advertise: %w; "+
				"set the gossip advertise address", c.Bind, err)
	}
	return netip.AddrPortFrom(ip, 0), nil
}

// onlyAddr is the machine's one address that others may reach: IPv4 if it has
// any, else IPv6. More than one would be a guess.
func onlyAddr(addrs []net.Addr) (netip.Addr, error) {
	var v4, v6 []netip.Addr
	for _, a := range addrs {
		prefix, err := netip.ParsePrefix(a.String())
		if err != nil || !prefix.Addr().IsGlobalUnicast() {
			continue
		}
		if ip := prefix.Addr().Unmap(); ip.Is4() {
			v4 = append(v4, ip)
		} else {
			v6 = append(v6, ip)
		}
	}
	found := v4
	if len(found) == 0 {
		found = v6
	}
	switch len(found) {
	case 0:
		return netip.Addr{}, errors.New("this machine has no address but loopback")
	case 1:
		return found[0], nil
	}
	return netip.Addr{}, fmt.Errorf("this machine has several addresses, %v", found)
}

// listen opens the gossip sockets and is the transport over them, with the
// address that others are told.
func (c Config) listen(bind hostPort) (memberlist.Transport, netip.AddrPort, error) {
	if c.Transport != nil {
		ip, port, err := c.Transport.FinalAdvertiseAddr("", 0)
		if err != nil {
			return nil, netip.AddrPort{}, fmt.Errorf("gossip transport: %w", err)
		}
		addr, _ := netip.AddrFromSlice(ip)
		return c.Transport, netip.AddrPortFrom(addr.Unmap(), uint16(port)), nil
	}
	ask := c.resolver()
	ip, err := bind.resolve("gossip bind address", ask)
	if err != nil {
		return nil, netip.AddrPort{}, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	self, err := c.advertised(ip, ask)
	if err != nil {
		return nil, netip.AddrPort{}, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	t, err := c.open(ip, bind.port)
	if err != nil {
		return nil, netip.AddrPort{}, err
	}
	if self.Port() == 0 {
		self = netip.AddrPortFrom(self.Addr(), uint16(t.GetAutoBindPort()))
	}
	return t, self, nil
}

// open binds UDP and TCP. With port 0 the kernel's choice for TCP may be taken
// for UDP, so several are tried.
func (c Config) open(ip netip.Addr, port uint16) (*memberlist.NetTransport, error) {
	tries := 1
	if port == 0 {
		tries = 10
	}
	var err error
	for range tries {
		var t *memberlist.NetTransport
		t, err = memberlist.NewNetTransport(&memberlist.NetTransportConfig{
			BindAddrs: []string{ip.String()}, BindPort: int(port),
			Logger: memberlistLog(c.Logger),
		})
		if err == nil {
			return t, nil
		}
	}
	err = fmt.Errorf("bind gossip to %s: %w", netip.AddrPortFrom(ip, port), err)
	if strings.Contains(err.Error(), "address already in use") {
		err = fmt.Errorf("%w; %w: stop it, or choose another address", err, ErrAddrInUse)
	}
	return nil, err
}

func (c Config) resolver() lookup {
	if c.lookup != nil {
		return c.lookup
	}
	return lookupHost
}
