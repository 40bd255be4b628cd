package membership

import (
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/memberlist"
	"github.com/rs/zerolog"

	"github.com/ringleader-dev/ringleader/proto"
)

// ErrConfig says that a Config cannot work as it stands.
var ErrConfig = errors.New("membership configuration")

// ErrAddrInUse says that gossip cannot listen where it should.
var ErrAddrInUse = errors.New("another process has the port")

// Config is what a Group needs to know of its node and its surroundings.
type Config struct {
	// Self is this process: its id, its session, its rank attribute as it is now.
	Self proto.Peer
	// Cluster and Algorithm must be the same on all nodes that meet. At most 64
	// and 32 bytes.
	Cluster, Algorithm string
	// Voters are those that this process was started with, which others are told.
	Voters Voters

	// Bind is the host:port for gossip, UDP and TCP. Port 0 takes any free one.
	Bind string
	// Advertise is where others reach this node's gossip: host:port, or a host
	// with the port of Bind. Empty for the host of Bind; if that is unspecified,
	// for the machine's only address.
	Advertise string
	// ElectionAddr and HTTPAddr are what others dial for elections and for HTTP,
	// as host:port of at most 144 bytes. HTTPAddr may be empty.
	ElectionAddr, HTTPAddr string
	// Join are the seeds: host, host:port or a DNS name, which stands for all its
	// addresses. Without a port it is Bind's. This node itself may be among them.
	// They are tried for ever.
	Join []string

	// Profile is the speed of gossip and its failure detector; LAN when empty.
	Profile Profile
	// Probing replaces the profile's own; see ProbingWithin.
	Probing Probing
	// Probe asks who answers at an election address. Needed.
	Probe Prober
	// Notice is what an earlier process of this node knew last; zero for nothing.
	Notice Notice
	// OnNotice takes the cluster's notice whenever it changes, on the group's own
	// goroutine: it must not block. Nil ignores it.
	OnNotice func(Notice)
	// OnStranger is told, each time it is heard of, of a process of this cluster that is
	// refused because it runs another Algorithm. It may be called from any goroutine and
	// must not block. Nil ignores it.
	OnStranger func(Member)
	// Logger gets the group's log lines and memberlist's.
	Logger zerolog.Logger
	// Transport replaces the real network, Bind and Advertise. Nil for none.
	Transport memberlist.Transport

	lookup lookup // nil for the system's resolver
}

// plan is what a valid Config comes down to.
type plan struct {
	meta     meta
	settings settings
	bind     hostPort
	seeds    []*seed
}

// plan validates c and draws what follows from it, without touching the network.
func (c Config) plan(now time.Time) (plan, error) {
	p := plan{meta: meta{
		Peer: c.Self, started: now.UnixMicro(),
		electionAddr: c.ElectionAddr, httpAddr: c.HTTPAddr,
		cluster: c.Cluster, algorithm: c.Algorithm, voters: c.Voters,
	}}
	if err := p.meta.validate(); err != nil {
		return plan{}, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	if err := c.Notice.validate(); err != nil {
		return plan{}, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	if c.Probe == nil {
		return plan{}, fmt.Errorf("%w: no Probe", ErrConfig)
	}
	var err error
	if p.settings, err = c.Profile.settings(); err == nil {
		err = p.settings.probe(c.Probing)
	}
	if err != nil {
		return plan{}, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	if c.Transport == nil {
		if p.bind, err = parseHostPort("gossip bind address", c.Bind); err != nil {
			return plan{}, fmt.Errorf("%w: %w", ErrConfig, err)
		}
	}
	for _, text := range c.Join {
		s, err := parseSeed(text)
		if err != nil {
			return plan{}, fmt.Errorf("%w: %w", ErrConfig, err)
		}
		p.seeds = append(p.seeds, s)
	}
	return p, nil
}
