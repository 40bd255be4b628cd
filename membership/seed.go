package membership

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// lookupTimeout is how long one lookup of a name may take.
const lookupTimeout = 2 * time.Second

// lookup finds the addresses of a host name.
type lookup func(ctx context.Context, host string) ([]netip.Addr, error)

// lookupHost asks the system's resolver for all addresses of a host.
func lookupHost(ctx context.Context, host string) ([]netip.Addr, error) {
	return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
}

// seed is one join target.
type seed struct {
	text string // the text in the configuration
	host string
	port uint16 // 0 if the text has none, until complete sets it

	addrs    []netip.AddrPort // the addresses of the target, as far as known
	lookedUp time.Time        // when the name was last looked up successfully
	looking  bool
	tried    bool // an address answered or failed, or there is none

	silent silence
}

// nameTTL is how long the addresses of a name are used before it is looked up
// again.
const nameTTL = 10 * time.Second

// CheckJoin returns an error if text cannot be one of Config.Join. It does not look the host up.
func CheckJoin(text string) error {
	_, err := parseSeed(text)
	return err
}

// hostName matches what can be the name of a host.
var hostName = regexp.MustCompile(`^[A-Za-z0-9._-]+$`)

// numbers matches a text that is meant as an IPv4 address: no name ends in a number.
var numbers = regexp.MustCompile(`^[0-9.]*\.[0-9.]*$`)

// parseSeed reads "host", "host:port", "address" or "[address]:port".
func parseSeed(text string) (*seed, error) {
	s := &seed{text: text, host: text}
	if host, p, err := net.SplitHostPort(text); err == nil {
		n, err := strconv.ParseUint(p, 10, 16)
		if err != nil || n == 0 {
			return nil, fmt.Errorf("%q: the port must be a number from 1 to 65535", text)
		}
		s.host, s.port = host, uint16(n)
	} else if inner, ok := strings.CutPrefix(text, "["); ok {
		s.host = strings.TrimSuffix(inner, "]")
		if s.host == inner || s.isName() {
			return nil, fmt.Errorf("%q is not an address: write IP or IP:port, with an IPv6 address as [IP]", text)
		}
	}
	switch {
	case !s.isName():
	case numbers.MatchString(s.host):
		return nil, fmt.Errorf("%q is not an address: write IP or IP:port", text)
	case !hostName.MatchString(s.host):
		return nil, fmt.Errorf("%q is not a host: write host, host:port or IP:port, one node each; "+
			"a host is ASCII letters, digits, dots, dashes and underscores", text)
	}
	return s, nil
}

// complete gives s this port if s has none, and sets the address of s if its host is an IP address.
func (s *seed) complete(port uint16) {
	if s.port == 0 {
		s.port = port
	}
	if ip, err := netip.ParseAddr(s.host); err == nil {
		s.addrs = []netip.AddrPort{netip.AddrPortFrom(ip.Unmap(), s.port)}
	}
}

// isName reports whether s has to be looked up.
func (s *seed) isName() bool {
	_, err := netip.ParseAddr(s.host)
	return err != nil
}

// stale reports whether s has to be looked up now.
func (s *seed) stale(now time.Time) bool {
	return s.isName() && !s.looking && now.Sub(s.lookedUp) > nameTTL
}

// found notes the result of a lookup. After a failure the old addresses stay, and the next round
// looks the name up again.
func (s *seed) found(now time.Time, ips []netip.Addr, err error) {
	s.looking = false
	if err != nil {
		s.silent.err, s.tried = err, true
		return
	}
	s.lookedUp = now
	s.addrs = s.addrs[:0]
	for _, ip := range ips {
		s.addrs = append(s.addrs, netip.AddrPortFrom(ip.Unmap(), s.port))
	}
}

// The times at which the node logs that a target does not answer: first after silentGrace, since the nodes of
// a cluster do not start at the same instant, then only once in silentAgain.
const (
	silentGrace = 3 * time.Second
	silentAgain = 10 * time.Minute
)

// silence records how long something has been failing, and when that was logged.
type silence struct {
	since, said time.Time
	err         error // why it failed the last time
}

// worthSaying notes that something still fails, and reports whether to log that now.
func (s *silence) worthSaying(now time.Time) bool {
	if s.since.IsZero() {
		s.since = now
	}
	if now.Sub(s.since) < silentGrace || !s.said.IsZero() && now.Sub(s.said) < silentAgain {
		return false
	}
	s.said = now
	return true
}

// over notes that something works, and reports whether its failure had been logged.
func (s *silence) over() bool {
	wasSaid := !s.said.IsZero()
	*s = silence{}
	return wasSaid
}
