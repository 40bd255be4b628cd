// Package catalog is the one list of election algorithms: what each is called,
// how to make it, what it promises, and what theory says that it costs.
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
	"github.com/ringleader-dev/ringleader/algorithms/office"
	"github.com/ringleader-dev/ringleader/algorithms/raft"
	"github.com/ringleader-dev/ringleader/algorithms/ring"
	"github.com/ringleader-dev/ringleader/algorithms/splitbrain"
	"github.com/ringleader-dev/ringleader/algorithms/stoller"
	"github.com/ringleader-dev/ringleader/algorithms/tokenring"
	"github.com/ringleader-dev/ringleader/algorithms/topology"
	"github.com/ringleader-dev/ringleader/algorithms/zookeeper"
	"github.com/ringleader-dev/ringleader/proto"
)

// Entry is one algorithm, perhaps with something around it.
type Entry struct {
	algorithms.About
	// Office says that a node leads only with the promises of a majority of
	// voters, each at least Promise long: those of an office around the algorithm,
	// or its own.
	Office bool
	// Own says that there is no office around it.
	Own bool
	// Mends says that leaders that meet after a split brain mend it.
	Mends bool
}

// NeedsVoters says that a majority of configured voters decides who leads.
func (e Entry) NeedsVoters() bool { return e.Guarantee != algorithms.BestEffort }

type (
	// Theory is what an algorithm says that a round costs.
	Theory = algorithms.Theory
	// Timeout is one that an algorithm says it has.
	Timeout = algorithms.Wait
)

// ErrUnknown says that no algorithm has the given name.
var ErrUnknown = errors.New("unknown algorithm")

// entries are all algorithms, in the order of names: whoever adds one adds it here.
var entries = entriesOf(
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
)

func entriesOf(all ...algorithms.About) []Entry {
	entries := make([]Entry, len(all))
	for i, about := range all {
		own := about.Guarantee == algorithms.Lease
		if about.Theory.Kinds == nil {
			about.Theory.Kinds = about.Kinds
		}
		entries[i] = Entry{About: about, Office: own, Own: own}
	}
	return entries
}

// WithOffice is the algorithm with an office around it: it nominates, and a
// majority of voters makes its nominee a leader. An algorithm with leases of its own
// is as it is.
func (e Entry) WithOffice() Entry {
	if e.Office {
		return e
	}
	nominate, agree := e.New, e.Agreement
	e.Guarantee, e.Office, e.Promise, e.Fences = algorithms.Lease, true, lease.MinPromise, true
	e.New = func(c algorithms.Config) algorithms.Machine { return office.New(c, nominate) }
	e.Agreement = func(delta time.Duration, nodes int) time.Duration {
		return agree(delta, nodes) + office.Agreement(3*lease.MinPromise(delta), delta, nodes)
	}
	return e
}

// OfficeTheory is what the office costs on top of the nomination, with so many
// configured voters and live ones among them, and without failures. Whoever is
// asked says yes or no; who said no says yes once it can.
func OfficeTheory(voters, live int) Theory {
	best := func(n int) int { return 2*(voters-1) + 2*(live-1) + n - 1 }
	return Theory{
		Kinds: []proto.Kind{
			proto.KindPreVote, proto.KindPreVoteReply, proto.KindRequestVote, proto.KindVote, proto.KindLease,
		},
		Best:  best,
		Worst: func(n int) int { return best(n) + live - 1 },
		BestCase: "nothing binds a voter: PRE_VOTE and REQUEST_VOTE to the others, PRE_VOTE_REPLY and VOTE of those " +
			"alive, LEASE to all",
		WorstCase: "all voters are bound when they are asked, and say no first",
	}
}

// WithMending is the algorithm with the mending of split brains around it; itself
// where its guarantee lets none happen.
func (e Entry) WithMending() Entry {
	if e.Guarantee != algorithms.BestEffort {
		return e
	}
	nominate, agree := e.New, e.Agreement
	e.Mends = true
	e.New = func(c algorithms.Config) algorithms.Machine { return splitbrain.New(c, nominate) }
	e.Agreement = func(delta time.Duration, nodes int) time.Duration {
		return agree(delta, nodes) + splitbrain.Agreement(delta, 4*delta, nodes)
	}
	return e
}

// WithFence is the algorithm with an office whose nodes have fence agents, which
// take up to 2Δ when all is well. Its Machines do so by their Config.
func (e Entry) WithFence() Entry {
	agree := e.Agreement
	e.Agreement = func(delta time.Duration, nodes int) time.Duration {
		return agree(delta, nodes) + office.Fencing(3*lease.MinPromise(delta), delta, 2*delta, nodes)
	}
	return e
}

// All returns every entry, in the order of names.
func All() []Entry { return append([]Entry(nil), entries...) }

// kinds is the table of the kinds of all parts.
var kinds = tableOf(entries)

// sharedKinds are the kinds that no algorithm has to itself.
func sharedKinds() []proto.Kind {
	return slices.Concat(nomination.Kinds(), topology.Kinds(), proto.LeaseKinds(), splitbrain.Kinds())
}

// tableOf ends the program when two parts claim one number: a mistake of whoever added one.
func tableOf(entries []Entry) *proto.Kinds {
	all := sharedKinds()
	for _, e := range entries {
		all = append(all, e.Kinds...)
	}
	table, err := proto.NewKinds(all...)
	if err != nil {
		panic(err)
	}
	return table
}

// Kinds is the table of the kinds of all messages that any algorithm sends: what a process of
// this program can read.
func Kinds() *proto.Kinds { return kinds }

// KindOf is the kind that records of the algorithm call by this name; ok is false where there
// is none. Several algorithms have kinds of one name: its own comes first, then those that
// several share, then anybody's.
func KindOf(algorithm, name string) (k proto.Kind, ok bool) {
	for _, e := range entries {
		if e.Name == algorithm {
			k, ok = named(e.Kinds, name)
		}
	}
	if !ok {
		k, ok = named(sharedKinds(), name)
	}
	if !ok {
		k, ok = named(kinds.All(), name)
	}
	return k, ok
}

// named is the kind of that name, if there is one.
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

// Lookup returns the entry with the given name, or ErrUnknown, wrapped, with
// the names there are.
func Lookup(name string) (Entry, error) {
	for _, e := range entries {
		if e.Name == name {
			return e, nil
		}
	}
	return Entry{}, fmt.Errorf("%w %q: there are %s", ErrUnknown, name, strings.Join(Names(), ", "))
}
