package membership

import (
	"math/rand/v2"
	"net/netip"
	"slices"
	"time"

	"github.com/rs/zerolog"

	"github.com/ringleader-dev/ringleader/proto"
)

// Bounds of the rejoin loop.
const (
	maxAttempts   = 8               // at once: each brings all that the other knows
	maxKnown      = 1024            // processes remembered
	rememberGone  = 24 * time.Hour  // that long after they were last listed
	coldStart     = 5 * time.Second // rounds follow faster that long after the start
	coldInterval  = 100 * time.Millisecond
	aliasInterval = 15 * time.Second
	firstLook     = 3 * time.Second // for others, before a node takes itself for alone
)

// rejoin decides whom to exchange state with, so that the cluster always comes
// together again. It does no I/O and belongs to one goroutine.
//
//  1. Seeds are tried for ever; processes once met for rememberGone after they
//     were last listed, unless they said goodbye.
//  2. Nobody is asked who is listed here and lists this node: a whole cluster
//     has no join traffic.
//  3. Two processes with one id are told of each other: whoever lists one asks
//     the other, as long as the conflict shows.
//  4. One attempt per address at a time, maxAttempts in all.
type rejoin struct {
	self     netip.AddrPort
	settings settings
	started  time.Time
	log      zerolog.Logger

	seeds   []*seed
	known   map[proto.NodeID]*acquaintance
	trying  map[netip.AddrPort]bool
	aliases map[netip.AddrPort]time.Time // when each answered
	rivals  map[netip.AddrPort]time.Time // when each was last met

	unlisted silence // peers answer, but none lists this node
	onlySelf silence // all seeds are this node itself
}

// acquaintance is the last process met under an id.
type acquaintance struct {
	session proto.Session
	addr    netip.AddrPort
	gone    time.Time // when gossip gave it up; zero while it is listed
	left    bool      // it said goodbye
	roll    answer    // whether its last roll listed this node
}

type answer int

const (
	unknown answer = iota
	no
	yes
)

func newRejoin(
	self netip.AddrPort, s settings, seeds []*seed, now time.Time, log zerolog.Logger,
) *rejoin {
	return &rejoin{
		self: self, settings: s, seeds: seeds, started: now, log: log,
		known:   make(map[proto.NodeID]*acquaintance),
		trying:  make(map[netip.AddrPort]bool),
		aliases: make(map[netip.AddrPort]time.Time),
		rivals:  make(map[netip.AddrPort]time.Time),
	}
}

// met: gossip lists this process.
func (r *rejoin) met(n node) {
	if a := r.known[n.ID]; a != nil && a.session == n.Session {
		a.addr, a.gone = n.gossip, time.Time{}
		return
	}
	r.known[n.ID] = &acquaintance{session: n.Session, addr: n.gossip}
}

// lost: gossip does not list this id any more.
func (r *rejoin) lost(id proto.NodeID, now time.Time) {
	a := r.known[id]
	if a == nil {
		return
	}
	if a.left {
		delete(r.known, id)
		return
	}
	a.gone, a.roll = now, unknown
}

// goodbye: this process leaves, and need not be looked for.
func (r *rejoin) goodbye(who identity) {
	a := r.known[who.id]
	if a == nil || a.session != who.session {
		return
	}
	a.left = true
	if !a.gone.IsZero() {
		delete(r.known, who.id)
	}
}

// called: this process's roll lists this node, or does not.
func (r *rejoin) called(sender identity, lists bool) {
	a := r.known[sender.id]
	if a == nil || a.session != sender.session {
		return
	}
	a.roll = no
	if lists {
		a.roll = yes
	}
}

// rival: this address has a process whose id is listed elsewhere.
func (r *rejoin) rival(addr netip.AddrPort, now time.Time) {
	if _, ok := r.rivals[addr]; ok || len(r.rivals) < maxAttempts {
		r.rivals[addr] = now
	}
}

// confirmed reports whether a process that is listed here lists this node.
func (r *rejoin) confirmed() bool {
	for _, a := range r.known {
		if a.gone.IsZero() && a.roll == yes {
			return true
		}
	}
	return false
}

// members are the processes that are listed here, by address.
func (r *rejoin) members() map[netip.AddrPort]*acquaintance {
	m := make(map[netip.AddrPort]*acquaintance, len(r.known))
	for _, a := range r.known {
		if a.gone.IsZero() {
			m[a.addr] = a
		}
	}
	return m
}

// settled reports whether there is nothing to gain from asking at addr.
func (r *rejoin) settled(addr netip.AddrPort) bool {
	return r.members()[addr].settled(r.confirmed())
}

// settled reports whether a, nil for nobody, is a member that lists this node, as
// far as is known: a single word of one member stands for all the silent ones.
func (a *acquaintance) settled(confirmed bool) bool {
	return a != nil && (a.roll == yes || a.roll == unknown && confirmed)
}

// targets are the addresses to try in this round, in random order, noted as
// being tried.
func (r *rejoin) targets(now time.Time) []netip.AddrPort {
	r.prune(now)
	wanted := make(map[netip.AddrPort]bool)
	for _, s := range r.seeds {
		for _, addr := range s.addrs {
			wanted[addr] = true
		}
	}
	for _, a := range r.known {
		wanted[a.addr] = true
	}
	for addr := range r.rivals {
		wanted[addr] = true
	}
	delete(wanted, r.self)
	members, confirmed := r.members(), r.confirmed()
	var list []netip.AddrPort
	for addr := range wanted {
		_, answered := r.aliases[addr]
		if !answered && !r.trying[addr] && !members[addr].settled(confirmed) {
			list = append(list, addr)
		}
	}
	rand.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	list = list[:min(len(list), max(0, maxAttempts-len(r.trying)))]
	for _, addr := range list {
		r.trying[addr] = true
	}
	return list
}

// tried: the attempt at addr ended.
func (r *rejoin) tried(addr netip.AddrPort, now time.Time, err error) {
	delete(r.trying, addr)
	for _, s := range r.seeds {
		if slices.Contains(s.addrs, addr) {
			s.silent.err, s.tried = err, true
		}
	}
	if err == nil && !r.isKnown(addr) {
		// Somebody answered whose own address is another: this node itself, or a
		// member behind a second address. Once in a while is enough.
		r.aliases[addr] = now
	}
}

func (r *rejoin) isKnown(addr netip.AddrPort) bool {
	for _, a := range r.known {
		if a.addr == addr {
			return true
		}
	}
	_, ok := r.rivals[addr]
	return ok
}

// prune forgets whom there is no more hope for, and keeps what is remembered
// within bounds.
func (r *rejoin) prune(now time.Time) {
	for id, a := range r.known {
		if !a.gone.IsZero() && (now.Sub(a.gone) > rememberGone || len(r.known) > maxKnown) {
			delete(r.known, id)
		}
	}
	for addr, at := range r.aliases {
		if now.Sub(at) > aliasInterval {
			delete(r.aliases, addr)
		}
	}
	for addr, at := range r.rivals {
		if now.Sub(at) > 4*r.settings.rejoin { // two rounds
			delete(r.rivals, addr)
		}
	}
}

// looked reports whether this node has had its chance to meet others: each seed was
// tried, or firstLook is over.
func (r *rejoin) looked(now time.Time) bool {
	return now.Sub(r.started) > firstLook || !slices.ContainsFunc(r.seeds, func(s *seed) bool {
		itself := len(s.addrs) == 1 && s.addrs[0] == r.self
		return !s.tried && !itself
	})
}

// pause is the time until the next round.
func (r *rejoin) pause(now time.Time) time.Duration {
	d := r.settings.rejoin
	if now.Sub(r.started) < coldStart {
		d = coldInterval
	}
	return d + rand.N(d)
}
