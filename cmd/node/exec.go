package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"

	"github.com/rs/zerolog"
	"github.com/urfave/cli/v2"

	"github.com/ringleader-dev/ringleader/internal/execution"
	"github.com/ringleader-dev/ringleader/internal/logging"
	"github.com/ringleader-dev/ringleader/internal/supervise"
)

func execCommand() *cli.Command {
	return &cli.Command{
		Name:      "exec",
		Usage:     "run a command while this node leads, and only then",
		ArgsUsage: "-- COMMAND [ARG…]",
		Description: "It is a node like that of run, with the same settings. The command finds\n" +
			"RINGLEADER_TERM, RINGLEADER_ID and, under a lease, RINGLEADER_TOKEN. When\n" +
			"leadership ends it gets SIGTERM and, after --grace, SIGKILL: it and all that\n" +
			"came of it are dead before the lease is, also when this process is killed or\n" +
			"stopped. Only then may another lead.\n\n" +
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
	r.Log, flush = logging.NewLossy(os.Stderr, r.logFormat)
	defer flush()
	log := nodeLog(r)
	oneProcessor()
	smallHeap()
	r.exec.ID, r.exec.Leased, r.exec.Path, r.exec.Args = r.ID, r.leased(), path, argv
	r.exec.Signals, r.exec.Log = signals, log
	err = execute(r, log)
	ended, byItself := errors.AsType[coded](err)
	switch {
	case byItself && !errors.Is(err, execution.ErrLost):
		log.Info().Int("exit_code", ended.Code()).Msg(ended.Error() + "; the node left")
	default:
		sayEnded(log, err)
	}
	return mark(err, errTold)
}

// execute runs a node and the command on it.
func execute(r resolved, log zerolog.Logger) (err error) {
	r.exec.Node, err = launch(r, log, nil)
	if told, is := errors.AsType[toldToEnd](err); is {
		return execution.StoppedIdle{Signal: told.signal}
	}
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	go func() {
		select {
		case moved := <-r.moved(ctx):
			cancel(moved)
		case <-ctx.Done():
		}
	}()
	return execution.Run(ctx, r.exec)
}
