package fenceagent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/ringleader-dev/ringleader/algorithms"
	"github.com/ringleader-dev/ringleader/internal/supervise"
	"github.com/ringleader-dev/ringleader/proto"
)

// Why an attempt did not confirm that the process stopped.
var (
	// ErrFailed: the agent exited with another code than 0, or was ended by a signal.
	ErrFailed = errors.New("the fence agent failed")
	// ErrTimeout: the agent exceeded its time limit and was killed.
	ErrTimeout = errors.New("the fence agent took too long")
	// ErrStart: the agent could not be started.
	ErrStart = errors.New("the fence agent did not start")
	// ErrCalledBack: the context of the attempt ended.
	ErrCalledBack = errors.New("the fence agent was called back")
)

// DefaultTimeout is how long an attempt may take unless the configuration says otherwise.
const DefaultTimeout = 10 * time.Second

// MinTimeout is the shortest time limit that can be set: less is too short to run a process.
const MinTimeout = 10 * time.Millisecond

// Action is what an agent is asked to do.
type Action string

// The actions.
const (
	Off    Action = "off"    // stop the process, and confirm that it has stopped
	Status Action = "status" // change nothing, and say whether off would work
)

// Request is one run of an agent.
type Request struct {
	Action Action
	Fence  algorithms.Fence
}

// Parse splits a command line at its spaces, without a shell and without quoting. It returns an
// error if the program is missing or not executable.
func Parse(line string) ([]string, error) {
	words := strings.Fields(line)
	if len(words) == 0 {
		return nil, errors.New("want a program and its arguments")
	}
	if _, err := exec.LookPath(words[0]); err != nil {
		return nil, fmt.Errorf("no fence agent can be run: %w: name an executable file, "+
			"and its arguments after it", err)
	}
	return words, nil
}

// Agent runs the command. It implements the Fencer of package node.
type Agent struct {
	// Command is the program and its arguments.
	Command []string
	// Timeout is how long a run may take; zero is DefaultTimeout.
	Timeout time.Duration
	// Cluster and Self tell the agent who asks.
	Cluster string
	Self    proto.NodeID
	// Addr returns the address where a node was last seen, "" if unknown. Nil means that no address
	// is known.
	Addr func(proto.NodeID) string
}

// Fence runs the agent with the action Off.
func (a *Agent) Fence(ctx context.Context, f algorithms.Fence) (detail string, err error) {
	return a.Run(ctx, Request{Off, f})
}

// maxOutput is how much of an agent's output is kept, in bytes.
const maxOutput = 300

// Run runs the agent once. It returns nil if the agent exited with 0, else an error that wraps
// ErrFailed, ErrTimeout, ErrStart or ErrCalledBack. In every case detail describes the result in one
// line: "exit 1 after 40ms: no such container". When Run returns, nothing of the agent's process
// group runs any more. An agent also ends when the process that called Run ends.
func (a *Agent) Run(ctx context.Context, r Request) (detail string, err error) {
	timeout := cmp.Or(a.Timeout, DefaultTimeout)
	limited, cancel := context.WithTimeoutCause(ctx, timeout, ErrTimeout)
	defer cancel()
	began := time.Now()
	out, err := supervise.Job{
		Path: a.Command[0], Args: a.Command[1:], Env: append(os.Environ(), a.environment(r)...),
		Keep: maxOutput + 1,
	}.Output(limited)
	took := time.Since(began)
	exit, failed := errors.AsType[*exec.ExitError](err)
	switch {
	case err == nil:
		return fmt.Sprintf("exit 0 after %v%s", rounded(took), said(out)), nil
	case failed:
		return fmt.Sprintf("%s after %v%s", ending(exit.ProcessState), rounded(took), said(out)),
			fmt.Errorf("%w: %w", ErrFailed, err)
	case ctx.Err() != nil:
		return "called back", ErrCalledBack
	case errors.Is(err, ErrTimeout):
		return fmt.Sprintf("killed after its time limit of %v%s", timeout, said(out)), ErrTimeout
	}
	return "did not start: " + err.Error(), fmt.Errorf("%w: %w", ErrStart, err)
}

// ending describes how the agent ended: "exit 0", or by which signal.
func ending(s *os.ProcessState) string {
	if s.ExitCode() < 0 {
		return s.String()
	}
	return "exit " + strconv.Itoa(s.ExitCode())
}

func rounded(d time.Duration) time.Duration {
	if d < 10*time.Millisecond {
		return d.Round(10 * time.Microsecond)
	}
	return d.Round(time.Millisecond)
}

// environment returns the environment variables that tell the agent the request.
func (a *Agent) environment(r Request) []string {
	addr := ""
	if a.Addr != nil {
		addr = a.Addr(r.Fence.ID)
	}
	incarnation := ""
	if !r.Fence.Incarnation.IsZero() {
		incarnation = r.Fence.Incarnation.String()
	}
	return []string{
		EnvAction + "=" + string(r.Action),
		EnvID + "=" + r.Fence.ID.String(),
		EnvIncarnation + "=" + incarnation,
		"RINGLEADER_FENCE_ADDR=" + addr,
		fmt.Sprintf("RINGLEADER_FENCE_TERM=%d", r.Fence.Term),
		fmt.Sprintf("RINGLEADER_FENCE_NEW_TERM=%d", r.Fence.For),
		"RINGLEADER_FENCE_BY=" + a.Self.String(),
		"RINGLEADER_FENCE_CLUSTER=" + a.Cluster,
		fmt.Sprintf("RINGLEADER_FENCE_ATTEMPT=%d", r.Fence.Attempt),
		"RINGLEADER_FENCE_REASON=" + r.Fence.Reason,
	}
}

// The environment variables that the agents of this module read.
const (
	EnvAction      = "RINGLEADER_FENCE_ACTION"
	EnvID          = "RINGLEADER_FENCE_ID"
	EnvIncarnation = "RINGLEADER_FENCE_INCARNATION"
)

// said returns ": " and what the agent wrote, as one line of printable text; "" if it wrote
// nothing.
func said(out []byte) string {
	printable := func(r rune) rune {
		if !strconv.IsPrint(r) {
			return ' '
		}
		return r
	}
	kept := out[:min(len(out), maxOutput)]
	text := strings.Map(printable, strings.ToValidUTF8(string(kept), " "))
	text = strings.Join(strings.Fields(text), " ")
	if text == "" {
		return ""
	}
	if len(out) > len(kept) {
		text += " …"
	}
	return ": " + text
}
