package sim

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/proto"
)

// ErrOptions says that options do not fit together.
var ErrOptions = errors.New("these options make no simulation")

// Algorithm is what is simulated.
type Algorithm struct {
	Name      string
	Guarantee algorithms.Guarantee
	// Preempt is what an analysis uses when Options.Preempt is nil.
	Preempt bool
	New     func(algorithms.Config) algorithms.Machine
	// Office says that a nominee leads only with the promises of a majority of
	// voters, of length Promise or more.
	Office bool
	// Own says that the promises are the algorithm's own, of no office around it.
	Own bool
	// Mends says that leaders that meet after a split brain mend it.
	Mends   bool
	Promise func(delta time.Duration) time.Duration
	// Agreement bounds the time from the moment that the network is calm and the
	// detectors are right until all nodes agree on one leader.
	Agreement func(delta time.Duration, nodes int) time.Duration
}

// Detector says how failure detectors behave until everything heals. After
// that they are right, within Delta.
type Detector string

// The detectors.
const (
	// Perfect: within Delta, and never wrong about a crash.
	Perfect Detector = "perfect"
	// Late: notices what is so, after up to 50 Delta.
	Late Detector = "late"
	// Wrong: late, and at times suspects the living or misses the dead.
	Wrong Detector = "wrong"
	// None: views do not change. In an analysis, only the initiator is told that
	// the crashed node stopped answering.
	None Detector = "none"
)

var detectors = []Detector{Perfect, Late, Wrong, None}

// DefaultDelta is the worst-case one-way latency that Machines plan for.
const DefaultDelta = 100 * time.Millisecond

// Options say what to simulate. Algorithm must be set; the zero value of all
// else draws from the seed what a run under faults needs. Setting Initiator or
// AllInitiate asks for an analysis instead.
type Options struct {
	Algorithm Algorithm
	Seed      uint64
	// Nodes have the ids 1 … Nodes. Zero: 1 to 7, drawn, in a run under faults.
	Nodes int
	// Delta is the latency that Machines plan for; zero: DefaultDelta.
	Delta time.Duration
	// Preempt lets a higher-ranked node take over from a living leader. Nil:
	// drawn, or the algorithm's default in an analysis.
	Preempt *bool
	// Detector is empty for a drawn one, or Perfect in an analysis.
	Detector Detector

	// Fence gives every node a fence agent, of an algorithm with an office. It is
	// slow, fails and lies as the seed says.
	Fence bool

	// Initiator gets the cause of the election: the operator's call, or the news
	// that Crashed is dead.
	Initiator proto.NodeID
	// AllInitiate gives every node the operator's call, at one instant.
	AllInitiate bool
	// Shuffle puts the nodes on the ring in random order.
	Shuffle bool
	// Crashed is a node that is dead when the initiator gets its cause.
	Crashed proto.NodeID

	// Trace receives the records of the run; nil for none.
	Trace io.Writer
	// TraceJSON writes them as lines of JSON, as a node logs them.
	TraceJSON bool
	// TraceAll also writes the Steps that decided nothing.
	TraceAll bool
}

func (o Options) analysis() bool { return o.Initiator != 0 || o.AllInitiate }

func (o Options) delta() time.Duration {
	if o.Delta == 0 {
		return DefaultDelta
	}
	return o.Delta
}

// validate returns ErrOptions, wrapped, with what does not fit.
func (o Options) validate() error {
	last := proto.NodeID(o.Nodes)
	problems := []struct {
		wrong bool
		what  string
	}{
		{o.Algorithm.New == nil, "no algorithm is given"},
		{o.Nodes < 0, "the number of nodes must not be negative"},
		{o.delta() < time.Microsecond, "delta must be at least a microsecond"},
		{
			o.Detector != "" && !slices.Contains(detectors, o.Detector),
			fmt.Sprintf("detector %q is none of %v", o.Detector, detectors),
		},
		{o.analysis() && o.Nodes == 0, "an analysis needs the number of nodes"},
		{
			o.analysis() && o.Algorithm.Office && !o.Algorithm.Own,
			"an analysis counts the messages of a nomination, without an office",
		},
		{o.Fence && !o.Algorithm.Office, "only in an office a node has anybody fenced: give --office, too"},
		{o.Initiator != 0 && o.AllInitiate, "the initiator is either one node or all"},
		{
			!o.analysis() && (o.Crashed != 0 || o.Shuffle),
			"a crashed node or a shuffled ring needs an initiator",
		},
		{
			o.analysis() && (o.Initiator > last || o.Crashed > last),
			fmt.Sprintf("the nodes are 1 to %d", last),
		},
		{!o.analysis() && o.Detector == None, "detector none needs an initiator"},
		{
			o.analysis() && (o.Detector == Late || o.Detector == Wrong),
			"an analysis has a detector that is perfect, or none",
		},
		{
			o.Crashed != 0 && o.Crashed != last,
			fmt.Sprintf("the crashed node must be the leader, %d: its loss is what calls the election", last),
		},
		{o.Crashed != 0 && o.Crashed == o.Initiator, "the initiator must not be the crashed node"},
		{o.Crashed != 0 && o.AllInitiate, "a crashed node needs one initiator that notices it"},
	}
	for _, p := range problems {
		if p.wrong {
			return fmt.Errorf("%w: %s", ErrOptions, p.what)
		}
	}
	return nil
}

// Repro is the command line that repeats the run.
func (o Options) Repro() string {
	args := []string{"ringleader simulate", "--algorithm " + o.Algorithm.Name}
	add := func(given bool, format string, value any) {
		if given {
			args = append(args, fmt.Sprintf(format, value))
		}
	}
	add(o.Algorithm.Office && !o.Algorithm.Own, "--office%s", "")
	add(o.Fence, "--fence%s", "")
	add(true, "--seed %d", o.Seed)
	add(o.Nodes != 0, "--nodes %d", o.Nodes)
	add(o.Delta != 0, "--delta %v", o.Delta)
	if o.Preempt != nil {
		add(true, "--preempt=%v", *o.Preempt)
	}
	add(o.Detector != "", "--detector %s", o.Detector)
	add(o.Initiator != 0, "--initiator %d", o.Initiator)
	add(o.AllInitiate, "--initiators %s", "all")
	add(o.Shuffle, "--shuffle%s", "")
	add(o.Crashed != 0, "--crashed %d", o.Crashed)
	return strings.Join(args, " ")
}
