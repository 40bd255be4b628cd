package membership

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"time"
)

// lookup finds the addresses of a host name.
type lookup func(ctx context.Context, host string) ([]netip.Addr, error)

// lookupHost asks the system's resolver, for all addresses.
func lookupHost(ctx context.Context, host string) ([]netip.Addr, error) {
	return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
}

// seed is one join target.
type seed struct {
	text string // as configured
	host string
	port uint16 // 0 until complete, when the text names none

	addrs    []netip.AddrPort // where it leads, as far as known
	lookedUp time.Time        // when a name was last looked up with success
	looking  bool
	tried    bool // one of its addresses answered or failed, or it has none

	silent silence
}

// nameTTL is how long the addresses of a name are used before it is looked up
// again.
const nameTTL = 10 * time.Second

// parseSeed reads "host", "host:port", "address" or "[address]:port".
func parseSeed(text string) (*seed, error) {
	s := &seed{text: text, host: text}
	if host, p, err := net.SplitHostPort(text); err == nil {
		n, err := strconv.ParseUint(p, 10, 16)
		if err != nil || n == 0 {
			return nil, fmt.Errorf(
				"join target %q: the port must be a number from 1 to 65535", text)
		}
		s.host, s.port = host, uint16(n)
	}
	s.host = strings.TrimSuffix(strings.TrimPrefix(s.host, "["), "]")
	noName := s.host == "" || strings.ContainsAny(s.host, ":/[]") ||
		strings.ContainsFunc(s.host, notInHost)
	if s.isName() && noName {
		return nil, fmt.Errorf("join target %q: want host, host:port or an address", text)
	}
	return s, nil
}

// complete gives s a port if it names none.
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

// found notes the answer of a lookup. After a failure the old addresses are
// still tried, and the next round looks again.
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

// When a silent target is complained about: first after silentGrace, since
// clusters do not start in one instant, then rarely.
const (
	silentGrace = 3 * time.Second
	silentAgain = 10 * time.Minute
)

// silence is how long something has been failing, and when that was said.
type silence struct {
	since, said time.Time
	err         error // why, the last time
}

// worthSaying notes that it still fails and reports whether to say so now.
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

// over notes that it works and reports whether the contrary had been said.
func (s *silence) over() bool {
	wasSaid := !s.said.IsZero()
	*s = silence{}
	return wasSaid
}
