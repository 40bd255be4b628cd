package algorithms

import (
	"time"

	"github.com/ringleader-dev/ringleader/proto"
)

// Leadership is a time during which one process believed that it leads, as reported some time
// later.
type Leadership struct {
	Leadership proto.Leadership
	// Led is how long the leadership lasted, by the clock of the process that led.
	Led time.Duration
	// Ago is the time between the leadership's end and the report. If the report came in a message, Ago
	// also includes the time that the message was on its way.
	Ago time.Duration
}

// SplitStage says how far the recovery from a split brain has come. The stages are the steps of the
// lecture notes: "1. Stop all leaders 2. Compare states 3. Reconcile conflicts 4. Re-elect single leader
// 5. Resume operations".
type SplitStage string

// The stages.
const (
	Stopping    SplitStage = "stopping"    // until the work of all former leaders has stopped
	Reconciling SplitStage = "reconciling" // the host runs what the operator gave it
	Electing    SplitStage = "electing"    // nobody leads until a new term has its leader
	Recovered   SplitStage = "recovered"   // a node leads again
	Left        SplitStage = "left"        // another node that ranks above this one recovers from the split
)

// Split describes a split brain, and the recovery from it, as far as they are known. In a split brain,
// processes of different nodes led at the same time.
type Split struct {
	// Number counts the splits that this process recovers from; the first is 1. It is zero when
	// another node, By, recovers from the split.
	Number uint64
	By     proto.NodeID
	Stage  SplitStage
	// Leaderships are the two or more leaderships, sorted by Leadership.Compare.
	Leaderships []Leadership
	// Overlap is the longest time for which two of these leaders led at once, by the hybrid clock. It is
	// wrong by at most the difference of the nodes' wall clocks.
	Overlap time.Duration
	// Messages is how many messages this process sent and received for the recovery.
	Messages int
	// Outcome says how reconciling ended; it is zero before that.
	Outcome Outcome
	// Leader is the present leader; nobody before the stage Recovered.
	Leader Leader
}

// Outcome says how reconciling ended. The zero Outcome means that reconciling has not ended.
type Outcome struct {
	Done bool
	// Tries is the number of times that the host ran the command; zero if there is no command.
	Tries int
	// Exit is the exit code of the last run; -1 when the command could not be started or did not
	// end in time.
	Exit int
	// Problem says why the last run failed; empty when it did not.
	Problem string
}

// MaxProblem is the greatest length of an Outcome's Problem, in bytes.
const MaxProblem = 200

// OK reports whether reconciling has ended without a failure.
func (o Outcome) OK() bool { return o.Done && o.Problem == "" }

// Clone returns a copy that shares nothing with s.
func (s *Split) Clone() *Split {
	c := *s
	c.Leaderships = append([]Leadership(nil), s.Leaderships...)
	return &c
}
