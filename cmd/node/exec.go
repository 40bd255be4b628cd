package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/rs/zerolog"
	"github.com/urfave/cli/v2"

	"github.com/ringleader-dev/ringleader"
	"github.com/ringleader-dev/ringleader/internal/supervise"
	"github.com/ringleader-dev/ringleader/node"
	"github.com/ringleader-dev/ringleader/node/clock"
)

// What the command of exec finds in its environment, beside RINGLEADER_ID.
const (
	commandTermEnv  = envPrefix + "TERM"
	commandTokenEnv = envPrefix + "TOKEN"
)

func execCommand() *cli.Command {
	return &cli.Command{
		Name:      "exec",
		Usage:     "run a command while this node leads, and only then",
		ArgsUsage: "-- COMMAND [ARG…]",
		Description: "It is a node like that of run, with the same settings. The command finds\n" +
			"RINGLEADER_TERM, RINGLEADER_ID and, with voters, RINGLEADER_TOKEN. When\n" +
			"leadership ends it gets SIGTERM and, after --grace, SIGKILL: it and all that\n" +
			"came of it are dead before the lease is, also when this process is killed or\n" +
			"stopped. The office is given free only then.\n\n" +
			"The node stays when leadership is lost: it votes, stands again, and runs the\n" +
			"command again when it leads again. With --restart never it ends with 75.\n\n" +
			"The exit code is that of a command that ended by itself (128 + the signal's\n" +
			"number when one ended it), 127 and 126 as shells have them. SIGTERM, SIGINT\n" +
			"and SIGQUIT are passed on and end the node, with 128 + the signal's number if\n" +
			"the command did not run. SIGHUP, SIGUSR1 and SIGUSR2 are passed on. Run the\n" +
			"command in the foreground: what it leaves behind is ended. Unless this runs\n" +
			"as root, nothing that it starts becomes another user (sudo, setuid), since it\n" +
			"could not be ended. Linux only.",
		Flags:  settingFlags("exec"),
		Action: runExec,
	}
}

// execution is one `exec`.
type execution struct {
	*ringleader.Node
	resolved
	log    zerolog.Logger
	path   string
	argv   []string
	keeper *supervise.Supervisor
	cancel context.CancelCauseFunc // ends Lead
	told   atomic.Bool             // to stop
}

// commandEnded is the end of the command, with its exit code.
type commandEnded struct{ exit supervise.Exit }

func (c commandEnded) Error() string { return "the command " + c.exit.String() }
func (c commandEnded) code() int     { return c.exit.Code() }

// stoppedIdle is a signal that came while the command did not run. A script must
// not go on as if it had.
type stoppedIdle struct{ signal syscall.Signal }

func (s stoppedIdle) Error() string { return fmt.Sprintf("told to stop by a signal (%v)", s.signal) }
func (s stoppedIdle) code() int     { return 128 + int(s.signal) }

// runExec runs a node and its command from start to end.
func runExec(ctx *cli.Context) error {
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGQUIT,
		syscall.SIGHUP, syscall.SIGUSR1, syscall.SIGUSR2)
	defer signal.Stop(signals)

	argv := ctx.Args().Slice()
	if len(argv) == 0 || argv[0] == "" {
		return usagef("exec wants a command: ringleader exec [FLAG…] -- COMMAND [ARG…]")
	}
	path, err := supervise.Find(argv[0])
	if err != nil {
		return err
	}
	if err := supervise.Killable(path); err != nil {
		return err
	}
	r, err := resolveFrom(ctx)
	if err != nil {
		return err
	}
	// The command writes to the same standard error, and may fill it.
	var flush func()
	r.Log, flush = newLossyWriter(os.Stderr, r.logFormat)
	defer flush()
	log := nodeLog(r)
	oneProcessor()
	smallHeap()
	x := &execution{resolved: r, log: log, path: path, argv: argv}
	err = x.run(signals)
	ended, byItself := errors.AsType[coded](err)
	switch {
	case byItself && !errors.Is(err, errLost):
		log.Info().Int("exit_code", ended.code()).Msg(ended.Error() + "; the node left")
	default:
		log.Error().Err(err).Int("exit_code", exitCode(err)).Msg("the node ended")
	}
	return mark(err, errTold)
}

// run starts the node and lets the command run while it leads. The error is never
// nil: it says how that ended.
func (x *execution) run(signals <-chan os.Signal) (err error) {
	if x.Node, err = launch(x.resolved, x.log); err != nil {
		return err
	}
	x.keeper, err = supervise.Start(supervise.Config{
		Grace: x.exec.grace, KillTime: x.exec.killTime,
		// Nobody takes this process for dead before the command's last process is.
		Hold: []syscall.Conn{x.Listener()},
	})
	if err != nil {
		return errors.Join(err, x.Leave())
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	x.cancel = cancel
	go x.obey(signals)
	go x.extend(ctx)
	led := make(chan error, 1)
	go func() { led <- x.Lead(ctx, x.lead) }()
	select {
	case err = <-led:
		if errors.Is(err, ringleader.ErrStopped) { // it says why once the command is dead
			<-x.Done()
			err = x.Err()
		}
	case <-x.Done():
		err = x.Err()
		cancel(err)
		<-led //nolint:errcheck // only that the command is dead matters
	case err = <-x.resolved.watchAddress(ctx):
		cancel(err)
		<-led //nolint:errcheck // as above
	}
	return errors.Join(err, x.keeper.Close(), x.Leave())
}

// obey passes signals on. One that asks to stop ends this process, too.
func (x *execution) obey(signals <-chan os.Signal) {
	for s := range signals {
		sig, _ := s.(syscall.Signal)
		switch sig {
		case syscall.SIGHUP, syscall.SIGUSR1, syscall.SIGUSR2:
			if !x.keeper.Signal(sig) {
				x.log.Info().Stringer("signal", sig).Msg("the command does not run: nobody gets the signal")
			}
			continue
		}
		if x.told.Swap(true) {
			os.Exit(128 + int(sig)) // the keeper ends the command
		}
		x.log.Info().Stringer("signal", sig).Msg("told to stop")
		if !x.keeper.Signal(sig) {
			x.cancel(stoppedIdle{sig})
			continue
		}
		time.AfterFunc(x.exec.stopGrace, x.keeper.Kill)
	}
}

// extend tells the keeper of each renewal of the lease.
func (x *execution) extend(ctx context.Context) {
	for leader := range x.Watch(ctx) {
		if leader.ID == x.ID {
			x.keeper.Extend(leader.Until)
		}
	}
}

// Pauses before the command is started again.
const (
	firstPause = time.Second
	mostPause  = time.Minute
	// calmRun is how long a command has to have run for the pause to be the first
	// again.
	calmRun = 10 * time.Second
	// leaseLook is how often a lease is looked at that may be renewed after all.
	leaseLook = 20 * time.Millisecond
)

// lead runs the command for one time in office. Nil means that it is to run again in
// the next.
func (x *execution) lead(ctx context.Context, lease ringleader.Lease) error {
	pause := firstPause
	for {
		deadline := lease.Until()
		if ctx.Err() != nil || deadline.IsZero() && len(x.Voters) > 0 {
			return x.lost(ctx, lease)
		}
		began := time.Now()
		x.log.Info().Uint64("term", uint64(lease.Term())).Strs("command", x.argv).Msg("starting the command")
		exit, err := x.keeper.Run(ctx, supervise.Spec{
			Path: x.path, Args: x.argv, Env: x.environment(lease), Deadline: deadline,
		})
		if err != nil {
			if errors.Is(err, context.Cause(ctx)) {
				return x.lost(ctx, lease)
			}
			return err
		}
		x.tell(exit)
		switch {
		case x.told.Load():
			return commandEnded{exit}
		case exit.Stopped:
			if x.exec.restart == restartNever || !x.renewed(ctx, lease) {
				return x.lost(ctx, lease)
			}
			continue
		case x.exec.restart != restartAlways:
			return commandEnded{exit}
		}
		if time.Since(began) > calmRun {
			pause = firstPause
		}
		x.log.Info().Stringer("pause", pause).Msg("starting the command again after a pause")
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return x.lost(ctx, lease)
		}
		pause = min(2*pause, mostPause)
	}
}

// lost ends a leadership: this process with it, or only the work.
func (x *execution) lost(ctx context.Context, lease ringleader.Lease) error {
	why := cmp.Or(context.Cause(ctx), node.ErrLeaseExpired)
	if x.told.Load() || !errors.Is(why, node.ErrNotLeader) && !errors.Is(why, node.ErrLeaseExpired) {
		return nil // this node ends, and Lead with it
	}
	if _, handed := errors.AsType[node.HandedOver](why); !handed {
		why = fmt.Errorf("leadership was lost: %w", why)
	}
	if x.exec.restart == restartNever {
		return mark(errLost, why)
	}
	x.log.Info().Uint64("term", uint64(lease.Term())).
		Msg(why.Error() + "; this node stays, votes and stands again")
	return nil
}

// renewed waits until the lease is long enough again to begin anew, after the
// command had to be stopped for it. It reports false when the lease has ended.
func (x *execution) renewed(ctx context.Context, lease ringleader.Lease) bool {
	for {
		select {
		case <-ctx.Done():
			return false
		case <-time.After(leaseLook):
		}
		if left := lease.Until().Sub(clock.Now()); left > 2*(x.exec.grace+x.exec.killTime) {
			return true
		}
	}
}

// tell logs how the command ended.
func (x *execution) tell(exit supervise.Exit) {
	log := x.log.Info()
	if exit.Late {
		log = x.log.Warn().Str("because", "the lease was about to end")
	}
	log.Bool("stopped", exit.Stopped).Int("left_behind", exit.Left).Msg("the command " + exit.String())
}

// environment is the command's.
func (x *execution) environment(lease ringleader.Lease) []string {
	idEnv := envName("id")
	env := make([]string, 0, len(os.Environ())+3)
	for _, kv := range os.Environ() {
		switch name, _, _ := strings.Cut(kv, "="); name {
		case commandTermEnv, commandTokenEnv, idEnv:
		default:
			env = append(env, kv)
		}
	}
	env = append(env, idEnv+"="+x.ID.String(), fmt.Sprintf("%s=%d", commandTermEnv, lease.Term()))
	if len(x.Voters) > 0 {
		env = append(env, commandTokenEnv+"="+lease.Token().String())
	}
	return env
}
