package main

import (
	"fmt"
	"slices"
	"strconv"
	"time"

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
			s.Voters, err = proto.ParseIDRanges(values)
			return err
		},
		show: func(s *settings) any { return proto.IDRanges(s.Voters) },
	},
	durationSetting("promise", "twice the failover budget, as of a usual round", time.Millisecond,
		"`TIME` for which a voter that elected a leader elects no other, the same on every "+
			"node; a lease is a little shorter",
		func(s *settings) *time.Duration { return &s.Promise }),
	{
		name: "keep-promises", fallback: "false", form: yesNo,
		usage: "wait a promise out even when the leader's process is seen to have died: for " +
			"networks where something between the nodes ends connections on a living " +
			"process's behalf",
		parse: one(func(s *settings, v string) (err error) {
			s.KeepPromises, err = parseBool(v)
			return err
		}),
		show: func(s *settings) any { return s.KeepPromises },
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
			s.FirstTerm = proto.Term(n)
			return nil
		}),
		show: func(s *settings) any { return uint64(s.FirstTerm) },
	},
}
