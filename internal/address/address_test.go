package address

import (
	"errors"
	"net"
	"net/netip"
	"testing"
)

// Promise: a node that listens on all addresses advertises the one "the kernel
// would choose towards the first join target that is an IP literal, else the
// default route", never one of an interface that is not running.
func TestReachable(t *testing.T) {
	const byJoin, byDefault, private = "this machine's address towards ",
		"this machine's address on the default route", "this machine's first private address"
	for _, c := range []struct {
		name   string
		bind   string
		join   []string
		routes map[string]string // from a target to the kernel's choice
		addrs  func() ([]net.Addr, error)
		ip     string
		why    string
	}{
		{
			"towards the first IP", "0.0.0.0",
			[]string{"n1:7946", "10.0.0.9:7946", "192.0.2.7"},
			map[string]string{"10.0.0.9": "10.0.0.2", "192.0.2.7": "192.0.2.2"},
			addresses("10.0.0.2/24", "192.0.2.2/24"), "10.0.0.2", byJoin + "10.0.0.9",
		},
		{
			"names only: the default route", "0.0.0.0",
			[]string{"n1", "n2:7946"},
			map[string]string{"203.0.113.1": "192.0.2.2"},
			addresses("172.17.0.1/16", "192.0.2.2/24"), "192.0.2.2", byDefault,
		},
		{
			"no route at all", "0.0.0.0",
			[]string{"10.0.0.9"},
			nil,
			addresses("127.0.0.1/8", "10.1.0.1/24"), "10.1.0.1", private,
		},
		{
			"an interface that is not running", "0.0.0.0",
			[]string{"172.17.0.5"},
			map[string]string{"172.17.0.5": "172.17.0.1", "203.0.113.1": "192.0.2.2"},
			addresses("192.0.2.2/24"), "192.0.2.2", byDefault,
		},
		{
			"loopback, which only this machine reaches", "0.0.0.0",
			[]string{"127.0.0.1:7000"},
			map[string]string{"127.0.0.1": "127.0.0.1", "203.0.113.1": "192.0.2.2"},
			addresses("127.0.0.1/8", "192.0.2.2/24"), "192.0.2.2", byDefault,
		},
		{
			"IPv6 where only IPv4 is listened on", "0.0.0.0",
			[]string{"[fd00::9]:7946"},
			map[string]string{"fd00::9": "fd00::2", "203.0.113.1": "192.0.2.2"},
			addresses("fd00::2/64", "192.0.2.2/24"), "192.0.2.2", byDefault,
		},
		{
			"IPv6", "::",
			[]string{"fd00::9"},
			map[string]string{"fd00::9": "fd00::2"},
			addresses("fd00::2/64"), "fd00::2", byJoin + "fd00::9",
		},
	} {
		addrs, err := c.addrs()
		if err != nil {
			t.Fatal(err)
		}
		source := func(to netip.Addr) (netip.Addr, error) {
			return netip.ParseAddr(c.routes[to.String()]) // an error where there is none
		}
		ip, why, err := Reachable(netip.MustParseAddr(c.bind), c.join, addrs, source)
		if err != nil || ip.String() != c.ip || why != c.why {
			t.Errorf("%s: %v (%s), %v; want %s (%s)", c.name, ip, why, err, c.ip, c.why)
		}
	}
	nowhere := func(netip.Addr) (netip.Addr, error) { return netip.Addr{}, errors.New("no route") }
	_, _, err := Reachable(netip.IPv4Unspecified(), nil, nil, nowhere)
	if !errors.Is(err, ErrNonePrivate) {
		t.Errorf("without any address: %v", err)
	}
}

// The kernel writes to loopback from loopback.
func TestKernelSource(t *testing.T) {
	loopback := netip.MustParseAddr("127.0.0.1")
	if got, err := KernelSource(loopback); err != nil || got != loopback {
		t.Errorf("towards loopback: %v, %v", got, err)
	}
}

// Promise: a bind of 0.0.0.0 is IPv4 only.
func TestNetwork(t *testing.T) {
	for addr, want := range map[string]string{
		"0.0.0.0:1": "tcp4", "127.0.0.1:1": "tcp4", "[::]:1": "tcp", "[::1]:1": "tcp",
	} {
		if got := Network(netip.MustParseAddrPort(addr)); got != want {
			t.Errorf("%s is listened on with %s, want %s", addr, got, want)
		}
	}
}

// addresses are a machine's, as the system lists them.
func addresses(cidrs ...string) func() ([]net.Addr, error) {
	return func() ([]net.Addr, error) {
		var addrs []net.Addr
		for _, cidr := range cidrs {
			ip, subnet, err := net.ParseCIDR(cidr)
			if err != nil {
				return nil, err
			}
			addrs = append(addrs, &net.IPNet{IP: ip, Mask: subnet.Mask})
		}
		return addrs, nil
	}
}
