package membership

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/hashicorp/memberlist"
	"github.com/rs/zerolog"

	"github.com/ringleader-dev/ringleader/proto"
)

// ErrConfig says that a Config cannot work as it stands.
var ErrConfig = errors.New("membership configuration")

// ErrAddrInUse says that another process listens at the address for gossip.
var ErrAddrInUse = errors.New("another process has the port")

// Config describes a Group's node and network.
type Config struct {
	// Self describes this process: its id, its incarnation, its rank attribute as it is now.
	Self proto.Peer
	// Cluster and Algorithm must be the same on all nodes that meet. At most 64
	// and 32 bytes.
	Cluster, Algorithm string
	// Expected are ids that belong to the cluster for certain, as those of the voters: they always find a
	// place among the members.
	Expected []proto.NodeID
	// Voters is this process's list of voters. The Group tells it to the other nodes.
	Voters Voters
	// Store is the store on which this process elects. The Group tells it to the other nodes.
	Store Store

	// Bind is the address at which gossip listens, over UDP and TCP. With port 0 the kernel chooses
	// a port.
	Bind netip.AddrPort
	// Advertise is the address at which others reach this node's gossip; port 0 stands for the
	// bound port. The zero value stands for the address of Bind, which must not be "all addresses"
	// then.
	Advertise netip.AddrPort
	// ElectionAddr and HTTPAddr are what others dial for elections and for HTTP,
	// as host:port of at most 144 bytes. HTTPAddr may be empty.
	ElectionAddr, HTTPAddr string
	// Join are the seeds: addresses or DNS names, with or without a port. A name stands for all its
	// addresses, and the default port is Bind's. This node itself may be among the seeds. The group
	// never stops trying them.
	Join []string

	// Keys are the keys with which gossip is encrypted. They may change while the group runs. Nil leaves gossip
	// unencrypted. Nodes meet if each has the key that the other seals with.
	Keys *Keyring

	// LinksProve says that each link is with the node that it names, for certain, as with links under TLS. Then what
	// the links say stands above what gossip says: see the documentation of the package.
	LinksProve bool
	// OnNews is called with what this node tells the others, whenever that changes, if LinksProve is set. Who calls it
	// sends it on each link, also on each that comes up later, and gives it to Group.HearNews there. Start calls it,
	// and then the group's own goroutine. It must not block.
	OnNews func(news []byte)
	// Linked reports whether a link with a process is up, in either direction. It must be set if LinksProve is. The
	// group's own goroutine calls it, and it must not block.
	Linked func(proto.NodeID, proto.Incarnation) bool
	// OnDoubt is called with an id of whose process gossip says that it has ended, while its link says that it lives.
	// The links should ask it for a sign of life. The group's own goroutine calls it, and it must not block. It may be
	// nil.
	OnDoubt func(proto.NodeID)

	// Profile sets the speed of gossip and its failure detector; LAN if it is empty.
	Profile Profile
	// Budget is the time in which a node probes one member; zero for the budget of the Profile. See Profile.
	Budget time.Duration
	// Probe asks who answers at an election address. It must be set. Some calls run at the same time.
	Probe Prober
	// Notice is the newest notice that an earlier process of this node knew; the zero Notice if
	// there is none.
	Notice Notice
	// OnNotice is called whenever the cluster's notice changes. The group's own goroutine calls it,
	// and it must not block. It may be nil.
	OnNotice func(Notice)
	// OnStranger is called with a process of this cluster that is refused because it runs another
	// Algorithm, each time that this node hears of it. Any goroutine may call it, and it must not
	// block. It may be nil.
	OnStranger func(Member)
	// Logger takes the log lines of the group and of memberlist.
	Logger zerolog.Logger
	// Transport replaces the real network, and with it Bind and Advertise; nil means that these are used.
	Transport memberlist.Transport

	lookup lookup // nil for the system's resolver
}

// plan holds the values that follow from a valid Config.
type plan struct {
	meta       meta
	settings   settings
	advertised netip.AddrPort // zero if Config.Transport is set
	seeds      []*seed
}

// plan validates c and derives what follows from it, without touching the network. Errors
// wrap ErrConfig.
func (c Config) plan(now time.Time) (plan, error) {
	p, err := c.derive(now)
	if err != nil {
		return plan{}, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	return p, nil
}

func (c Config) derive(now time.Time) (p plan, err error) {
	p.meta = meta{
		Peer: c.Self, started: now.UnixMicro(),
		electionAddr: c.ElectionAddr, httpAddr: c.HTTPAddr,
		cluster: c.Cluster, algorithm: c.Algorithm, voters: c.Voters, store: c.Store,
	}
	if err := cmp.Or(p.meta.validate(), c.Notice.validate()); err != nil {
		return p, err
	}
	if c.Probe == nil {
		return p, errors.New("no Probe")
	}
	if c.LinksProve && c.OnNews == nil {
		return p, errors.New("no OnNews: nobody would tell the links")
	}
	if c.LinksProve && c.Linked == nil {
		return p, errors.New("no Linked: nobody would know which links are up")
	}
	if p.settings, err = c.Profile.settings(c.Budget); err != nil {
		return p, err
	}
	if c.Transport == nil {
		if p.advertised, err = c.advertised(); err != nil {
			return p, err
		}
	}
	for _, text := range c.Join {
		s, err := parseSeed(text)
		if err != nil {
			return p, fmt.Errorf("join target %w", err)
		}
		p.seeds = append(p.seeds, s)
	}
	return p, nil
}
