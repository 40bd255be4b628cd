// Package catalog is the one list of election algorithms: what each is called,
// how to make it, what it promises, and what theory says that it costs.
package catalog

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/bully"
	"github.com/ringleader-dev/ringleader/algorithms/nomination"
	"github.com/ringleader-dev/ringleader/algorithms/office"
	"github.com/ringleader-dev/ringleader/algorithms/ring"
	"github.com/ringleader-dev/ringleader/proto"
)

// Entry is one algorithm.
type Entry struct {
	Name      string
	Summary   string // one line
	Guarantee algorithms.Guarantee
	// Preempt is whether a higher-ranked node takes over from a living leader
	// when the operator does not say.
	Preempt bool
	New     func(algorithms.Config) algorithms.Machine
	Theory  Theory
	// Timeouts are the algorithm's own, as formulas.
	Timeouts []Timeout
	// Office says that a nominee leads only with the promises of a majority of
	// voters, each at least Promise long.
	Office  bool
	Promise func(delta time.Duration) time.Duration
	// Agreement bounds the time from the moment that the network is calm and
	// the detectors are right until all nodes agree on one leader.
	Agreement func(delta time.Duration, nodes int) time.Duration
}

// Theory is what a round costs without failures, with n nodes alive.
type Theory struct {
	Kinds       []proto.Kind // of the messages of a round
	Best, Worst func(n int) int
	BestCase    string // when, and the formula
	WorstCase   string
}

// Timeout is one timeout of an algorithm.
type Timeout struct {
	Name    string
	Formula string // over delta and n
	Of      func(delta time.Duration, n int) time.Duration
}

// ErrUnknown says that no algorithm has the given name.
var ErrUnknown = errors.New("unknown algorithm")

var entries = []Entry{
	{
		Name:      "bully",
		Summary:   "the highest-ranked living node leads; lower ones ask higher ones",
		Guarantee: algorithms.BestEffort,
		Preempt:   true,
		New:       func(c algorithms.Config) algorithms.Machine { return bully.New(c) },
		Theory: Theory{
			Kinds: []proto.Kind{proto.KindElection, proto.KindOK, proto.KindCoordinator},
			Best:  func(n int) int { return n - 1 },
			Worst: func(n int) int { return n*(n+1)/2 + n*(n-1)/2 + n - 1 },
			BestCase: "the next in line notices first: " +
				"COORDINATOR to the n-1 others",
			WorstCase: "the lowest notices first: n(n+1)/2 ELECTION, those to the dead " +
				"leader included; n(n-1)/2 OK; n-1 COORDINATOR",
		},
		Timeouts: []Timeout{
			{"OK", "2Δ", func(d time.Duration, _ int) time.Duration { return bully.OKTimeout(d) }},
			{"COORDINATOR", "5Δ", func(d time.Duration, _ int) time.Duration {
				return bully.CoordinatorTimeout(d)
			}},
		},
		Agreement: agreement(bully.Patience),
	},
	{
		Name:      "ring",
		Summary:   "ELECTION goes round the ring and collects the highest rank",
		Guarantee: algorithms.BestEffort,
		Preempt:   false,
		New:       func(c algorithms.Config) algorithms.Machine { return ring.New(c) },
		Theory: Theory{
			Kinds:     []proto.Kind{proto.KindRingElection, proto.KindElected},
			Best:      func(n int) int { return 2 * n },
			Worst:     func(n int) int { return 3*n - 1 },
			BestCase:  "the winner initiates: n ELECTION, n ELECTED",
			WorstCase: "the winner's successor initiates: 2n-1 ELECTION, n ELECTED",
		},
		Timeouts: []Timeout{
			{"ELECTED", "2nΔ", ring.ElectedTimeout},
			{"ask", "2Δ", func(d time.Duration, _ int) time.Duration { return ring.AskTimeout(d) }},
		},
		Agreement: agreement(ring.Patience),
	},
}

func agreement(
	patience func(time.Duration, int) time.Duration,
) func(time.Duration, int) time.Duration {
	return func(delta time.Duration, nodes int) time.Duration {
		return nomination.Agreement(delta, patience(delta, nodes))
	}
}

// WithOffice is the algorithm with an office around it: it nominates, and a
// majority of voters makes its nominee a leader.
func (e Entry) WithOffice() Entry {
	nominate, agree := e.New, e.Agreement
	e.Guarantee, e.Office, e.Promise = algorithms.Lease, true, office.MinPromise
	e.New = func(c algorithms.Config) algorithms.Machine { return office.New(c, nominate) }
	e.Agreement = func(delta time.Duration, nodes int) time.Duration {
		return agree(delta, nodes) + office.Agreement(3*office.MinPromise(delta), delta, nodes)
	}
	return e
}

// All returns every entry, in the order of names.
func All() []Entry { return append([]Entry(nil), entries...) }

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
