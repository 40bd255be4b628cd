package compare

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/internal/bench"
	"github.com/ringleader-dev/ringleader/internal/testcluster"
	"github.com/ringleader-dev/ringleader/internal/words"
)

// Options say what to compare, on real processes.
type Options struct {
	bench.Options // Entry and Voters are not set: they follow from the fields below
	Entries       []catalog.Entry
	Script        []Step
	// Alone says that nominating algorithms run without voters, Voted that they run with the votes
	// of all nodes. Both may be set.
	Alone, Voted bool
	// Stores are the kinds of stores on which nominating algorithms stand, too: a server of each is started.
	Stores []string
	// Lease is the time of the leases of voters and stores; 0 for the nodes' default.
	Lease time.Duration
	// Seed draws when each fault happens, how long it lasts, and which nodes are cut off with the
	// leader.
	Seed uint64
	// dir is the directory for sockets and the data of the storages.
	dir string
	// stores are the servers; nil before they are started.
	stores *stores
}

// Votes says who votes.
type Votes string

// Who votes.
const (
	Nobody Votes = "none" // nobody: the guarantee is best-effort
	All    Votes = "all"  // all nodes vote on whom the algorithm nominates
	Own    Votes = "own"  // all nodes vote in the algorithm's own quorum
)

// contender is an algorithm: without voters, with voters, or on a store.
type contender struct {
	entry catalog.Entry
	votes Votes
	store string // the kind of the store; "" for none
}

// leased reports whether leaders have a lease and a token.
func (c contender) leased() bool { return c.votes != Nobody || c.store != "" }

// contenders returns the algorithms to compare, in the order of the catalogue: each without voters,
// with voters, or both, as the options say, and then on each store. An algorithm that counts a quorum
// itself runs only with voters.
func (o Options) contenders() (some []contender) {
	for _, e := range o.Entries {
		switch {
		case e.Guarantee != algorithms.BestEffort:
			some = append(some, contender{entry: e, votes: Own})
			continue
		case o.Alone:
			some = append(some, contender{entry: e, votes: Nobody})
		}
		if o.Voted {
			some = append(some, contender{entry: e, votes: All})
		}
		for _, kind := range o.Stores {
			some = append(some, contender{entry: e, votes: Nobody, store: kind})
		}
	}
	return some
}

// guarantee returns how far the contender's answers can be trusted.
func (c contender) guarantee() algorithms.Guarantee {
	switch {
	case c.store != "":
		return guaranteeOn(c.store)
	case c.votes == Nobody:
		return c.entry.Guarantee
	}
	return c.entry.WithLease().Guarantee
}

// leftOut returns why a step is not done with a contender; "" if it is done.
func (o Options) leftOut(c contender, s Step) string {
	rest := o.Nodes - s.gone()
	switch {
	case c.votes == Own && !o.Voted:
		return "it has a quorum of its own, and runs only with voters"
	case c.store != "" && o.stores.lacks(c.store) != "":
		return o.stores.lacks(c.store)
	case rest < 1:
		return fmt.Sprintf("of %s nobody is left to take over", words.Plural(o.Nodes, "node"))
	case c.votes != Nobody && rest < majority(o.Nodes):
		return fmt.Sprintf("%d of %d voters left, %d needed", rest, o.Nodes, majority(o.Nodes))
	case c.store != "" && s == Cut:
		return "the store is on loopback, and nodes on a network that can be cut do not reach it"
	case s == Cut:
		if err := testcluster.MayCut(o.Nodes); err != nil {
			return err.Error()
		}
	}
	return ""
}

// validate returns an error that says what cannot work. It wraps bench.ErrOptions or
// bench.ErrCapacity.
func (o Options) validate() error {
	if o.Nodes < 1 {
		return fmt.Errorf("%w: %d nodes: give 1 or more", bench.ErrOptions, o.Nodes)
	}
	if err := bench.CheckCapacity(o.Nodes); err != nil {
		return err
	}
	if err := o.checkStores(); err != nil {
		return err
	}
	var why []string
	for _, c := range o.contenders() {
		for _, s := range o.Script {
			reason := o.leftOut(c, s)
			if reason == "" {
				return nil
			}
			if said := fmt.Sprintf("%s: %s", s, reason); !slices.Contains(why, said) {
				why = append(why, said)
			}
		}
	}
	return fmt.Errorf("%w: no step of the script can be done with %s: %s; give more nodes, voters, or another script",
		bench.ErrOptions, words.Plural(o.Nodes, "node"), strings.Join(why, "; "))
}
