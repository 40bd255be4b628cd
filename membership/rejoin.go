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
	maxAttempts   = 8               // exchanges at once; each brings all that the other node knows
	maxKnown      = 1024            // how many processes are remembered
	maxUnproven   = maxStrangers    // how many of them may be gone, and were never reached by a link
	rememberGone  = 24 * time.Hour  // how long a process is remembered after it was last listed
	coldStart     = 5 * time.Second // how long after the start the rounds follow each other faster
	coldInterval  = 100 * time.Millisecond
	aliasInterval = 15 * time.Second
	firstLook     = 3 * time.Second // how long a node looks for others before it takes itself to be alone
)

// rejoin decides with which addresses this node exchanges states, so that the cluster always comes together
// again. It does no I/O and belongs to one goroutine.
//
//  1. Seeds are tried for ever; processes once met for rememberGone after they
//     were last listed, unless they said goodbye.
//  2. A process that is listed here and lists this node is not asked: a whole
//     cluster has no join traffic.
//  3. Two processes with one id learn of each other: a node that lists one asks the
//     other, as long as the conflict lasts.
//  4. One attempt per address at a time, maxAttempts in all.
type rejoin struct {
	self     netip.AddrPort
	settings settings
	started  time.Time
	log      zerolog.Logger

	seeds   []*seed
	known   map[proto.NodeID]*knownProcess
	trying  map[netip.AddrPort]bool
	aliases map[netip.AddrPort]time.Time // addresses of this node itself, and when each answered
	rivals  map[netip.AddrPort]time.Time // when each was last heard of

	unlisted silence // peers answer, but none lists this node
	onlySelf silence // all seeds are this node itself
}

// knownProcess is the last process met under an id.
type knownProcess struct {
	incarnation proto.Incarnation
	addr        netip.AddrPort
	gone        time.Time // when gossip stopped listing it; zero while it is listed
	left        bool      // it said goodbye
	proven      bool      // a link to a process of this id was up
	roll        answer    // whether its last roll listed this node
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
		known:   make(map[proto.NodeID]*knownProcess),
		trying:  make(map[netip.AddrPort]bool),
		aliases: make(map[netip.AddrPort]time.Time),
		rivals:  make(map[netip.AddrPort]time.Time),
	}
}

// met handles the news that gossip lists this process.
func (r *rejoin) met(n node) {
	if a := r.known[n.ID]; a != nil && a.incarnation == n.Incarnation {
		a.addr, a.gone = n.gossip, time.Time{}
		return
	}
	before := r.known[n.ID]
	r.known[n.ID] = &knownProcess{
		incarnation: n.Incarnation, addr: n.gossip, proven: before != nil && before.proven,
	}
}

// proven notes that a link to a process of this id was up.
func (r *rejoin) proven(id proto.NodeID) {
	if a := r.known[id]; a != nil {
		a.proven = true
	}
}

// lost handles the news that gossip no longer lists this id.
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

// goodbye notes that the process with the identity who leaves, so that this node need not look for it.
func (r *rejoin) goodbye(who identity) {
	a := r.known[who.id]
	if a == nil || a.incarnation != who.incarnation {
		return
	}
	a.left = true
	if !a.gone.IsZero() {
		delete(r.known, who.id)
	}
}

// called notes whether the sender's roll lists this node.
func (r *rejoin) called(sender identity, lists bool) {
	a := r.known[sender.id]
	if a == nil || a.incarnation != sender.incarnation {
		return
	}
	a.roll = no
	if lists {
		a.roll = yes
	}
}

// rival notes that a process at this address has the id of another process, which is listed at another
// address.
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

// members returns the processes that are listed here, by address.
func (r *rejoin) members() map[netip.AddrPort]*knownProcess {
	m := make(map[netip.AddrPort]*knownProcess, len(r.known))
	for _, a := range r.known {
		if a.gone.IsZero() {
			m[a.addr] = a
		}
	}
	return m
}

// settled reports whether an exchange with addr would change nothing.
func (r *rejoin) settled(addr netip.AddrPort) bool {
	return r.members()[addr].settled(r.confirmed())
}

// settled reports whether a is a member that lists this node. If the parameter confirmed says that some
// member lists this node, settled also accepts a member that has sent no roll yet. a may be nil, for no
// member.
func (a *knownProcess) settled(confirmed bool) bool {
	return a != nil && (a.roll == yes || a.roll == unknown && confirmed)
}

// targets returns the addresses to try in this round, in random order, and notes that they
// are being tried.
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
	doubtful := r.doubtful()
	slices.SortStableFunc(list, func(a, b netip.AddrPort) int { return doubtful[a] - doubtful[b] })
	list = list[:min(len(list), max(0, maxAttempts-len(r.trying)))]
	for _, addr := range list {
		r.trying[addr] = true
	}
	return list
}

// anyMember returns the address of some member that is listed here and whose id is known.
func (r *rejoin) anyMember(known func(proto.NodeID) bool) (addr netip.AddrPort, ok bool) {
	for id, a := range r.known { // in random order
		if a.gone.IsZero() && known(id) {
			return a.addr, true
		}
	}
	return addr, false
}

// try notes that addr is being tried. It returns false if it is so already, or is this node's own.
func (r *rejoin) try(addr netip.AddrPort) bool {
	if r.trying[addr] || addr == r.self {
		return false
	}
	r.trying[addr] = true
	return true
}

// doubtful returns 1 for each address that only processes have which no link ever reached, and which gossip does
// not list: somebody may have made them up. Other addresses are tried first.
func (r *rejoin) doubtful() map[netip.AddrPort]int {
	marks := make(map[netip.AddrPort]int)
	for _, a := range r.known {
		if !a.proven && !a.gone.IsZero() {
			marks[a.addr] = 1
		}
	}
	for _, a := range r.known {
		if a.proven || a.gone.IsZero() {
			delete(marks, a.addr)
		}
	}
	for _, s := range r.seeds {
		for _, addr := range s.addrs {
			delete(marks, addr)
		}
	}
	return marks
}

// tried notes how the attempt at addr ended.
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

// prune forgets processes that were gone for too long, and aliases and rivals that are too old. It keeps the
// number of remembered processes within bounds.
func (r *rejoin) prune(now time.Time) {
	for id, a := range r.known {
		if !a.gone.IsZero() && (now.Sub(a.gone) > rememberGone || len(r.known) > maxKnown) {
			delete(r.known, id)
		}
	}
	r.pruneUnproven()
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

// pruneUnproven forgets all but the latest maxUnproven of the processes that are gone and that no link reached.
func (r *rejoin) pruneUnproven() {
	var ids []proto.NodeID
	for id, a := range r.known {
		if !a.gone.IsZero() && !a.proven {
			ids = append(ids, id)
		}
	}
	if len(ids) <= maxUnproven {
		return
	}
	slices.SortFunc(ids, func(a, b proto.NodeID) int { return r.known[b].gone.Compare(r.known[a].gone) })
	for _, id := range ids[maxUnproven:] {
		delete(r.known, id)
	}
}

// looked reports whether this node has had time to meet others: it has tried each seed, or
// firstLook is over.
func (r *rejoin) looked(now time.Time) bool {
	return now.Sub(r.started) > firstLook || !slices.ContainsFunc(r.seeds, func(s *seed) bool {
		itself := len(s.addrs) == 1 && s.addrs[0] == r.self
		return !s.tried && !itself
	})
}

// pause returns the time until the next round.
func (r *rejoin) pause(now time.Time) time.Duration {
	d := r.settings.rejoin
	if now.Sub(r.started) < coldStart {
		d = coldInterval
	}
	return d + rand.N(d)
}
