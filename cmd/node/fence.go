package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	stdlog "log"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"

	"github.com/rs/zerolog"
	"github.com/urfave/cli/v2"

	"github.com/ringleader-dev/ringleader/fence/kv"
	"github.com/ringleader-dev/ringleader/fence/store"
	"github.com/ringleader-dev/ringleader/internal/address"
	"github.com/ringleader-dev/ringleader/internal/logging"
	"github.com/ringleader-dev/ringleader/node/statefile"
)

// The defaults of `fence`.
const (
	fenceBind = "127.0.0.1:7949"
	fenceData = "ringleader-data/fence"
)

func fenceCommand() *cli.Command {
	return &cli.Command{
		Name:  "fence",
		Usage: "serve keys and values that only the leader may write",
		Description: "A small storage that checks the fencing token of each write: a leader that\n" +
			"was replaced is refused with 412, and told by whom. GET, PUT and DELETE\n" +
			"/v1/kv/KEY, POST /v1/seal, GET /v1/status. It prints its address on standard\n" +
			"output and logs to standard error.\n\n" +
			"Every flag is also a variable of the environment, RINGLEADER_FENCE_ and its\n" +
			"name in capitals. SIGTERM or SIGINT: finish what is under way, end with 0. A\n" +
			"second one: end at once, with 128 + its number.",
		Flags: []cli.Flag{
			&cli.StringFlag{
				Name: "bind", DefaultText: fenceBind,
				Usage: "`IP:PORT` to listen on; there are no passwords: keep it on loopback, or " +
					"behind something that asks for them",
			},
			&cli.StringFlag{
				Name: "data-dir", DefaultText: fenceData,
				Usage: "`DIR` for the data and the highest token, of this process alone",
			},
		},
		Action: runFence,
	}
}

// runFence runs the storage service from its start to its end.
func runFence(ctx *cli.Context) error {
	// From here on a signal waits in the channel until it can be obeyed.
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	defer signal.Stop(signals)

	bind, err := fenceAddress(ctx)
	if err != nil {
		return err
	}
	dir := cmp.Or(ctx.String("data-dir"), os.Getenv(fenceEnv("data-dir")), fenceData)
	log := logging.New(logging.Writer(os.Stderr, "auto"), "info").With().Timestamp().Logger()
	if err := guardData(ctx, bind, dir, log, signals); err != nil {
		log.Error().Err(err).Int("exit_code", exitCode(err)).Msg("the store ended")
		return mark(err, errTold)
	}
	log.Info().Msg("the store ended; all that was accepted is on the disk")
	return nil
}

// fenceAddress returns the address to listen on. A wrong flag gives a usage error, a wrong
// environment variable a configuration error.
func fenceAddress(ctx *cli.Context) (netip.AddrPort, error) {
	text, where, kind := ctx.String("bind"), "--bind", errUsage
	if text == "" {
		text, where, kind = os.Getenv(fenceEnv("bind")), fenceEnv("bind"), errConfig
	}
	bind, err := address.ParseBind(cmp.Or(text, fenceBind))
	if err != nil {
		return bind, mark(kind, fmt.Errorf("%s %s: %w", where, text, err))
	}
	return bind, nil
}

// fenceEnv returns the name of the environment variable of a flag of `fence`.
func fenceEnv(flag string) string { return envName("fence-" + flag) }

// guardData opens the store in dir and serves it until a signal or a failure.
func guardData(
	ctx *cli.Context, bind netip.AddrPort, dir string, log zerolog.Logger,
	signals <-chan os.Signal,
) error {
	s, err := openFence(dir)
	if err != nil {
		return err
	}
	highest, err := s.Highest()
	if err != nil {
		return errors.Join(err, s.Close())
	}
	ln, err := net.Listen(address.Network(bind), bind.String())
	if err != nil {
		err = fmt.Errorf("listen for HTTP: %w: choose another address with --bind", err)
		return errors.Join(err, s.Close())
	}
	log.Info().Stringer("http", ln.Addr()).Str("data_dir", dir).Stringer("token", highest).
		Msg("the store is up")
	fmt.Fprintf(ctx.App.Writer, "http://%s\n", ln.Addr())
	return errors.Join(serveFence(ctx.Context, s, ln, log, signals), s.Close())
}

// openFence opens the store. If another process has it open, the error wraps statefile.ErrLocked.
func openFence(dir string) (*store.Store, error) {
	s, err := store.Open(dir)
	if errors.Is(err, store.ErrLocked) {
		return nil, mark(statefile.ErrLocked, err)
	}
	return s, mark(errConfig, err)
}

// serveFence answers on ln until a signal or a failure. It closes ln.
func serveFence(
	ctx context.Context, s *store.Store, ln net.Listener, log zerolog.Logger,
	signals <-chan os.Signal,
) (err error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	warnings := log.With().Str(zerolog.LevelFieldName, zerolog.LevelWarnValue).Logger()
	served := make(chan error, 1)
	go func() {
		served <- kv.Serve(ctx, ln, kv.NewHandler(s, logRefusals(log)), stdlog.New(warnings, "", 0))
	}()
	select {
	case err := <-served:
		return err
	case <-s.Broken():
		err = store.ErrBroken
	case sig := <-signals:
		log.Info().Stringer("signal", sig).Msg("told to stop: finishing what is under way")
		go obeyAtOnce(signals)
	}
	stop()
	return errors.Join(err, <-served)
}

// logRefusals returns a function that logs refused requests. It does not log the same error
// twice in a row: a leader that does not notice that it was replaced may try a thousand times
// a second. The metrics count every refusal.
func logRefusals(log zerolog.Logger) func(*http.Request, error) {
	var last atomic.Value
	return func(r *http.Request, err error) {
		text := err.Error()
		if last.Swap(text) == text {
			return
		}
		log.Warn().Str("remote", r.RemoteAddr).Str("method", r.Method).Str("path", r.URL.Path).
			Msg("not done: " + text)
	}
}
