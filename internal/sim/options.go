package sim

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/proto"
)

// ErrOptions says that the Options contradict each other.
var ErrOptions = errors.New("these options make no simulation")

// Algorithm is the algorithm that is simulated.
type Algorithm struct {
	Name      string
	Guarantee algorithms.Guarantee
	// Preempt is the value that an analysis uses when Options.Preempt is nil.
	Preempt bool
	New     func(algorithms.Config) algorithms.Machine
	// Leased says that a node leads only under a lease: a majority of the voters must have promised
	// to vote for no other node for at least Promise.
	Leased bool
	// OwnLease says that the algorithm has this lease itself, so that none is put around it.
	OwnLease bool
	// Store says that a node leads only while its entry is the first in a store, which keeps the entry for
	// Promise. Then Leased is set, too, and nobody votes.
	Store bool
	// Recovers says that recovery from split brains is put around the algorithm.
	Recovers bool
	Promise  func(delta time.Duration) time.Duration
	// Agreement bounds the time from when the network is calm, and the detectors are right, until
	// all nodes agree on one leader.
	Agreement func(delta time.Duration, nodes int) time.Duration
}

// Detector says how the failure detectors work until everything heals. After that they are right
// within Delta.
type Detector string

// The detectors.
const (
	// Perfect: it notices crashes within Delta, and is never wrong about them.
	Perfect Detector = "perfect"
	// Late: it is right, but after up to 50 Delta.
	Late Detector = "late"
	// Wrong: it is late, and sometimes suspects living processes or misses dead ones.
	Wrong Detector = "wrong"
	// None: views do not change. In an analysis only the initiator is told that the crashed node
	// stopped answering.
	None Detector = "none"
)

var detectors = []Detector{Perfect, Late, Wrong, None}

// DefaultDelta is the worst-case one-way latency that Machines plan for.
const DefaultDelta = 100 * time.Millisecond

// Options say what to simulate. Algorithm must be set. Everything else that has its zero value is
// drawn from the seed, for a run under faults. Setting Initiator or AllInitiate asks for an
// analysis instead.
type Options struct {
	Algorithm Algorithm
	Seed      uint64
	// Nodes is the number of nodes; their ids are 1 … Nodes. Zero draws 1 to 7 in a run under
	// faults.
	Nodes int
	// Delta is the latency that Machines plan for. Zero means DefaultDelta, as in every run of the command.
	Delta time.Duration
	// Preempt lets a higher-ranked node take over from a living leader. Nil means a drawn value, or
	// in an analysis the algorithm's default.
	Preempt *bool
	// Detector is drawn if it is empty; in an analysis, empty means Perfect.
	Detector Detector

	// Fence gives every node a fence agent, for an algorithm with a lease. The agent is slow, fails
	// and lies as the seed says.
	Fence bool

	// Initiator is the node that gets the cause of the election: an operator's request, or the news
	// that Crashed is dead.
	Initiator proto.NodeID
	// AllInitiate gives every node an operator's request at the same time.
	AllInitiate bool
	// Shuffle puts the nodes on the ring in random order.
	Shuffle bool
	// Crashed is a node that is dead when the initiator gets its cause.
	Crashed proto.NodeID

	// Trace receives the records of the run; nil for none.
	Trace io.Writer
	// TraceJSON writes the records as lines of JSON, as a node logs them.
	TraceJSON bool
	// TraceAll also writes Steps that decided nothing.
	TraceAll bool
	// TraceCodes writes the codes of reasons instead of their sentences.
	TraceCodes bool
	// Truth receives what really happens in the run; nil for nothing.
	Truth *Truth
}

func (o Options) analysis() bool { return o.Initiator != 0 || o.AllInitiate }

func (o Options) delta() time.Duration { return cmp.Or(o.Delta, DefaultDelta) }

// validate returns an error that wraps ErrOptions and says what does not fit.
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
			fmt.Sprintf("--detector %s: want perfect, late, wrong or none", o.Detector),
		},
		{o.analysis() && o.Nodes == 0, "an election without faults needs --nodes"},
		{
			o.analysis() && o.Algorithm.Leased && !o.Algorithm.OwnLease,
			"with --initiator the messages of a nomination are counted: leave --voters drawn out, and --store drawn",
		},
		{o.Fence && o.Algorithm.Store, "--fence: nobody is fenced before a node leads by a store: leave it away"},
		{o.Fence && !o.Algorithm.Leased, "--fence: without voters nobody is fenced: give --voters drawn, too"},
		{o.Initiator != 0 && o.AllInitiate, "the initiator is either one node or all"},
		{
			!o.analysis() && (o.Crashed != 0 || o.Shuffle),
			"--crashed and --shuffle are for an election without faults: give --initiator, too",
		},
		{
			o.analysis() && (o.Initiator > last || o.Crashed > last),
			fmt.Sprintf("--initiator and --crashed: the nodes are 1 to %d", last),
		},
		{
			!o.analysis() && o.Detector == None,
			"--detector none is for an election without faults: give --initiator, too",
		},
		{
			o.analysis() && (o.Detector == Late || o.Detector == Wrong),
			"--detector: with --initiator it is perfect, or none",
		},
		{
			o.Crashed != 0 && o.Crashed != last,
			fmt.Sprintf("--crashed must be the leader, %d: its loss is what calls the election", last),
		},
		{o.Crashed != 0 && o.Crashed == o.Initiator, "--initiator must not be the crashed node: it notices the loss"},
		{o.Crashed != 0 && o.AllInitiate, "--crashed needs one --initiator, which notices the loss"},
	}
	for _, p := range problems {
		if p.wrong {
			return fmt.Errorf("%w: %s", ErrOptions, p.what)
		}
	}
	return nil
}

// Repro returns the command line that repeats the run.
func (o Options) Repro() string {
	args := []string{"ringleader simulate", "--algorithm " + o.Algorithm.Name}
	add := func(given bool, format string, value any) {
		if given {
			args = append(args, fmt.Sprintf(format, value))
		}
	}
	add(o.Algorithm.Leased && !o.Algorithm.OwnLease && !o.Algorithm.Store, "--voters drawn%s", "")
	add(o.Algorithm.Store, "--store drawn%s", "")
	add(o.Fence, "--fence%s", "")
	add(true, "--seed %d", o.Seed)
	add(o.Nodes != 0, "--nodes %d", o.Nodes)
	if o.Preempt != nil {
		add(true, "--preempt=%v", *o.Preempt)
	}
	add(o.Detector != "", "--detector %s", o.Detector)
	add(o.Initiator != 0, "--initiator %d", o.Initiator)
	add(o.AllInitiate, "--initiator %s", "all")
	add(o.Shuffle, "--shuffle%s", "")
	add(o.Crashed != 0, "--crashed %d", o.Crashed)
	return strings.Join(args, " ")
}
