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
	"github.com/ringleader-dev/ringleader/internal/credentials"
	"github.com/ringleader-dev/ringleader/internal/pacing"
	"github.com/ringleader-dev/ringleader/node/rank"
	"github.com/ringleader-dev/ringleader/node/tcp"
	"github.com/ringleader-dev/ringleader/proto"
	"github.com/ringleader-dev/ringleader/store"
)

// ErrConfig says that a setting, or what the data directory holds, is wrong.
var ErrConfig = errors.New("the configuration is wrong")

// configError is an error that wraps ErrConfig without saying its words.
type configError struct{ error }

func (configError) Is(target error) bool { return target == ErrConfig }
func (e configError) Unwrap() error      { return e.error }

// wrong makes err wrap ErrConfig.
func wrong(err error) error {
	if err == nil {
		return nil
	}
	return configError{err}
}

// FieldError is an error of Start that one setting causes. It wraps ErrConfig if the setting is
// wrong. It does not if the setting is right but the operating system refuses it.
type FieldError struct {
	Field string // as in ringleader.Config
	error
}

func (e FieldError) Unwrap() error { return e.error }

// Settings are all settings of a node. Whoever makes them fills in every default and checks them.
type Settings struct {
	ID        proto.NodeID
	Cluster   string
	Algorithm catalog.Entry // with the lease or the recovery around it
	Preempt   bool
	RankBy    rank.Source

	Store       store.Store // on which leadership stands; nil for none
	Voters      quorum.Voters
	Promise     time.Duration // how long a voter is bound to the leader that it voted for, or the TTL in the Store
	AwaitLeases bool          // voters keep a promise even to a process that is proven dead
	FirstTerm   proto.Term

	Gossip, Election Endpoint
	HTTPBind         netip.AddrPort // zero if there is no HTTP API
	// APIToken is a text for httpapi.ParseTokens. If it is "", the tokens are those of the Credentials; without
	// Credentials, only requests from this machine are obeyed.
	APIToken       string
	CredentialsDir string // "" for none
	// Credentials are those in CredentialsDir, once the node has read them; nil for none. With them the HTTP API is
	// one of HTTPS. Insecure says that there are none although other machines reach this node.
	Credentials *credentials.Keeper
	Insecure    bool
	Unpinned    bool // the node may start without credentials where it had some

	Join    []string
	DataDir string
	Profile pacing.Profile
	Pacing  pacing.Pacing

	ReconcileCmd     string
	ReconcileTimeout time.Duration

	FenceAgent   []string
	FenceTimeout time.Duration
	PIDFile      string

	Health   Health
	LogLevel zerolog.Level
}

// Endpoint is the address on which this node listens, and the address that the others are told.
// Port 0 in the latter stands for the bound port.
type Endpoint struct {
	Bind, Advertise netip.AddrPort
}

// Health describes what makes this node unfit to lead.
type Health struct {
	Command                     string
	URL                         *url.URL
	Interval, Timeout, HoldDown time.Duration
	Rise, Fall                  int
	Memory, Disk                int // percent in use; 0 means not checked
}

// Leased reports whether a leader has a lease, so that its term is a token.
func (s Settings) Leased() bool { return s.Algorithm.Guarantee.Leases() }

// Patience returns how long the network and a process may take to answer: see package pacing.
func (s Settings) Patience() time.Duration { return s.Pacing.Patience(s.Algorithm) }

// Family returns the name that must be equal on all nodes that know each other. For a nominating
// algorithm under a lease it returns "nomination": the lease decides who leads, so nodes with
// different nominating algorithms are safe together. For every other algorithm it returns the
// algorithm's own name. The same is true on a store.
func (s Settings) Family() string {
	if s.Store != nil {
		return "store"
	}
	alone, err := catalog.Lookup(s.Algorithm.Name)
	if err == nil && alone.Guarantee == algorithms.BestEffort && s.Algorithm.Leased {
		return "nomination"
	}
	return s.Algorithm.Name
}

// ElectionLabel returns the text that must be equal on nodes that exchange election messages. Links
// compare the text's hash, and show the text when it differs. The list of voters is not part of the
// text, since two lists may differ by one voter.
func (s Settings) ElectionLabel() string {
	label := s.Family()
	if s.Store != nil {
		return tcp.StoreLabel(s.Store.Name(), s.Promise)
	}
	if len(s.Voters) == 0 {
		return label
	}
	label += fmt.Sprintf(" with leases of %v", s.Promise)
	if s.AwaitLeases {
		label += ", waited out whoever dies"
	}
	if len(s.FenceAgent) > 0 {
		label += ", a fence agent"
	}
	return label
}
