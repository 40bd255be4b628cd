package compare

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/ringleader-dev/ringleader/proto"
)

// Step is one fault of a script, and what undoes it.
type Step string

// The steps.
const (
	Kill    Step = "kill"
	KillTwo Step = "kill-two"
	Pause   Step = "pause"
	Cut     Step = "cut"
	Restart Step = "restart"
	Stop    Step = "stop"
)

// steps are all steps, in the order of the usual script, and what each does.
var steps = []struct {
	step Step
	does string
}{
	{Kill, "SIGKILL to the leader, then it starts again"},
	{KillTwo, "SIGKILL to the leader and the next in rank, then they start again"},
	{Pause, "SIGSTOP to the leader, then SIGCONT"},
	{Cut, "the leader is cut off, perhaps with a minority, then all is healed"},
	{Restart, "SIGKILL to all nodes, which start again"},
	{Stop, "SIGTERM to the leader, which hands over, then it starts again"},
}

// Steps are all steps, in the order of the usual script.
func Steps() []Step {
	all := make([]Step, len(steps))
	for i, s := range steps {
		all[i] = s.step
	}
	return all
}

// Does is the step in words.
func (s Step) Does() string {
	for _, known := range steps {
		if known.step == s {
			return known.does
		}
	}
	return "unknown"
}

// ParseScript reads steps between commas; a step may come several times. Errors wrap
// ErrOptions and name the steps there are.
func ParseScript(text string) ([]Step, error) {
	var script []Step
	for word := range strings.SplitSeq(text, ",") {
		s := Step(strings.ToLower(strings.TrimSpace(word)))
		if !slices.Contains(Steps(), s) {
			return nil, fmt.Errorf("%w: unknown step %q: a script is one or more of %s, with commas between them",
				ErrOptions, strings.TrimSpace(word), JoinSteps(Steps()))
		}
		script = append(script, s)
	}
	return script, nil
}

// JoinSteps is what ParseScript reads.
func JoinSteps(script []Step) string {
	words := make([]string, len(script))
	for i, s := range script {
		words[i] = string(s)
	}
	return strings.Join(words, ",")
}

// gone is how many nodes the step takes away for a while; none where all go.
func (s Step) gone() int {
	switch s {
	case Restart:
		return 0
	case KillTwo:
		return 2
	}
	return 1
}

// fate is what the seed draws for one step: the same for every algorithm.
type fate struct {
	wait time.Duration // before the fault, once all is at rest
	hold time.Duration // from the agreement to the end of a pause or a cut
	// with are who is cut off with the leader: places among the other nodes, by id.
	with []int
}

const (
	longestWait = 500 * time.Millisecond
	longestHold = time.Second
)

// draw draws the fate of step i of a script.
func draw(seed uint64, i, nodes int) fate {
	dice := rand.New(rand.NewPCG(seed, uint64(i)))
	f := fate{
		wait: time.Duration(dice.Int64N(int64(longestWait))),
		hold: time.Duration(dice.Int64N(int64(longestHold))),
	}
	if spare := nodes - 1 - majority(nodes); spare > 0 {
		f.with = dice.Perm(nodes - 1)[:dice.IntN(spare+1)]
	}
	return f
}

func majority(nodes int) int { return nodes/2 + 1 }

// apart are the leader and who is cut off with it, of the nodes 1 … nodes.
func (f fate) apart(leader proto.NodeID, nodes int) []proto.NodeID {
	others := without(all(nodes), leader)
	ids := []proto.NodeID{leader}
	for _, place := range f.with {
		ids = append(ids, others[place])
	}
	return ids
}

func all(nodes int) []proto.NodeID {
	ids := make([]proto.NodeID, nodes)
	for i := range ids {
		ids[i] = proto.NodeID(i + 1)
	}
	return ids
}

// without are the ids that are none of gone.
func without(ids []proto.NodeID, gone ...proto.NodeID) []proto.NodeID {
	return slices.DeleteFunc(slices.Clone(ids), func(id proto.NodeID) bool {
		return slices.Contains(gone, id)
	})
}
