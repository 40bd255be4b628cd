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
	"github.com/ringleader-dev/ringleader/internal/scenario"
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
	// Without names the rule that was taken out of the algorithm; empty for none.
	Without string
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
	// None: views do not change. In an analysis only the initiators are told, and only of the nodes that
	// are dead at the start.
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
	// Members, in place of Nodes, are the nodes of an analysis, in their order on the ring.
	Members []scenario.Member
	// Delta is the latency that Machines plan for. Zero means DefaultDelta, as in every run of the command.
	Delta time.Duration
	// Preempt lets a higher-ranked node take over from a living leader. Nil means a drawn value, or
	// in an analysis the algorithm's default.
	Preempt *bool
	// Detector is drawn if it is empty; in an analysis, empty means None.
	Detector Detector

	// Fence gives every node a fence agent, for an algorithm with a lease. The agent is slow, fails
	// and lies as the seed says.
	Fence bool

	// Initiators are the nodes that get the cause of the election, at the same time: an operator's request,
	// or the news that the leader is one of Crashed.
	Initiators []proto.NodeID
	// AllInitiate makes every living node an initiator.
	AllInitiate bool
	// Shuffle puts the nodes on the ring in random order.
	Shuffle bool
	// Crashed are the nodes that are dead when the initiators get their cause.
	Crashed []proto.NodeID
	// Crashes are those that follow during the election.
	Crashes []scenario.Crash

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

func (o Options) analysis() bool { return len(o.Initiators) > 0 || o.AllInitiate }

func (o Options) initiates(id proto.NodeID) bool {
	return o.AllInitiate || slices.Contains(o.Initiators, id)
}

// members returns the nodes of an analysis.
func (o Options) members() []scenario.Member {
	if o.Members != nil {
		return o.Members
	}
	return scenario.Numbered(o.Nodes)
}

func (o Options) has(id proto.NodeID) bool {
	if o.Members == nil {
		return id >= 1 && id <= proto.NodeID(o.Nodes)
	}
	return slices.ContainsFunc(o.Members, func(m scenario.Member) bool { return m.ID == id })
}

// detector returns the detector of an analysis.
func (o Options) detector() Detector { return cmp.Or(o.Detector, None) }

func (o Options) delta() time.Duration { return cmp.Or(o.Delta, DefaultDelta) }

// validate returns an error that wraps ErrOptions and says what does not fit.
func (o Options) validate() error {
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
		{o.analysis() && o.Nodes == 0 && o.Members == nil, "an election by --initiator needs --nodes, or --ring"},
		{o.Nodes != 0 && o.Members != nil, "--nodes and --ring: give one of them"},
		{
			o.analysis() && o.Algorithm.Leased && !o.Algorithm.OwnLease,
			"with --initiator the messages of a nomination are counted: leave --voters drawn out, and --store drawn",
		},
		{o.Fence && o.Algorithm.Store, "--fence: nobody is fenced before a node leads by a store: leave it away"},
		{o.Fence && !o.Algorithm.Leased, "--fence: without voters nobody is fenced: give --voters drawn, too"},
		{len(o.Initiators) > 0 && o.AllInitiate, "the initiators are either some nodes or all"},
		{
			!o.analysis() && (len(o.Crashed)+len(o.Crashes) > 0 || o.Shuffle || o.Members != nil),
			"--ring, --crashed, --crash and --shuffle are for one election: give --initiator, too",
		},
		{
			!o.analysis() && o.Detector == None,
			"--detector none is for one election: give --initiator, too",
		},
		{
			o.analysis() && (o.Detector == Late || o.Detector == Wrong),
			"--detector: with --initiator it is perfect, or none",
		},
	}
	for _, p := range problems {
		if p.wrong {
			return fmt.Errorf("%w: %s", ErrOptions, p.what)
		}
	}
	if !o.analysis() {
		return nil
	}
	return o.validateNodes()
}

// validateNodes checks which nodes an analysis has, and which of them do what.
func (o Options) validateNodes() error {
	members := o.members()
	ids := make([]proto.NodeID, len(members))
	for i, m := range members {
		ids[i] = m.ID
		if m.ID == 0 {
			return fmt.Errorf("%w: --ring: the id 0 is no node's: give ids from 1 on", ErrOptions)
		}
		if o.Members != nil && slices.Contains(ids[:i], m.ID) {
			return fmt.Errorf("%w: --ring: node %d is there twice", ErrOptions, m.ID)
		}
	}
	nodes := fmt.Sprintf("the nodes are 1 to %d", o.Nodes)
	if o.Members != nil {
		nodes = "the nodes are " + join(ids)
	}
	known := func(flag string, id proto.NodeID) error {
		if !o.has(id) {
			return fmt.Errorf("%w: %s %d: no such node; %s", ErrOptions, flag, id, nodes)
		}
		return nil
	}
	for _, id := range o.Crashed {
		if err := known("--crashed", id); err != nil {
			return err
		}
	}
	for _, id := range o.Initiators {
		if err := known("--initiator", id); err != nil {
			return err
		}
		if slices.Contains(o.Crashed, id) {
			return fmt.Errorf("%w: --initiator %d: it is dead at the start, by --crashed", ErrOptions, id)
		}
	}
	for _, crash := range o.Crashes {
		if err := known("--crash", crash.ID); err != nil {
			return err
		}
		if crash.At < 0 {
			return fmt.Errorf("%w: --crash %v: the time is before the election", ErrOptions, crash)
		}
	}
	if !slices.ContainsFunc(ids, func(id proto.NodeID) bool { return !slices.Contains(o.Crashed, id) }) {
		return fmt.Errorf("%w: --crashed: all nodes are dead, and nobody can call an election", ErrOptions)
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
	add(o.Algorithm.Without != "", "--without %s", o.Algorithm.Without)
	add(true, "--seed %d", o.Seed)
	add(o.Nodes != 0, "--nodes %d", o.Nodes)
	if o.Preempt != nil {
		add(true, "--preempt=%v", *o.Preempt)
	}
	add(o.Detector != "", "--detector %s", o.Detector)
	add(o.Members != nil, "--ring %s", commas(o.Members))
	add(len(o.Initiators) > 0, "--initiator %s", commas(o.Initiators))
	add(o.AllInitiate, "--initiator %s", "all")
	add(o.Shuffle, "--shuffle%s", "")
	add(len(o.Crashed) > 0, "--crashed %s", commas(o.Crashed))
	add(len(o.Crashes) > 0, "--crash %s", commas(o.Crashes))
	return strings.Join(args, " ")
}

func commas[T fmt.Stringer](all []T) string {
	words := make([]string, len(all))
	for i, one := range all {
		words[i] = one.String()
	}
	return strings.Join(words, ",")
}
