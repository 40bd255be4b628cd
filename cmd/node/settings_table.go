package main

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/internal/address"
	"github.com/ringleader-dev/ringleader/internal/pacing"
	"github.com/ringleader-dev/ringleader/node/attribute"
	"github.com/ringleader-dev/ringleader/node/tcp"
	"github.com/ringleader-dev/ringleader/proto"
)

// table is every setting of `run`, in the order in which help and config show
// print them.
var table = slices.Concat(
	electionSettings, officeSettings, stonithSettings, mendSettings, hostSettings, healthTable, execTable,
)

var electionSettings = []setting{
	{
		name: "id", derived: "the digits that the hostname ends in, or the number of a replica",
		usage: "this node's `ID`, 1 to 2^53, unique in the cluster and the same after a restart",
		parse: one(func(s *settings, v string) (err error) {
			s.ID, err = proto.ParseNodeID(v)
			return err
		}),
		show: func(s *settings) any { return uint64(s.ID) },
	},
	{
		name: "cluster", fallback: "ringleader",
		usage: "the cluster's `LABEL`; nodes of another label are refused",
		parse: one(parseLabel),
		show:  func(s *settings) any { return s.Cluster },
	},
	{
		name: "algorithm", fallback: "bully",
		usage: "the election algorithm's `NAME`, the same on every node: " + strings.Join(catalog.Names(), ", "),
		parse: one(parseAlgorithm),
		show:  func(s *settings) any { return s.Algorithm },
	},
	{
		name: "preempt", derived: "as the algorithm does by itself", form: yesNo,
		usage: "a node that ranks above the leader takes over",
		parse: one(func(s *settings, v string) error {
			yes, err := parseBool(v)
			s.Preempt = &yes
			return err
		}),
		show: func(s *settings) any { return *s.Preempt },
	},
}

var hostSettings = []setting{
	{
		name: "rank-by", fallback: "id",
		usage: "the `ATTRIBUTE` that elections compare: id, ip, cpu, memory, disk[:DIR], " +
			"files:DIR or number:N; the highest wins, then the highest id",
		parse: one(func(s *settings, v string) error {
			source, err := attribute.Parse(v)
			if err == nil {
				s.RankBy = source.String()
			}
			return err
		}),
		show: func(s *settings) any { return s.RankBy },
	},
	{
		name: "join",
		usage: "gossip address of another node, as `HOST[:PORT]`; repeatable, tried for ever; " +
			"a name means all its addresses, and no port the one of --gossip-bind",
		form:  list,
		parse: parseJoin,
		show:  func(s *settings) any { return append([]string{}, s.Join...) },
	},
	bindSetting("gossip-bind", "0.0.0.0:7946", "gossip (UDP and TCP)",
		func(s *settings) *string { return &s.GossipBind }),
	advertiseSetting("gossip-advertise", "gossip",
		func(s *settings) *string { return &s.GossipAdvertise }),
	bindSetting("election-bind", "0.0.0.0:7947", "election messages (TCP)",
		func(s *settings) *string { return &s.ElectionBind }),
	advertiseSetting("election-advertise", "election messages",
		func(s *settings) *string { return &s.ElectionAdvertise }),
	bindSetting("http-bind", "127.0.0.1:7948", "the HTTP API",
		func(s *settings) *string { return &s.HTTPBind }),
	{
		name: "api-token-file",
		usage: "`FILE` with the token that lets its bearer change this node over HTTP from " +
			"elsewhere than its own machine; the same on every node; mode 0600",
		parse: one(func(s *settings, v string) error {
			s.tokenFile = v
			return nil
		}),
		show: func(s *settings) any { return s.tokenFile },
	},
	{
		name: "data-dir", derived: "ringleader-data/ID",
		usage: "`DIR` for the term and the vote, of this node alone; {id} in it stands for the id",
		parse: one(func(s *settings, v string) error {
			s.DataDir = v
			return nil
		}),
		show: func(s *settings) any { return s.DataDir },
	},
	{
		name: "profile", fallback: "lan",
		usage: "how fast failures are noticed, as `NAME`: lan, local or fast",
		parse: one(parseProfile),
		show:  func(s *settings) any { return s.Profile },
	},
	durationSetting("failover-budget", "of the profile: 1s, 500ms or 250ms; 1.75 times that with hs", time.Millisecond,
		"`TIME` in which a leader that hangs is to be replaced; all below follows from it",
		func(s *settings) *time.Duration { return &s.FailoverBudget }),
	durationSetting("heartbeat", fromBudget, tcp.MinHeartbeat,
		"`TIME` from one heartbeat between the leader and another node to the next",
		func(s *settings) *time.Duration { return &s.Heartbeat }),
	{
		name: "heartbeat-misses", derived: fromBudget,
		usage: "`NUMBER` of heartbeats without an answer before a node counts as lost",
		parse: one(parseMisses),
		show:  func(s *settings) any { return s.HeartbeatMisses },
	},
	durationSetting("latency", fromBudget, pacing.MinLatency,
		"worst-case `TIME` of a message, one way: what elections wait is a multiple of it",
		func(s *settings) *time.Duration { return &s.Latency }),
	{
		name: "log-level", fallback: "info",
		usage: "the lowest `LEVEL` to log: debug, info, warn or error",
		parse: one(parseLogLevel),
		show:  func(s *settings) any { return s.LogLevel },
	},
	{
		name: "log-format", fallback: "auto",
		usage: "`FORMAT` of the log: json, console, or auto: console on a terminal",
		parse: one(parseLogFormat),
		show:  func(s *settings) any { return s.logFormat },
	},
}

func bindSetting(name, fallback, what string, field func(*settings) *string) setting {
	return setting{
		name: name, fallback: fallback,
		usage: "`IP:PORT` to listen on for " + what + "; port 0: the kernel chooses",
		parse: one(func(s *settings, v string) error {
			addr, err := address.ParseBind(v)
			*field(s) = addr.String()
			return err
		}),
		show: func(s *settings) any { return *field(s) },
	}
}

func advertiseSetting(name, what string, field func(*settings) *string) setting {
	return setting{
		name: name, derived: "the bound address, or the kernel's choice towards the first IP to join",
		usage: "`IP[:PORT]` at which the others reach this node for " + what,
		parse: one(func(s *settings, v string) error {
			_, err := address.ParseAdvertise(v)
			*field(s) = v
			return err
		}),
		show: func(s *settings) any { return *field(s) },
	}
}

func durationSetting(name, derived string, least time.Duration, usage string,
	field func(*settings) *time.Duration,
) setting {
	return setting{
		name: name, derived: derived, usage: usage,
		parse: one(func(s *settings, v string) error {
			d, err := time.ParseDuration(v)
			if err != nil || d < least || d > pacing.MaxBudget {
				return fmt.Errorf("want a time with its unit, like 500ms, from %v to %v",
					least, pacing.MaxBudget)
			}
			*field(s) = d
			return nil
		}),
		show: func(s *settings) any { return field(s).String() },
	}
}

func parseMisses(s *settings, text string) error {
	n, err := strconv.Atoi(text)
	if err != nil || n < tcp.MinMisses || n > pacing.MaxMisses {
		return fmt.Errorf("want a number from %d to %d", tcp.MinMisses, pacing.MaxMisses)
	}
	s.HeartbeatMisses = n
	return nil
}

// one adapts the parser of a single value.
func one(parse func(*settings, string) error) func(*settings, []string) error {
	return func(s *settings, values []string) error {
		if len(values) != 1 || values[0] == "" {
			return errors.New("want one value")
		}
		return parse(s, values[0])
	}
}

func parseBool(text string) (bool, error) {
	yes, err := strconv.ParseBool(text)
	if err != nil {
		return false, errors.New("want true or false")
	}
	return yes, nil
}

var label = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)

func parseLabel(s *settings, text string) error {
	if !label.MatchString(text) {
		return errors.New("a label is 1 to 64 letters, digits, dots, dashes or underscores")
	}
	s.Cluster = text
	return nil
}

func parseAlgorithm(s *settings, name string) error {
	entry, err := algorithmNamed(name)
	s.Algorithm = entry.Name
	return err
}

// algorithmNamed looks name up in the catalogue.
func algorithmNamed(name string) (catalog.Entry, error) {
	entry, err := catalog.Lookup(name)
	if err != nil {
		return entry, fmt.Errorf("%w%s", err, didYouMean(name, catalog.Names()))
	}
	return entry, nil
}

func parseJoin(s *settings, targets []string) error {
	for _, t := range targets {
		if err := address.CheckHostPort(t); err != nil {
			return err
		}
	}
	s.Join = targets
	return nil
}

func parseProfile(s *settings, name string) error {
	s.Profile = name
	return oneOf(name, pacing.ProfileNames())
}

func parseLogLevel(s *settings, text string) error {
	s.LogLevel = text
	return oneOf(text, []string{"debug", "info", "warn", "error"})
}

func parseLogFormat(s *settings, text string) error {
	s.logFormat = text
	return oneOf(text, []string{"auto", "json", "console"})
}

// oneOf refuses a word that is not among the known ones.
func oneOf(text string, known []string) error {
	if slices.Contains(known, text) {
		return nil
	}
	return fmt.Errorf("want one of %s%s", strings.Join(known, ", "), didYouMean(text, known))
}
