// Package address reads the addresses that a node listens on and advertises, and finds those
// of this machine.
package address

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
)

// ErrNonePrivate says that the node listens on all addresses, and that this machine has no address
// that the other nodes can be expected to reach.
var ErrNonePrivate = errors.New("no private IPv4 address on this machine to advertise")

// ParseBind reads an address to listen on: an IP and a port, or ":port" for
// all addresses. Port 0 lets the kernel choose.
func ParseBind(text string) (netip.AddrPort, error) {
	if strings.HasPrefix(text, ":") {
		text = "0.0.0.0" + text
	}
	addr, err := netip.ParseAddrPort(text)
	if err != nil {
		return netip.AddrPort{}, fmt.Errorf("%q is not an address to listen on: "+
			"write IP:PORT, like 127.0.0.1:7946, or :PORT for all addresses", text)
	}
	return addr, checkOne(text, addr.Addr())
}

// ParseAdvertise reads the address at which the other nodes reach this node: an IP, with or without
// a port. No port, or port 0, stands for the bound port; ParseAdvertise returns 0 for it.
func ParseAdvertise(text string) (netip.AddrPort, error) {
	addr, err := netip.ParseAddrPort(text)
	if err != nil {
		var ip netip.Addr
		ip, err = netip.ParseAddr(strings.Trim(text, "[]"))
		addr = netip.AddrPortFrom(ip, 0)
	}
	if err != nil {
		return netip.AddrPort{}, fmt.Errorf("%q is not an address to advertise: "+
			"write IP or IP:PORT, like 10.0.0.5:7946", text)
	}
	if addr.Addr().IsUnspecified() {
		return netip.AddrPort{}, fmt.Errorf("%q means every address of a machine: "+
			"advertise the one that the other nodes can reach", text)
	}
	return addr, checkOne(text, addr.Addr())
}

// checkOne refuses an address that means several machines.
func checkOne(text string, ip netip.Addr) error {
	if ip.IsMulticast() || ip.Unmap() == netip.AddrFrom4([4]byte{255, 255, 255, 255}) {
		return fmt.Errorf("%q means several machines: name an address of this one", text)
	}
	return nil
}

// onward is an address that no machine has: the kernel would send to it by the default route.
var onward = netip.MustParseAddr("203.0.113.1")

// Reachable returns the address at which the other nodes are likely to reach this machine when a
// node listens on all addresses of bind's family. It tries the source address that the kernel uses
// to send to the first IP in join; then the one for the default route; then the first private
// address. The result why says which it chose. The parameter addrs lists the addresses in use;
// source is KernelSource.
func Reachable(
	bind netip.Addr, join []string, addrs []net.Addr,
	source func(to netip.Addr) (netip.Addr, error),
) (ip netip.Addr, why string, err error) {
	usable := func(ip netip.Addr) bool {
		return !ip.IsLoopback() && (ip.Is4() || bind.Is6()) &&
			slices.ContainsFunc(addrs, func(a net.Addr) bool {
				prefix, err := netip.ParsePrefix(a.String())
				return err == nil && prefix.Addr() == ip
			})
	}
	if to, ok := firstIP(join); ok {
		if ip, err := source(to); err == nil && usable(ip) {
			return ip, "this machine's address towards " + to.String(), nil
		}
	}
	if ip, err := source(onward); err == nil && usable(ip) {
		return ip, "this machine's address on the default route", nil
	}
	ip, err = privateIPv4(addrs)
	return ip, "this machine's first private address", err
}

// Host finds out the addresses of a machine.
type Host struct {
	Addrs  func() ([]net.Addr, error)              // the addresses in use
	Source func(to netip.Addr) (netip.Addr, error) // the source address that the kernel would use
	Names  func(netip.Addr) []string               // the names that the DNS has for an address
}

// Machine is the machine that this process runs on.
var Machine = Host{Addrs: InUse, Source: KernelSource, Names: namesInDNS}

// Advertised returns the address that this node advertises: the given one; else the bound IP, if
// that is not "all addresses"; else the address at which the other nodes are likely to reach this
// machine. If the given one has no port, Advertised adds the bound port. The result why says where
// the IP is from; "" if the IP was given.
func (h Host) Advertised(
	bind netip.AddrPort, given string, join []string,
) (addr netip.AddrPort, why string, err error) {
	switch {
	case given != "":
		if addr, err = ParseAdvertise(given); err != nil {
			return addr, "", err
		}
	case !bind.Addr().IsUnspecified():
		addr, why = netip.AddrPortFrom(bind.Addr(), 0), "as bound"
	default:
		addrs, err := h.Addrs()
		if err != nil {
			return addr, "", fmt.Errorf("list this machine's addresses: %w", err)
		}
		ip, from, err := Reachable(bind.Addr(), join, addrs, h.Source)
		if err != nil {
			return addr, "", fmt.Errorf("%w: give the IP that the other nodes reach", err)
		}
		addr, why = netip.AddrPortFrom(ip, 0), from
	}
	if addr.Port() == 0 {
		addr = netip.AddrPortFrom(addr.Addr(), bind.Port())
	}
	return addr, why, nil
}

// firstIP returns the first target in join that is an IP and not a name.
func firstIP(join []string) (netip.Addr, bool) {
	for _, target := range join {
		if addr, err := netip.ParseAddrPort(target); err == nil {
			return addr.Addr(), true
		}
		if ip, err := netip.ParseAddr(strings.Trim(target, "[]")); err == nil {
			return ip, true
		}
	}
	return netip.Addr{}, false
}

// KernelSource returns the source address that the kernel would use to send to the address to. It
// connects a UDP socket, which sends nothing.
func KernelSource(to netip.Addr) (netip.Addr, error) {
	const anyPort = 9
	conn, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(netip.AddrPortFrom(to, anyPort)))
	if err != nil {
		return netip.Addr{}, err
	}
	defer conn.Close()
	return conn.LocalAddr().(*net.UDPAddr).AddrPort().Addr().Unmap(), nil
}

// InUse returns the addresses of the network interfaces that are up and connected.
func InUse() ([]net.Addr, error) {
	interfaces, err := net.Interfaces()
	if err != nil {
		return nil, err
	}
	var addrs []net.Addr
	for _, i := range interfaces {
		if i.Flags&net.FlagRunning == 0 {
			continue
		}
		its, err := i.Addrs()
		if err != nil {
			return nil, err
		}
		addrs = append(addrs, its...)
	}
	return addrs, nil
}

// Network returns the name of the network for a listener on addr: "tcp4" or "tcp". With "tcp" the
// net package would take 0.0.0.0 for all addresses, including those of IPv6.
func Network(addr netip.AddrPort) string {
	if addr.Addr().Is4() {
		return "tcp4"
	}
	return "tcp"
}

// privateIPv4 returns the first private IPv4 address among addrs.
func privateIPv4(addrs []net.Addr) (netip.Addr, error) {
	for _, a := range addrs {
		prefix, err := netip.ParsePrefix(a.String())
		if err != nil {
			continue
		}
		if ip := prefix.Addr(); ip.Is4() && ip.IsPrivate() {
			return ip, nil
		}
	}
	return netip.Addr{}, ErrNonePrivate
}
