package membership

import (
	"net/netip"
	"slices"
	"time"
)

// complain logs the join targets through which this node cannot join. It also logs if no peer lists this
// node. It logs each trouble first after a grace, then rarely, and once more when the trouble is over.
func (r *rejoin) complain(now time.Time) {
	members := r.members()
	for _, s := range r.seeds {
		switch {
		case !r.answers(s, members):
			if s.silent.worthSaying(now) {
				r.log.Warn().Str("target", s.text).AnErr("last", s.silent.err).Msgf(
					"cannot join through %s; going on without it and trying for ever", s.text)
			}
		case s.silent.over():
			r.log.Info().Str("target", s.text).Msgf("joined through %s after all", s.text)
		}
	}
	if r.meetsItself(now) {
		r.log.Warn().Msgf("every join target is this node itself, at %s: it looks for nobody else; "+
			"a target without a port has that of this node's own gossip", r.self)
	}
	switch {
	case len(members) == 0 || r.confirmed():
		if r.unlisted.over() {
			r.log.Info().Msg("the peers list this node now")
		}
	case r.unlisted.worthSaying(now):
		r.log.Warn().Msg("peers answer, but none of them lists this node yet; trying on")
	}
}

// meetsItself reports whether to log that this node is its own only seed. This is a mistake, unless other
// nodes join this node.
func (r *rejoin) meetsItself(now time.Time) bool {
	for _, s := range r.seeds {
		if len(s.addrs) == 0 || slices.ContainsFunc(s.addrs, func(a netip.AddrPort) bool { return a != r.self }) {
			return false
		}
	}
	return len(r.seeds) > 0 && len(r.known) == 0 && r.onlySelf.worthSaying(now)
}

// answers reports whether a process answers at one of the seed's addresses.
func (r *rejoin) answers(s *seed, members map[netip.AddrPort]*knownProcess) bool {
	for _, addr := range s.addrs {
		if addr == r.self || members[addr] != nil || !r.aliases[addr].IsZero() {
			return true
		}
	}
	return false
}
