package membership

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/memberlist"
	"github.com/rs/zerolog"

	"github.com/ringleader-dev/ringleader/proto"
)

// Group is this node's part in the cluster's gossip. All its methods may be
// called from any goroutine.
type Group struct {
	cfg      Config
	settings settings
	log      zerolog.Logger
	gate     *gate
	places   *places
	queue    *queue
	list     *memberlist.Memberlist
	guard    *guard

	views   chan View
	failure chan error

	ctx      context.Context // ends when the group stops
	stop     context.CancelFunc
	stopped  chan struct{} // closed when the loop has ended
	shutdown sync.Once

	// Only the loop writes these; memberlist's goroutines read them.
	metaBytes atomic.Pointer[[]byte]
	roll      atomic.Pointer[[]byte]
	listed    atomic.Pointer[[]Member]
	listings  chan struct{} // holds a value when listed changed
	notice    atomic.Pointer[Notice]

	heard heard // news that wait for the loop

	// These never change.
	me   identity
	addr netip.AddrPort

	// Only the loop uses these.
	self   node
	merge  *merge
	news   []byte // what was told last
	outbox outbox
	rejoin *rejoin
	looked bool // the first view may be given
	asking int  // how many processes are being asked whether they exist
	claims claims
	failed bool
}

// Start opens the sockets and joins the cluster in the background. It never stops trying; as long
// as no seed answers, the node is a cluster of one. The error wraps ErrConfig if the Config cannot
// work.
func Start(cfg Config) (*Group, error) {
	if cfg.lookup == nil {
		cfg.lookup = lookupHost
	}
	now := time.Now()
	p, err := cfg.plan(now)
	if err != nil {
		return nil, err
	}
	transport, self, err := cfg.listen(p.advertised)
	if err != nil {
		return nil, err
	}
	for _, s := range p.seeds {
		s.complete(cmp.Or(cfg.Bind.Port(), self.Port()))
	}
	g := newGroup(cfg, p, self, now)
	g.guard = newGuard(transport, cfg.Keys, cfg.Logger)
	g.list, err = memberlist.Create(g.memberlistConfig(g.guard))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start gossip on %s: %w", self, err), g.guard.Shutdown())
	}
	go g.loop()
	return g, nil
}

func newGroup(cfg Config, p plan, gossip netip.AddrPort, now time.Time) *Group {
	self := node{meta: p.meta, gossip: gossip}
	g := &Group{
		cfg: cfg, settings: p.settings, log: cfg.Logger, me: self.identity(),
		addr: gossip, self: self,
		gate: &gate{
			cluster: cfg.Cluster, algorithm: cfg.Algorithm, voters: cfg.Voters.List, store: cfg.Store,
			log: cfg.Logger, stranger: cfg.OnStranger,
		},
		places:  newPlaces(cfg.Expected),
		queue:   newQueue(),
		views:   make(chan View),
		failure: make(chan error, 1),
		stopped: make(chan struct{}), listings: make(chan struct{}, 1),
		rejoin: newRejoin(gossip, p.settings, p.seeds, now, cfg.Logger),
	}
	g.merge = newMerge(self.member(), nil)
	if cfg.LinksProve {
		g.merge = newMerge(self.member(), cfg.Linked)
	}
	g.ctx, g.stop = context.WithCancel(context.Background())
	kept := cfg.Notice.Bounded(now)
	g.notice.Store(&kept)
	g.setMeta()
	g.publish()
	return g
}

// The versions of memberlist's protocol, and of this package's part in it, that each node speaks. See checkVersions.
const (
	gossipVersion  = memberlist.ProtocolVersion2Compatible
	gossipDelegate = 0
)

func (g *Group) memberlistConfig(t memberlist.Transport) *memberlist.Config {
	c := memberlist.DefaultLANConfig()
	g.settings.apply(c)
	c.Name = g.self.ID.String()
	c.Transport = t
	c.BindPort = int(g.self.gossip.Port())
	c.AdvertiseAddr, c.AdvertisePort = g.self.gossip.Addr().String(), c.BindPort
	c.EnableCompression = false // the guard drops what is compressed
	c.ProtocolVersion = gossipVersion
	c.DelegateProtocolMin, c.DelegateProtocolMax = gossipDelegate, gossipDelegate
	c.DelegateProtocolVersion = gossipDelegate
	if g.cfg.Keys != nil {
		c.Keyring, c.GossipVerifyIncoming, c.GossipVerifyOutgoing = g.cfg.Keys.ring, true, true
	}
	c.Logger = memberlistLog(g.log)
	d := delegate{g}
	c.Delegate, c.Events, c.Alive, c.Merge, c.Conflict = d, d, d, d, d
	return c
}

// Views returns the one channel of views. It is closed when the group stops. The first view comes when this
// node has met another process, has tried all seeds in vain, or after three seconds: before that, the node
// does not know whether it is alone. A new view replaces a view that nobody has read, and has the evidence of
// both. Equal views are not repeated.
func (g *Group) Views() <-chan View { return g.views }

// Failed returns a channel with at most one error, which wraps ErrIDTaken. The node must end then. The caller
// still has to call Leave or Close.
func (g *Group) Failed() <-chan error { return g.failure }

// Listed returns the processes that gossip lists, without this one, in order of id. It includes the processes
// that views omit because of the links' reports: the links go on dialling these processes.
func (g *Group) Listed() []Member { return slices.Clone(*g.listed.Load()) }

// Listings returns a channel that holds a value when Listed has changed. Views need not change with it.
func (g *Group) Listings() <-chan struct{} { return g.listings }

// Dropped returns how much the group dropped unread so far.
func (g *Group) Dropped() Dropped { return g.guard.drops.counted() }

// Unread returns whose gossip the group dropped lately although it may be that of a node of the cluster, in the order
// of their addresses.
func (g *Group) Unread() []Unread { return g.guard.drops.lately(time.Now()) }

// Report takes the evidence of a link about a process. It never blocks.
func (g *Group) Report(e Evidence) {
	g.queue.post(func() {
		if e.Event == proto.LinkUp || e.Event == proto.HeartbeatBack {
			g.places.prove(e.ID, time.Now())
			g.rejoin.proven(e.ID)
		}
		g.merge.report(e)
	})
}

// SetAttr tells the cluster that this node's rank attribute changed. It never
// blocks.
func (g *Group) SetAttr(value int64) {
	g.queue.post(func() {
		g.self.Attr = value
		g.describeSelf()
	})
}

// SetEligible tells the cluster whether this node may lead. It never blocks.
func (g *Group) SetEligible(yes bool) {
	g.queue.post(func() {
		g.self.Ineligible = !yes
		g.describeSelf()
	})
}

// SetVoters tells the cluster this node's list of voters and its state. It never blocks.
func (g *Group) SetVoters(v Voters) {
	g.queue.post(func() {
		g.self.voters = v
		g.describeSelf()
	})
}

// describeSelf tells all nodes how this node describes itself now, if that has changed.
func (g *Group) describeSelf() {
	if now := g.self.member(); now != g.merge.self {
		g.merge.setSelf(now)
		g.updateMeta()
	}
}

// GossipAddr returns the gossip address that others are told, as host:port.
func (g *Group) GossipAddr() string { return g.addr.String() }

// loop owns the group's state: every change comes to it through the queue.
func (g *Group) loop() {
	defer close(g.stopped)
	defer close(g.views)
	now := time.Now()
	g.rejoinRound(now)
	round := time.NewTimer(g.rejoin.pause(now))
	defer round.Stop()
	for {
		var reader chan View // nil blocks for ever
		g.looked = g.looked || g.hasLooked(time.Now())
		if g.outbox.full && g.looked {
			reader = g.views
		}
		select {
		case <-g.ctx.Done():
			return
		case <-g.queue.ready:
			for _, call := range g.queue.take() {
				call()
			}
			g.publish()
		case reader <- g.outbox.waiting:
			g.outbox.taken()
		case <-round.C:
			now := time.Now()
			g.rejoinRound(now)
			round.Reset(g.rejoin.pause(now))
		}
	}
}

// hasLooked reports whether this node has met another process, or has looked for others for long enough. Those that
// gossip lists and that no link has proven are still being dialled.
func (g *Group) hasLooked(now time.Time) bool {
	switch {
	case g.merge.met():
		return true
	case len(g.merge.listed) > 0:
		return now.Sub(g.rejoin.started) > firstLook
	}
	return g.rejoin.looked(now)
}

// publish passes on what changed: the view to its reader, and the list of members to Listed and to the peers.
func (g *Group) publish() {
	g.outbox.put(g.merge.take())
	listed := g.merge.gossiped()
	if old := g.listed.Load(); old != nil && slices.Equal(*old, listed) {
		return
	}
	roll := encodeRoll(g.me, listed)
	g.listed.Store(&listed)
	g.roll.Store(&roll)
	select {
	case g.listings <- struct{}{}:
	default:
	}
}

func (g *Group) setMeta() {
	b := g.self.encode()
	g.metaBytes.Store(&b)
	g.tellNews()
}

// updateMeta gossips this node's meta. memberlist queues the meta at once. updateMeta passes the shortest
// timeout, since memberlist would otherwise wait until the meta is sent.
func (g *Group) updateMeta() {
	g.setMeta()
	_ = g.list.UpdateNode(time.Nanosecond)
}

func (g *Group) onAlive(n node) {
	g.rejoin.met(n)
	if g.merge.gossipAlive(n.member()) {
		g.doubt(n.ID)
	}
}

func (g *Group) onGone(who identity, now time.Time) {
	g.rejoin.lost(who.id, now)
	if g.merge.gossipGone(who.id, who.incarnation) {
		g.doubt(who.id)
	}
}

// doubt has the links ask a process of which gossip says that it ended.
func (g *Group) doubt(id proto.NodeID) {
	if g.cfg.OnDoubt != nil {
		g.cfg.OnDoubt(id)
	}
}

// onDisplaced handles the news that a stranger has lost its place to a later one.
func (g *Group) onDisplaced(who identity) {
	g.rejoin.lost(who.id, time.Now())
	g.merge.gossipGone(who.id, who.incarnation)
}

func (g *Group) onGoodbye(who identity) {
	g.rejoin.goodbye(who)
	g.merge.goodbye(who.id, who.incarnation)
}

// onRoll notes whether sender lists this process. Once a peer lists this process, no newcomer with the same
// id can displace this process, and its meta says that it is listed.
func (g *Group) onRoll(sender identity, lists bool) {
	g.rejoin.called(sender, lists)
	if lists && !g.self.listed && sender.id != g.me.id {
		g.self.listed = true
		g.updateMeta()
	}
}

// verifyAfter is how long after a first exchange with a peer this node starts a second one. The peer wrote
// its first answer before it knew what this node told it.
const verifyAfter = 50 * time.Millisecond

// rejoinRound starts the exchanges that the cluster needs to come together.
func (g *Group) rejoinRound(now time.Time) {
	if g.failed {
		return
	}
	for _, s := range g.rejoin.seeds {
		if s.stale(now) {
			s.looking = true
			go g.lookUp(s, s.host)
		}
	}
	for _, addr := range g.rejoin.targets(now) {
		go g.exchange(addr, true)
	}
	g.lookForMissing(now)
	g.merge.round()
	g.publish()
	g.rejoin.complain(now)
}

// lookUp looks up the addresses of a seed. It runs on a goroutine of its own.
func (g *Group) lookUp(s *seed, host string) {
	ctx, cancel := context.WithTimeout(g.ctx, lookupTimeout)
	defer cancel()
	ips, err := g.cfg.lookup(ctx, host)
	g.queue.post(func() { s.found(time.Now(), ips, err) })
}

// exchange exchanges states with the process that listens at addr: for the first time in this round, or
// again, to learn what the first exchange changed. It runs on a goroutine of its own and ends within twice
// streamTimeout.
func (g *Group) exchange(addr netip.AddrPort, first bool) {
	if !first {
		select {
		case <-g.ctx.Done():
			return
		case <-time.After(verifyAfter):
		}
	}
	_, err := g.list.Join([]string{addr.String()})
	if inner := errors.Unwrap(err); inner != nil {
		err = inner // the only one of a list of errors
	}
	g.queue.post(func() { g.onExchange(addr, first, err) })
}

// onExchange handles the end of the exchange with addr.
func (g *Group) onExchange(addr netip.AddrPort, first bool, err error) {
	if err == nil && first && !g.rejoin.settled(addr) {
		go g.exchange(addr, false)
		return
	}
	g.rejoin.tried(addr, time.Now(), err)
}
