package membership

import (
	"net/netip"
	"time"
)

// complain says through which join targets this node cannot join, and that no peer lists this
// node: once after a grace, then rarely, and when it is over.
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
	switch {
	case len(members) == 0 || r.confirmed():
		if r.unlisted.over() {
			r.log.Info().Msg("the peers list this node now")
		}
	case r.unlisted.worthSaying(now):
		r.log.Warn().Msg("peers answer, but none of them lists this node yet; trying on")
	}
}

// answers reports whether one of the seed's addresses led somewhere.
func (r *rejoin) answers(s *seed, members map[netip.AddrPort]*acquaintance) bool {
	for _, addr := range s.addrs {
		if addr == r.self || members[addr] != nil || !r.aliases[addr].IsZero() {
			return true
		}
	}
	return false
}
