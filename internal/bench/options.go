package bench

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms/catalog"
)

// ErrOptions says that what was asked for makes no benchmark.
var ErrOptions = errors.New("these options make no benchmark")

// Signal is how a leader is taken away.
type Signal string

// The signals.
const (
	Kill Signal = "KILL" // SIGKILL: the process is gone
	Stop Signal = "STOP" // SIGSTOP: it hangs, its connections open
	Term Signal = "TERM" // SIGTERM: it hands over before it leaves
	Cut  Signal = "CUT"  // its network cable is pulled: nothing arrives any more
	// Docker is `docker kill` of its container; the nodes are containers then.
	Docker Signal = "DOCKER"
)

// Signals are all signals.
func Signals() []string {
	return []string{string(Kill), string(Stop), string(Term), string(Cut), string(Docker)}
}

// ParseSignal reads a signal's name, with or without SIG, in any case.
func ParseSignal(text string) (Signal, error) {
	name := strings.TrimPrefix(strings.ToUpper(text), "SIG")
	for _, known := range Signals() {
		if name == known {
			return Signal(known), nil
		}
	}
	return "", fmt.Errorf("%w: unknown signal %q: want one of %s",
		ErrOptions, text, strings.Join(Signals(), ", "))
}

// number is the signal that a process of ours gets; CUT and DOCKER are none.
func (s Signal) number() syscall.Signal {
	switch s {
	case Stop:
		return syscall.SIGSTOP
	case Term:
		return syscall.SIGTERM
	}
	return syscall.SIGKILL
}

// ends reports whether the leader's process ends at once. Only then there is a
// floor: nothing else ends streams.
func (s Signal) ends() bool { return s == Kill || s == Docker }

// inWords is the signal in the headline of a report.
func (s Signal) inWords() string {
	switch s {
	case Cut:
		return "the leader's network is cut"
	case Docker:
		return "docker kill of the leader"
	}
	return "SIG" + string(s) + " to the leader"
}

// BareCommand is the command line that runs a Bare.
type BareCommand func(Bare) []string

// Options are what all benchmarks of a cluster have in common.
type Options struct {
	// Binary is the path of the ringleader executable.
	Binary string
	// Bare is how that executable becomes a bare process.
	Bare  BareCommand
	Nodes int
	Entry catalog.Entry
	// Profile is the nodes' --profile.
	Profile string
	// Office lets all nodes vote: a leader then needs a majority of them.
	Office bool
	// Args are further arguments of every node.
	Args []string
	// enter stands before each node's command line.
	enter []string
	// engine runs the nodes as containers; nil: they are processes.
	engine *engine
	// Progress is told of each sample that is done. Nil for nobody.
	Progress func(done, of int)
}

func (o Options) validate() error {
	if o.Nodes < 2 {
		return fmt.Errorf("%w: %d nodes: there would be nobody to take over; give 2 or more",
			ErrOptions, o.Nodes)
	}
	if o.Nodes == 2 && o.Office {
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

// args are the arguments of every node: all else is the default.
func (o Options) args() []string {
	args := []string{"--profile", o.Profile}
	if o.engine != nil {
		args = append(args, "--data-dir", imageData)
	}
	if o.Office {
		args = append(args, "--voters", fmt.Sprintf("1-%d", o.Nodes))
	}
	return append(args, o.Args...)
}

const (
	// patience bounds each wait for an agreement. The slowest profile's gossip
	// needs a tenth of it to notice a death by itself.
	patience = 60 * time.Second
	// quiet is how long no node must have anything to record before the next
	// sample: what follows an election (repeated announcements aside) is over.
	quiet = time.Second
	// lookAway is how long after a signal nothing is read: most failovers are
	// over by then, and the observer has not competed with them for the cores.
	lookAway = 50 * time.Millisecond
	// killsPerCluster is how many leaders one cluster loses before a fresh one
	// takes its place: nodes wait longer and longer between the elections they
	// call in a series, which is not what is measured.
	killsPerCluster = 3
)
