package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"sync"
	"syscall"

	"github.com/rs/zerolog"
	"github.com/urfave/cli/v2"

	"github.com/ringleader-dev/ringleader"
	"github.com/ringleader-dev/ringleader/internal/address"
	"github.com/ringleader-dev/ringleader/internal/daemon"
	"github.com/ringleader-dev/ringleader/internal/logging"
	"github.com/ringleader-dev/ringleader/internal/supervise"
	"github.com/ringleader-dev/ringleader/internal/trace"
	"github.com/ringleader-dev/ringleader/membership"
	"github.com/ringleader-dev/ringleader/node/tcp"
)

func runCommand() *cli.Command {
	return &cli.Command{
		Name:  "run",
		Usage: "run one node until it is told to stop",
		Description: "Every flag is also a variable of the environment, RINGLEADER_ and its name in\n" +
			"capitals (RINGLEADER_GOSSIP_BIND), and a key of the file that --config names.\n" +
			"A flag wins over the environment, the environment over the file.\n\n" +
			"SIGTERM or SIGINT: resign, leave, end with 0. A second one: end at once, with\n" +
			"128 + its number. Records and log lines go to standard error.",
		Flags:  settingFlags("run"),
		Action: runNode,
	}
}

// stops is where signals to stop wait until the node can obey them; nil for any command but run.
var stops chan os.Signal

// stopsFrom makes signals to stop wait from now on, if this process is to run a node: before there are commands and
// flags, since a signal that comes earlier ends the process with 128 + its number. It returns where they wait.
func stopsFrom(args []string) chan os.Signal {
	if len(args) < 2 || args[1] != "run" {
		return nil
	}
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	return signals
}

// runNode runs a node from its start to its end.
func runNode(ctx *cli.Context) error {
	r, err := resolveFrom(ctx)
	if err != nil {
		return err
	}
	return afterwards{func() error { return runResolved(r, stops) }}
}

func runResolved(r resolved, signals <-chan os.Signal) error {
	r.Log = logging.Writer(os.Stderr, r.logFormat)
	log := nodeLog(r)
	oneProcessor()
	smallHeap()
	if err := operate(r, log, signals); err != nil {
		sayEnded(log, err)
		return mark(err, errTold)
	}
	log.Info().Msg("the node resigned and left")
	return nil
}

// sayEnded writes the last line of a node that failed: trace.Farewell.
func sayEnded(log zerolog.Logger, err error) {
	reason := trace.Failed
	for _, inUse := range []error{ringleader.ErrInUse, tcp.ErrAddrInUse, membership.ErrAddrInUse, syscall.EADDRINUSE} {
		if errors.Is(err, inUse) {
			reason = trace.InUse
		}
	}
	log.Error().Err(err).Int("exit_code", exitCode(err)).Str("reason", reason).Msg("the node ended")
}

// nodeLog returns the log of this process for events that the node does not log itself.
func nodeLog(r resolved) zerolog.Logger {
	lines := logging.New(r.Log, r.LogLevel).With().Str("cluster", r.Cluster).Uint64("node", uint64(r.ID))
	if security := r.Security(); security != "" {
		lines = lines.Str("security", security)
	}
	return lines.Logger().Hook(daemon.Timestamp{})
}

// operate runs a node until a signal or a failure ends it. It starts the node anew each time that
// the machine has got another address.
func operate(r resolved, log zerolog.Logger, signals <-chan os.Signal) error {
	for {
		err := operateAt(r, log, signals)
		if _, moved := errors.AsType[address.Moved](err); !moved {
			return err
		}
		log.Warn().Msg(err.Error() + ": starting anew")
		sink := r.Log
		if r, err = resolve(r.in); err != nil {
			return err
		}
		r.Log = sink
	}
}

// operateAt starts a node and runs it until a signal, a failure or an address.Moved ends it.
func operateAt(r resolved, log zerolog.Logger, signals <-chan os.Signal) error {
	n, err := launch(r, log, signals)
	if _, told := errors.AsType[toldToEnd](err); told {
		return nil
	}
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	select {
	case <-n.Done():
		return errors.Join(n.Err(), n.Leave())
	case moved := <-r.moved(ctx):
		if err := n.LeaveBecause(moved.Error()); err != nil {
			return err
		}
		return moved
	case s := <-signals:
		log.Info().Stringer("signal", s).Msg("told to stop: resigning")
		go obeyAtOnce(signals)
		return n.LeaveBecause("told to stop by " + supervise.SignalName(s))
	}
}

// reaping starts the reaping of orphans only once, even if a node is started several times.
var reaping sync.Once

// launch starts a node that writes to the log of this process. It does not, if a signal to stop waits in signals.
func launch(r resolved, log zerolog.Logger, signals <-chan os.Signal) (*ringleader.Node, error) {
	if err := r.openToken(); err != nil {
		return nil, err
	}
	for _, warning := range r.remarks {
		log.Warn().Msg(warning)
	}
	if from := r.origins["id"]; from.Source == "default" {
		log.Info().Stringer("id_from", from).Msg("no id was given")
	}
	if !r.leased() {
		r.Lease, r.AwaitLeases, r.FirstTerm = 0, false, 0 // see ofLease
	}
	ctx, arrived := untilTold(log, signals)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	n, err := ringleader.Start(ctx, r.Config)
	arrived()
	if field, ok := errors.AsType[ringleader.FieldError](err); ok {
		told := fmt.Errorf("--%s: %w", flagOf(field.Field), field.Err)
		if errors.Is(err, ringleader.ErrConfig) {
			return nil, mark(errConfig, told)
		}
		return nil, told
	}
	if err != nil {
		return nil, err
	}
	if os.Getpid() == 1 { // of a container, whose orphans fall to it
		reaping.Do(func() { go supervise.Reap(context.Background()) })
	}
	return n, nil
}

// toldToEnd is the error for a signal that arrived while the node waited for its store.
type toldToEnd struct{ signal syscall.Signal }

func (t toldToEnd) Error() string { return fmt.Sprintf("told to stop by a signal (%v)", t.signal) }

// untilTold returns a context that a signal to stop ends before arrived is called, also one that waits in former. A
// later signal reaches whoever else waits for signals, too.
func untilTold(log zerolog.Logger, former <-chan os.Signal) (ctx context.Context, arrived func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals, started := make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	end := func(s os.Signal) {
		log.Info().Stringer("signal", s).Msg("told to stop before the node was up")
		by, _ := s.(syscall.Signal)
		cancel(toldToEnd{by})
	}
	select {
	case s := <-former:
		end(s)
	default:
	}
	go func() {
		defer signal.Stop(signals)
		select {
		case s := <-signals:
			end(s)
		case <-started:
		}
	}()
	return ctx, func() { close(started) }
}

// obeyAtOnce ends the process on the next signal.
func obeyAtOnce(signals <-chan os.Signal) {
	if s, ok := (<-signals).(syscall.Signal); ok {
		os.Exit(128 + int(s))
	}
}

// oneProcessor lets Go's scheduler run only one thread at a time, unless the user set
// GOMAXPROCS. A node answers a death with a chain of small steps in several goroutines. On one
// processor each step starts the next at once; on two it must first wake another thread, which
// costs more than the step itself.
func oneProcessor() {
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(1)
	}
}
