// Package daemon wires together the parts of one running node.
package daemon

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/rs/zerolog"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/internal/address"
	"github.com/ringleader-dev/ringleader/internal/health"
	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/membership"
	"github.com/ringleader-dev/ringleader/node"
	"github.com/ringleader-dev/ringleader/node/clock"
	"github.com/ringleader-dev/ringleader/node/httpapi"
	"github.com/ringleader-dev/ringleader/node/rank"
	"github.com/ringleader-dev/ringleader/node/statefile"
	"github.com/ringleader-dev/ringleader/node/tcp"
	"github.com/ringleader-dev/ringleader/proto"
	"github.com/ringleader-dev/ringleader/store"
)

// Daemon has the parts of one running node, in the order in which they start: first the parts that
// notice another process of the same node, last the part by which other nodes see this node.
type Daemon struct {
	Settings
	log         zerolog.Logger
	Incarnation proto.Incarnation
	rank        rank.Context

	state        *statefile.File
	notices      *notices
	store        store.Election // on which leadership stands; nil for none
	Node         *node.Node
	health       *health.Monitor
	links        *tcp.Transport
	electionAddr netip.AddrPort // the election address that the others are told
	tokens       *tokens        // that the HTTP API takes
	web          net.Listener
	group        *membership.Group
	keys         *gossipKeys            // nil if gossip is not encrypted
	refused      atomic.Pointer[string] // see refusal

	reports   atomic.Pointer[membership.Group] // group, for evidence that comes before group is set
	grouped   chan struct{}                    // closed once there is a group, or will be none
	noMore    sync.Once                        // closes grouped
	view      atomic.Pointer[membership.View]  // the latest view
	seen      lastSeen
	others    strangers
	verifying atomic.Int32             // how many strangers are being asked who they are
	differ    atomic.Pointer[[]string] // settings by which others of the cluster elect elsewhere
	changed   proto.NodeID             // the voter by which the list differs from the one before; zero for none
	// shots is the last run of the fence agent, until the agent confirms that the process stopped.
	shots    atomic.Pointer[httpapi.Unfenced]
	recovery recovery
	failed   chan error         // receives the first error of a part
	dying    bool               // the links are not closed: the kernel ends them with the process
	stop     context.CancelFunc // ends the node's loop and the HTTP server
	parts    sync.WaitGroup     // the goroutines of this package
	requests sync.RWMutex       // each request holds the read lock; a node that leaves keeps the write lock
}

// Start starts a node. It writes the node's records to records, and all other lines to log. On an
// error it closes what it has opened. Once asked is done, it waits for no store, and returns the cause.
func Start(asked context.Context, s Settings, records, log zerolog.Logger) (*Daemon, error) {
	d := &Daemon{
		Settings: s, log: log, Incarnation: proto.NewIncarnation(), failed: make(chan error, 1),
		grouped: make(chan struct{}),
		rank:    rank.Context{AdvertiseIP: s.Election.Advertise.Addr(), DataDir: s.DataDir},
	}
	ctx, cancel := context.WithCancel(context.Background())
	d.stop = cancel
	if err := d.open(asked, records); err != nil {
		return nil, errors.Join(err, d.close())
	}
	d.serve(ctx)
	d.sayUp()
	return d, nil
}

// sayUp logs what this node is.
func (d *Daemon) sayUp() {
	d.log.Info().
		Str("incarnation", d.Incarnation.Short()).
		Str("algorithm", d.Algorithm.Name).Bool("preempt", d.Preempt).
		Str("rank_by", d.RankBy.String()).Str("profile", d.Profile.Name).
		Str("voters", proto.IDRanges(d.Voters)).Stringer("lease", d.Promise).
		Stringer("failover_budget", d.Pacing.Budget).
		Str("gossip", d.group.GossipAddr()).
		Str("election", d.electionAddr.String()).
		Str("http", d.webAddr()).
		Str("data_dir", d.DataDir).
		Str("guarantee", string(d.Algorithm.Guarantee)).
		Msgf("node %v is up; guarantee %s", d.ID, d.Algorithm.Guarantee.InWords())
}

// Failed returns a channel with the first error of a part of the daemon. Its reader must then call
// Stop and Die.
func (d *Daemon) Failed() <-chan error { return d.failed }

// GossipAddr returns the address that other nodes put into their list of nodes to join.
func (d *Daemon) GossipAddr() string { return d.group.GossipAddr() }

// Listener returns the socket on which other nodes ask whether this process lives.
func (d *Daemon) Listener() syscall.Conn { return d.links.Listener() }

// open opens every part.
func (d *Daemon) open(asked context.Context, records zerolog.Logger) (err error) {
	if err := d.openCredentials(); err != nil {
		return err
	}
	if d.tokens, err = openTokens(d.Settings, d.log); err != nil {
		return err
	}
	saved, err := d.openState()
	if err != nil {
		return err
	}
	if err := d.pinIdentity(); err != nil {
		return err
	}
	if err := d.writePIDFile(); err != nil {
		return err
	}
	// The attribute may be about the data directory, so that comes first.
	attr, err := d.RankBy.Measure(d.rank)
	if err != nil {
		return FieldError{"RankBy", wrong(err)}
	}
	if err := d.openNotices(); err != nil {
		return err
	}
	if err := d.openStore(asked); err != nil {
		return err
	}
	if d.Node, err = d.newNode(saved, records); err != nil {
		return err
	}
	d.applyNotice(membership.Notice(d.notices.kept))
	if err := d.watchHealth(); err != nil {
		return err
	}
	if err := d.listen(); err != nil {
		return err
	}
	return d.joinCluster(attr)
}

// openState locks the data directory, since another process that uses it would be this node too,
// and reads the saved state.
func (d *Daemon) openState() (algorithms.State, error) {
	state, saved, err := statefile.Open(d.DataDir, statefile.Owner{Cluster: d.Cluster, ID: d.ID})
	d.state = state
	switch {
	case errors.Is(err, statefile.ErrLocked):
		return saved, err
	case err != nil:
		return saved, FieldError{"DataDir", wrong(err)}
	}
	if d.changed, err = d.VotersOf(saved); err != nil {
		return saved, FieldError{"Voters", wrong(err)}
	}
	return saved, nil
}

func (d *Daemon) newNode(saved algorithms.State, records zerolog.Logger) (*node.Node, error) {
	c := d.NodeConfig(d.Incarnation, saved, rand.Uint64())
	c.Disk, c.Transport, c.Fencer, c.Now, c.Logger = d.state, sender{d}, d.fencer(), clock.Now, d.log
	c.Wall = clock.Wall
	c.Ineligible, c.Recovery = d.tellEligible, d.recovers
	c.Record = func(rec trace.Record) { trace.Write(records, rec) }
	if d.store != nil {
		c.Store = d.store
	}
	if d.ReconcileCmd != "" {
		c.Reconcile = d.reconcile
	}
	return node.New(c)
}

// sender is the daemon's links. It exists before they do: they are opened only after the node is
// made.
type sender struct{ *Daemon }

func (s sender) Send(m proto.Message) { s.links.Send(m) }

// Hold keeps the links open while the work of this node has not ended.
func (s sender) Hold() (closing <-chan struct{}, release func()) { return s.links.Hold() }

// listen opens the election and the HTTP listener.
func (d *Daemon) listen() (err error) {
	c := d.LinkConfig(d.Incarnation, d.changed)
	c.Receive, c.Evidence, c.Busy, c.Log = d.Node.Deliver, d.report, d.Node.Busy, d.log
	if d.Credentials != nil {
		c.Security, c.News = d.Credentials, d.hearNews
	}
	d.links, err = tcp.Listen(c)
	if err != nil {
		return FieldError{"ElectionBind", err}
	}
	d.electionAddr = withPort(d.Election.Advertise, d.links.Addr())
	if !d.HTTPBind.IsValid() {
		return nil
	}
	d.web, err = net.Listen(address.Network(d.HTTPBind), d.HTTPBind.String())
	if err != nil {
		return FieldError{"HTTPBind", fmt.Errorf("listen for HTTP: %w: choose another address", err)}
	}
	return nil
}

// joinCluster starts gossip. From here on the others see this node.
func (d *Daemon) joinCluster(attr int64) (err error) {
	keyring, err := d.openKeys()
	if err != nil {
		return err
	}
	defer d.noMore.Do(func() { close(d.grouped) })
	cfg := membership.Config{
		Self:    proto.Peer{ID: d.ID, Incarnation: d.Incarnation, Attr: attr},
		Cluster: d.Cluster, Algorithm: d.Family(), OnStranger: d.others.met,
		Expected: d.Voters, Voters: d.VotersNow(d.Node), Store: d.gossipedStore(),
		Bind: d.Gossip.Bind, Advertise: d.Gossip.Advertise, Keys: keyring,
		ElectionAddr: d.electionAddr.String(), HTTPAddr: d.advertisedWeb(),
		Notice: membership.Notice(d.notices.kept), OnNotice: d.noticed,
		Join: d.Join, Profile: d.Profile.Detector, Budget: d.Patience(), Probe: d.probe, Logger: d.log,
	}
	if d.Credentials != nil {
		cfg.LinksProve, cfg.Linked = true, d.links.Linked
		cfg.OnNews, cfg.OnDoubt = d.links.SetNews, d.links.Doubt
		cfg.OnStranger = func(m membership.Member) { d.verify(m, d.others.met) }
	}
	group, err := membership.Start(cfg)
	if errors.Is(err, membership.ErrConfig) {
		return wrong(err)
	}
	if err != nil {
		return FieldError{"GossipBind", err}
	}
	d.group = group
	d.reports.Store(group)
	return nil
}

// tellEligible tells the other nodes whether this node may lead. The parameter why is "" if it may.
func (d *Daemon) tellEligible(why string) {
	if group := d.reports.Load(); group != nil {
		group.SetEligible(why == "")
	}
}

// withPort returns addr, with the bound port in place of port 0.
func withPort(addr netip.AddrPort, bound net.Addr) netip.AddrPort {
	if addr.Port() != 0 {
		return addr
	}
	return netip.AddrPortFrom(addr.Addr(), uint16(bound.(*net.TCPAddr).Port))
}

// webAddr returns the address at which the HTTP API listens; "none" if there is no API.
func (d *Daemon) webAddr() string {
	if d.web == nil {
		return "none"
	}
	return d.web.Addr().String()
}

// advertisedWeb returns the address at which the other nodes reach the HTTP API; "" if they cannot:
// a loopback address means this node only to nodes on the same machine.
func (d *Daemon) advertisedWeb() string {
	if d.web == nil {
		return ""
	}
	bound := d.web.Addr().(*net.TCPAddr).AddrPort()
	ip := bound.Addr().Unmap()
	if ip.IsUnspecified() {
		ip = d.Gossip.Advertise.Addr()
	}
	if ip.IsLoopback() && !d.Gossip.Advertise.Addr().IsLoopback() {
		return ""
	}
	return netip.AddrPortFrom(ip, bound.Port()).String()
}
