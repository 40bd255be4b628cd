package compare

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/ringleader-dev/ringleader/internal/testcluster"
	"github.com/ringleader-dev/ringleader/proto"
)

// Step is one fault of a script, together with what undoes it.
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

// steps lists all steps, in the order of the usual script, and says what each does.
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

// Steps returns all steps, in the order of the usual script.
func Steps() []Step {
	all := make([]Step, len(steps))
	for i, s := range steps {
		all[i] = s.step
	}
	return all
}

// Does describes the step.
func (s Step) Does() string {
	for _, known := range steps {
		if known.step == s {
			return known.does
		}
	}
	return "unknown"
}

// ParseScript reads steps that are separated by commas. A step may occur several times. An error
// lists the steps that exist.
func ParseScript(text string) ([]Step, error) {
	var script []Step
	for word := range strings.SplitSeq(text, ",") {
		s := Step(strings.ToLower(strings.TrimSpace(word)))
		if !slices.Contains(Steps(), s) {
			return nil, fmt.Errorf("unknown step %q: a script is one or more of %s, with commas between them",
				strings.TrimSpace(word), JoinSteps(Steps()))
		}
		script = append(script, s)
	}
	return script, nil
}

// JoinSteps writes a script as text, as ParseScript reads it.
func JoinSteps(script []Step) string {
	words := make([]string, len(script))
	for i, s := range script {
		words[i] = string(s)
	}
	return strings.Join(words, ",")
}

// gone returns how many nodes the step takes away for a while; 0 if it takes all.
func (s Step) gone() int {
	switch s {
	case Restart:
		return 0
	case KillTwo:
		return 2
	}
	return 1
}

// chances are the random numbers for one step. They are the same for every algorithm.
type chances struct {
	wait time.Duration // how long the cluster rests before the fault
	hold time.Duration // how long a pause or a cut goes on after the nodes agreed
	// with says which nodes are cut off with the leader: by their index among the other nodes, in
	// the order of ids.
	with []int
}

const (
	longestWait = 500 * time.Millisecond
	longestHold = time.Second
)

// draw draws the random numbers for step i of a script.
func draw(seed uint64, i, nodes int) chances {
	dice := rand.New(rand.NewPCG(seed, uint64(i)))
	f := chances{
		wait: time.Duration(dice.Int64N(int64(longestWait))),
		hold: time.Duration(dice.Int64N(int64(longestHold))),
	}
	if spare := nodes - 1 - majority(nodes); spare > 0 {
		f.with = dice.Perm(nodes - 1)[:dice.IntN(spare+1)]
	}
	return f
}

func majority(nodes int) int { return nodes/2 + 1 }

// apart returns the leader, and those of the nodes that are cut off with it.
func (f chances) apart(leader proto.NodeID, nodes []proto.NodeID) []proto.NodeID {
	others := testcluster.Without(nodes, leader)
	ids := []proto.NodeID{leader}
	for _, place := range f.with {
		ids = append(ids, others[place])
	}
	return ids
}
