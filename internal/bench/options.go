package bench

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms/catalog"
)

// ErrOptions says that the options cannot be used for a benchmark.
var ErrOptions = errors.New("these options make no benchmark")

// Signal is a way to take a leader away.
type Signal string

// The signals.
const (
	Kill Signal = "KILL" // SIGKILL: the process ends at once
	Stop Signal = "STOP" // SIGSTOP: the process hangs, its connections stay open
	Term Signal = "TERM" // SIGTERM: it hands over before it leaves
	Cut  Signal = "CUT"  // its network is cut: no packet arrives any more
	// Docker is `docker kill` of its container. The nodes are containers then.
	Docker Signal = "DOCKER"
)

// Signals returns all signals.
func Signals() []string {
	return []string{string(Kill), string(Stop), string(Term), string(Cut), string(Docker)}
}

// ParseSignal reads a signal's name, with or without SIG, in any case.
func ParseSignal(text string) (Signal, error) {
	name := strings.TrimPrefix(strings.ToUpper(text), "SIG")
	if slices.Contains(Signals(), name) {
		return Signal(name), nil
	}
	return "", fmt.Errorf("unknown signal %q: want one of %s", text, strings.Join(Signals(), ", "))
}

// number returns the signal to send to the process. It is not used for CUT and DOCKER.
func (s Signal) number() syscall.Signal {
	switch s {
	case Stop:
		return syscall.SIGSTOP
	case Term:
		return syscall.SIGTERM
	}
	return syscall.SIGKILL
}

// ends reports whether the leader's process ends at once. Only then is there a floor to compare
// with, since only then do streams end.
func (s Signal) ends() bool { return s == Kill || s == Docker }

// inWords describes the signal in the headline of a report.
func (s Signal) inWords() string {
	switch s {
	case Cut:
		return "the leader's network is cut"
	case Docker:
		return "docker kill of the leader"
	}
	return "SIG" + string(s) + " to the leader"
}

// Options are the settings that all benchmarks of a cluster share.
type Options struct {
	// Binary is the path of the ringleader executable that the nodes run.
	Binary string
	Nodes  int
	Entry  catalog.Entry
	// Profile is the nodes' --profile.
	Profile string
	// Voters lets all nodes vote: a leader then needs a majority of them.
	Voters bool
	// Secured gives each node credentials. A benchmark that compares then measures nodes without them beside these.
	Secured bool
	// Args are further arguments of every node.
	Args []string
	// enter stands before each node's command line, to run it on another network; command, if any,
	// is what a node runs while it leads.
	enter, command []string
	// engine runs the nodes as containers; if it is nil, they are processes.
	engine *engine
	// Progress is called after each sample with the number of samples done and wanted. It may be
	// nil.
	Progress func(done, of int)
}

func (o Options) validate() error {
	if o.Nodes < 2 {
		return fmt.Errorf("%w: %d nodes: there would be nobody to take over; give 2 or more",
			ErrOptions, o.Nodes)
	}
	if o.Nodes == 2 && o.Voters {
		return fmt.Errorf("%w: of two voters both are needed, so nobody could take over; give 3 or more",
			ErrOptions)
	}
	return CheckCapacity(o.Nodes)
}

func (o Options) progress(done, of int) {
	if o.Progress != nil {
		o.Progress(done, of)
	}
}

// args returns the arguments of every node. All other settings have their defaults.
func (o Options) args() []string {
	args := []string{"--profile", o.Profile}
	if o.engine != nil {
		args = append(args, "--data-dir", imageData)
	}
	if o.Voters {
		args = append(args, "--voters", fmt.Sprintf("1-%d", o.Nodes))
	}
	return append(args, o.Args...)
}

const (
	// patience is the longest that the benchmark waits for nodes to agree. With the slowest
	// profile, gossip alone takes a tenth of it to notice a death.
	patience = 60 * time.Second
	// quiet is how long no node may record anything before the next sample is taken. By then the
	// last election is over, but for repeated announcements.
	quiet = time.Second
	// lookAway is how long after a signal the benchmark reads nothing from the nodes: most
	// failovers are over by then, and the benchmark has not competed with them for the cores.
	lookAway = 50 * time.Millisecond
	// killsPerCluster is how many leaders one cluster loses before a new cluster takes its place.
	// In a series of elections nodes wait longer and longer before they call the next one, and that
	// is not what is measured.
	killsPerCluster = 3
)
