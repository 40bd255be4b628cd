package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/algorithms/lease"
	"github.com/ringleader-dev/ringleader/proto"
)

// noVoters is the list of voters that names none.
const noVoters = "none"

// officeSettings are what the office is told.
var officeSettings = []setting{
	{
		name: "voters", form: list,
		usage: "the `IDS` that vote, as 1,2,3 or 1-5, the same on every node: a leader then needs " +
			"a majority of them; none, or without: leadership is best-effort",
		parse: func(s *settings, values []string) (err error) {
			if slices.Equal(values, []string{noVoters}) {
				return nil
			}
			s.voters, err = proto.ParseIDRanges(values)
			return err
		},
		show: func(s *settings) any { return proto.IDRanges(s.voters) },
	},
	durationSetting("promise", "twice the failover budget, as of a usual round", time.Millisecond,
		"`TIME` for which a voter that elected a leader elects no other, the same on every "+
			"node; a lease is a little shorter",
		func(s *settings) *time.Duration { return &s.promise }),
	{
		name: "keep-promises", fallback: "false", form: yesNo,
		usage: "wait a promise out even when the leader's process is seen to have died: for " +
			"networks where something between the nodes ends connections on a living " +
			"process's behalf",
		parse: one(func(s *settings, v string) (err error) {
			s.keepPromises, err = parseBool(v)
			return err
		}),
		show: func(s *settings) any { return s.keepPromises },
	},
	{
		name: "first-term", fallback: "0",
		usage: "vouch that nobody of this cluster ever voted in term `N` or above, that no promise runs, " +
			"and that --voters are its last: a voter of which nothing is saved then need not be told by others what " +
			"it voted; 0 vouches for nothing; take it away again once somebody leads",
		parse: one(func(s *settings, v string) error {
			n, err := strconv.ParseUint(v, 10, 64)
			if err != nil || n > uint64(proto.MaxTerm) {
				return fmt.Errorf("want a whole number from 0 to %d", proto.MaxTerm)
			}
			s.firstTerm = proto.Term(n)
			return nil
		}),
		show: func(s *settings) any { return uint64(s.firstTerm) },
	},
}

// errOffice: what the office is told does not fit together.
var errOffice = errors.New("office")

// deriveOffice puts an office around the algorithm, if there are voters.
func (r *resolved) deriveOffice() error {
	if !r.has("voters") {
		r.origins["voters"] = origin{Source: "default"}
	}
	if !r.has("promise") {
		r.promise = 2 * r.patience()
		r.origins["promise"] = origin{"default", fromBudget}
	}
	if len(r.voters) == 0 {
		if r.algorithm.NeedsVoters() {
			return mark(errOffice, fmt.Errorf("with %s a majority of voters decides: "+
				"give --voters, the ids of all that vote", r.algorithm.Name))
		}
		return nil
	}
	r.algorithm = r.algorithm.WithOffice()
	if least := lease.MinPromise(r.pacing.latency); r.promise < least {
		return fmt.Errorf("%w: promise ≥ 20 × latency + 20ms: %v < 20 × %v + 20ms = %v: "+
			"raise --promise or lower --latency", errOffice, r.promise, r.pacing.latency, least)
	}
	if n := len(r.voters); n%2 == 0 {
		r.warnings = append(r.warnings, fmt.Sprintf("%d voters bear the loss of %d, as %d would: "+
			"an even number buys nothing", n, n-r.voters.Majority(), n-1))
	}
	if !r.voters.Has(r.id) {
		r.warnings = append(r.warnings, fmt.Sprintf("node %v is none of the voters %s: it follows "+
			"and never leads", r.id, proto.IDRanges(r.voters)))
	}
	return nil
}

// family is what must be the same on nodes that know of each other. With an office it is
// the office: it decides, whatever nominates, so nodes that nominate by different
// algorithms are safe together. A quorum of an algorithm's own is none of its.
func (s settings) family() string {
	alone, err := catalog.Lookup(s.algorithm.Name)
	if err == nil && alone.Guarantee == algorithms.BestEffort && s.algorithm.Office {
		return "office"
	}
	return s.algorithm.Name
}

// electionLabel is what must be the same on nodes that exchange election messages, but for
// the voters: which of those may differ is a rule of the links.
func (s settings) electionLabel() string {
	label := s.family()
	if len(s.voters) == 0 {
		return label
	}
	label += fmt.Sprintf(" with promise %v", s.promise)
	if s.keepPromises {
		label += ", kept whoever dies"
	}
	if len(s.fenceAgent) > 0 {
		label += ", a fence agent"
	}
	return label
}
