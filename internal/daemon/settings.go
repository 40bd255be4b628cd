package daemon

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"time"

	"github.com/rs/zerolog"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/algorithms/quorum"
	"github.com/ringleader-dev/ringleader/internal/pacing"
	"github.com/ringleader-dev/ringleader/node/attribute"
	"github.com/ringleader-dev/ringleader/proto"
)

// ErrConfig says that a setting, or what the data directory holds, is wrong.
var ErrConfig = errors.New("the configuration is wrong")

// configError is an error that is an ErrConfig too, without its words.
type configError struct{ error }

func (configError) Is(target error) bool { return target == ErrConfig }
func (e configError) Unwrap() error      { return e.error }

// wrong makes err count as ErrConfig.
func wrong(err error) error {
	if err == nil {
		return nil
	}
	return configError{err}
}

// Settings are what a node runs on: complete, and checked by whoever fills them in.
type Settings struct {
	ID        proto.NodeID
	Cluster   string
	Algorithm catalog.Entry // with what is around it
	Preempt   bool
	RankBy    attribute.Source

	Voters       quorum.Voters
	Promise      time.Duration // that of a voter to the leader that it elected
	KeepPromises bool          // whoever is seen to have died
	FirstTerm    proto.Term

	Gossip, Election Endpoint
	HTTPBind         netip.AddrPort
	APIToken         string // "" obeys nobody from elsewhere
	Join             []string
	DataDir          string
	Profile          pacing.Profile
	Pacing           pacing.Pacing

	ReconcileCmd     string
	ReconcileTimeout time.Duration

	FenceAgent   []string
	FenceTimeout time.Duration
	PIDFile      string

	Health   Health
	LogLevel zerolog.Level
}

// Endpoint is where this node listens and where the others are told to find it. An
// advertised port 0 stands for the bound one.
type Endpoint struct {
	Bind, Advertise netip.AddrPort
}

// Health says what makes this node unfit to lead.
type Health struct {
	Command                     string
	URL                         *url.URL
	Interval, Timeout, HoldDown time.Duration
	Rise, Fall                  int
	Memory, Disk                int // percent in use; 0: not looked at
}

// Patience is how long a network like this one, and a process, may take: see package pacing.
func (s Settings) Patience() time.Duration { return s.Pacing.Patience(s.Algorithm) }

// Family is what must be the same on nodes that know of each other. With an office it is
// the office: it decides, whatever nominates, so nodes that nominate by different
// algorithms are safe together. A quorum of an algorithm's own is none of its.
func (s Settings) Family() string {
	alone, err := catalog.Lookup(s.Algorithm.Name)
	if err == nil && alone.Guarantee == algorithms.BestEffort && s.Algorithm.Office {
		return "office"
	}
	return s.Algorithm.Name
}

// ElectionLabel is what must be the same on nodes that exchange election messages, but for
// the voters: which of those may differ is a rule of the links. They compare it by a hash, and
// say it in words where it differs.
func (s Settings) ElectionLabel() string {
	label := s.Family()
	if len(s.Voters) == 0 {
		return label
	}
	label += fmt.Sprintf(" with promise %v", s.Promise)
	if s.KeepPromises {
		label += ", kept whoever dies"
	}
	if len(s.FenceAgent) > 0 {
		label += ", a fence agent"
	}
	return label
}
