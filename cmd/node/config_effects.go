package main

import (
	"time"

	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/internal/pacing"
	"github.com/ringleader-dev/ringleader/membership"
	"github.com/ringleader-dev/ringleader/node/tcp"
)

// effect is a value that cannot be set and follows from settings: config show
// prints it, so that nobody has to reckon what a node will do.
type effect struct {
	name string
	from string // what it follows from
	of   func(*settings) time.Duration
}

const (
	fromBudget    = "from --failover-budget"
	fromHeartbeat = "from --heartbeat and --heartbeat-misses"
)

// effects are all of them, in the order in which config show prints them.
var effects = []effect{
	{"heartbeat-silence", fromHeartbeat, func(s *settings) time.Duration {
		return time.Duration(s.HeartbeatMisses) * s.Heartbeat
	}},
	{"election-round", "from --latency and --algorithm", func(s *settings) time.Duration {
		_, k := pacing.RoundOf(s.entry())
		return k * s.Latency
	}},
	{"link-dial-timeout", fromBudget, func(s *settings) time.Duration {
		return tcp.LimitsFor(s.patience()).Dial
	}},
	{"link-hello-timeout", fromBudget, func(s *settings) time.Duration {
		return tcp.LimitsFor(s.patience()).Handshake
	}},
	{"link-ack-timeout", fromBudget, func(s *settings) time.Duration {
		return tcp.LimitsFor(s.patience()).Ack
	}},
	{"link-unreachable-after", fromBudget, func(s *settings) time.Duration {
		return tcp.LimitsFor(s.patience()).Unreachable
	}},
	{"gossip-probe-interval", fromBudget, func(s *settings) time.Duration {
		return membership.ProbingWithin(s.patience()).Interval
	}},
	{"gossip-probe-timeout", fromBudget, func(s *settings) time.Duration {
		return membership.ProbingWithin(s.patience()).Timeout
	}},
	{"gossip-interval", fromBudget, func(s *settings) time.Duration {
		return membership.ProbingWithin(s.patience()).Gossip
	}},
}

// entry is the algorithm.
func (s *settings) entry() catalog.Entry {
	entry, _ := catalog.Lookup(s.Algorithm) // it is checked
	return entry
}

// patience is how long a network like this one, and a process, may take: see package pacing.
func (s *settings) patience() time.Duration {
	return pacing.Pacing{Budget: s.FailoverBudget}.Patience(s.entry())
}

// rows are all values that a node runs on: those of the settings, then the
// effects.
func (r *resolved) rows() (names []string, rows map[string]shown) {
	rows = make(map[string]shown, len(table)+len(effects))
	for _, s := range table {
		o := r.origins[s.name]
		names = append(names, s.name)
		rows[s.name] = shown{s.show(&r.settings), o.Source, o.Where}
	}
	for _, e := range effects {
		names = append(names, e.name)
		rows[e.name] = shown{e.of(&r.settings).String(), "derived", e.from}
	}
	return names, rows
}
