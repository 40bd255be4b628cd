// Package catalog is the one list of election algorithms: their names, how to make them, what they
// guarantee, and what they cost in theory.
package catalog

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/broadcast"
	"github.com/ringleader-dev/ringleader/algorithms/bully"
	"github.com/ringleader-dev/ringleader/algorithms/chubby"
	"github.com/ringleader-dev/ringleader/algorithms/consensus"
	"github.com/ringleader-dev/ringleader/algorithms/franklin"
	"github.com/ringleader-dev/ringleader/algorithms/hs"
	"github.com/ringleader-dev/ringleader/algorithms/invitation"
	"github.com/ringleader-dev/ringleader/algorithms/lease"
	"github.com/ringleader-dev/ringleader/algorithms/nomination"
	"github.com/ringleader-dev/ringleader/algorithms/raft"
	"github.com/ringleader-dev/ringleader/algorithms/ring"
	"github.com/ringleader-dev/ringleader/algorithms/splitbrain"
	"github.com/ringleader-dev/ringleader/algorithms/stoller"
	"github.com/ringleader-dev/ringleader/algorithms/store"
	"github.com/ringleader-dev/ringleader/algorithms/tokenring"
	"github.com/ringleader-dev/ringleader/algorithms/topology"
	"github.com/ringleader-dev/ringleader/algorithms/zookeeper"
	"github.com/ringleader-dev/ringleader/proto"
)

// Entry is one algorithm, perhaps with a lease or with split-brain recovery around it.
type Entry struct {
	algorithms.About
	// Leased says that a node leads only under a lease: a majority of the voters must have promised
	// to vote for no other node for at least Promise. Either the algorithm has this lease itself,
	// or a lease is put around it.
	Leased bool
	// OwnLease says that the algorithm itself has a lease, so that no other lease is put around it.
	OwnLease bool
	// Stored says that a node leads only while its entry is the first in a store, so that nobody votes.
	Stored bool
	// Recovers says that recovery from split brains is put around the algorithm: leaders that meet
	// again stop, and one of them is elected.
	Recovers bool
}

// NeedsVoters reports whether a majority of configured voters decides who leads.
func (e Entry) NeedsVoters() bool { return e.Guarantee != algorithms.BestEffort }

type (
	// Theory is the cost of a round in theory.
	Theory = algorithms.Theory
	// Timeout is one timeout of an algorithm.
	Timeout = algorithms.Wait
)

// ErrUnknown is the error for a name that no algorithm has.
var ErrUnknown = errors.New("unknown algorithm")

// entries are all algorithms, in the order of their names. A new algorithm is added to abouts.
var entries = entriesOf(abouts()...)

func abouts() []algorithms.About {
	return []algorithms.About{
		broadcast.About(),
		bully.About(),
		chubby.About(),
		consensus.About(),
		franklin.About(),
		hs.About(),
		invitation.About(),
		raft.About(),
		ring.About(),
		stoller.About(),
		tokenring.About(),
		zookeeper.About(),
	}
}

func entriesOf(all ...algorithms.About) []Entry {
	entries := make([]Entry, len(all))
	for i, about := range all {
		own := about.Guarantee == algorithms.Lease
		if about.Theory.Kinds == nil {
			about.Theory.Kinds = about.Kinds
		}
		entries[i] = Entry{About: about, Leased: own, OwnLease: own}
	}
	return entries
}

// WithLease returns the algorithm with a lease around it: the algorithm nominates, and a majority of the
// voters makes its nominee a leader. WithLease returns an algorithm that has its own lease unchanged.
func (e Entry) WithLease() Entry {
	if e.Leased {
		return e
	}
	nominate, agree := e.New, e.Agreement
	e.Guarantee, e.Leased, e.Promise, e.Fences = algorithms.Lease, true, lease.MinPromise, true
	e.New = func(c algorithms.Config) algorithms.Machine { return lease.New(c, nominate) }
	e.Agreement = func(delta time.Duration, nodes int) time.Duration {
		return agree(delta, nodes) + lease.Agreement(3*lease.MinPromise(delta), delta, nodes)
	}
	return e
}

// WithStore returns the algorithm on a store with this guarantee: the algorithm nominates, and the first
// entry in the store makes a leader. The algorithm must be one that nominates.
func (e Entry) WithStore(guarantee algorithms.Guarantee) Entry {
	nominate, agree := e.New, e.Agreement
	e.Guarantee, e.Leased, e.Stored, e.Promise = guarantee, true, true, store.MinTTL
	e.New = func(c algorithms.Config) algorithms.Machine { return store.New(c, nominate) }
	e.Agreement = func(delta time.Duration, nodes int) time.Duration {
		return agree(delta, nodes) + store.Agreement(3*store.MinTTL(delta), delta, nodes)
	}
	return e
}

// LeaseByAnyClock returns for how long a lease may run that lasts for d by one clock: that one may be the fastest, and
// the clock of the leader the slowest.
func LeaseByAnyClock(d time.Duration) time.Duration {
	const fast, slow = 1_000_000 + lease.Drift, 1_000_000 - lease.Drift
	return d/slow*fast + d%slow*fast/slow
}

// LeaseTheory returns what a lease costs in addition to the nomination, without failures. voters is the
// number of configured voters, and live is how many of them are alive. Each voter answers yes or no; a
// voter that answered no sends its yes later, once it can.
func LeaseTheory(voters, live int) Theory {
	best := func(n int) int { return 3*(voters-1) + 2*(live-1) + n - live }
	return Theory{
		Kinds: []proto.Kind{
			proto.KindPreVote, proto.KindPreVoteReply, proto.KindRequestVote, proto.KindVote, proto.KindHeartbeat,
		},
		Best:  best,
		Worst: func(n int) int { return best(n) + live - 1 },
		BestCase: "nothing binds a voter: PRE_VOTE, REQUEST_VOTE and HEARTBEAT to the others, " +
			"PRE_VOTE_REPLY and VOTE " +
			"of those alive, HEARTBEAT to those that do not vote",
		WorstCase: "all voters are bound when they are asked, and say no first",
	}
}

// WithRecovery returns the algorithm with the recovery from split brains around it. WithRecovery returns
// an algorithm whose guarantee excludes split brains unchanged.
func (e Entry) WithRecovery() Entry {
	if e.Guarantee != algorithms.BestEffort {
		return e
	}
	nominate, agree := e.New, e.Agreement
	e.Recovers = true
	e.New = func(c algorithms.Config) algorithms.Machine { return splitbrain.New(c, nominate) }
	e.Agreement = func(delta time.Duration, nodes int) time.Duration {
		return agree(delta, nodes) + splitbrain.Agreement(delta, 4*delta, nodes)
	}
	return e
}

// WithFence returns the algorithm with a lease, and with timeouts long enough for fence agents that
// take up to 2Δ. The Machines use the agents if Config.Fence is set.
func (e Entry) WithFence() Entry {
	agree := e.Agreement
	e.Agreement = func(delta time.Duration, nodes int) time.Duration {
		return agree(delta, nodes) + lease.Fencing(3*lease.MinPromise(delta), delta, 2*delta, nodes)
	}
	return e
}

// All returns every entry, in the order of names.
func All() []Entry { return slices.Clone(entries) }

// kinds is the table of all kinds of messages.
var kinds = tableOf(entries)

// Shared returns the kinds of messages that belong to no single algorithm.
func Shared() []proto.Kind {
	return slices.Concat(nomination.Kinds(), topology.Kinds(), proto.LeaseKinds(), splitbrain.Kinds())
}

// tableOf returns the table of all kinds of messages. It panics if two parts claim the same number:
// that is a programming error.
func tableOf(entries []Entry) *proto.Kinds {
	all := Shared()
	for _, e := range entries {
		all = append(all, e.Kinds...)
	}
	table, err := proto.NewKinds(all...)
	if err != nil {
		panic(err)
	}
	return table
}

// Kinds returns the table of the kinds of all messages that any algorithm sends. This program can decode
// all of these messages.
func Kinds() *proto.Kinds { return kinds }

// KindOf returns the kind that has this name in records of the algorithm; ok is false if there is
// none. Kinds of several algorithms may share a name. KindOf prefers the algorithm's own kind to a
// shared one. For an unknown algorithm it takes any kind of that name.
func KindOf(algorithm, name string) (k proto.Kind, ok bool) {
	known := false
	for i := range entries { // an entry is large
		if e := &entries[i]; e.Name == algorithm {
			k, ok = named(e.Kinds, name)
			known = true
		}
	}
	if !ok {
		k, ok = named(Shared(), name)
	}
	if !ok && !known {
		k, ok = named(kinds.All(), name)
	}
	return k, ok
}

// named returns the kind of that name; false if there is no such kind.
func named(kinds []proto.Kind, name string) (proto.Kind, bool) {
	i := slices.IndexFunc(kinds, func(k proto.Kind) bool { return k.String() == name })
	if i < 0 {
		return proto.Kind{}, false
	}
	return kinds[i], true
}

// Names returns the names of all entries.
func Names() []string {
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name
	}
	return names
}

// Lookup returns the entry with the given name. The error wraps ErrUnknown and lists all names.
func Lookup(name string) (Entry, error) {
	for i := range entries { // an entry is large
		if entries[i].Name == name {
			return entries[i], nil
		}
	}
	return Entry{}, fmt.Errorf("%w %q: there are %s", ErrUnknown, name, strings.Join(Names(), ", "))
}
