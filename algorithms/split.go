package algorithms

import (
	"time"

	"github.com/ringleader-dev/ringleader/proto"
)

// Reign is a time for which one process believed that it leads, told some time
// later.
type Reign struct {
	Epoch proto.Epoch
	// Led is how long it lasted, by the clock of the process that led.
	Led time.Duration
	// Ago is how long before this was told it ended. Where a message told it, the
	// message's way comes to it.
	Ago time.Duration
}

// SplitStage is how far the mending of a split brain has come: the steps of the
// lecture notes, "1. Stop all leaders 2. Compare states 3. Reconcile conflicts
// 4. Re-elect single leader 5. Resume operations".
type SplitStage string

// The stages.
const (
	Stopping    SplitStage = "stopping"    // until the work of all who led has stopped
	Reconciling SplitStage = "reconciling" // the host runs what the operator gave it
	Electing    SplitStage = "electing"    // nobody leads until a new term has its leader
	Mended      SplitStage = "mended"      // one leads again
	Left        SplitStage = "left"        // another node stands over this one and mends
)

// Split is what is known of a split brain, and of how it is mended: processes of
// different nodes led at the same time.
type Split struct {
	// Number counts the splits that this process mends, from 1. It is zero when
	// another node mended it, By.
	Number uint64
	By     proto.NodeID
	Stage  SplitStage
	// Reigns are two or more, in the order of their epochs.
	Reigns []Reign
	// Overlap is for how long two of them led at once, the longest such time, by the
	// hybrid clock: wrong by as much as the wall clocks of the nodes differ.
	Overlap time.Duration
	// Messages were sent and received for its mending by this process.
	Messages int
	// Outcome is how reconciling went; zero before.
	Outcome Outcome
	// Leader is who leads now; nobody before the stage Mended.
	Leader Leader
}

// Outcome is how reconciling went. Its zero value is "not yet".
type Outcome struct {
	Done bool
	// Tries is how often the host tried; zero when it has nothing to run.
	Tries int
	// Exit is the exit code of the last try, -1 when there was none: it could not
	// be started, or did not end in time.
	Exit int
	// Problem says why the last try failed; empty when it did not.
	Problem string
}

// MaxProblem bounds an Outcome's Problem, in bytes.
const MaxProblem = 200

// OK reports whether reconciling is over and nothing failed.
func (o Outcome) OK() bool { return o.Done && o.Problem == "" }

// Clone is a copy that shares nothing with s.
func (s *Split) Clone() *Split {
	c := *s
	c.Reigns = append([]Reign(nil), s.Reigns...)
	return &c
}
