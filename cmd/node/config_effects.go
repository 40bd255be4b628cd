package main

import (
	"time"

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
		return time.Duration(s.pacing.misses) * s.pacing.heartbeat
	}},
	{"election-round", "from --latency and --algorithm", func(s *settings) time.Duration {
		_, k := roundOf(s.algorithm)
		return k * s.pacing.latency
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
