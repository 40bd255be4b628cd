// Package execution runs a command while its node leads, and only then: the command and all
// processes that it started are dead before the lease ends.
package execution

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/rs/zerolog"

	"github.com/ringleader-dev/ringleader"
	"github.com/ringleader-dev/ringleader/internal/supervise"
	"github.com/ringleader-dev/ringleader/node"
	"github.com/ringleader-dev/ringleader/node/clock"
)

// The environment variables of the command.
const (
	IDEnv    = "RINGLEADER_ID"
	TermEnv  = "RINGLEADER_TERM"
	TokenEnv = "RINGLEADER_TOKEN" // only with voters
)

// When the command is started again, after it was stopped or ended.
const (
	Elected = "elected" // when this node leads again
	Always  = "always"  // when this node leads again, and when the command ended by itself
	Never   = "never"   // never: Run ends with ErrLost when this node no longer leads
)

// Restarts lists all values of Config.Restart.
var Restarts = []string{Elected, Always, Never}

// ErrLost says that this node no longer leads, and that the command will not run again.
var ErrLost = errors.New("leadership was lost")

// Config says which command runs on which node.
type Config struct {
	Node    *ringleader.Node
	ID      ringleader.NodeID
	Leased  bool          // the node has a lease while it leads
	Path    string        // the path of the command's program
	Args    []string      // the command with its arguments
	Restart string        // Elected, Always or Never
	Grace   time.Duration // from SIGTERM to SIGKILL when leadership ends
	// KillTime is the last part of the lease, which is reserved for the kernel to end the command.
	// It follows from the lease: see FitGrace.
	KillTime time.Duration
	// StopGrace is the time from SIGTERM to SIGKILL when this process is told to stop.
	StopGrace time.Duration
	Signals   <-chan os.Signal // signals to pass on to the command; a signal to stop also ends Run
	Log       zerolog.Logger
}

// execution is the state of one call of Run.
type execution struct {
	Config
	subreaper *supervise.Supervisor
	cancel    context.CancelCauseFunc // ends Lead
	told      atomic.Int64            // the signal that asked this process to stop; 0 for none
}

// Ended is the error that says that the command ended by itself.
type Ended struct{ exit supervise.Exit }

func (e Ended) Error() string { return "the command " + e.exit.String() }

// Code returns the command's exit code.
func (e Ended) Code() int { return e.exit.Code() }

// StoppedIdle is the error for a signal that asked to stop while the command did not run. A script
// must not go on as if the command had run.
type StoppedIdle struct{ Signal syscall.Signal }

func (s StoppedIdle) Error() string { return fmt.Sprintf("told to stop by a signal (%v)", s.Signal) }

// Code returns the exit code that shells use for the signal.
func (s StoppedIdle) Code() int { return 128 + int(s.Signal) }

// Run runs the command while the node leads. It ends when the command has ended for good, the node
// has failed, a signal asks to stop, or ctx is done. When it returns, the command is dead and the
// node has left. The error is never nil: it says why Run ended; Ended and StoppedIdle have an exit
// code.
func Run(ctx context.Context, c Config) error {
	subreaper, err := supervise.Start(supervise.Config{
		Grace: c.Grace, KillTime: c.KillTime,
		// Nobody takes this process for dead before the command's last process is.
		Hold: []syscall.Conn{c.Node.Listener()},
	})
	if err != nil {
		return errors.Join(err, c.Node.Leave())
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	x := &execution{Config: c, subreaper: subreaper, cancel: cancel}
	go x.passOn()
	go x.extend(ctx)
	led := make(chan error, 1)
	go func() { led <- c.Node.Lead(ctx, x.lead) }()
	select {
	case err = <-led:
		if errors.Is(err, ringleader.ErrStopped) { // it says why once the command is dead
			<-c.Node.Done()
			err = c.Node.Err()
		}
	case <-c.Node.Done():
		err = c.Node.Err()
		cancel(err)
		<-led //nolint:errcheck // only that the command is dead matters
	}
	return errors.Join(err, subreaper.Close(), c.Node.LeaveBecause(x.why(err)))
}

// why says why the node leaves.
func (x *execution) why(err error) string {
	if sig := syscall.Signal(x.told.Load()); sig != 0 {
		return "told to stop by " + supervise.SignalName(sig)
	}
	return fmt.Sprint(err)
}

// passOn passes signals on to the command. After a signal that asks to stop, this process ends too, once the
// command has ended. At a second such signal it exits at once.
func (x *execution) passOn() {
	for s := range x.Signals {
		sig, _ := s.(syscall.Signal)
		switch sig {
		case syscall.SIGHUP, syscall.SIGUSR1, syscall.SIGUSR2:
			if !x.subreaper.Signal(sig) {
				x.Log.Info().Stringer("signal", sig).Msg("the command does not run: nobody gets the signal")
			}
			continue
		}
		if x.told.Swap(int64(sig)) != 0 {
			os.Exit(128 + int(sig)) // the subreaper ends the command
		}
		x.Log.Info().Stringer("signal", sig).Msg("told to stop")
		if !x.subreaper.Signal(sig) {
			x.cancel(StoppedIdle{sig})
			continue
		}
		time.AfterFunc(x.StopGrace, x.subreaper.Kill)
	}
}

// extend tells the subreaper about each renewal of the lease.
func (x *execution) extend(ctx context.Context) {
	for leader := range x.Node.Watch(ctx) {
		if leader.ID == x.ID {
			x.subreaper.Extend(leader.Until)
		}
	}
}

// The pauses before the command is started again.
const (
	firstPause = time.Second
	mostPause  = time.Minute
	// calmRun is how long a command must have run so that the next pause is the shortest again.
	calmRun = 10 * time.Second
	// leaseLook is how often renewed looks at the lease.
	leaseLook = 20 * time.Millisecond
)

// lead runs the command for one leadership. If it returns nil, the command is to run again in the
// next leadership.
func (x *execution) lead(ctx context.Context, lease ringleader.Lease) error {
	pause := firstPause
	for {
		deadline := lease.Until()
		if ctx.Err() != nil || deadline.IsZero() && x.Leased {
			return x.lost(ctx, lease)
		}
		began := time.Now()
		x.Log.Info().Uint64("term", uint64(lease.Term())).Strs("command", x.Args).Msg("starting the command")
		exit, err := x.subreaper.Run(ctx, supervise.Spec{
			Path: x.Path, Args: x.Args, Env: x.environment(lease), Deadline: deadline,
		})
		if err != nil {
			if errors.Is(err, context.Cause(ctx)) {
				return x.lost(ctx, lease)
			}
			return err
		}
		x.tell(exit)
		switch {
		case x.told.Load() != 0:
			return Ended{exit}
		case exit.Stopped:
			if x.Restart == Never || !x.renewed(ctx, lease) {
				return x.lost(ctx, lease)
			}
			continue
		case x.Restart != Always:
			return Ended{exit}
		}
		if time.Since(began) > calmRun {
			pause = firstPause
		}
		x.Log.Info().Stringer("pause", pause).Msg("starting the command again after a pause")
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return x.lost(ctx, lease)
		}
		pause = min(2*pause, mostPause)
	}
}

// lost handles the end of a leadership: either this process ends too, or only the command.
func (x *execution) lost(ctx context.Context, lease ringleader.Lease) error {
	why := cmp.Or(context.Cause(ctx), node.ErrLeaseExpired)
	if x.told.Load() != 0 || !errors.Is(why, node.ErrNotLeader) && !errors.Is(why, node.ErrLeaseExpired) {
		return nil // this node ends, and Lead with it
	}
	if _, handed := errors.AsType[node.HandedOver](why); !handed {
		why = fmt.Errorf("leadership was lost: %w", why)
	}
	if x.Restart == Never {
		return errLost{why}
	}
	x.Log.Info().Uint64("term", uint64(lease.Term())).
		Msg(why.Error() + "; this node stays, votes and stands again")
	return nil
}

// renewed waits until the lease is long enough for the command to start again, after the command
// had to be stopped because the lease was short. It returns false if the lease has ended.
func (x *execution) renewed(ctx context.Context, lease ringleader.Lease) bool {
	for {
		select {
		case <-ctx.Done():
			return false
		case <-time.After(leaseLook):
		}
		if left := lease.Until().Sub(clock.Now()); left > 2*(x.Grace+x.KillTime) {
			return true
		}
	}
}

// tell logs how the command ended.
func (x *execution) tell(exit supervise.Exit) {
	log := x.Log.Info()
	if exit.Late {
		log = x.Log.Warn().Str("because", "the lease was about to end")
	}
	log.Bool("stopped", exit.Stopped).Int("left_behind", exit.Left).Msg("the command " + exit.String())
}

// errLost is an error with words of its own that wraps ErrLost.
type errLost struct{ error }

func (e errLost) Unwrap() []error { return []error{e.error, ErrLost} }

// environment returns the environment variables of the command.
func (x *execution) environment(lease ringleader.Lease) []string {
	env := slices.DeleteFunc(os.Environ(), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return slices.Contains([]string{IDEnv, TermEnv, TokenEnv}, name)
	})
	env = append(env, IDEnv+"="+x.ID.String(), fmt.Sprintf("%s=%d", TermEnv, lease.Term()))
	if x.Leased {
		env = append(env, TokenEnv+"="+lease.Token().String())
	}
	return env
}
