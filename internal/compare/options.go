package compare

import (
	"errors"
	"fmt"
	"strings"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/algorithms/catalog"
	"github.com/ringleader-dev/ringleader/internal/bench"
	"github.com/ringleader-dev/ringleader/internal/testcluster"
)

// ErrOptions says that what was asked for makes no comparison.
var ErrOptions = errors.New("these options make no comparison")

// Options say what to compare, on real processes.
type Options struct {
	// Binary is the path of the ringleader executable.
	Binary string
	// Work is how a worker's process is started.
	Work    func(bench.Worker) []string
	Entries []catalog.Entry
	Nodes   int
	// Profile is the nodes' --profile.
	Profile string
	Script  []Step
	// Alone and Office say whether algorithms that nominate run without voters, and
	// with an office of all nodes.
	Alone, Office bool
	// Seed draws the moments of the faults, how long they last, and who is cut off
	// with the leader.
	Seed uint64
	// Dir is for sockets and the storages' data.
	Dir string
	// Progress is told of each step that is done. Nil for nobody.
	Progress func(done, of int)
}

// Votes says who votes.
type Votes string

// Who votes.
const (
	Nobody Votes = "none"   // best-effort
	Office Votes = "office" // the algorithm nominates, all nodes vote in an office
	Own    Votes = "own"    // the algorithm has a quorum of its own, of all nodes
)

// contender is an algorithm as it runs.
type contender struct {
	entry catalog.Entry
	votes Votes
}

// contenders are who takes part, in the order of the catalogue. An algorithm with a
// quorum of its own has only one way to run: with voters.
func (o Options) contenders() (some []contender) {
	for _, e := range o.Entries {
		switch {
		case e.Guarantee != algorithms.BestEffort:
			some = append(some, contender{e, Own})
			continue
		case o.Alone:
			some = append(some, contender{e, Nobody})
		}
		if o.Office {
			some = append(some, contender{e, Office})
		}
	}
	return some
}

// guarantee is how far the contender's answers can be trusted.
func (c contender) guarantee() algorithms.Guarantee {
	if c.votes == Nobody {
		return c.entry.Guarantee
	}
	return c.entry.WithOffice().Guarantee
}

// leftOut says why a step is not done to a contender, "" when it is.
func (o Options) leftOut(c contender, s Step) string {
	rest := o.Nodes - s.gone()
	switch {
	case c.votes == Own && !o.Office:
		return "it has a quorum of its own, and runs only with voters"
	case rest < 1:
		return fmt.Sprintf("of %s nobody is left to take over", count(o.Nodes, "node"))
	case c.votes != Nobody && rest < majority(o.Nodes):
		return fmt.Sprintf("%d of %d voters left, %d needed", rest, o.Nodes, majority(o.Nodes))
	case s == Cut:
		if err := testcluster.MayCut(o.Nodes); err != nil {
			return err.Error()
		}
	}
	return ""
}

// validate returns ErrOptions or bench.ErrCapacity, wrapped, with what does not fit.
func (o Options) validate() error {
	if o.Nodes < 1 {
		return fmt.Errorf("%w: %d nodes: give 1 or more", ErrOptions, o.Nodes)
	}
	if err := bench.CheckCapacity(o.Nodes); err != nil {
		return err
	}
	var why []string
	for _, c := range o.contenders() {
		for _, s := range o.Script {
			reason := o.leftOut(c, s)
			if reason == "" {
				return nil
			}
			why = append(why, fmt.Sprintf("%s: %s", s, reason))
		}
	}
	return fmt.Errorf("%w: no step of the script can be done with %s: %s; give more nodes, voters, or another script",
		ErrOptions, count(o.Nodes, "node"), strings.Join(unique(why), "; "))
}

// count is "1 node" or "5 nodes".
func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// unique are the words, each once, in order.
func unique(words []string) (once []string) {
	seen := map[string]bool{}
	for _, w := range words {
		if !seen[w] {
			seen[w], once = true, append(once, w)
		}
	}
	return once
}
